//! Packed lists are the lists that plain files have, and lies about them are found.

use crate::sample_files::{budget, lie};
use crate::verify::faults;
use graphmill_disk::Budget;
use graphmill_format::packed::encode;
use graphmill_format::{Direction, Encoding, Section};
use graphmill_ingest::generate::Rmat;
use graphmill_ingest::{Directions, GraphOptions, MemoryEdges, write_graph};
use graphmill_store::verify::verify;
use graphmill_store::{Announce, Error, Graph, Placement, StoredOffsets, inspect};
use std::path::{Path, PathBuf};

const PACKED: Encoding = Encoding::Packed;

/// The same edges twice: plain and packed.
fn twins(folder: &Path) -> [Graph; 2] {
    let edges = Rmat::builder(12, 1 << 17).seed(3).build().unwrap();
    [("plain.gl", Encoding::I32), ("packed.gl", PACKED)].map(|(name, encoding)| {
        let options = GraphOptions::new().encoding(encoding).edge_ids(true);
        write_graph(&folder.join(name), &edges, &options, &budget(), true).unwrap();
        Graph::open(folder.join(name)).unwrap()
    })
}

#[test]
fn packed_lists_are_the_plain_lists() {
    let folder = tempfile::tempdir().unwrap();
    let [plain, packed] = twins(folder.path());
    let placed = packed.clone().placed(Placement::Ram, &Budget::new(64 << 20)).unwrap();
    assert!(placed.copied_bytes() < std::fs::metadata(plain.path()).unwrap().len());
    let announced = packed.clone().announced(Announce::Always);
    for direction in [Direction::In, Direction::Out] {
        let expected = plain.lists(direction).unwrap();
        for graph in [&packed, &placed, &announced] {
            let lists = graph.lists(direction).unwrap();
            let nodes: Vec<u64> = (0..lists.num_nodes() + 3).collect();
            lists.announce_lists(&nodes);
            for node in 0..lists.num_nodes() {
                lists.prefetch_offsets(node * 7);
                let range = lists.range(node).unwrap();
                assert_eq!(range, expected.range(node).unwrap());
                let ids = lists.decode(range.clone()).unwrap();
                assert_eq!(ids, expected.decode(range.clone()).unwrap());
                lists.announce_contents(std::slice::from_ref(&range));
                for (position, id) in range.zip(ids) {
                    lists.prefetch_position(position * 3);
                    assert_eq!(lists.neighbour(position).unwrap() as i64, id);
                }
            }
            let asked: Vec<i64> = (0..300).map(|at| at * 7919 % lists.num_nodes() as i64).collect();
            let mut ranges = Vec::new();
            lists.ranges(&asked, &mut ranges).unwrap();
            let wanted: Vec<_> = asked.iter().map(|&node| expected.range(node as u64)).collect();
            assert_eq!(ranges, wanted.into_iter().collect::<Result<Vec<_>, _>>().unwrap());
            let wanted = ranges.iter().flat_map(|list| expected.decode(list.clone()).unwrap());
            let wanted: Vec<i64> = wanted.collect();
            let mut found = vec![-1; wanted.len()];
            lists.read_lists(&ranges, &mut found).unwrap();
            assert_eq!(found, wanted);
            for wrong in [lists.num_nodes() as i64, -1] {
                assert!(lists.ranges(&[0, wrong], &mut ranges).is_err());
            }
            // In any order, with runs and repetitions.
            let count = lists.neighbours().len();
            let mut positions: Vec<usize> = (0..2000).map(|at| at * 7919 % count).collect();
            positions.extend(100..300);
            positions.extend([5, 5, 6, 7, 5]);
            lists.neighbours().prefetch(&positions);
            lists.announce_edges(&positions.iter().map(|&at| at as u64).collect::<Vec<_>>());
            let (mut found, mut wanted) = (Vec::new(), Vec::new());
            lists.neighbours().read(&positions, &mut found);
            expected.neighbours().read(&positions, &mut wanted);
            assert_eq!(found, wanted);
            assert!(matches!(lists.range(lists.num_nodes()), Err(Error::OutOfRange { .. })));
        }
    }
    assert_eq!(
        inspect::degrees(&plain, Direction::In).unwrap(),
        inspect::degrees(&packed, Direction::In).unwrap()
    );
    assert_eq!((inspect::encoding(&plain), inspect::encoding(&packed)), ("int32", "packed"));
    let bits = [&plain, &packed].map(|graph| inspect::bits_per_edge(graph).unwrap());
    assert!(bits[1] < bits[0] / 2.0, "{bits:?}");
}

