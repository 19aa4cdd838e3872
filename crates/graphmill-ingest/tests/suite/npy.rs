//! `.npy` headers are read as NumPy writes them, and nothing else is let in.

use graphmill_format::ElementType;
use graphmill_ingest::npy::NpyHeader;
use proptest::prelude::*;

/// A file of version `major` with this header text and `data` zeros.
fn file(major: u8, text: &str, data: usize) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([major, 0]);
    match major {
        1 => bytes.extend((text.len() as u16).to_le_bytes()),
        _ => bytes.extend((text.len() as u32).to_le_bytes()),
    }
    bytes.extend(text.bytes());
    bytes.resize(bytes.len() + data, 0);
    bytes
}

fn parse(bytes: &[u8]) -> Result<NpyHeader, String> {
    let start = &bytes[..NpyHeader::needed_bytes(bytes.len() as u64)];
    NpyHeader::parse(start, bytes.len() as u64).map_err(|error| error.to_string())
}

fn text(descr: &str, fortran: &str, shape: &str) -> String {
    format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n")
}

proptest! {
    #[test]
    fn headers_lead_back_to_their_array(
        index in 0_usize..10, shape in proptest::collection::vec(0_u64..2000, 0..5),
    ) {
        let element = ElementType::ALL[index];
        if element == ElementType::Bf16 {
            prop_assert!(NpyHeader::encode(element, &shape).is_err());
            return Ok(());
        }
        let header = NpyHeader::encode(element, &shape).unwrap();
        prop_assert!(header.len().is_multiple_of(64));
        let length = header.len() as u64 + shape.iter().product::<u64>() * element.width();
        let back = NpyHeader::parse(&header, length).unwrap();
        prop_assert_eq!(&back, &NpyHeader { element, shape, data_offset: header.len() as u64 });
        prop_assert!(NpyHeader::parse(&header, length + 1).is_err());
    }

    #[test]
    fn damaged_headers_never_panic(at in 0_usize..80, byte: u8, cut in 0_usize..90) {
        let mut bytes = file(1, &text("'<f4'", "False", "(2, 3)"), 24);
        bytes[at] = byte;
        let _ = parse(&bytes);
        bytes.truncate(cut);
        prop_assert!(parse(&bytes).is_err());
    }
}

#[test]
fn all_versions_and_the_literal_forms_of_numpy_are_read() {
    for major in 1..=3 {
        let header = parse(&file(major, &text("'<f4'", "False", "(2, 3)"), 24)).unwrap();
        assert_eq!((header.element, &header.shape[..]), (ElementType::F32, &[2, 3][..]));
    }
    let reordered = "{\"shape\": (5,), 'fortran_order': False, 'descr': '|b1'}          \n";
    let header = parse(&file(1, reordered, 5)).unwrap();
    assert_eq!((header.element, &header.shape[..]), (ElementType::Bool, &[5][..]));
    assert_eq!(parse(&file(1, &text("'<i8'", "False", "()"), 8)).unwrap().shape, [0; 0]);
}

#[test]
fn attacks_and_foreign_arrays_are_refused_by_name() {
    let refused = |descr: &str, fortran: &str, shape: &str, expected: &str| {
        let error = parse(&file(1, &text(descr, fortran, shape), 24)).unwrap_err();
        assert!(error.contains(expected), "{expected:?} is missing in {error:?}");
    };
    refused("'|O'", "False", "(3,)", "pickled objects are never loaded");
    refused("'>f4'", "False", "(2, 3)", "big-endian");
    refused("'<f4'", "True", "(2, 3)", "ascontiguousarray");
    refused("[('a', '<f4')]", "False", "(6,)", "structured");
    refused("'<c8'", "False", "(3,)", "<c8");
    refused("'<U6'", "False", "(1,)", "<U6");
    refused("'=f4'", "False", "(6,)", "=f4");
    refused("''", "False", "(6,)", "type");
    refused("'<f4'", "False", "(7,)", "96 bytes for shape [7]");
    refused("'<f4'", "False", "(6)", "','");
    refused("'<f4'", "False", "(-6,)", "whole number");
    refused("'<f4'", "False", "(18446744073709551616,)", "whole number");
    refused("'<f4'", "False", "(4294967296, 4294967296)", "a shape that a file can hold");
    refused("'<f4'", "False", "(4611686018427387904,)", "a shape that a file can hold");
    refused("'<f4'", "0", "(6,)", "True or False");
    refused("__import__('os').system('true')", "False", "(6,)", "'\\''");
    refused("'<f4', 'descr': '<f4'", "False", "(6,)", "each once");
    refused("'<f4', 'extra': 1", "False", "(6,)", "extra");
    refused("'<f4'", "False", &format!("({})", "1, ".repeat(65)), "at most 64");
}

#[test]
fn huge_claims_in_small_files_are_refused() {
    let mut bytes = file(2, "{}", 0);
    bytes[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(parse(&bytes).unwrap_err().contains("at most 65536"));
    bytes[8..12].copy_from_slice(&60_000_u32.to_le_bytes());
    assert!(parse(&bytes).unwrap_err().contains("a header up to byte 60012"));
    assert!(parse(&file(4, "{}", 0)).unwrap_err().contains("version 4.0"));
    assert!(parse(b"\x93NUMPY\x01").is_err());
    assert!(parse(b"").is_err());
    assert!(parse(b"PK\x03\x04 a zip").unwrap_err().contains("is this a .npy file?"));
}
