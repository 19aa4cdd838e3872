//! Verification finds lists that are right by themselves and contradict each other, the header or the dataset.

use crate::sample_files::{budget, dataset, edges, graph_with, lie, put};
use crate::verify::faults;
use graphmill_disk::Budget;
use graphmill_format::manifest::{FileEntry, Manifest};
use graphmill_format::{
    Direction, ElementType, Encoding, Header, ListOrder, SectionKind, TableShape,
};
use graphmill_ingest::{
    DatasetWriter, Directions, GraphOptions, MemoryEdges, write_graph, write_table,
};
use graphmill_rounds::rounds;
use graphmill_store::Dataset;
use graphmill_store::verify::verify;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

/// Edges as sources, destinations, ids and times, ascending: what any two sets of lists must agree in.
type Edges = Vec<(u64, u64, i64, i64)>;

fn words<const N: usize>(
    header: &Header,
    bytes: &[u8],
    kind: SectionKind,
    of: Direction,
) -> Vec<[u8; N]> {
    let section = header.section(kind, Some(of)).unwrap();
    bytes[section.offset as usize..section.end() as usize].as_chunks().0.to_vec()
}

/// The edges that lists of `stored` hold, whose owners are sources where they are read as out-lists.
fn edges_of(header: &Header, bytes: &[u8], stored: Direction, as_out: bool) -> Edges {
    let offsets = words::<8>(header, bytes, SectionKind::Offsets, stored);
    let offsets: Vec<_> =
        offsets.into_iter().map(|word| u64::from_le_bytes(word) as usize).collect();
    let neighbours = words::<4>(header, bytes, SectionKind::Neighbours, stored);
    let ids = words::<8>(header, bytes, SectionKind::EdgeIds, stored);
    let times = words::<8>(header, bytes, SectionKind::EdgeTimes, stored);
    let mut edges = Edges::new();
    for (owner, range) in offsets.windows(2).enumerate() {
        for at in range[0]..range[1] {
            let (owner, other) = (owner as u64, i32::from_le_bytes(neighbours[at]) as u64);
            let (source, destination) = if as_out { (owner, other) } else { (other, owner) };
            edges.push((
                source,
                destination,
                i64::from_le_bytes(ids[at]),
                i64::from_le_bytes(times[at]),
            ));
        }
    }
    edges.sort_unstable();
    edges
}

fn agree(header: &Header, bytes: &[u8], directions: Directions) -> bool {
    let (one, other) = match directions {
        Directions::Undirected => (Direction::Both, Direction::Both),
        _ => (Direction::Out, Direction::In),
    };
    edges_of(header, bytes, one, true) == edges_of(header, bytes, other, false)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(rounds(300) as u32))]

    #[test]
    fn lists_are_sound_if_and_only_if_they_hold_the_same_edges(
        links in prop::collection::vec((0_i64..6, 0_i64..6), 1..40),
        is_undirected in any::<bool>(),
        is_packed in any::<bool>(),
        changes in prop::collection::vec((0_usize..3, any::<bool>(), any::<prop::sample::Index>(), 0_u8..6), 1..3),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.gl");
        let (sources, destinations): (Vec<i64>, Vec<i64>) = links.iter().copied().unzip();
        let times: Vec<i64> = (0..links.len() as i64).map(|at| at % 3).collect();
        let directions = if is_undirected { Directions::Undirected } else { Directions::OutAndIn };
        let edges = MemoryEdges::new(&sources, &destinations, Some(6)).unwrap();
        let encoding = if is_packed { Encoding::Packed } else { Encoding::I32 };
        let options = GraphOptions::new().directions(directions).order(ListOrder::File).edge_ids(true);
        let options = options.times(&times).encoding(encoding);
        write_graph(&path, &edges, &options, &budget(), true).unwrap();
        let report = verify(&path).unwrap();
        prop_assert!(report.is_sound(), "{}", faults(&report));
        let mut expected = true;
        lie(&path, |header, bytes| {
            for (kind, is_first, index, value) in changes {
                let of = match (directions, is_first) {
                    (Directions::Undirected, _) => Direction::Both,
                    (_, true) => Direction::Out,
                    _ => Direction::In,
                };
                // Of packed lists the rest is plain.
                let kind = if is_packed { kind.max(1) } else { kind };
                let kind = [SectionKind::Neighbours, SectionKind::EdgeIds, SectionKind::EdgeTimes][kind];
                let section = *header.section(kind, Some(of)).unwrap();
                let at = index.index(section.count as usize) * section.element.width() as usize;
                bytes[section.offset as usize + at] = value;
            }
            expected = is_packed || agree(header, bytes, directions);
        });
        let report = verify(&path).unwrap();
        if is_packed {
            expected = agree_as_read(&path);
        }
        prop_assert_eq!(report.is_sound(), expected, "{}", faults(&report));
    }
}

