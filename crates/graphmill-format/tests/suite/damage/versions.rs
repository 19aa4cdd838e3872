//! Files of other releases, other machines and other programs.

use super::sample::{self, COMPATIBLE, HEADER_LENGTH_FIELD, INCOMPATIBLE, PAGE, VERSION};
use graphmill_format::{Error, ErrorKind, FileKind, Header};

fn headers() -> [Vec<u8>; 3] {
    [sample::graph(), sample::packed_graph(), sample::table()]
}

/// What a port that forgot about byte order would write: every number reversed, the checksum too.
fn big_endian(header: &[u8]) -> Vec<u8> {
    let mut swapped = header.to_vec();
    let words = [(8, 2), (10, 2), (12, 4), (16, 8), (24, 8), (32, 8), (40, 4), (44, 4), (48, 8)];
    for (at, width) in words {
        swapped[at..at + width].reverse();
    }
    swapped[64..sample::TABLE_END].chunks_mut(8).for_each(<[u8]>::reverse);
    let checksum = crc32c::crc32c(&swapped[..sample::CHECKSUM]);
    sample::put(&mut swapped, sample::CHECKSUM, &checksum.to_be_bytes());
    swapped
}

#[test]
fn a_big_endian_header_is_refused_as_such() {
    for header in headers() {
        let error = Header::parse(&big_endian(&header), 10 * PAGE).unwrap_err();
        assert_eq!((&error, error.kind()), (&Error::ForeignEndian, ErrorKind::Format));
        assert!(error.to_string().contains("byte 12"), "{error}");
        assert!(error.to_string().contains("expected little-endian"), "{error}");
        let swapped = 4096_u32.to_be_bytes();
        let sealed = sample::edited(&header, &[(HEADER_LENGTH_FIELD, &swapped)]);
        assert_eq!(sample::parse(&sealed), Err(Error::ForeignEndian));
    }
}

#[test]
fn another_major_version_is_refused_with_both_numbers() {
    for header in headers() {
        for found in [0_u16, 2, 3, 256, u16::MAX] {
            let edits: [(usize, &[u8]); 1] = [(VERSION, &found.to_le_bytes())];
            let sealed = sample::edited(&header, &edits);
            let mut unsealed = header.clone();
            sample::put(&mut unsealed, VERSION, &found.to_le_bytes());
            // A later major version may place its checksum elsewhere: the version is told before it is looked at.
            for bytes in [sealed, unsealed] {
                let error = sample::parse(&bytes).unwrap_err();
                assert_eq!((&error, error.kind()), (&version(found), ErrorKind::Format));
                let message = error.to_string();
                assert!(
                    message.starts_with(&format!("byte 8: format version {found}, expected 1"))
                );
            }
        }
    }
}

fn version(found: u16) -> Error {
    Error::Version { place: "byte 8", found, expected: 1 }
}

#[test]
fn a_later_minor_version_is_read_and_kept() {
    for header in headers() {
        for minor in [1_u16, 2, 255, 256, u16::MAX] {
            let later = sample::edited(&header, &[(VERSION + 2, &minor.to_le_bytes())]);
            let parsed = sample::parse(&later).unwrap();
            assert_eq!(parsed.version(), (1, minor));
            assert_eq!(parsed.encode(), later);
            assert_eq!(parsed.sections(), sample::parse(&header).unwrap().sections());
        }
    }
}

#[test]
fn unknown_compatible_features_are_ignored_and_kept() {
    for header in headers() {
        for bits in (0..64).map(|bit| 1_u64 << bit).chain([u64::MAX]) {
            let later = sample::edited(&header, &[(COMPATIBLE, &bits.to_le_bytes())]);
            let parsed = sample::parse(&later).unwrap();
            assert_eq!(parsed.encode(), later);
            assert!(parsed.graph_layout().is_ok() || parsed.table_shape().is_ok());
        }
    }
}

