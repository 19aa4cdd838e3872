//! A packed sequence of a hostile file, read in every way.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| graphmill_format::fuzzing::packed(data));