/// The same by the store's own lists, for those that are packed.
fn agree_as_read(path: &Path) -> bool {
    let graph = graphmill_store::Graph::open(path).unwrap();
    let read = |direction: Direction, as_out: bool| {
        let lists = graph.lists(direction).unwrap();
        let mut edges = Edges::new();
        for owner in 0..graph.num_nodes() {
            for at in lists.range(owner).unwrap() {
                let other = lists.neighbour(at).unwrap();
                let (source, destination) = if as_out { (owner, other) } else { (other, owner) };
                let (ids, times) = (lists.edge_ids().unwrap(), lists.edge_times().unwrap());
                edges.push((source, destination, ids[at], times[at]));
            }
        }
        edges.sort_unstable();
        edges
    };
    read(Direction::Out, true) == read(Direction::In, false)
}

#[test]
fn in_lists_that_contradict_out_lists_are_named_by_a_node() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.gl");
    // Large enough for several pieces, threads and passes of the search.
    let count = 200_000_i64;
    let sources: Vec<i64> = (0..3 * count).map(|at| at * 7919 % count).collect();
    let destinations: Vec<i64> = (0..3 * count).map(|at| at * at % count).collect();
    let edges = MemoryEdges::new(&sources, &destinations, Some(count as u64)).unwrap();
    for encoding in [Encoding::I32, Encoding::I64, Encoding::Packed] {
        for directions in [Directions::OutAndIn, Directions::Undirected] {
            let options = GraphOptions::new().directions(directions).encoding(encoding);
            let options = options.order(ListOrder::File).edge_ids(true);
            write_graph(&path, &edges, &options, &Budget::new(256 << 20), true).unwrap();
            let report = verify(&path).unwrap();
            assert!(report.is_sound(), "{}", faults(&report));
            let of = match directions {
                Directions::Undirected => Direction::Both,
                _ => Direction::In,
            };
            let mut expected = String::new();
            lie(&path, |header, bytes| {
                let section = *header.section(SectionKind::EdgeIds, Some(of)).unwrap();
                let at = section.count as usize / 2;
                put(bytes, &section, at, &1_i64.to_le_bytes());
                expected = "of node ".to_owned();
            });
            let report = verify(&path).unwrap();
            assert_eq!(report.faults.len(), 1, "{encoding:?} {directions:?}");
            assert!(faults(&report).contains(&expected), "{}", faults(&report));
        }
    }
}

#[test]
fn an_edge_that_only_one_end_knows_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.gl");
    for (directions, of) in
        [(Directions::OutAndIn, Direction::In), (Directions::Undirected, Direction::Both)]
    {
        graph_with(&path, directions, ListOrder::File);
        assert!(verify(&path).unwrap().is_sound());
        lie(&path, |header, bytes| {
            let section = *header.section(SectionKind::Neighbours, Some(of)).unwrap();
            let last = section.count as usize - 1;
            // Of node 4, whose only neighbour was itself.
            put(bytes, &section, last, &3_i32.to_le_bytes());
        });
        let report = verify(&path).unwrap();
        assert_eq!(report.faults.len(), 1, "{}", faults(&report));
        let text = faults(&report);
        assert!(text.contains("of node 3") || text.contains("of node 4"), "{text}");
    }
}

