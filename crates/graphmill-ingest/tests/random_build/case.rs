//! What a random build is of, and with which options.

use std::collections::HashSet;

use graphmill_format::{Encoding, ListOrder};
use graphmill_ingest::build::{BuildOptions, NodeOrder, SourceIds};
use graphmill_ingest::source::Column;
use graphmill_ingest::{Directions, EdgeSortOptions};

use crate::numbers::Numbers;

/// What a node is called in the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Id {
    Number(u64),
    Word(String),
}

impl Id {
    pub fn text(&self) -> String {
        match self {
            Id::Number(number) => number.to_string(),
            Id::Word(word) => word.clone(),
        }
    }

    pub fn number(&self) -> u64 {
        match self {
            Id::Number(number) => *number,
            Id::Word(word) => panic!("{word:?} is no number"),
        }
    }
}

/// An edge between nodes of the case, by index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub weight: f32,
    pub time: i64,
}

#[derive(Clone, Debug)]
pub struct Case {
    pub kind: SourceIds,
    /// All nodes that there may be, ascending.
    pub ids: Vec<Id>,
    /// In the order of the source.
    pub edges: Vec<Edge>,
    pub weighted: bool,
    pub timed: bool,
    pub edge_ids: bool,
    pub directions: Directions,
    pub list_order: ListOrder,
    pub encoding: Encoding,
    pub dedup: bool,
    pub drop_self_loops: bool,
    pub add_self_loops: bool,
    pub node_order: NodeOrder,
    pub num_nodes: u64,
    /// Rows of features by node, if there are features; so many columns each.
    pub features: Option<Vec<Vec<f32>>>,
    /// A class or a number for each node; None is a missing one.
    pub labels: Option<Labels>,
    /// Nodes of a split, by index.
    pub split: Option<Vec<usize>>,
    /// Rows of the edges.
    pub edge_features: Option<Vec<Vec<f32>>>,
}

#[derive(Clone, Debug)]
pub enum Labels {
    Numbers(Vec<Option<i64>>),
    Words(Vec<String>),
}

impl Case {
    pub fn random(random: &mut Numbers) -> Self {
        let kind = [SourceIds::Numbers, SourceIds::Integers, SourceIds::Text][random.below(3)];
        let most = if random.below(4) == 0 { 400 } else { 30 };
        let count = 1 + random.below(most);
        let ids = ids(kind, count, random);
        let count = ids.len();
        let most = if random.below(4) == 0 { 3000 } else { 120 };
        let rows = 3 + random.below(most);
        let hub = random.below(count);
        let edges = (0..rows).map(|_| {
            let end = |random: &mut Numbers| {
                if random.below(5) == 0 { hub } else { random.below(count) }
            };
            Edge {
                from: end(random),
                to: end(random),
                weight: random.below(1000) as f32 / 8.0,
                time: random.below(50) as i64 - 10,
            }
        });
        let edges: Vec<Edge> = edges.collect();
        let ends: HashSet<usize> = edges.iter().flat_map(|edge| [edge.from, edge.to]).collect();
        // Ids far apart are refused, unless it is said that there are that many nodes.
        let is_scattered = ends.len() * 2 < count;
        let timed = random.below(3) == 0;
        let orders = [ListOrder::Id, ListOrder::File, ListOrder::Time];
        let directions =
            [Directions::OutAndIn, Directions::Out, Directions::In, Directions::Undirected];
        let encodings = [Encoding::Auto, Encoding::I32, Encoding::I64, Encoding::Packed];
        let nodes = [
            NodeOrder::None,
            NodeOrder::Hot,
            NodeOrder::Visits,
            NodeOrder::Bfs,
            NodeOrder::Community,
        ];
        let (columns, edge_columns) = (1 + random.below(5), 1 + random.below(3));
        let features = (random.below(2) == 0).then(|| matrix(count, columns, random));
        let labels = match random.below(4) {
            0 => Some(Labels::Numbers(
                (0..count).map(|_| (random.below(6) > 0).then(|| random.below(9) as i64)).collect(),
            )),
            1 => Some(Labels::Words(
                (0..count).map(|_| format!("class-{}", random.below(5))).collect(),
            )),
            _ => None,
        };
        let edge_features = (random.below(5) == 0).then(|| matrix(rows, edge_columns, random));
        let add_self_loops = !timed && edge_features.is_none() && random.below(5) == 0;
        Case {
            kind,
            edges,
            weighted: random.below(3) == 0,
            timed,
            edge_ids: random.below(3) == 0,
            directions: directions[random.below(4)],
            list_order: orders[random.below(if timed { 3 } else { 2 })],
            encoding: encodings[random.below(4)],
            dedup: random.below(3) == 0,
            drop_self_loops: random.below(4) == 0,
            add_self_loops,
            node_order: if random.below(2) == 0 { nodes[0] } else { nodes[random.below(5)] },
            num_nodes: match kind {
                SourceIds::Numbers if is_scattered => count as u64,
                SourceIds::Numbers if random.below(3) == 0 => random.below(count + 20) as u64,
                _ => 0,
            },
            features,
            labels,
            split: (random.below(2) == 0).then(|| shuffled(count, random)),
            edge_features,
            ids,
        }
    }

