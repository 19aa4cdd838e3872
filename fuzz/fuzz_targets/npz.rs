//! An archive of arrays.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| graphmill_ingest::source::fuzzing::npz(data));
