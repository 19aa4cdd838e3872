//! The two headers of GraphZero 0.2.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| graphmill_format::fuzzing::graphzero(data));
