//! A Parquet file.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    graphmill_ingest::source::fuzzing::parquet(data);
});