#[test]
fn unknown_incompatible_features_are_refused_by_name() {
    for header in headers() {
        let is_graph = FileKind::of(&header) == Some(FileKind::Graph);
        for bit in (0..64).filter(|bit| !(is_graph && *bit == 4)) {
            let name = match bit {
                0 => "feature elias-fano-neighbours (bit 0)".to_owned(),
                1 => "feature elias-fano-offsets (bit 1)".to_owned(),
                2 => "feature typed (bit 2)".to_owned(),
                3 => "feature blocks-with-bases (bit 3)".to_owned(),
                4 => "feature packed-lists (bit 4)".to_owned(),
                other => format!("feature bit {other}"),
            };
            let later = sample::edited(&header, &[(INCOMPATIBLE, &(1_u64 << bit).to_le_bytes())]);
            let error = sample::parse(&later).unwrap_err();
            assert_eq!((&error, error.kind()), (&feature(&name), ErrorKind::Format));
            assert!(error.to_string().contains("byte 16"), "{error}");
            assert!(error.to_string().contains(&name), "{error}");
        }
        let several = (1_u64 << 2 | 1 << 63).to_le_bytes();
        let error = sample::parse(&sample::edited(&header, &[(INCOMPATIBLE, &several)]));
        assert_eq!(error, Err(feature("feature typed (bit 2), feature bit 63")));
    }
}

#[test]
fn packed_lists_are_told_by_their_feature() {
    let header = sample::packed_graph();
    sample::layout(&header).unwrap();
    // Without the bit the sections would be carried along unread.
    let plain = sample::layout(&sample::edited(&header, &[(INCOMPATIBLE, &[0; 8])]));
    assert!(matches!(plain, Err(Error::MissingSection { .. })), "{plain:?}");
}

#[test]
fn packed_sections_are_bytes_and_have_room_for_their_directory() {
    let header = sample::packed_graph();
    for (section, found) in [(0, "compact-offsets.out"), (1, "packed-neighbours.out")] {
        let at = sample::entry(section);
        let length = 127_u64.to_le_bytes();
        let edits: [(usize, &[u8]); 2] =
            [(at + sample::LENGTH, &length), (at + sample::COUNT, &length)];
        let short = sample::layout(&sample::edited(&header, &edits)).unwrap_err();
        assert!(short.to_string().contains(&format!("{found} of 127 x uint8")), "{short}");
        assert!(short.to_string().contains("at least 128 x uint8"), "{short}");
        let signed = sample::edited(&header, &[(at + sample::ELEMENT, &[1])]);
        assert!(sample::layout(&signed).unwrap_err().to_string().contains("x int8"));
    }
}

fn feature(names: &str) -> Error {
    Error::Feature { place: "byte 16", names: names.to_owned() }
}

#[test]
fn a_section_of_an_unknown_kind_is_carried_along_unread() {
    let (weights, code) = (sample::entry(3), 999_u16.to_le_bytes());
    let later = sample::edited(&sample::graph(), &[(weights + sample::KIND, &code)]);
    let parsed = sample::parse(&later).unwrap();
    assert_eq!(parsed.encode(), later);
    assert_eq!((parsed.sections()[3].kind, parsed.sections()[3].count), (None, 7));
    assert_eq!(parsed.sections()[3].to_string(), "kind-999.out");
    assert_eq!(parsed.graph_layout().unwrap().directions[0].weights, None);
}

#[test]
fn other_files_are_told_apart_by_their_first_bytes() {
    let mut copied_as_text = sample::graph();
    copied_as_text.remove(4);
    let starts: [(&[u8], &str); 7] = [
        (b"", "an empty file"),
        (b"\x89", "\\x89"),
        (b"\x89GML\r\n\x1a", "\\x89GML\\r\\n\\x1a"),
        (b"\x89PNG\r\n\x1a\n and so on", "\\x89PNG\\r\\n\\x1a\\n"),
        (b"graphlit and so on", "graphlit"),
        (b"GZDATA26 and so on", "GZDATA26"),
        (&copied_as_text, "\\x89GML\\n\\x1a\\n"),
    ];
    for (bytes, found) in starts {
        let error = Header::parse(bytes, bytes.len() as u64).unwrap_err();
        assert!(matches!(error, Error::Magic { .. }), "{error:?}");
        assert_eq!(error.kind(), ErrorKind::Format);
        let message = error.to_string();
        let parts = ["byte 0: not a graphmill file (.gl or .gd)", found];
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
}

#[test]
fn a_table_is_not_a_graph_and_a_graph_is_not_a_table() {
    let graph = sample::layout(&sample::table()).unwrap_err();
    assert!(graph.to_string().contains("byte 0: not a graphmill topology (.gl)"), "{graph}");
    let table = sample::shape(&sample::graph()).unwrap_err();
    assert!(table.to_string().contains("byte 0: not a graphmill table (.gd)"), "{table}");
}