#[test]
fn offsets_can_be_read_without_a_map() {
    let folder = tempfile::tempdir().unwrap();
    let [plain, packed] = twins(folder.path());
    let [plain, packed] = [plain, packed].map(|graph| {
        let file = graphmill_disk::open(graph.path(), graphmill_disk::Backend::Pread).unwrap();
        let lists = graph.sections(Direction::In).unwrap();
        let mut offsets = StoredOffsets::new(file.as_ref(), lists, graph.num_nodes());
        let mut all = Vec::new();
        offsets.read(0..offsets.count(), |some| all.extend_from_slice(some)).unwrap();
        assert_eq!(offsets.at(77).unwrap(), all[77]);
        all
    });
    assert_eq!(plain, packed);
    assert_eq!(plain.len(), (1 << 12) + 1);
}

#[test]
fn a_view_of_packed_lists_is_refused_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let [plain, packed] = twins(folder.path());
    plain.plain_sections(Direction::Out).unwrap();
    let text = packed.plain_sections(Direction::Out).unwrap_err().to_string();
    assert!(text.contains("neighbors(id)") && text.contains("encoding i32"), "{text}");
}

#[test]
fn sound_packed_files_are_sound() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.gl");
    for edges in [0_usize, 1, 40] {
        let ends: Vec<i64> = (0..edges as i64).map(|edge| edge * edge % 17).collect();
        let edges = MemoryEdges::new(&ends, &ends, Some(20)).unwrap();
        for directions in [Directions::OutAndIn, Directions::Undirected] {
            let options = GraphOptions::new().encoding(PACKED).directions(directions);
            write_graph(&path, &edges, &options, &budget(), true).unwrap();
            let report = verify(&path).unwrap();
            assert!(report.is_sound(), "{}", faults(&report));
        }
    }
    let [_, packed] = twins(folder.path());
    let report = verify(packed.path()).unwrap();
    assert!(report.is_sound(), "{}", faults(&report));
}

/// Five nodes: 0: 1 4, 1: 0 2 3, 2: none, 3: 3, 4: 0.
const OFFSETS: [u64; 6] = [0, 2, 5, 5, 6, 7];
const NEIGHBOURS: [u64; 7] = [1, 4, 0, 2, 3, 3, 0];

fn five_nodes(folder: &Path) -> PathBuf {
    let path = folder.join("five.gl");
    let (sources, destinations) = ([0_i64, 0, 1, 1, 1, 3, 4], [1_i64, 4, 0, 2, 3, 3, 0]);
    let edges = MemoryEdges::new(&sources, &destinations, Some(5)).unwrap();
    let options = GraphOptions::new().encoding(PACKED).directions(Directions::Out);
    write_graph(&path, &edges, &options, &budget(), true).unwrap();
    path
}

/// Replaces a section by bytes that are not longer.
fn replace(bytes: &mut [u8], section: &Section, with: &[u8]) {
    assert!(with.len() as u64 <= section.length(), "{} > {}", with.len(), section.length());
    let all = &mut bytes[section.offset as usize..section.end() as usize];
    all.fill(0);
    all[..with.len()].copy_from_slice(with);
}

