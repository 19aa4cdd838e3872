//! Lines of edges: the fast way against the careful one.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| graphmill_ingest::source::fuzzing::csv(data));
