//! The text of `dataset.json`, checksum included.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| graphmill_format::fuzzing::manifest(data));
