//! Offsets and ids of a hostile file, against the slow obvious check.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| graphmill_format::fuzzing::offsets(data));
