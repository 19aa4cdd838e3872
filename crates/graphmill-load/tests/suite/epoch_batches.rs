//! An epoch delivers the batches that could be asked for one by one, whatever is read together and whatever is hot.

use crate::made_dataset::{MadeDataset, NODES};
use graphmill_disk::{Budget, DeviceProfile, ReadAt, drop_page_cache};
use graphmill_format::Direction;
use graphmill_ingest::{Directions, GraphOptions};
use graphmill_load::{Batch, Column, Error, LoaderOptions, LoaderStats, NeighborLoader, Reading};
use graphmill_sample::Sample;
use graphmill_store::Dataset;
use std::collections::HashSet;
use std::sync::Arc;

const ENOUGH: u64 = 1 << 28;

fn options() -> LoaderOptions {
    LoaderOptions::new([4, 3]).batch_size(10).shuffle(true).seed(5)
}

fn loader(made: &MadeDataset, budget: u64, options: LoaderOptions) -> Arc<NeighborLoader> {
    let loader = NeighborLoader::new(made.open(budget), (0..NODES).rev().collect(), options);
    Arc::new(loader.unwrap())
}

type Bytes = Vec<(String, Vec<u8>)>;
type Parts = (usize, Sample, Vec<i64>, Bytes, Bytes);

/// What a batch holds, without its part of the budget.
fn parts(batch: Batch) -> Parts {
    let Batch { batch_size, sample, input_positions, columns, edge_columns, .. } = batch;
    let bytes = |columns: Vec<Column>| -> Bytes {
        columns.into_iter().map(|column| (column.name.clone(), column.bytes.to_vec())).collect()
    };
    (batch_size, sample, input_positions, bytes(columns), bytes(edge_columns))
}

fn one_by_one(made: &MadeDataset, options: LoaderOptions) -> Vec<Parts> {
    let loader = loader(made, ENOUGH, options);
    (0..loader.len()).map(|index| parts(loader.batch(2, index).unwrap())).collect()
}

#[test]
fn an_epoch_is_its_batches_for_any_window_and_backend() {
    let made = MadeDataset::new(GraphOptions::new().edge_ids(true));
    let expected = one_by_one(&made, options().backend(Reading::Mapped));
    for reading in Reading::ALL {
        for window in [1, 2, 3, 4, 5, 6, 7, 8, 100] {
            for hot in [Some(0), Some(9000), None] {
                let options = options().backend(reading).window(Some(window)).hot_memory(hot);
                let loader = loader(&made, ENOUGH, options);
                let batches: Vec<Parts> =
                    loader.epoch(2, 0).map(|batch| parts(batch.unwrap())).collect();
                assert!(batches == expected, "{reading}, windows of {window}, hot: {hot:?}");
                let stats = loader.stats();
                assert_eq!(stats.batches, loader.len());
                if matches!(reading, Reading::Pread | Reading::Ring) {
                    // The last of windows that double has what is left.
                    assert_eq!(stats.largest_window, (window as u64).min(15));
                    let some = if hot == Some(0) { 0..1 } else { 1..NODES as u64 + 1 };
                    assert!(some.contains(&stats.hot_rows), "{}", stats.hot_rows);
                    assert_eq!(stats.reads.from_hot > 0, hot != Some(0));
                    assert_eq!(stats.hot_rows == NODES as u64, hot.is_none());
                }
            }
        }
    }
}

#[test]
fn an_epoch_can_begin_anywhere() {
    let made = MadeDataset::new(GraphOptions::new().edge_ids(true));
    let expected = one_by_one(&made, options());
    let loader = loader(&made, ENOUGH, options().backend(Reading::Ring));
    for first in [0, 1, 13, loader.len() - 1, loader.len(), loader.len() + 5, u64::MAX] {
        let batches: Vec<Parts> =
            loader.epoch(2, first).map(|batch| parts(batch.unwrap())).collect();
        assert!(batches[..] == expected[expected.len().min(first as usize)..], "{first}");
    }
}

