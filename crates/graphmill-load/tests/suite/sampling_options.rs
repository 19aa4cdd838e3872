//! Every way to sample reaches the batches: a loader finds what the sampler finds for the same seeds.

use crate::made_dataset::{self, EDGES, MadeDataset, NODES};
use graphmill_format::{Direction, ListOrder};
use graphmill_ingest::GraphOptions;
use graphmill_load::{LoaderOptions, NeighborLoader, SeedTimes};
use graphmill_sample::{FanoutOptions, Method, Sample, Scratch, Seeds, Strategy, Subgraph, sample};
use graphmill_store::Dataset;

const ENOUGH: u64 = 1 << 26;
const EPOCH: u64 = 3;

fn made() -> MadeDataset {
    let weights: Vec<f32> = (0..EDGES).map(|edge| (edge % 5) as f32).collect();
    let times: Vec<i64> = (0..EDGES).map(|edge| edge % 100).collect();
    let options = GraphOptions::new().weights(&weights).times(&times).order(ListOrder::Time);
    MadeDataset::new(options)
}

fn loader_options() -> LoaderOptions {
    LoaderOptions::new([4, 3]).batch_size(20).shuffle(true).seed(5)
}

fn seeds() -> Vec<i64> {
    (0..NODES).rev().collect()
}

/// What the sampler finds for the seeds of a batch.
fn sampled(dataset: &Dataset, index: u64, seeds: Seeds<'_>, options: FanoutOptions) -> Sample {
    let lists = dataset.graph().lists(Direction::In).unwrap();
    let options = options.seed(5).epoch(EPOCH).batch(index);
    sample(&lists, seeds, &options, Direction::In, &mut Scratch::new()).unwrap()
}

#[test]
fn a_loader_samples_as_the_sampler_does() {
    let made = made();
    type Ways = (LoaderOptions, FanoutOptions);
    let (load, fanout) = (loader_options, || FanoutOptions::new([4, 3]));
    let labor = Method::Labor { layer_dependency: true };
    let ways: [Ways; 7] = [
        (load(), fanout()),
        (load().weighted(true), fanout().weighted(true)),
        (load().disjoint(true), fanout().disjoint(true)),
        (load().method(labor), fanout().method(labor)),
        (load().replace(true), fanout().replace(true)),
        (load().subgraph(Subgraph::Induced), fanout().subgraph(Subgraph::Induced)),
        (load().subgraph(Subgraph::Bidirectional), fanout().subgraph(Subgraph::Bidirectional)),
    ];
    let mut different = Vec::new();
    for (options, fanout) in ways {
        let loader = NeighborLoader::new(made.open(ENOUGH), seeds(), options).unwrap();
        for index in 0..2 {
            let batch = loader.batch(EPOCH, index).unwrap();
            let ids = batch.sample.nodes[..batch.batch_size].to_vec();
            let found = sampled(loader.dataset(), index, Seeds::new(&ids), fanout.clone());
            assert_eq!(batch.sample, found, "{fanout:?}");
            assert_eq!(batch.seed_times, None);
            // Edge rows follow the edges, whichever of them are delivered.
            let rows = found.edge_ids.iter().flat_map(|&edge| made_dataset::edge_row(edge));
            assert_eq!(*batch.edge_columns[0].bytes, *rows.collect::<Vec<u8>>());
            if index == 0 {
                different.push(found);
            }
        }
    }
    for (place, one) in different.iter().enumerate() {
        assert!(different[..place].iter().all(|other| other != one), "way {place} changes nothing");
    }
}

#[test]
fn times_are_those_of_the_seeds_however_they_are_given() {
    let made = made();
    let by_node = |node: i64| node * 7 - 3;
    let given: Vec<i64> = (0..NODES).map(|position| position % 90).collect();
    for strategy in [Strategy::Uniform, Strategy::Last] {
        for window in [None, Some(30)] {
            for times in [SeedTimes::Given(given.clone()), SeedTimes::Table("y".to_owned())] {
                for node_times in [None, Some("y".to_owned())] {
                    let options = loader_options()
                        .strategy(strategy)
                        .time_window(window)
                        .times(Some(times.clone()))
                        .node_times(node_times.clone());
                    let loader = NeighborLoader::new(made.open(ENOUGH), seeds(), options).unwrap();
                    let batch = loader.batch(EPOCH, 1).unwrap();
                    let ids = batch.sample.nodes[..batch.batch_size].to_vec();
                    let expected: Vec<i64> = match &times {
                        SeedTimes::Table(_) => ids.iter().copied().map(by_node).collect(),
                        _ => batch.input_positions.iter().map(|&at| given[at as usize]).collect(),
                    };
                    assert_eq!(batch.seed_times.as_deref(), Some(&*expected));
                    let node_table: Vec<i64> = (0..NODES).map(by_node).collect();
                    let start = Seeds::new(&ids).times(&expected);
                    let start = match node_times {
                        Some(_) => start.node_times(&node_table),
                        None => start,
                    };
                    let fanout = FanoutOptions::new([4, 3]).strategy(strategy).window(window);
                    let found = sampled(loader.dataset(), 1, start, fanout);
                    assert!(!found.batch.is_empty());
                    assert_eq!(batch.sample, found);
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_sampled_is_told_when_the_loader_is_made() {
    let plain = MadeDataset::new(GraphOptions::new());
    let refused = |options: LoaderOptions| {
        let dataset = plain.open(ENOUGH);
        let error = NeighborLoader::new(dataset.clone(), seeds(), options).unwrap_err();
        assert_eq!(dataset.budget().used(), 0);
        error.to_string()
    };
    let times = |name: &str| Some(SeedTimes::Table(name.to_owned()));
    let labor = Method::Labor { layer_dependency: false };
    let (load, y) = (loader_options, || Some("y".to_owned()));
    for (options, expected) in [
        (load().weighted(true), "no weights"),
        (load().method(labor).replace(true), "LABOR with replacement"),
        (load().times(times("y")), "no edge times"),
        (load().times(times("z")), "no table \"z\""),
        (load().times(times("x")), "expected a vector of int64"),
        (load().times(times("y")).node_times(Some("x".to_owned())), "a matrix of float32"),
        (load().times(Some(SeedTimes::Given(vec![1, 2]))), "2 seed times were given, expected 300"),
        (load().node_times(y()), "give them too"),
        (load().strategy(Strategy::Last), "give them too"),
        (load().time_window(Some(3)), "give them too"),
    ] {
        let error = refused(options);
        assert!(error.contains(expected), "{error}");
    }
}