#[test]
fn time_order_without_times_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.gl");
    graph_with(&path, Directions::Out, ListOrder::File);
    let mut bytes = fs::read(&path).unwrap();
    // The order within lists, of the description of the header.
    bytes[81] = 1;
    let checksum = crc32c(&bytes[..4092]);
    bytes[4092..4096].copy_from_slice(&checksum.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    let report = verify(&path).unwrap();
    assert!(faults(&report).contains("order of time without times"), "{}", faults(&report));
}

fn crc32c(bytes: &[u8]) -> u32 {
    let step = |sum: u32, _| if sum & 1 == 1 { sum >> 1 ^ 0x82f6_3b78 } else { sum >> 1 };
    !bytes.iter().fold(!0, |sum: u32, &byte| (0..8).fold(sum ^ u32::from(byte), step))
}

/// Writes the manifest of a dataset anew after `change`, as a forger would.
fn forge(folder: &Path, change: impl FnOnce(&mut Manifest)) {
    let path = folder.join("dataset.json");
    let mut manifest = Manifest::parse(&fs::read(&path).unwrap()).unwrap();
    change(&mut manifest);
    fs::write(&path, manifest.encode()).unwrap();
}

fn entry_of(path: &Path) -> FileEntry {
    let bytes = fs::read(path).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    FileEntry::new(name, bytes.len() as u64, &bytes[..4096])
}

#[test]
fn a_manifest_that_says_undirected_of_directed_lists_is_found_and_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d");
    dataset(&path, 1);
    forge(&path, |manifest| {
        manifest.edges.values_mut().for_each(|edges| edges.undirected = true);
    });
    let report = verify(&path).unwrap();
    assert!(faults(&report).contains("undirected"), "{}", faults(&report));
    let error = Dataset::open(&path, budget()).unwrap_err().to_string();
    assert!(error.contains("undirected"), "{error}");
}

#[test]
fn edge_ids_beyond_the_rows_of_the_source_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d");
    let mut writer = DatasetWriter::begin(&path, false).unwrap();
    writer.graph(&edges(), &GraphOptions::new().edge_ids(true), &budget()).unwrap();
    let shape = TableShape::vector(6, ElementType::U8).unwrap();
    writer.edge_table("w", shape, |table| table.write_rows(&[1; 6])).unwrap();
    writer.publish().unwrap();
    assert!(verify(&path).unwrap().is_sound());
    let graph = path.join("graph.1.gl");
    lie(&graph, |header, bytes| {
        for direction in [Direction::Out, Direction::In] {
            let section = *header.section(SectionKind::EdgeIds, Some(direction)).unwrap();
            let at = section.offset as usize..section.end() as usize;
            for id in bytes[at].as_chunks_mut::<8>().0 {
                if i64::from_le_bytes(*id) == 5 {
                    *id = 6_i64.to_le_bytes();
                }
            }
        }
    });
    // By itself the file is sound: nobody knows how many rows there were.
    assert!(verify(&graph).unwrap().is_sound());
    forge(&path, |manifest| {
        manifest.edges.values_mut().for_each(|edges| edges.graph = entry_of(&graph));
    });
    let report = verify(&path).unwrap();
    assert!(faults(&report).contains("found edge id 6"), "{}", faults(&report));
}

#[test]
fn a_split_with_padded_rows_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d");
    dataset(&path, 1);
    let split = path.join("split-train.1.gd");
    let shape = TableShape::vector(2, ElementType::I64).unwrap().with_aligned_rows().unwrap();
    let rows = [0_i64, 3].map(|id| Ok(id.to_le_bytes().to_vec()));
    write_table(&split, shape, rows, true).unwrap();
    forge(&path, |manifest| {
        manifest.splits.values_mut().for_each(|train| train.file = entry_of(&split));
    });
    let report = verify(&path).unwrap();
    assert!(faults(&report).contains("without padding"), "{}", faults(&report));
}
