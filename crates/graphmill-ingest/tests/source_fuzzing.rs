//! The fuzzers' entry points, with the attacks and with random bytes.

use graphmill_ingest::source::fuzzing;
use proptest::prelude::*;

const TARGETS: [fn(&[u8]); 4] = [fuzzing::csv, fuzzing::edge_file, fuzzing::npy, fuzzing::npz];

#[test]
fn every_target_survives_every_attack() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../attacks");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        TARGETS.iter().for_each(|target| target(&bytes));
        count += 1;
    }
    assert!(count >= 30);
}

proptest! {
    #[test]
    fn every_target_survives_bytes_that_look_like_text(
        choice: u8, text in "[0-9]{0,3}[-0-9a-e,;. \t\"#\r\n]{0,120}",
    ) {
        let bytes = [&[choice], text.as_bytes()].concat();
        TARGETS.iter().for_each(|target| target(&bytes));
    }

    #[test]
    fn every_target_survives_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        TARGETS.iter().for_each(|target| target(&bytes));
        fuzzing::npz(&[b"PK\x03\x04", &bytes[..]].concat());
    }
}