/// Short memory makes windows short, and a batch that does not fit is refused by name.
#[test]
fn every_budget_gives_the_same_batches_or_says_what_one_needs() {
    let made = MadeDataset::new(GraphOptions::new().edge_ids(true));
    let expected = one_by_one(&made, options());
    for reading in [Reading::Pread, Reading::Ring] {
        let options = || options().backend(reading);
        let single = loader(&made, ENOUGH, options());
        let largest = (0..single.len()).map(|index| drop(single.batch(2, index).unwrap()));
        largest.for_each(drop);
        let needed = single.dataset().budget().peak();
        let (mut complete, mut refused) = (0, 0);
        let step = needed / 40;
        for budget in (0..60).map(|number| number * step) {
            let dataset = made.open(budget);
            let Ok(loader) = NeighborLoader::new(dataset, (0..NODES).rev().collect(), options())
            else {
                continue;
            };
            let loader = Arc::new(loader);
            let outcome: Result<Vec<Parts>, Error> =
                loader.epoch(2, 0).map(|batch| batch.map(parts)).collect();
            match outcome {
                Ok(batches) => {
                    complete += 1;
                    assert!(batches == expected, "{reading}, {budget}");
                }
                Err(error) => {
                    refused += 1;
                    assert!(budget < needed, "{budget} of {needed}: {error}");
                    assert!(error.to_string().contains("raise the memory budget"), "{error}");
                }
            }
            assert!(loader.dataset().budget().peak() <= budget);
        }
        assert!(complete > 0 && refused > 0, "{complete} and {refused}");
    }
}

/// The rows of each window, counted the slow way.
#[test]
fn every_row_of_a_window_is_read_once_and_none_that_the_window_before_had() {
    let made = MadeDataset::new(GraphOptions::new());
    for most in [1, 3, 8] {
        let options = options().backend(Reading::Ring).window(Some(most)).hot_memory(Some(0));
        let loader = loader(&made, ENOUGH, options);
        let lists: Vec<Vec<i64>> =
            loader.epoch(2, 0).map(|batch| batch.unwrap().sample.nodes).collect();
        let (mut width, mut start) = (1, 0);
        let (mut asked, mut distinct, mut kept, mut before) = (0, 0, 0, HashSet::new());
        while start < lists.len() {
            let window = &lists[start..lists.len().min(start + width)];
            let rows: HashSet<i64> = window.iter().flatten().copied().collect();
            asked += window.iter().map(Vec::len).sum::<usize>();
            distinct += rows.len();
            kept += rows.intersection(&before).count();
            before = rows;
            start += width;
            width = (width * 2).min(most);
        }
        let reads = loader.stats().reads;
        // Two tables.
        let expected = [asked, distinct, kept, distinct - kept].map(|count| 2 * count as u64);
        let found = [reads.rows, reads.distinct, reads.from_window, reads.from_disk];
        assert_eq!(found, expected, "windows of {most}");
        assert_eq!((reads.from_hot, reads.from_page_cache), (0, 0));
    }
}

fn hot_dataset(made: &MadeDataset) -> Dataset {
    Dataset::open(made.path(), Budget::new(32 << 20)).unwrap()
}

#[test]
fn hot_rows_are_found_by_degree_or_by_sampling_and_shared_by_loaders() {
    for directions in [Directions::OutAndIn, Directions::In] {
        let made = MadeDataset::new(GraphOptions::new().directions(directions));
        let expected = one_by_one(&made, options());
        let dataset = hot_dataset(&made);
        let options = || {
            // Room for about half of the rows.
            options().backend(Reading::Pread).direction(Direction::In).hot_memory(Some(12_000))
        };
        let new = || {
            let seeds = (0..NODES).rev().collect();
            Arc::new(NeighborLoader::new(dataset.clone(), seeds, options()).unwrap())
        };
        let check = |loader: &Arc<NeighborLoader>| {
            let batches: Vec<Parts> =
                loader.epoch(2, 0).map(|batch| parts(batch.unwrap())).collect();
            assert!(batches == expected);
            loader.stats()
        };
        let first = new();
        let stats = check(&first);
        assert!((1..NODES as u64).contains(&stats.hot_rows) && stats.reads.from_hot > 0);
        let used = dataset.budget().used();
        let second = new();
        let others = check(&second);
        assert_eq!(others.hot_rows, stats.hot_rows);
        // What the first read for the hot rows, the second did not. Which rows of the window before are still there depends
        // on who is short of memory.
        let brought = |stats: &LoaderStats| stats.reads.from_disk + stats.reads.from_window;
        assert!(brought(&others) < brought(&stats));
        drop((first, second));
        assert!(dataset.budget().used() < used);
        assert_eq!(dataset.budget().used(), 0);
    }
}

