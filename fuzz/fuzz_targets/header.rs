//! Headers of `.gl` and `.gd` files, checksum included.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| graphmill_format::fuzzing::header(data));
