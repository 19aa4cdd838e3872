//! Where no fuzzer runs, chance does: the corpus, changed at random, through the functions that the fuzzers call.
//!
//! It is blind to what an input reaches, and so fast that long runs try tens of millions.

use graphmill_format::fuzzing;
use graphmill_rounds::{corpus, piece, rounds};

/// Numbers at which arithmetic goes wrong.
const EDGES: [u64; 9] =
    [0, 1, 4096, 1 << 31, u32::MAX as u64, 1 << 48, i64::MAX as u64, 1 << 63, u64::MAX];

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((u128::from(self.0) * limit as u128) >> 64) as usize
    }
}

/// A few changes: bits, bytes, numbers, pieces doubled or cut, the end of another input.
fn change(bytes: &mut Vec<u8>, inputs: &[Vec<u8>], random: &mut Random) {
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len().max(1));
        match random.below(8) {
            _ if bytes.is_empty() => bytes.push(random.below(256) as u8),
            0 | 1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes[at] = random.below(256) as u8,
            3 | 4 => {
                let number = EDGES[random.below(EDGES.len())].wrapping_add(random.below(3) as u64);
                let width = [1, 2, 4, 8][random.below(4)].min(bytes.len() - at);
                bytes[at..at + width].copy_from_slice(&number.to_le_bytes()[..width]);
            }
            5 => {
                let from = random.below(bytes.len());
                let length = random.below(64).min(bytes.len() - from).min(bytes.len() - at);
                bytes.copy_within(from..from + length, at);
            }
            6 => {
                let other = &inputs[random.below(inputs.len())];
                bytes.truncate(at);
                bytes.extend_from_slice(&other[at.min(other.len())..]);
            }
            _ => bytes.truncate(at),
        }
    }
}

fn survives_chance(target: &str, run: fn(&[u8])) {
    let inputs: Vec<Vec<u8>> = corpus::inputs(target).into_iter().map(|(_, bytes)| bytes).collect();
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (piece() + 1));
    let mut bytes = Vec::new();
    for _ in 0..rounds(10_000) {
        bytes.clone_from(&inputs[random.below(inputs.len())]);
        change(&mut bytes, &inputs, &mut random);
        if std::panic::catch_unwind(|| run(&bytes)).is_err() {
            let kept = std::env::temp_dir().join(format!("graphmill-chance-{target}"));
            std::fs::write(&kept, &bytes).unwrap();
            panic!("{target} does not survive {}", kept.display());
        }
    }
}

#[test]
fn checksummed_headers_survive_chance() {
    survives_chance("header", fuzzing::header);
}

#[test]
fn sealed_headers_survive_chance() {
    survives_chance("sealed_header", fuzzing::sealed_header);
}

#[test]
fn offsets_survive_chance() {
    survives_chance("offsets", fuzzing::offsets);
}

#[test]
fn packed_sequences_survive_changes_by_chance() {
    survives_chance("packed", fuzzing::packed);
}

#[test]
fn manifests_survive_chance() {
    survives_chance("manifest", fuzzing::manifest);
    survives_chance("sealed_manifest", fuzzing::sealed_manifest);
}

#[test]
fn graphzero_headers_survive_chance() {
    survives_chance("graphzero", fuzzing::graphzero);
}