#[test]
fn lies_inside_packed_sections_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let lies: [(&str, bool, Vec<u64>); 6] = [
        ("found neighbour 5, expected 0 to 4", false, vec![1, 4, 0, 2, 3, 3, 5]),
        ("found 0 after 4 in one list", false, vec![4, 0, 0, 2, 3, 3, 0]),
        ("found 1 after 2 in one list", false, vec![1, 4, 0, 2, 1, 3, 0]),
        ("found last offset 6, expected 7", true, vec![0, 2, 5, 5, 6, 6]),
        ("found first offset 1, expected 0", true, vec![1, 2, 5, 5, 6, 7]),
        ("found offset 1, expected 2 to 7", true, vec![0, 2, 1, 5, 6, 7]),
    ];
    for (expected, is_offsets, values) in lies {
        let path = five_nodes(folder.path());
        assert!(verify(&path).unwrap().is_sound());
        lie(&path, |header, bytes| {
            let lists = header.graph_layout().unwrap().directions[0];
            let section = if is_offsets { lists.offsets } else { lists.neighbours };
            let truth: &[u64] = if is_offsets { &OFFSETS } else { &NEIGHBOURS };
            let (honest, lying) = (encode(truth).unwrap(), encode(&values).unwrap());
            assert_eq!(bytes[section.offset as usize..section.end() as usize], honest);
            // As long as the truth, or the end of the section would be what is wrong.
            if lying.len() == honest.len() {
                replace(bytes, &section, &lying);
            } else {
                let at = honest.len().min(lying.len());
                replace(bytes, &section, &lying[..at]);
            }
        });
        let report = verify(&path).unwrap();
        let found = faults(&report);
        let is_named = found.contains(expected)
            || found.contains("bytes, expected")
            || found.contains("no encoder writes")
            || found.contains("places of no blocks");
        assert!(!report.is_sound() && is_named, "{expected}: {found}");
    }
}

/// Any byte of a packed section may be anything: readers answer or fail, and verify finds it, unless the bytes are those of
/// other lists, as sound as the first.
#[test]
fn every_byte_of_packed_sections_may_lie() {
    let folder = tempfile::tempdir().unwrap();
    let path = five_nodes(folder.path());
    let honest = std::fs::read(&path).unwrap();
    let layout = Graph::open(&path).unwrap().layout().clone();
    let mut sound = 0;
    for section in [layout.directions[0].offsets, layout.directions[0].neighbours] {
        for at in section.range() {
            for value in [0, 1, 0x55, 0x80, 0xff] {
                if honest[at as usize] == value {
                    continue;
                }
                std::fs::write(&path, &honest).unwrap();
                lie(&path, |_, bytes| bytes[at as usize] = value);
                let is_sound = verify(&path).unwrap().is_sound();
                let graph = Graph::open(&path).unwrap().announced(Announce::Always);
                let lists = graph.lists(Direction::Out).unwrap();
                if is_sound {
                    let list = |node| lists.decode(lists.range(node).unwrap()).unwrap();
                    let all: Vec<Vec<i64>> = (0..5).map(list).collect();
                    assert!(all.iter().all(|list| list.is_sorted()), "byte {at} = {value}");
                    let ids: Vec<u64> = all.concat().iter().map(|&id| id as u64).collect();
                    assert_ne!(ids, NEIGHBOURS);
                    let stored = std::fs::read(&path).unwrap();
                    assert_eq!(
                        stored[section.offset as usize..section.end() as usize],
                        encode(&ids).unwrap()
                    );
                    sound += 1;
                }
                for node in 0..5 {
                    lists.announce_lists(&[node]);
                    lists.prefetch_offsets(node);
                    let Ok(range) = lists.range(node) else { continue };
                    assert!(range.end <= 7);
                    lists.announce_contents(std::slice::from_ref(&range));
                    if let Ok(ids) = lists.decode(range.clone()) {
                        assert!(ids.iter().all(|id| (0..5).contains(id)));
                    }
                    for position in range {
                        lists.prefetch_position(position);
                        assert!(
                            lists.neighbour(position).is_ok_and(|id| id < 5) || {
                                let error = lists.neighbour(position).unwrap_err();
                                matches!(error, Error::Corrupt { .. })
                            }
                        );
                    }
                }
            }
        }
    }
    assert!(sound < 4, "{sound} changes went unseen");
}
