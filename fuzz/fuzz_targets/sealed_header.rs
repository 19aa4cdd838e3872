//! The same with the checksum made right, so that the checks behind it are reached.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| graphmill_format::fuzzing::sealed_header(data));
