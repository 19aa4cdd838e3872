//! What a loader refuses, and that a refusal costs nothing.

use crate::made_dataset::{MadeDataset, NODES};
use graphmill_format::Direction;
use graphmill_ingest::{Directions, GraphOptions};
use graphmill_load::{Batch, Error, LoaderOptions, NeighborLoader, Reading};

fn options() -> LoaderOptions {
    LoaderOptions::new([5, 5]).batch_size(20).shuffle(true)
}

fn refused(made: &MadeDataset, seeds: Vec<i64>, options: LoaderOptions) -> Error {
    let dataset = made.open(1 << 20);
    let error = NeighborLoader::new(dataset.clone(), seeds, options).unwrap_err();
    assert_eq!(dataset.budget().used(), 0);
    error
}

#[test]
fn mistakes_are_found_before_the_first_batch() {
    let made = MadeDataset::new(GraphOptions::new().directions(Directions::In));
    let error = refused(&made, vec![0, NODES], options());
    assert!(error.to_string().contains("seed 300 at position 1"), "{error}");
    assert!(matches!(refused(&made, vec![0], options().batch_size(0)), Error::BatchSize));
    let error = refused(&made, vec![0], LoaderOptions::new([1, -2]));
    assert!(error.to_string().contains("fan-out -2 of hop 1"), "{error}");
    let error = refused(&made, vec![0], options().columns(Some(vec!["z".to_owned()])));
    assert!(error.to_string().contains("no table \"z\"; it has x, y"), "{error}");
    let error = refused(&made, vec![0], options().direction(Direction::Out));
    assert!(error.to_string().contains("stores in-edges only"), "{error}");
    let error = refused(&made, vec![0], options().direction(Direction::Both));
    assert!(error.to_string().contains("cannot follow both-edges"), "{error}");
    let edge_columns = Some(vec!["edge_attr".to_owned()]);
    let error = refused(&made, vec![0], options().edge_columns(edge_columns));
    assert!(matches!(error, Error::NoEdgeIds { .. }), "{error}");
}

/// Every budget either suffices or is refused by name; what was taken for a batch that failed is free again.
#[test]
fn a_budget_that_is_too_small_is_refused_and_left_as_it_was() {
    let made = MadeDataset::new(GraphOptions::new().edge_ids(true));
    let seeds: Vec<i64> = (0..60).collect();
    let attempt = |total: u64, backend: Reading| {
        let dataset = made.open(total);
        let budget = dataset.budget().clone();
        let outcome = NeighborLoader::new(dataset, seeds.clone(), options().backend(backend))
            .and_then(|loader| Ok(loader.batch(3, 1)?.columns))
            .map(|columns| columns.iter().map(|column| column.bytes.to_vec()).collect::<Vec<_>>());
        assert_eq!(budget.used(), 0);
        (outcome, budget.peak())
    };
    for backend in Reading::ALL {
        // The files were just written and may not be in memory, where sampling takes more to announce what it reads.
        attempt(1 << 30, backend).0.unwrap();
        let (outcome, peak) = attempt(1 << 30, backend);
        let columns = outcome.unwrap();
        assert_eq!(attempt(peak, backend).0.unwrap(), columns);
        for total in (0..peak).step_by(peak as usize / 300 + 1) {
            let error = match attempt(total, backend).0 {
                // It reads page by page where there is no memory for more.
                Ok(made) if backend == Reading::Auto && made == columns => continue,
                made => made.unwrap_err(),
            };
            let source = match &error {
                Error::Disk(source) => source,
                Error::Sample(sampling) => match &**sampling {
                    graphmill_sample::Error::Memory(source) => source,
                    other => panic!("{total}: {other}"),
                },
                other => panic!("{total}: {other}"),
            };
            assert!(matches!(source, graphmill_disk::Error::Budget { .. }), "{total}: {error}");
        }
    }
}

#[test]
fn batches_hold_their_memory_as_long_as_they_live() {
    let made = MadeDataset::new(GraphOptions::new().edge_ids(true));
    let dataset = made.open(1 << 30);
    let budget = dataset.budget().clone();
    let loader = NeighborLoader::new(dataset, (0..60).collect(), options()).unwrap();
    drop(loader.batch(0, 0).unwrap());
    let idle = budget.used();
    let batch = loader.batch(0, 0).unwrap();
    let columns = batch.columns.iter().chain(&batch.edge_columns);
    let rows: usize = columns.map(|column| column.bytes.len()).sum();
    let lists = batch.sample.bytes() as usize + 8 * batch.input_positions.len();
    assert_eq!(batch.memory.bytes(), lists as u64);
    assert!(batch.bytes() >= (rows + lists) as u64);
    // The rows lie where those of the batch before lay.
    assert_eq!(budget.used(), idle + batch.memory.bytes());
    let Batch { mut columns, edge_columns, memory, .. } = batch;
    let last = columns.pop().unwrap();
    drop((columns, edge_columns, memory));
    assert_eq!(budget.used(), idle);
    drop(loader);
    assert_eq!(budget.used(), last.bytes.held());
    drop(last);
    assert_eq!(budget.used(), 0);
}

#[test]
fn a_file_cut_short_under_a_loader_is_an_error() {
    for (name, backend) in
        [("x.1.gd", Reading::Pread), ("x.1.gd", Reading::Mapped), ("graph.1.gl", Reading::Mapped)]
    {
        let made = MadeDataset::new(GraphOptions::new());
        let all = options().backend(backend).batch_size(NODES as usize);
        let loader = NeighborLoader::new(made.open(1 << 30), (0..NODES).collect(), all).unwrap();
        loader.batch(0, 0).unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(made.path().join(name)).unwrap();
        file.set_len(4096 + 100).unwrap();
        let error = loader.batch(0, 0).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
}
