//! Verification finds every kind of damage and names its place.

use crate::sample_files::{dataset, lie, put, small_graph, table};
use graphmill_disk::Budget;
use graphmill_format::digest::BLOCK_LENGTH;
use graphmill_format::{Direction, Header, ListOrder, SectionKind};
use graphmill_ingest::MemoryEdges;
use graphmill_ingest::generate::Rmat;
use graphmill_ingest::{
    ConvertOptions, Directions, GraphOptions, TargetFormat, convert, write_graph,
};
use graphmill_rounds::{piece, rounds};
use graphmill_store::verify::{Report, verify};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

pub fn faults(report: &Report) -> String {
    report.faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// A repeatable stream of numbers.
fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    }
}

fn rmat(path: &Path) {
    let edges = Rmat::builder(16, 1 << 20).seed(1).build().unwrap();
    write_graph(path, &edges, &GraphOptions::new(), &Budget::new(64 << 20), true).unwrap();
}

#[test]
fn sound_files_are_sound() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    small_graph(&path("g.gl"));
    rmat(&path("r.gl"));
    table(&path("x.gd"), 300_000, 3, 0.0);
    for name in ["g.gl", "r.gl", "x.gd"] {
        let report = verify(path(name)).unwrap();
        assert!(report.is_sound(), "{}", faults(&report));
        assert_eq!(report.bytes, fs::metadata(path(name)).unwrap().len());
    }
    dataset(&path("d"), 1);
    let report = verify(path("d")).unwrap();
    assert!(report.is_sound(), "{}", faults(&report));
    assert_eq!(report.files, 5);
}

#[test]
fn flipped_bits_are_found_and_their_block_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    table(&path, 200_000, 4, 0.0);
    let length = fs::metadata(&path).unwrap().len();
    let file = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let mut next = numbers(7 + piece());
    for _ in 0..rounds(1000) {
        let (at, bit) = (next(length), next(8));
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 1 << bit], at).unwrap();
        let report = verify(&path).unwrap();
        assert!(!report.is_sound(), "bit {bit} of byte {at}");
        let named = report.faults.iter().any(|fault| fault.bytes.contains(&at));
        assert!(named || at < 4096, "byte {at}: {}", faults(&report));
        file.write_all_at(&byte, at).unwrap();
    }
    assert!(verify(&path).unwrap().is_sound());
}

#[test]
fn every_damaged_block_is_named_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    table(&path, 300_000, 4, 0.0);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    for block in [0, 2, 4] {
        file.write_all_at(b"damage", 4096 + block * BLOCK_LENGTH + 99).unwrap();
    }
    let report = verify(&path).unwrap();
    let places: Vec<_> = report.faults.iter().map(|fault| fault.place.as_str()).collect();
    assert_eq!(places, ["table block 0", "table block 2", "table block 4"]);
}

#[test]
fn lies_behind_right_checksums_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.gl");
    type Change = fn(&Header, &mut Vec<u8>);
    let cases: [(&str, Change); 7] = [
        ("found offset 1, expected 2 to 6", |header, bytes| {
            let section = header.section(SectionKind::Offsets, Some(Direction::Out)).unwrap();
            put(bytes, section, 2, &1_u64.to_le_bytes());
        }),
        ("found offset 900, expected 2 to 6", |header, bytes| {
            let section = header.section(SectionKind::Offsets, Some(Direction::Out)).unwrap();
            put(bytes, section, 2, &900_u64.to_le_bytes());
        }),
        ("found first offset 1, expected 0", |header, bytes| {
            let section = header.section(SectionKind::Offsets, Some(Direction::Out)).unwrap();
            put(bytes, section, 0, &1_u64.to_le_bytes());
        }),
        ("found last offset 5, expected 6", |header, bytes| {
            let section = header.section(SectionKind::Offsets, Some(Direction::In)).unwrap();
            put(bytes, section, 5, &5_u64.to_le_bytes());
        }),
        ("found neighbour -2, expected 0 to 4", |header, bytes| {
            let section = header.section(SectionKind::Neighbours, Some(Direction::Out)).unwrap();
            put(bytes, section, 3, &(-2_i32).to_le_bytes());
        }),
        ("found 0 after 4 in one list, expected ascending ids", |header, bytes| {
            let section = header.section(SectionKind::Neighbours, Some(Direction::Out)).unwrap();
            // List 2 is elements 3 and 4.
            put(bytes, section, 3, &4_i32.to_le_bytes());
        }),
        ("found weight NaN", |header, bytes| {
            let section = header.section(SectionKind::Weights, Some(Direction::Out)).unwrap();
            put(bytes, section, 1, &f32::NAN.to_le_bytes());
        }),
    ];
    for (expected, change) in cases {
        small_graph(&path);
        lie(&path, change);
        let report = verify(&path).unwrap();
        assert!(faults(&report).contains(expected), "{expected:?} not in: {}", faults(&report));
    }
}

#[test]
fn times_that_descend_are_found_where_lists_are_ordered_by_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.gl");
    let edges = MemoryEdges::new(&[0, 0, 0, 1, 1], &[2, 1, 2, 0, 2], None).unwrap();
    for (order, expected) in [(ListOrder::Time, 1), (ListOrder::File, 0)] {
        let options = GraphOptions::new().order(order).times(&[30, 10, 20, 5, 7]);
        let options = options.directions(Directions::Out);
        write_graph(&path, &edges, &options, &Budget::new(1 << 20), true).unwrap();
        assert!(verify(&path).unwrap().is_sound());
        lie(&path, |header, bytes| {
            let section = *header.section(SectionKind::EdgeTimes, Some(Direction::Out)).unwrap();
            put(bytes, &section, 1, &40_i64.to_le_bytes());
        });
        let report = verify(&path).unwrap();
        assert_eq!(report.faults.len(), expected, "{}", faults(&report));
        if expected == 1 {
            let text = "found time 30 after 40 in one list, expected ascending times";
            assert!(faults(&report).contains(text), "{}", faults(&report));
        }
    }
}