    pub fn options(&self) -> BuildOptions<'static> {
        let topology = EdgeSortOptions::new()
            .directions(self.directions)
            .order(self.list_order)
            .encoding(self.encoding)
            .edge_ids(self.edge_ids)
            .dedup(self.dedup)
            .drop_self_loops(self.drop_self_loops)
            .add_self_loops(self.add_self_loops)
            .num_nodes(self.num_nodes);
        let options = BuildOptions::new().topology(topology).order(self.node_order).ids(self.kind);
        match self.has_ids_in_tables() {
            true => options.id_column(Column::Name("node_id".to_owned())),
            false => options,
        }
    }

    /// Whether rows of tables say whose they are.
    pub fn has_ids_in_tables(&self) -> bool {
        self.kind != SourceIds::Numbers
    }

    /// Whether a table names every node.
    pub fn has_tables(&self) -> bool {
        self.features.is_some() || self.labels.is_some()
    }

    /// Whether stored edges say which row they were.
    pub fn has_rows(&self) -> bool {
        self.edge_ids || self.weighted || self.timed || self.edge_features.is_some()
    }
}

fn matrix(rows: usize, columns: usize, random: &mut Numbers) -> Vec<Vec<f32>> {
    let cell = |random: &mut Numbers| random.below(4000) as f32 / 4.0 - 500.0;
    (0..rows).map(|_| (0..columns).map(|_| cell(random)).collect()).collect()
}

/// Some of the numbers below `count`, each once, in any order.
pub fn shuffled(count: usize, random: &mut Numbers) -> Vec<usize> {
    let mut all: Vec<usize> = (0..count).collect();
    for at in (1..count).rev() {
        all.swap(at, random.below(at + 1));
    }
    all.truncate(1 + random.below(count));
    all
}

fn ids(kind: SourceIds, count: usize, random: &mut Numbers) -> Vec<Id> {
    let mut ids: Vec<Id> = match kind {
        SourceIds::Integers => {
            let limit = [1_u64 << 20, 1 << 33, (1 << 63) - 1][random.below(3)];
            (0..count).map(|_| Id::Number(random.next() % limit)).collect()
        }
        SourceIds::Text => (0..count).map(|_| Id::Word(word(random))).collect(),
        _ => (0..count as u64).map(Id::Number).collect(),
    };
    ids.sort();
    ids.dedup();
    ids
}

/// A word that some readers may stumble over, but that begins and ends with a letter.
fn word(random: &mut Numbers) -> String {
    let letters: Vec<char> = "abcxyzABC0123456789éß漢".chars().collect();
    let inner: Vec<char> = "abc019-_./:'é漢\u{1F600}".chars().collect();
    let mut word = String::from("n");
    word.extend((0..random.below(12)).map(|_| inner[random.below(inner.len())]));
    if random.below(50) == 0 {
        word.push_str(&"long".repeat(300));
    }
    word.push(letters[random.below(letters.len())]);
    word
}
