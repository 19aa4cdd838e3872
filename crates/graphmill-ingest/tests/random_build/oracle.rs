//! What a dataset of a case holds, found slowly.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use graphmill_format::{Direction, ListOrder, Manifest};
use graphmill_ingest::build::{NodeOrder, SourceIds};

use super::case::{Case, Id, Labels};
use crate::read_back::{self, Stored};

/// All nodes of the dataset by their ids.
pub fn nodes(case: &Case) -> BTreeSet<Id> {
    let mut nodes: BTreeSet<Id> = BTreeSet::new();
    for edge in &case.edges {
        nodes.extend([case.ids[edge.from].clone(), case.ids[edge.to].clone()]);
    }
    if case.has_tables() {
        nodes.extend(case.ids.iter().cloned());
    }
    if case.kind == SourceIds::Numbers {
        let most = nodes.last().map_or(0, |id| id.number() + 1).max(case.num_nodes);
        nodes.extend((0..most).map(Id::Number));
    }
    nodes
}

macro_rules! equal {
    ($found:expr, $expected:expr, $what:expr) => {
        let (found, expected) = ($found, $expected);
        if found != expected {
            return Err(format!("{}: {found:?} instead of {expected:?}", $what));
        }
    };
}

/// Compares a dataset with the case that it was built from.
pub fn check(case: &Case, folder: &Path, manifest: &Manifest) -> Result<(), String> {
    let node = manifest.node();
    let edge_type = manifest.edges.values().next().ok_or("no edges")?;
    let graph = read_back::graph(&folder.join(&edge_type.graph.name));
    let nodes: Vec<Id> = nodes(case).into_iter().collect();
    equal!(node.count, nodes.len() as u64, "nodes");
    equal!(graph.layout.num_nodes, nodes.len() as u64, "nodes of the graph");
    equal!(edge_type.source_rows, case.edges.len() as u64, "rows of the source");
    if let Some(names) = node.ids.as_ref().and_then(|ids| ids.names.as_ref()) {
        let (_, text) = read_back::table(&folder.join(&names.text.name));
        let (_, ends) = read_back::table(&folder.join(&names.ends.name));
        let mut start = 0;
        let found = read_back::integers(&ends).into_iter().map(|end| {
            let name = &text[std::mem::replace(&mut start, end as usize)..end as usize];
            Id::Word(String::from_utf8(name.to_vec()).unwrap())
        });
        equal!(found.collect::<Vec<_>>(), nodes.clone(), "names");
    } else if case.kind == SourceIds::Text {
        return Err("no names".to_owned());
    }
    // The id of every node, in the order of its number.
    let order = match &graph.original_ids {
        None => nodes.clone(),
        Some(originals) => {
            let id = |original: &i64| match case.kind {
                SourceIds::Text => nodes[*original as usize].clone(),
                _ => Id::Number(*original as u64),
            };
            originals.iter().map(id).collect()
        }
    };
    let sorted: BTreeSet<Id> = order.iter().cloned().collect();
    equal!(sorted.into_iter().collect::<Vec<_>>(), nodes.clone(), "original ids");
    if case.node_order == NodeOrder::None {
        equal!(&order, &nodes, "numbers of nodes");
    }
    let number_of: BTreeMap<&Id, usize> =
        order.iter().enumerate().map(|(at, id)| (id, at)).collect();
    let edges: Vec<(u64, u64)> = case
        .edges
        .iter()
        .map(|edge| [edge.from, edge.to].map(|node| number_of[&case.ids[node]] as u64))
        .map(|[from, to]| (from, to))
        .collect();
    for (direction, lists) in &graph.lists {
        let expected = expected_lists(case, &edges, nodes.len(), *direction);
        if let Some(at) = (0..nodes.len()).find(|node| lists[*node] != expected[*node]) {
            let what = format!("list {at} {direction:?} of {:?}", order[at]);
            equal!(&lists[at], &expected[at], what);
        }
    }
    check_order(case, &edges, nodes.len())?;
    check_tables(case, folder, manifest, &order)
}

