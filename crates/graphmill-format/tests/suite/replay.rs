//! Every input that the fuzzers keep, through the same functions, in plain `cargo test`.
//!
//! The corpus lies in `fuzz/corpus/`, one folder per target; an input that once found a bug stays there.

use graphmill_format::fuzzing;
use graphmill_rounds::corpus::{check_that_all_are_replayed, replay};

#[test]
fn headers_survive_their_corpus() {
    replay("header", fuzzing::header);
}

#[test]
fn sealed_headers_survive_their_corpus() {
    replay("sealed_header", fuzzing::sealed_header);
}

#[test]
fn offsets_survive_their_corpus() {
    replay("offsets", fuzzing::offsets);
}

#[test]
fn packed_sequences_survive_their_corpus() {
    replay("packed", fuzzing::packed);
}

/// Where no fuzzer runs, chance does: bytes at random, and whole sequences with some bytes changed.
#[test]
fn packed_sequences_survive_chance() {
    let mut state = 1_u64;
    let mut random = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for round in 0..4000 {
        let count = random(if round % 8 == 0 { 3000 } else { 200 });
        let bits = random(49);
        let mut values: Vec<u64> =
            (0..count).map(|_| (random(1 << 30) << 30 | random(1 << 30)) % (1 << bits)).collect();
        values.chunks_mut(1 + random(300) as usize).for_each(<[u64]>::sort_unstable);
        let mut bytes = graphmill_format::packed::encode(&values).unwrap();
        for _ in 0..random(4) {
            let (at, byte) = (random(bytes.len() as u64) as usize, random(256) as u8);
            bytes[at] = byte;
        }
        if round % 16 == 0 {
            bytes.iter_mut().for_each(|byte| *byte = random(256) as u8);
        }
        fuzzing::packed(&[&(count as u16).to_le_bytes()[..], &bytes].concat());
    }
}

#[test]
fn manifests_survive_their_corpus() {
    replay("manifest", fuzzing::manifest);
}

#[test]
fn sealed_manifests_survive_their_corpus() {
    replay("sealed_manifest", fuzzing::sealed_manifest);
}

#[test]
fn graphzero_headers_survive_their_corpus() {
    replay("graphzero", fuzzing::graphzero);
}

#[test]
fn every_target_is_replayed() {
    check_that_all_are_replayed("graphmill_format::fuzzing", include_str!("replay.rs"), 7);
}
