//! Parquet files with anything changed: numbers of footers and of page headers, pages, and raw bytes.
//! Every file must be read or refused: without a panic, without an abort, in little memory. Alone in its process, as
//! it limits and measures the memory of the process.
#![cfg(all(feature = "parquet", target_os = "linux"))]

mod parquet_model;

use std::path::PathBuf;

use graphmill_ingest::source::fuzzing;
use graphmill_rounds::{piece, rounds};
use parquet_model::files::{self, Shape};
use parquet_model::model::Model;
use parquet_model::numbers::Numbers;

/// Bytes beyond which the process gets no address space: an allocation that a file claims aborts it.
const MOST_ADDRESSES: u64 = 3 << 30;
/// Bytes that reading with a budget of 16 MiB may add to the largest size of the process.
const MOST_MEMORY: u64 = 96 << 20;

fn largest_size() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

fn limit_addresses() {
    let limit = rustix::process::Rlimit { current: Some(MOST_ADDRESSES), maximum: None };
    rustix::process::setrlimit(rustix::process::Resource::As, limit).unwrap();
}

/// The file that is tried, which stays if the process dies of it.
fn suspect() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("parquet-suspect")
}

#[test]
fn mutated_parquet_files_are_read_or_refused() {
    limit_addresses();
    let files: Vec<Vec<u8>> = files::shapes().iter().map(Shape::write).collect();
    let models: Vec<Model> = files.iter().map(|file| Model::parse(file)).collect();
    for (file, model) in files.iter().zip(&models) {
        // The last two ways take columns of all types as numbers.
        assert!(
            fuzzing::parquet_readings(file) >= 7,
            "an unchanged file is read in all other ways"
        );
        assert!(fuzzing::parquet_readings(&model.write(&mut |_, _| {})) >= 7);
    }
    let before = largest_size();
    let mut random = Numbers::new(0x9A9 + piece());
    let (mut whole, mut refused) = (0, 0);
    for round in 0..rounds(10_000) {
        let model = &models[random.below(models.len())];
        let bytes = model.mutated(&mut random);
        if std::env::var_os("GRAPHMILL_KEEP_SUSPECT").is_some() {
            std::fs::write(suspect(), &bytes).unwrap();
        }
        let outcome = std::panic::catch_unwind(|| fuzzing::parquet_readings(&bytes));
        let Ok(read) = outcome else {
            std::fs::write(suspect(), &bytes).unwrap();
            panic!("round {round}: a panic; the file is kept as {}", suspect().display());
        };
        whole += usize::from(read >= 7);
        refused += usize::from(read == 0);
        if round % 500 == 0 && largest_size() > before + MOST_MEMORY {
            panic!("{} bytes before, {} after round {round}", before, largest_size());
        }
    }
    // Neither is everything refused, nor does nothing change.
    assert!(whole > 0 && refused > 0, "{whole} read as before, {refused} refused in all ways");
}
