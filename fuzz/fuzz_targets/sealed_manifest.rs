//! The same with the checksum made right.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| graphmill_format::fuzzing::sealed_manifest(data));
