//! Which rows sampling will want most often.
//! Hot rows are chosen by it once per loader, before the first window. The best sources come first: nodes that are in
//! such an order already, the number of lists that a node stands in, the batches that were sampled. It reads topology and
//! no rows.

use crate::Result;
use crate::hot_ids::{Bitmap, HotIds, Marks};
use graphmill_disk::{Pread, ReadAt};
use graphmill_format::{Direction, DirectionSections};
use graphmill_store::{Dataset, StoredOffsets};

/// Degrees above this are all counted as this.
const MOST_DEGREE: u64 = (1 << 16) - 1;
/// Orders of a dataset that put the hottest nodes first.
const HOTTEST_FIRST: [&str; 2] = ["hot", "visits"];

/// How the hottest nodes are found.
#[derive(Debug)]
pub(crate) enum Heat {
    /// They come first.
    Order,
    /// By the length of their lists in the other direction: so often they are a neighbour in this one. Holds where those
    /// lists lie.
    Degrees(DirectionSections),
    /// By how often they occur in batches.
    Batches,
}

impl Heat {
    /// The best way that a dataset offers to those who follow its edges in one direction.
    pub(crate) fn of(dataset: &Dataset, followed: Direction) -> Self {
        // Nodes are put in such an order for message passing, which follows in-edges.
        let order = &*dataset.manifest().order;
        if HOTTEST_FIRST.contains(&order) && followed == Direction::In {
            return Heat::Order;
        }
        let other = if followed == Direction::In { Direction::Out } else { Direction::In };
        match dataset.graph().sections(other) {
            Ok(sections) => Heat::Degrees(*sections),
            Err(_) => Heat::Batches,
        }
    }

    /// Bytes of memory that it takes to know the hottest.
    pub(crate) fn memory(&self, num_nodes: u64) -> u64 {
        if matches!(self, Heat::Order) { 0 } else { Bitmap::memory(num_nodes) }
    }

    /// Bytes of memory that it takes beside that to find them, among so many sampled nodes.
    pub(crate) fn work_memory(&self, sampled: usize) -> u64 {
        match self {
            Heat::Order => 0,
            Heat::Degrees(_) => 8 * (MOST_DEGREE + 1) + StoredOffsets::memory(),
            Heat::Batches => {
                (size_of::<i64>() + 2 * size_of::<(usize, i64)>()) as u64 * sampled as u64
            }
        }
    }

    /// The hottest nodes, `most` of them or fewer; `batches` are the nodes of some batches.
    pub(crate) fn hottest(
        &self,
        dataset: &Dataset,
        most: u64,
        batches: &[&[i64]],
    ) -> Result<HotIds> {
        let num_nodes = dataset.graph().num_nodes();
        if most >= num_nodes {
            return Ok(HotIds::Prefix(num_nodes));
        }
        Ok(match self {
            Heat::Order => HotIds::Prefix(most),
            Heat::Degrees(lists) => {
                let file = Pread::of(dataset.graph().mapped())?;
                HotIds::Scattered(longest_lists(&file, lists, num_nodes, most)?.into())
            }
            Heat::Batches => HotIds::Scattered(most_frequent(batches, num_nodes, most).into()),
        })
    }
}

/// The nodes with the longest lists; among equals those with smaller numbers.
fn longest_lists(
    file: &dyn ReadAt,
    lists: &DirectionSections,
    num_nodes: u64,
    most: u64,
) -> Result<Marks> {
    let mut counts = vec![0_u64; MOST_DEGREE as usize + 1];
    let mut offsets = StoredOffsets::new(file, lists, num_nodes);
    visit_degrees(&mut offsets, |_, degree| counts[degree as usize] += 1)?;
    // All above the limit are hot, and of those at the limit as many as there is room for.
    let (mut limit, mut room) = (MOST_DEGREE, most);
    while limit > 0 && counts[limit as usize] <= room {
        room -= counts[limit as usize];
        limit -= 1;
    }
    let mut marks = Marks::none(num_nodes);
    visit_degrees(&mut offsets, |node, degree| {
        let at_limit = degree == limit && room > 0;
        room -= u64::from(at_limit);
        if degree > limit || at_limit {
            marks.mark(node);
        }
    })?;
    Ok(marks)
}

/// Calls `visit` with every node and the length of its list. Reads large pieces, since the map is advised as random.
fn visit_degrees(offsets: &mut StoredOffsets<'_>, mut visit: impl FnMut(u64, u64)) -> Result<()> {
    let mut before = None;
    let mut node = 0;
    offsets.read(0..offsets.count(), |values| {
        for &value in values {
            if let Some(before) = before.replace(value) {
                // What lies about the order of lists makes a node hot or not, and is found when lists are read.
                visit(node, value.saturating_sub(before).min(MOST_DEGREE));
                node += 1;
            }
        }
    })?;
    Ok(())
}