/// Lists of one direction, as the options ask for them.
fn expected_lists(
    case: &Case,
    ends: &[(u64, u64)],
    nodes: usize,
    direction: Direction,
) -> Vec<Vec<Stored>> {
    let mut edges = Vec::new();
    for (row, (&(from, to), edge)) in ends.iter().zip(&case.edges).enumerate() {
        if case.drop_self_loops && from == to {
            continue;
        }
        let (there, back) =
            ((from, to, row, edge.weight, edge.time), (to, from, row, edge.weight, edge.time));
        match direction {
            Direction::Out => edges.push(there),
            Direction::In => edges.push(back),
            Direction::Both => edges.extend([there, back]),
        }
    }
    if case.add_self_loops {
        edges.extend((0..nodes).map(|node| (node as u64, node as u64, ends.len() + node, 1.0, 0)));
    }
    if case.dedup {
        let mut seen = HashSet::new();
        edges.retain(|&(major, minor, ..)| seen.insert((major, minor)));
    }
    let mut lists = vec![Vec::new(); nodes];
    for (major, minor, row, weight, time) in edges {
        lists[major as usize].push(Stored {
            neighbour: minor,
            row: case.has_rows().then_some(row as i64),
            weight: case.weighted.then_some(weight),
            time: case.timed.then_some(time),
        });
    }
    for list in &mut lists {
        match case.list_order {
            ListOrder::Id => list.sort_by_key(|stored| stored.neighbour),
            ListOrder::Time => list.sort_by_key(|stored| stored.time),
            ListOrder::File => {}
        }
    }
    lists
}

/// Nodes in the order of heat occur ever less often.
fn check_order(case: &Case, edges: &[(u64, u64)], nodes: usize) -> Result<(), String> {
    if case.node_order != NodeOrder::Hot {
        return Ok(());
    }
    use graphmill_ingest::Directions;
    let mut counts = vec![0_u64; nodes];
    for &(from, to) in edges.iter().filter(|(from, to)| !(case.drop_self_loops && from == to)) {
        match case.directions {
            Directions::In | Directions::OutAndIn => counts[from as usize] += 1,
            Directions::Out => counts[to as usize] += 1,
            Directions::Undirected => {
                counts[from as usize] += 1;
                counts[to as usize] += 1;
            }
        }
    }
    match counts.is_sorted_by(|before, after| before >= after) {
        true => Ok(()),
        false => Err(format!("heat in the order of the nodes: {counts:?}")),
    }
}

fn check_tables(
    case: &Case,
    folder: &Path,
    manifest: &Manifest,
    order: &[Id],
) -> Result<(), String> {
    let node = manifest.node();
    // The rows of nodes that are in the case; further ones are filled.
    let index: BTreeMap<&Id, usize> =
        case.ids.iter().enumerate().map(|(at, id)| (id, at)).collect();
    if let Some(features) = &case.features {
        let (shape, rows) = read_back::table(&folder.join(&node.tables["x"].name));
        let width = features[0].len();
        equal!(shape.rows(), order.len() as u64, "rows of the features");
        let zeros = vec![0.0; width];
        let row = |id| index.get(id).map_or(&zeros, |at| &features[*at]);
        let expected =
            order.iter().flat_map(|id| row(id).iter().flat_map(|cell| cell.to_le_bytes()));
        if rows != expected.collect::<Vec<u8>>() {
            return Err("other features".to_owned());
        }
    }
    if let Some(labels) = &case.labels {
        let (_, rows) = read_back::table(&folder.join(&node.tables["y"].name));
        let found = read_back::integers(&rows);
        match labels {
            Labels::Numbers(labels) => {
                let label = |id| index.get(id).and_then(|at| labels[*at]).unwrap_or(-1);
                equal!(found, order.iter().map(label).collect::<Vec<_>>(), "labels");
            }
            Labels::Words(labels) => {
                let classes = &node.classes["y"];
                let name =
                    |class: &i64| usize::try_from(*class).ok().map(|class| classes[class].clone());
                let found: Vec<Option<String>> = found.iter().map(name).collect();
                let label = |id| index.get(id).map(|at| labels[*at].clone());
                equal!(found, order.iter().map(label).collect::<Vec<_>>(), "classes");
            }
        }
    }
    if let (Some(split), Some(train)) = (&case.split, manifest.splits.get("train")) {
        let (_, rows) = read_back::table(&folder.join(&train.file.name));
        let found = read_back::integers(&rows).into_iter().map(|node| order[node as usize].clone());
        let known: HashSet<String> = order.iter().map(Id::text).collect();
        let expected = split.iter().map(|node| case.ids[*node].clone());
        let expected = expected.filter(|id| known.contains(&id.text()));
        equal!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "split");
    }
    if let Some(features) = &case.edge_features {
        let edges = manifest.edges.values().next().ok_or("no edges")?;
        let (_, rows) = read_back::table(&folder.join(&edges.tables["edge_attr"].name));
        let expected = features.iter().flatten().flat_map(|cell| cell.to_le_bytes());
        if rows != expected.collect::<Vec<u8>>() {
            return Err("other features of edges".to_owned());
        }
    }
    Ok(())
}
