//! Loaders speak the ids of the source where they are asked to, and numbers everywhere else.

use crate::made_dataset::{EDGES, MadeDataset, NODES, edge, edge_row, x_row, y_row};
use graphmill_disk::Budget;
use graphmill_format::{Direction, ElementType, TableShape};
use graphmill_ingest::{DatasetWriter, GraphOptions, MemoryEdges};
use graphmill_load::{Batch, Error, LoaderOptions, NeighborLoader, Seeds};
use graphmill_store::Dataset;
use std::path::Path;

/// How ids of the source come from the numbers that [`made_dataset`] gives.
type Rename = fn(i64) -> i64;
const HOT: Rename = |id| id;
const MAPPED: Rename = |id| id * 1000 + 7;

/// The made dataset with nodes in descending order of out-degree, which is not that of in-degree.
fn hot(folder: &Path, rename: Rename, names: Option<&[String]>) -> Dataset {
    let mut out_degrees = vec![0; NODES as usize];
    (0..EDGES).for_each(|row| out_degrees[edge(row).0 as usize] += 1);
    let mut by_heat: Vec<i64> = (0..NODES).collect();
    by_heat.sort_by_key(|&id| (-out_degrees[id as usize], id));
    let mut number_of = vec![0; NODES as usize];
    by_heat.iter().zip(0..).for_each(|(&id, number)| number_of[id as usize] = number);
    let number = |id: i64| number_of[id as usize];

    let (sources, destinations): (Vec<i64>, Vec<i64>) =
        (0..EDGES).map(edge).map(|(from, to)| (number(from), number(to))).unzip();
    let edges = MemoryEdges::new(&sources, &destinations, Some(NODES as u64)).unwrap();
    let originals: Vec<i64> = by_heat.iter().map(|&id| rename(id)).collect();
    let options = GraphOptions::new().edge_ids(true).original_ids(&originals);
    let mut writer = DatasetWriter::begin(folder, false).unwrap();
    writer.graph(&edges, &options, &Budget::new(1 << 20)).unwrap();
    writer.order("hot").unwrap();
    writer.id_places(&number_of).unwrap();
    if let Some(names) = names {
        writer.id_names(names).unwrap();
    }
    let rows =
        |row: fn(i64) -> Vec<u8>| -> Vec<u8> { by_heat.iter().flat_map(|&id| row(id)).collect() };
    let shape = TableShape::matrix(NODES as u64, 3, ElementType::F32).unwrap();
    writer.table("x", shape, |table| table.write_rows(&rows(x_row))).unwrap();
    let shape = TableShape::vector(NODES as u64, ElementType::I64).unwrap();
    writer.table("y", shape, |table| table.write_rows(&rows(y_row))).unwrap();
    let shape = TableShape::matrix(EDGES as u64, 1, ElementType::I16).unwrap();
    let rows: Vec<u8> = (0..EDGES).flat_map(edge_row).collect();
    writer.edge_table("edge_attr", shape, |table| table.write_rows(&rows)).unwrap();
    let split: Vec<i64> = some_ids().into_iter().map(number).collect();
    writer.split("some", &split).unwrap();
    writer.publish().unwrap();
    Dataset::open(folder, Budget::new(1 << 26)).unwrap()
}

/// Ids of nodes in an order of their own.
fn some_ids() -> Vec<i64> {
    (0..NODES).filter(|id| id % 3 == 1).rev().collect()
}

fn options() -> LoaderOptions {
    LoaderOptions::new([4, -1]).batch_size(32).shuffle(true).seed(11)
}

/// Checks everything that can be said of a batch by ids of the source; `seeds` are those given.
fn check(batch: &Batch, seeds: &[i64], id_of: impl Fn(i64) -> i64) {
    let ids: Vec<i64> = batch.sample.nodes.iter().map(|&node| id_of(node)).collect();
    for (place, &position) in batch.input_positions.iter().enumerate() {
        assert_eq!(ids[place], seeds[position as usize]);
    }
    let rows =
        |row: fn(i64) -> Vec<u8>| -> Vec<u8> { ids.iter().flat_map(|&id| row(id)).collect() };
    assert_eq!(*batch.columns[0].bytes, *rows(x_row));
    assert_eq!(*batch.columns[1].bytes, *rows(y_row));
    let sample = &batch.sample;
    for ((row, col), &id) in sample.row.iter().zip(&sample.col).zip(&sample.edge_ids) {
        assert_eq!((ids[*row as usize], ids[*col as usize]), edge(id));
    }
}

