//! What a batch holds, and that nothing but seed, epoch, index and options decides it.

use crate::made_dataset::{MadeDataset, NODES, edge, edge_row, x_row, y_row};
use graphmill_format::Direction;
use graphmill_ingest::GraphOptions;
use graphmill_load::{Batch, Column, LoaderOptions, NeighborLoader, Reading};
use graphmill_sample::Sample;

const ENOUGH: u64 = 1 << 26;

fn options() -> LoaderOptions {
    LoaderOptions::new([4, -1]).batch_size(32).shuffle(true).seed(11)
}

fn loader(made: &MadeDataset, options: LoaderOptions) -> NeighborLoader {
    let seeds = (0..NODES).step_by(2).collect();
    NeighborLoader::new(made.open(ENOUGH), seeds, options).unwrap()
}

type Parts = (usize, Sample, Vec<i64>, Vec<Column>, Vec<Column>);

fn parts(batch: Batch) -> Parts {
    let Batch { batch_size, sample, input_positions, columns, edge_columns, .. } = batch;
    (batch_size, sample, input_positions, columns, edge_columns)
}

#[test]
fn a_batch_holds_the_rows_of_its_nodes_and_edges() {
    let made = MadeDataset::new(GraphOptions::new().edge_ids(true));
    for direction in [Direction::In, Direction::Out] {
        let loader = loader(&made, options().direction(direction));
        for index in 0..loader.len() {
            let batch = loader.batch(0, index).unwrap();
            let sample = &batch.sample;
            assert_eq!(batch.input_positions.len(), batch.batch_size);
            for (place, &position) in batch.input_positions.iter().enumerate() {
                assert_eq!(sample.nodes[place], loader.seeds()[position as usize]);
            }
            let names: Vec<_> = batch.columns.iter().map(|column| column.name.as_str()).collect();
            assert_eq!(names, ["x", "y"]);
            let x: Vec<u8> = sample.nodes.iter().flat_map(|&node| x_row(node)).collect();
            let y: Vec<u8> = sample.nodes.iter().flat_map(|&node| y_row(node)).collect();
            assert_eq!((&*batch.columns[0].bytes, &*batch.columns[1].bytes), (&*x, &*y));
            let shape = batch.columns[0].shape;
            assert_eq!((shape.rows(), shape.columns()), (sample.nodes.len() as u64, 3));
            assert!(batch.columns[1].shape.is_vector());
            let attributes: Vec<u8> =
                sample.edge_ids.iter().flat_map(|&row| edge_row(row)).collect();
            assert_eq!(*batch.edge_columns[0].bytes, *attributes);
            for ((row, col), &id) in sample.row.iter().zip(&sample.col).zip(&sample.edge_ids) {
                let ends = (sample.nodes[*row as usize], sample.nodes[*col as usize]);
                assert_eq!(ends, edge(id));
            }
        }
    }
}

#[test]
fn batches_do_not_depend_on_the_order_they_are_asked_for() {
    let made = MadeDataset::new(GraphOptions::new().edge_ids(true));
    let straight = loader(&made, options());
    let all = |loader: &NeighborLoader, epoch| -> Vec<Parts> {
        (0..loader.len()).map(|index| parts(loader.batch(epoch, index).unwrap())).collect()
    };
    let (first, second) = (all(&straight, 0), all(&straight, 1));
    let other = loader(&made, options().backend(Reading::Pread));
    for index in (0..other.len()).rev() {
        assert_eq!(parts(other.batch(1, index).unwrap()), second[index as usize]);
        assert_eq!(parts(other.batch(0, index).unwrap()), first[index as usize]);
    }
    std::thread::scope(|scope| {
        for epoch in [0, 1, 0, 1] {
            let expected = if epoch == 0 { &first } else { &second };
            let (all, straight) = (&all, &straight);
            scope.spawn(move || assert_eq!(&all(straight, epoch), expected));
        }
    });
}

#[test]
fn epochs_and_seeds_change_the_batches() {
    let made = MadeDataset::new(GraphOptions::new());
    let unshuffled = loader(&made, options().shuffle(false));
    let edges = |epoch, index| unshuffled.batch(epoch, index).unwrap().sample.edge_ids;
    assert_ne!(edges(0, 0), edges(1, 0));
    let reseeded = loader(&made, options().shuffle(false).seed(12));
    assert_ne!(edges(0, 0), reseeded.batch(0, 0).unwrap().sample.edge_ids);
    let shuffled = loader(&made, options());
    let seeds = |epoch| shuffled.batch(epoch, 0).unwrap().input_positions;
    assert_ne!(seeds(0), seeds(1));
}

#[test]
fn columns_can_be_chosen() {
    let made = MadeDataset::new(GraphOptions::new().edge_ids(true));
    let chosen = options().columns(Some(vec!["y".to_owned()])).edge_columns(Some(Vec::new()));
    let batch = loader(&made, chosen).batch(0, 0).unwrap();
    let names: Vec<_> = batch.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!((names, batch.edge_columns.len()), (vec!["y"], 0));
}

#[test]
fn without_edge_ids_there_are_no_edge_rows() {
    let made = MadeDataset::new(GraphOptions::new());
    assert!(loader(&made, options()).batch(0, 0).unwrap().edge_columns.is_empty());
}

#[test]
fn no_seeds_make_no_batches() {
    let made = MadeDataset::new(GraphOptions::new());
    let loader = NeighborLoader::new(made.open(ENOUGH), Vec::new(), options()).unwrap();
    assert!(loader.is_empty());
    assert!(loader.batch(0, 0).is_err());
}
