//! Archives with the sizes and offsets of zip64, which members of more than 4 GiB need.

use std::path::Path;
use std::sync::Mutex;

use graphmill_disk::Budget;
use graphmill_format::ElementType;
use graphmill_ingest::npy::NpyHeader;
use graphmill_ingest::source::{EdgeChunk, EdgeInput, EdgeInputOptions};

/// A stored member whose directory entry says everything in 64 bits, as for a huge one.
fn archive(name: &str, data: &[u8]) -> Vec<u8> {
    let mut crc = flate2::Crc::new();
    crc.update(data);
    let (size, length) = (data.len() as u64, name.len() as u16);
    let mut bytes = Vec::new();
    let put = |bytes: &mut Vec<u8>, value: u64, width: usize| {
        bytes.extend_from_slice(&value.to_le_bytes()[..width]);
    };
    let shared = |bytes: &mut Vec<u8>| {
        for (value, width) in [(45, 2), (0, 2), (0, 2), (0, 4), (crc.sum().into(), 4)] {
            put(bytes, value, width);
        }
        put(bytes, u64::MAX, 4);
        put(bytes, u64::MAX, 4);
        put(bytes, length.into(), 2);
    };
    put(&mut bytes, 0x0403_4B50, 4);
    shared(&mut bytes);
    put(&mut bytes, 20, 2);
    bytes.extend_from_slice(name.as_bytes());
    for (value, width) in [(1, 2), (16, 2), (size, 8), (size, 8)] {
        put(&mut bytes, value, width);
    }
    bytes.extend_from_slice(data);
    let directory = bytes.len() as u64;
    put(&mut bytes, 0x0201_4B50, 4);
    put(&mut bytes, 45, 2);
    shared(&mut bytes);
    for (value, width) in [(28, 2), (0, 2), (0, 2), (0, 2), (0, 4), (u64::MAX, 4)] {
        put(&mut bytes, value, width);
    }
    bytes.extend_from_slice(name.as_bytes());
    for (value, width) in [(1, 2), (24, 2), (size, 8), (size, 8), (0, 8)] {
        put(&mut bytes, value, width);
    }
    let end = bytes.len() as u64;
    let (one, span) = (1, end - directory);
    for (value, width) in [
        (0x0606_4B50, 4),
        (44, 8),
        (45, 2),
        (45, 2),
        (0, 4),
        (0, 4),
        (one, 8),
        (one, 8),
        (span, 8),
        (directory, 8),
        (0x0706_4B50, 4),
        (0, 4),
        (end, 8),
        (1, 4),
        (0x0605_4B50, 4),
        (0, 2),
        (0, 2),
        (0xFFFF, 2),
        (0xFFFF, 2),
        (u64::MAX, 4),
        (u64::MAX, 4),
        (0, 2),
    ] {
        put(&mut bytes, value, width);
    }
    bytes
}

fn read(path: &Path) -> graphmill_ingest::Result<Vec<(u64, u64)>> {
    let input = EdgeInput::open(&[path.to_path_buf()], &EdgeInputOptions::new())?;
    let edges = Mutex::new(Vec::new());
    let consume = |chunk: &mut EdgeChunk| {
        let pairs = chunk.sources.iter().copied().zip(chunk.destinations.iter().copied());
        edges.lock().unwrap().extend(pairs);
        Ok(())
    };
    input.read(&Budget::new(16 << 20), &consume, None)?;
    Ok(edges.into_inner().unwrap())
}

#[test]
fn sizes_and_offsets_of_64_bits_are_read_and_their_damage_is_refused() {
    let mut array = NpyHeader::encode(ElementType::I64, &[2, 2]).unwrap();
    array.extend([0_i64, 1, 2, 3].iter().flat_map(|id| id.to_le_bytes()));
    let bytes = archive("edge_index.npy", &array);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.npz");
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(read(&path).unwrap(), [(0, 2), (1, 3)]);
    // Whatever byte of the directory is wrong, the edges are right or refused.
    let directory = bytes.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    for at in directory..bytes.len() {
        for change in [1, 0x80, 0xFF] {
            let mut damaged = bytes.clone();
            damaged[at] ^= change;
            std::fs::write(&path, &damaged).unwrap();
            if let Ok(edges) = read(&path) {
                assert_eq!(edges, [(0, 2), (1, 3)], "byte {at}");
            }
        }
    }
}