#[test]
fn an_unsorted_list_is_found_wherever_it_lies() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.gl");
    let mut next = numbers(3);
    for _ in 0..5 {
        rmat(&path);
        let mut place = 0;
        lie(&path, |header, bytes| {
            let direction = Some(Direction::Out);
            let offsets = *header.section(SectionKind::Offsets, direction).unwrap();
            let neighbours = *header.section(SectionKind::Neighbours, direction).unwrap();
            let number = |bytes: &[u8], node: u64| {
                let at = (offsets.offset + node * 8) as usize;
                u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
            };
            // A list of three or more whose first id is made larger than its second.
            let node = loop {
                let node = next(1 << 16);
                if number(bytes, node + 1) - number(bytes, node) > 2 {
                    break node;
                }
            };
            place = number(bytes, node);
            put(bytes, &neighbours, place as usize, &65535_i32.to_le_bytes());
            put(bytes, &neighbours, place as usize + 1, &0_i32.to_le_bytes());
        });
        let report = verify(&path).unwrap();
        let expected = format!("neighbours.out element {}", place + 1);
        assert!(faults(&report).contains(&expected), "{expected}: {}", faults(&report));
    }
}

#[test]
fn an_unsorted_pair_across_two_blocks_is_found() {
    // One list of more ids than fit into a block of digests.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hub.gl");
    let per_block = (BLOCK_LENGTH / 4) as usize;
    let ids: Vec<i64> = (0..per_block as i64 + 10).collect();
    let sources = vec![3; ids.len()];
    let edges = MemoryEdges::new(&sources, &ids, None).unwrap();
    let options = GraphOptions::new().directions(Directions::Out);
    write_graph(&path, &edges, &options, &Budget::new(64 << 20), true).unwrap();
    assert!(verify(&path).unwrap().is_sound());
    lie(&path, |header, bytes| {
        let section = *header.section(SectionKind::Neighbours, Some(Direction::Out)).unwrap();
        put(bytes, &section, per_block, &0_i32.to_le_bytes());
    });
    let report = verify(&path).unwrap();
    let expected = format!("neighbours.out element {per_block}");
    assert!(faults(&report).contains(&expected), "{}", faults(&report));
}

#[test]
fn padding_that_is_not_zero_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    table(&path, 10, 3, 0.0);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(&[7], 4096 + 500).unwrap();
    let report = verify(&path).unwrap();
    assert_eq!(report.faults.len(), 1);
    assert_eq!(report.faults[0].bytes, 4596..4597);
    assert!(faults(&report).contains("padding after table"), "{}", faults(&report));
}

#[test]
fn graphzero_files_are_checked_by_content() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (folder.path().join("o.gl"), folder.path().join("t.gl"));
    small_graph(&ours);
    convert(&ours, &theirs, &ConvertOptions::new().to(TargetFormat::GraphZero)).unwrap();
    let report = verify(&theirs).unwrap();
    assert!(report.is_sound() && report.without_digests == 1);
    let file = fs::OpenOptions::new().write(true).open(&theirs).unwrap();
    file.write_all_at(&99_i64.to_le_bytes(), 128).unwrap();
    let report = verify(&theirs).unwrap();
    assert!(faults(&report).contains("found neighbour 99, expected 0 to 4"), "{}", faults(&report));
}

#[test]
fn a_dataset_whose_parts_do_not_fit_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    dataset(path, 1);
    let missing = path.join("y.1.gd");
    let kept = fs::read(&missing).unwrap();
    fs::remove_file(&missing).unwrap();
    assert!(faults(&verify(path).unwrap()).contains("y.1.gd"));
    fs::write(&missing, &kept[..kept.len() - 1]).unwrap();
    let text = faults(&verify(path).unwrap());
    assert!(text.contains("dataset.json says") && text.contains("length"), "{text}");
    // A table of another dataset under this one's name: sound in itself, but not the one that was published.
    crate::sample_files::graph_with(&path.join("graph.1.gl"), Directions::Out, ListOrder::Id);
    let text = faults(&verify(path).unwrap());
    assert!(text.contains("graph.1.gl"), "{text}");
    fs::write(path.join("dataset.json"), "{}").unwrap();
    assert!(faults(&verify(path).unwrap()).contains("dataset.json"));
    fs::remove_file(path.join("dataset.json")).unwrap();
    assert!(verify(path).is_err());
}

#[test]
fn a_file_truncated_while_it_is_verified_is_an_error_and_not_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    for round in (0..rounds(20) as u64).map(|round| round % 26) {
        table(&path, 400_000, 4, 0.0);
        let length = fs::metadata(&path).unwrap().len();
        let other = path.clone();
        let cutter = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_micros(round * 50));
            fs::OpenOptions::new().write(true).open(other).unwrap().set_len(length / 3).unwrap();
        });
        let during = verify(&path);
        cutter.join().unwrap();
        assert!(during.is_ok(), "{during:?}");
        assert!(!verify(&path).unwrap().is_sound());
    }
}
