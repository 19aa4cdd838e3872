//! Batches made ahead by threads: the same as others, within the budget, and gone without a trace when nobody wants them.
//! Alone in its process, because it counts the threads of the process.

mod made_dataset;

use graphmill_ingest::GraphOptions;
use graphmill_load::{Awaited, Batch, LoaderOptions, NeighborLoader, Reading};
use graphmill_sample::Sample;
use made_dataset::{MadeDataset, NODES};
use std::sync::Arc;
use std::time::Duration;

const ENOUGH: u64 = 1 << 28;

fn options() -> LoaderOptions {
    LoaderOptions::new([4, 3]).batch_size(10).shuffle(true).seed(5)
}

fn loader(made: &MadeDataset, budget: u64, options: LoaderOptions) -> Arc<NeighborLoader> {
    let loader = NeighborLoader::new(made.open(budget), (0..NODES).rev().collect(), options);
    Arc::new(loader.unwrap())
}

type Parts = (Sample, Vec<i64>, Vec<Vec<u8>>);

fn parts(batch: Batch) -> Parts {
    let columns = batch.columns.iter().chain(&batch.edge_columns);
    let bytes = columns.map(|column| column.bytes.to_vec()).collect();
    (batch.sample, batch.input_positions, bytes)
}

fn made() -> MadeDataset {
    MadeDataset::new(GraphOptions::new().edge_ids(true))
}

#[test]
fn an_epoch_is_the_same_however_far_ahead_it_is_made() {
    let made = made();
    let expected: Vec<Parts> = {
        let loader = loader(&made, ENOUGH, options());
        (0..loader.len()).map(|index| parts(loader.batch(1, index).unwrap())).collect()
    };
    for reading in [Reading::Mapped, Reading::Pread, Reading::Ring] {
        for prefetch in [0, 1, 2, 8, 100] {
            for threads in [1, 4] {
                let options = options().backend(reading).prefetch(prefetch).threads(threads);
                let loader = loader(&made, ENOUGH, options);
                let batches: Vec<Parts> =
                    loader.epoch(1, 0).map(|batch| parts(batch.unwrap())).collect();
                assert!(batches == expected, "{reading}, {prefetch} ahead, {threads} threads");
            }
        }
    }
}

#[test]
fn those_who_share_an_epoch_have_every_batch_once() {
    let made = made();
    let loader = loader(&made, ENOUGH, options().backend(Reading::Ring));
    let all: Vec<Parts> = loader.epoch(1, 0).map(|batch| parts(batch.unwrap())).collect();
    for workers in [1, 2, 3, 40] {
        let mut shared: Vec<Option<Parts>> = vec![None; all.len()];
        for worker in 0..workers {
            let batches = loader.every(1, worker, workers);
            for (turn, batch) in batches.enumerate() {
                let index = worker as usize + turn * workers as usize;
                assert!(shared[index].replace(parts(batch.unwrap())).is_none());
            }
        }
        assert!(shared.into_iter().eq(all.iter().cloned().map(Some)), "{workers} workers");
    }
}

/// Whoever keeps all batches gets as many as the budget holds, and then is told; nobody waits for ever.
#[test]
fn batches_that_are_kept_end_in_an_error_and_not_in_waiting() {
    let made = made();
    for reading in [Reading::Mapped, Reading::Ring] {
        for prefetch in [0, 2, 8] {
            let options = || options().backend(reading).prefetch(prefetch).hot_memory(Some(0));
            let single = loader(&made, ENOUGH, options());
            let bytes = (0..single.len()).map(|index| single.batch(0, index).unwrap().bytes());
            let largest = bytes.max().unwrap();
            let needed = single.dataset().budget().peak();
            let few = loader(&made, needed + 4 * largest, options());
            let mut epoch = few.epoch(0, 0);
            let mut kept = Vec::new();
            let error = loop {
                match epoch.next() {
                    Some(Ok(batch)) => kept.push(batch),
                    Some(Err(error)) => break error.to_string(),
                    None => panic!("{} batches fit", kept.len()),
                }
            };
            assert!(error.contains("raise the memory budget"), "{error}");
            assert!(error.contains("still in use"), "{error}");
            assert!(epoch.next().is_none());
            // As many as fit, whatever was ahead.
            assert!(kept.len() >= 4, "{}", kept.len());
            drop((epoch, kept));
            assert_eq!(few.epoch(1, 0).filter(Result::is_ok).count() as u64, few.len());
        }
    }
}

fn own_threads() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let name = |task: std::fs::DirEntry| {
        // A thread that ended meanwhile has no name.
        std::fs::read_to_string(task.path().join("comm")).unwrap_or_default().trim().to_owned()
    };
    let stages = ["graphmill-sampl", "graphmill-readi", "graphmill-assem"];
    tasks.flatten().map(name).filter(|name| stages.contains(&name.as_str())).collect()
}

/// One test for everything that counts threads, since they are those of the whole process.
#[cfg(target_os = "linux")]
#[test]
fn threads_are_gone_when_an_epoch_is() {
    let made = made();
    for reading in [Reading::Mapped, Reading::Ring] {
        let loader = loader(&made, ENOUGH, options().backend(reading));
        let mut epoch = loader.epoch(0, 0);
        assert!(epoch.next().unwrap().is_ok());
        drop(epoch);
        let mut epoch = loader.epoch(0, 0);
        assert!(epoch.next().unwrap().is_ok());
        epoch.stop();
        assert!(epoch.next().is_none());
        let mut epoch = loader.epoch(0, 0);
        assert_eq!(epoch.by_ref().filter(Result::is_ok).count() as u64, loader.len());
        drop(loader);
        drop(epoch);
    }
    // Those of the other tests in this program may be at work.
    for _ in 0..1000 {
        if own_threads().is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{:?} are left", own_threads());
}

#[test]
fn waiting_for_some_time_loses_nothing() {
    let made = made();
    let loader = loader(&made, ENOUGH, options().backend(Reading::Ring));
    let expected: Vec<Parts> = loader.epoch(0, 0).map(|batch| parts(batch.unwrap())).collect();
    let mut epoch = loader.epoch(0, 0);
    let mut batches = Vec::new();
    loop {
        match epoch.await_next(Some(Duration::from_micros(50))).unwrap() {
            Awaited::Batch(batch) => batches.push(parts(batch)),
            Awaited::NotYet => {}
            _ => break,
        }
    }
    assert!(batches == expected);
    let stats = loader.stats();
    assert_eq!(stats.batches, 2 * loader.len());
    assert!(!stats.sampling.is_zero() && stats.bound().is_some());
}

/// Whatever the budget, an epoch that is read by one who keeps nothing is complete as soon as single batches fit.
#[test]
fn short_memory_costs_time_and_never_batches() {
    let made = made();
    let expected: Vec<Parts> = {
        let loader = loader(&made, ENOUGH, options());
        loader.epoch(1, 0).map(|batch| parts(batch.unwrap())).collect()
    };
    let single = loader(&made, ENOUGH, options().backend(Reading::Ring));
    for index in 0..single.len() {
        drop(single.batch(1, index).unwrap());
    }
    let needed = single.dataset().budget().peak();
    for budget in (0..20).map(|step| needed + needed * step / 4) {
        for prefetch in [0, 1, 4] {
            let options = options().backend(Reading::Ring).prefetch(prefetch);
            let loader = loader(&made, budget, options);
            let batches = loader.epoch(1, 0).map(|batch| parts(batch.unwrap()));
            assert!(batches.eq(expected.iter().cloned()), "{budget} bytes, {prefetch} ahead");
            assert!(loader.dataset().budget().peak() <= budget);
        }
    }
}
