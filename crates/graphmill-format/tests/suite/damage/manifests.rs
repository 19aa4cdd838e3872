//! A manifest whose text was changed is refused, or says the same as before (a space may become a line end).

use super::sample::{self, Random};
use graphmill_format::manifest::{EdgeType, FEATURES, FileEntry, NODE_TYPE, Split};
use graphmill_format::{Error, ErrorKind, Manifest};
use std::collections::BTreeMap;

fn example() -> Manifest {
    let file = |name: &str| FileEntry::new(name, 40_960, &sample::graph());
    let edges = EdgeType {
        count: 7,
        source_rows: 7,
        undirected: false,
        graph: file("graph.12.gl"),
        tables: BTreeMap::from([("since".to_owned(), file("edge-since.12.gd"))]),
    };
    let mut manifest = Manifest::new(12, 5, edges);
    let node = manifest.nodes.get_mut(NODE_TYPE).unwrap();
    node.tables.insert(FEATURES.to_owned(), file("x.12.gd"));
    let split =
        Split { node_type: NODE_TYPE.to_owned(), count: 3, file: file("split-train.12.gd") };
    manifest.splits.insert("train".to_owned(), split);
    manifest
}

#[track_caller]
fn assert_seen_or_same(text: &[u8], expected: &Manifest, what: &dyn std::fmt::Debug) {
    match Manifest::parse(text) {
        Ok(parsed) => assert_eq!(&parsed, expected, "{what:?} changed the meaning unnoticed"),
        Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{what:?}: {error}"),
    }
}