/// The nodes that occur in most batches; among equals those with smaller numbers.
fn most_frequent(batches: &[&[i64]], num_nodes: u64, most: u64) -> Marks {
    let mut all: Vec<i64> = batches.iter().flat_map(|nodes| nodes.iter().copied()).collect();
    all.sort_unstable();
    let mut counted: Vec<(usize, i64)> =
        all.chunk_by(|one, other| one == other).map(|same| (same.len(), same[0])).collect();
    counted.sort_unstable_by_key(|&(count, node)| (std::cmp::Reverse(count), node));
    let mut marks = Marks::none(num_nodes);
    let nodes = counted.iter().map(|&(_, node)| node as u64);
    nodes.take(most as usize).filter(|&node| node < num_nodes).for_each(|node| marks.mark(node));
    marks
}

#[cfg(test)]
mod tests {
    use super::*;
    use graphmill_disk::{Backend, open};
    use graphmill_format::{GraphShape, Header, PackedLengths};
    use proptest::prelude::*;
    use std::cmp::Reverse;

    fn listed(marks: Marks) -> Vec<u64> {
        HotIds::Scattered(marks.into()).rows().collect()
    }

    fn plain_lists(nodes: u64) -> DirectionSections {
        let header = Header::for_graph(&GraphShape::new(nodes, 0, &[Direction::Out])).unwrap();
        header.graph_layout().unwrap().directions[0]
    }

    fn packed_lists(nodes: u64, offsets: &[u8]) -> DirectionSections {
        let mut shape = GraphShape::new(nodes, 0, &[Direction::Out]);
        let (offsets, neighbours) =
            (offsets.len() as u64, graphmill_format::packed::least_length(0));
        shape.packed = vec![PackedLengths { offsets, neighbours }];
        Header::for_graph(&shape).unwrap().graph_layout().unwrap().directions[0]
    }

    #[test]
    fn only_orders_that_put_the_hottest_first_are_trusted_and_only_along_in_edges() {
        let folder = tempfile::tempdir().unwrap();
        for order in ["none", "hot", "visits", "bfs", "community"] {
            let path = folder.path().join(order);
            let edges = graphmill_ingest::MemoryEdges::new(&[0, 1], &[1, 2], None).unwrap();
            let budget = graphmill_disk::Budget::new(1 << 20);
            let mut writer = graphmill_ingest::DatasetWriter::begin(&path, false).unwrap();
            writer.graph(&edges, &graphmill_ingest::GraphOptions::new(), &budget).unwrap();
            writer.order(order).unwrap();
            writer.publish().unwrap();
            let dataset = Dataset::open(&path, budget).unwrap();
            let heat = |direction| Heat::of(&dataset, direction);
            let is_trusted = matches!(heat(Direction::In), Heat::Order);
            assert_eq!(is_trusted, order == "hot" || order == "visits", "{order}");
            assert!(matches!(heat(Direction::Out), Heat::Degrees(_)), "{order}");
        }
    }

    fn hottest(counts: &[u64], most: usize) -> Vec<u64> {
        let mut nodes: Vec<u64> = (0..counts.len() as u64).collect();
        nodes.sort_by_key(|&node| (Reverse(counts[node as usize]), node));
        nodes.truncate(most);
        nodes.sort_unstable();
        nodes
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_hottest_are_the_first_of_a_sorted_list(
            degrees in prop::collection::vec(prop_oneof![0_u64..6, 0_u64..70_000], 1..200),
            most in 0_usize..220,
        ) {
            let mut sums = vec![0_u64];
            degrees.iter().for_each(|degree| sums.push(sums[sums.len() - 1] + degree));
            let nodes = degrees.len() as u64;
            let plain: Vec<u8> = sums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
            let packed = graphmill_format::packed::encode(&sums).unwrap();
            let counts: Vec<u64> = degrees.iter().map(|&degree| degree.min(MOST_DEGREE)).collect();
            for (lists, offsets) in [(plain_lists(nodes), plain), (packed_lists(nodes, &packed), packed)] {
                let file = tempfile::NamedTempFile::new().unwrap();
                std::fs::write(file.path(), [&[0; 4096][..], &offsets].concat()).unwrap();
                let file = open(file.path(), Backend::Pread).unwrap();
                let found = longest_lists(file.as_ref(), &lists, nodes, most as u64).unwrap();
                prop_assert_eq!(listed(found), hottest(&counts, most));
            }

            // Each degree is the number of a node that occurs.
            let batch: Vec<i64> = degrees.iter().map(|&degree| (degree % nodes) as i64).collect();
            let mut counts = vec![0; degrees.len()];
            batch.iter().for_each(|&node| counts[node as usize] += 1);
            let occurring = counts.iter().filter(|count| **count > 0).count();
            let (one, other) = batch.split_at(batch.len() / 3);
            let found = most_frequent(&[one, other], nodes, most as u64);
            prop_assert_eq!(listed(found), hottest(&counts, most.min(occurring)));
        }
    }
}