#[test]
fn batches_are_those_of_the_source_whatever_the_numbers() {
    for rename in [HOT, MAPPED] {
        let folder = tempfile::tempdir().unwrap();
        let dataset = hot(folder.path(), rename, None);
        let seeds = some_ids();
        let given: Vec<i64> = seeds.iter().map(|&id| rename(id)).collect();
        for direction in [Direction::In, Direction::Out] {
            let options = options().direction(direction);
            let loader = NeighborLoader::new(dataset.clone(), given.clone(), options.clone());
            let loader = loader.unwrap();
            let original =
                NeighborLoader::new(dataset.clone(), given.clone(), options.original(true));
            let original = original.unwrap();
            for index in 0..loader.len() {
                let (one, other) =
                    (loader.batch(0, index).unwrap(), original.batch(0, index).unwrap());
                let all: Vec<i64> = (0..NODES).collect();
                let renamed: Vec<i64> = all.iter().map(|&id| rename(id)).collect();
                let back = |id: i64| renamed.binary_search(&id).unwrap() as i64;
                check(&other, &seeds, back);
                let ids = dataset.original_ids(&one.sample.nodes).unwrap();
                assert_eq!(ids, other.sample.nodes);
                check(&one, &seeds, |node| back(dataset.original_ids(&[node]).unwrap()[0]));
                assert_eq!(one.columns, other.columns);
            }
        }
    }
}

#[test]
fn with_all_neighbours_a_batch_finds_what_it_finds_without_renumbering() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = hot(folder.path(), HOT, None);
    let made = MadeDataset::new(GraphOptions::new().edge_ids(true));
    let options = LoaderOptions::new([-1, -1]).batch_size(5).original(true);
    let plain = NeighborLoader::new(made.open(1 << 26), some_ids(), options.clone()).unwrap();
    let renumbered = NeighborLoader::new(dataset, some_ids(), options).unwrap();
    for index in 0..plain.len() {
        let sorted = |loader: &NeighborLoader| {
            let mut sample = loader.batch(0, index).unwrap().sample;
            sample.nodes.sort();
            sample.edge_ids.sort();
            (sample.nodes, sample.edge_ids)
        };
        assert_eq!(sorted(&plain), sorted(&renumbered));
    }
}

#[test]
fn a_split_keeps_its_order_and_equals_its_ids() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = hot(folder.path(), MAPPED, None);
    let over = |seeds| NeighborLoader::over(dataset.clone(), seeds, options()).unwrap();
    let split = over(Seeds::Split("some".to_owned()));
    let given: Vec<i64> = some_ids().into_iter().map(MAPPED).collect();
    assert_eq!(dataset.original_ids(split.seeds()).unwrap(), given);
    assert_eq!(over(Seeds::Original(given)).seeds(), split.seeds());
    assert_eq!(over(Seeds::Numbers(split.seeds().to_vec())).seeds(), split.seeds());
    let error = NeighborLoader::over(dataset.clone(), Seeds::Split("none".to_owned()), options());
    assert!(error.unwrap_err().to_string().contains("it has some"));
}

#[test]
fn all_nodes_come_in_ascending_order_of_their_ids() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = hot(folder.path(), MAPPED, None);
    let all = NeighborLoader::over(dataset.clone(), Seeds::All, options()).unwrap();
    let ids = dataset.original_ids(all.seeds()).unwrap();
    assert_eq!(ids, (0..NODES).map(MAPPED).collect::<Vec<_>>());
}

#[test]
fn names_are_seeds_where_ids_are_text() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..NODES).map(|id| format!("paper {id:03}")).collect();
    let dataset = hot(folder.path(), HOT, Some(&names));
    let seeds: Vec<String> = some_ids().iter().map(|&id| names[id as usize].clone()).collect();
    let loader =
        NeighborLoader::over(dataset.clone(), Seeds::Names(seeds.clone()), options()).unwrap();
    assert_eq!(dataset.node_names(loader.seeds()).unwrap(), seeds);
    let batch = loader.batch(0, 0).unwrap();
    check(&batch, &some_ids(), |node| dataset.original_ids(&[node]).unwrap()[0]);
    let unknown = Seeds::Names(vec!["paper".to_owned()]);
    let error = NeighborLoader::over(dataset.clone(), unknown, options()).unwrap_err();
    assert!(error.to_string().contains("\"paper\" at position 0"), "{error}");
}

#[test]
fn ids_that_no_node_has_are_refused_and_cost_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = hot(folder.path(), MAPPED, None);
    // 0 is a number, but no id of this source.
    for wrong in [0, -7, i64::MAX] {
        let seeds = vec![7, 1007, wrong];
        let error = NeighborLoader::new(dataset.clone(), seeds, options()).unwrap_err();
        let expected = format!("original id {wrong} at position 2");
        assert!(error.to_string().contains(&expected), "{error}");
        assert!(matches!(error, Error::Store(_)));
    }
    assert_eq!(dataset.budget().used(), 0);
}