#[test]
fn every_flipped_bit_of_a_manifest_is_seen() {
    let (manifest, mut text) = (example(), example().encode());
    for bit in 0..text.len() * 8 {
        text[bit / 8] ^= 1 << (bit % 8);
        assert_seen_or_same(&text, &manifest, &bit);
        // No single bit lies between two kinds of white space, so here nothing may pass at all.
        assert!(Manifest::parse(&text).is_err(), "bit {bit}");
        text[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn every_other_value_of_every_byte_of_a_manifest_is_seen() {
    let (manifest, mut text) = (example(), example().encode());
    for (at, difference) in (0..text.len()).flat_map(|at| (1..=255).map(move |value| (at, value))) {
        text[at] ^= difference;
        assert_seen_or_same(&text, &manifest, &(at, difference));
        text[at] ^= difference;
    }
}

#[test]
fn two_or_three_flipped_bits_of_a_manifest_are_seen() {
    let (manifest, mut text) = (example(), example().encode());
    let mut random = Random::new(2);
    for _ in 0..sample::random_flips() {
        let bits = random.flip_two_or_three(&mut text);
        assert_seen_or_same(&text, &manifest, &bits);
        bits.iter().for_each(|bit| text[bit / 8] ^= 1 << (bit % 8));
    }
    assert_eq!(Manifest::parse(&text), Ok(manifest), "the damage was undone");
}

#[test]
fn a_truncated_or_grown_manifest_is_refused() {
    let (manifest, text) = (example(), example().encode());
    let end = text.iter().rposition(|&byte| byte == b'}').unwrap() + 1;
    for length in 0..end {
        let error = Manifest::parse(&text[..length]).unwrap_err();
        assert!(matches!(error, Error::Manifest { .. }), "{length}: {error:?}");
        assert!(error.to_string().starts_with("line "), "{length}: {error}");
    }
    for byte in 0..=255_u8 {
        let mut grown = text.clone();
        grown.push(byte);
        let white_space = matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        assert_eq!(Manifest::parse(&grown).is_ok(), white_space, "byte {byte}");
    }
    for added in 1..=4096 {
        assert!(Manifest::parse(&[&text[..], &vec![0; added]].concat()).is_err());
    }
    let twice = [&text[..], &text].concat();
    assert!(Manifest::parse(&twice).is_err());
    assert_eq!(Manifest::parse(&text), Ok(manifest));
}

/// The text of a manifest in which `from` is replaced, with the checksum made right.
fn edited(from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8(example().encode()).unwrap();
    let inner = text.split_once("\"manifest\": ").unwrap().1.strip_suffix("}\n").unwrap();
    assert!(inner.contains(from), "{from:?} is not in {inner}");
    sealed(&inner.replacen(from, to, 1))
}

fn sealed(inner: &str) -> Vec<u8> {
    let checksum = crc32c::crc32c(inner.as_bytes());
    format!("{{\"crc32c\": {checksum},\n\"manifest\": {inner}}}\n").into_bytes()
}

#[test]
fn sealing_alone_changes_nothing() {
    assert_eq!(edited("12", "12"), example().encode());
}

#[test]
fn another_major_version_is_refused_with_its_number() {
    for (found, told) in [("0", 0), ("2", 2), ("65535", u16::MAX), ("65537", u16::MAX)] {
        let error = Manifest::parse(&edited(
            "\"version\": [\n    1",
            &format!("\"version\": [\n    {found}"),
        ));
        assert_eq!(error, Err(Error::Version { place: "version", found: told, expected: 1 }));
    }
    let later = Manifest::parse(&edited("    1,\n    0", "    1,\n    9"));
    assert!(later.is_ok(), "a later minor version is read");
}

#[test]
fn unknown_fields_are_ignored_and_unknown_requirements_refused_by_name() {
    let later = Manifest::parse(&edited("\"generation\"", "\"colour\": \"blue\", \"generation\""));
    assert_eq!(later, Ok(example()));
    let requires = "\"requires\": [\"typed\", \"teleport\"], \"generation\"";
    let error = Manifest::parse(&edited("\"generation\"", requires)).unwrap_err();
    assert_eq!(error, Error::Feature { place: "requires", names: "typed, teleport".to_owned() });
    assert_eq!(error.kind(), ErrorKind::Format);
}

#[test]
fn sealed_lies_are_refused() {
    let lies = [
        ("graphmill-dataset", "other-dataset"),
        ("\"generation\": 12", "\"generation\": -1"),
        ("\"generation\": 12", "\"generation\": 18446744073709551616"),
        ("\"generation\": 12", "\"generation\": 1.5"),
        ("\"count\": 5", "\"count\": \"5\""),
        ("\"count\": 5", "\"colour\": 5"),
        ("\"count\": 5", "\"count\": 5, \"count\": 6"),
        ("\"header_crc32c\": ", "\"header_crc32c\": -"),
        ("\"node\": {", "\"user\": {"),
        ("\"node,to,node\"", "\"user,buys,item\""),
        ("\"node_type\": \"node\"", "\"node_type\": \"item\""),
        ("\"graph.12.gl\"", "\"../graph.12.gl\""),
        ("\"graph.12.gl\"", "\"/graph.12.gl\""),
        ("\"graph.12.gl\"", "\"a\\\\graph.12.gl\""),
        ("\"graph.12.gl\"", "\"graph\\u0000.12.gl\""),
        ("\"x.12.gd\"", "\".x.12.gd\""),
        ("\"x.12.gd\"", "\"dataset.json\""),
        ("\"split-train.12.gd\"", "null"),
    ];
    for (from, to) in lies {
        let error = Manifest::parse(&edited(from, to)).unwrap_err();
        assert!(matches!(error, Error::Manifest { .. }), "{to}: {error:?}");
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
}

/// Two valid headers of one length must not have one checksum, or a file could be exchanged for another unnoticed.
#[test]
fn an_entry_tells_one_header_from_another() {
    let header = sample::graph();
    let entry = FileEntry::new("graph.1.gl", 40_960, &header);
    for bit in 0..sample::CHECKSUM * 8 {
        let other = sample::edited(&header, &[(bit / 8, &[header[bit / 8] ^ 1 << (bit % 8)])]);
        assert_ne!(FileEntry::new("graph.1.gl", 40_960, &other), entry, "bit {bit}");
    }
    let table = FileEntry::new("graph.1.gl", 40_960, &sample::table());
    assert_ne!(table.header_crc32c, entry.header_crc32c);
    let whole_file = [&header[..], &[7; 9000]].concat();
    assert_eq!(FileEntry::new("graph.1.gl", 40_960, &whole_file), entry, "only the header counts");
}

#[test]
fn a_manifest_that_could_exhaust_stack_or_memory_is_refused() {
    for depth in [200, 100_000] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(Manifest::parse(&sealed(&deep)).is_err());
        assert!(Manifest::parse("{\"manifest\":".repeat(depth).as_bytes()).is_err());
        let hidden = format!("\"deep\": {deep}, \"generation\"");
        let _ = Manifest::parse(&edited("\"generation\"", &hidden));
    }
    let mut long = example().encode();
    long.resize((16 << 20) + 1, b' ');
    let error = Manifest::parse(&long).unwrap_err();
    assert!(error.to_string().contains("16777217 bytes, expected at most 16777216"), "{error}");
    long.pop();
    assert_eq!(Manifest::parse(&long), Ok(example()));
}