#[test]
fn an_estimate_is_what_happens() {
    let made = MadeDataset::new(GraphOptions::new().edge_ids(true));
    let disk = DeviceProfile::assumed();
    for (hot, window) in [(0, 1), (0, 2), (0, 3), (0, 8), (12_000, 1), (12_000, 8)] {
        let options = options().backend(Reading::Ring).window(Some(window)).hot_memory(Some(hot));
        let loader = loader(&made, ENOUGH, options);
        let predicted = loader.estimate(2, &disk).unwrap().unwrap();
        assert_eq!(loader.stats().reads, Default::default());
        let (mut nodes, mut edges) = (0, 0);
        for batch in loader.epoch(2, 0) {
            let sample = batch.unwrap().sample;
            nodes += sample.nodes.len();
            edges += sample.edge_ids.len();
        }
        let (stats, count) = (loader.stats(), loader.len() as f64);
        assert_eq!((predicted.window, u64::from(predicted.sampled)), (window, loader.len()));
        assert_eq!(predicted.hot_rows, stats.hot_rows);
        let near = |told: f64, counted: f64| {
            assert!((told / counted - 1.0).abs() < 1e-9, "{told} {counted}: {predicted:?}");
        };
        near(predicted.nodes, nodes as f64 / count);
        near(predicted.edges, edges as f64 / count);
        if hot == 0 {
            // To the last request: short windows of the beginning, the rows that the window before still has, and the end.
            near(predicted.rows_read, stats.reads.from_disk as f64 / count);
            near(predicted.requests, stats.reads.requests as f64 / count);
            near(predicted.bytes, stats.reads.bytes_read as f64 / count);
        } else {
            // Of two tables.
            near(predicted.hot_share, stats.reads.from_hot as f64 / 2.0 / nodes as f64);
        }
        let rates = [predicted.disk_rate, predicted.sampling_rate, predicted.processor_rate];
        assert!(predicted.rate > 0.0 && rates.iter().all(|&rate| rate >= predicted.rate));
        assert!(predicted.processor_rate < predicted.sampling_rate, "everything includes sampling");
        assert!(predicted.least_memory <= predicted.memory && predicted.memory <= ENOUGH);
    }
    let empty = NeighborLoader::new(made.open(ENOUGH), Vec::new(), options()).unwrap();
    assert!(empty.estimate(0, &disk).unwrap().is_none());
}

#[test]
fn an_estimate_without_tables_reads_nothing() {
    let made = MadeDataset::new(GraphOptions::new().edge_ids(true));
    let options = options().backend(Reading::Ring).columns(Some(Vec::new()));
    let options = options.edge_columns(Some(Vec::new()));
    let predicted = loader(&made, ENOUGH, options).estimate(2, &DeviceProfile::assumed());
    let predicted = predicted.unwrap().unwrap();
    assert_eq!((predicted.requests, predicted.hot_share, predicted.hot_rows), (0.0, 0.0, 0));
    assert!(predicted.nodes > 0.0 && predicted.rate > 0.0);
}

#[test]
fn rows_in_the_page_cache_are_not_read_ahead() {
    let made = MadeDataset::new(GraphOptions::new());
    let loader = loader(&made, ENOUGH, options().backend(Reading::Mapped));
    assert_eq!(loader.epoch(0, 0).filter(Result::is_ok).count() as u64, loader.len());
    let stats = loader.stats();
    assert_eq!((stats.windows, stats.hot_rows, stats.reads.requests), (0, 0, 0));
    assert_eq!(stats.reads.from_page_cache, stats.reads.rows);
}

#[test]
fn auto_delivers_the_same_from_a_cold_file() {
    let made = MadeDataset::new(GraphOptions::new().edge_ids(true));
    let expected = one_by_one(&made, options());
    let loader = loader(&made, ENOUGH, options());
    for table in loader.dataset().tables().values() {
        table.mapped().file().sync_all().unwrap();
        drop_page_cache(table.mapped().file(), 0..table.mapped().len()).unwrap();
    }
    let batches: Vec<Parts> = loader.epoch(2, 0).map(|batch| parts(batch.unwrap())).collect();
    assert!(batches == expected);
}

#[test]
fn a_file_cut_short_ends_the_epoch_with_an_error() {
    for reading in Reading::ALL {
        let made = MadeDataset::new(GraphOptions::new());
        let loader = loader(&made, ENOUGH, options().backend(reading).hot_memory(Some(0)));
        let mut batches = loader.epoch(0, 0);
        batches.next().unwrap().unwrap();
        let path = made.path().join("x.1.gd");
        let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        file.set_len(4096).unwrap();
        let error = batches.find_map(Result::err).unwrap();
        assert!(error.to_string().contains("x.1.gd"), "{reading}: {error}");
        assert!(batches.next().is_none());
    }
}
