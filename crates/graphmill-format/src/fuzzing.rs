//! What the fuzzers call: one function per target, each taking any bytes and returning nothing.
//!
//! They live in the library so that plain tests replay the corpus through the same code.

use crate::packed::{self, PackedSequence};
use crate::{Header, Manifest, content, graphzero};

/// A header of ours, and everything that is derived from it.
pub fn header(data: &[u8]) {
    // The first eight bytes choose the file's length, so that the fuzzer can make it agree with the header.
    let Some((length, bytes)) = data.split_first_chunk::<8>() else { return };
    if let Ok(header) = Header::parse(bytes, u64::from_le_bytes(*length)) {
        let _ = header.graph_layout();
        let _ = header.table_shape();
        assert_eq!(
            header.encode(),
            bytes[..header.encode().len()],
            "a header that is accepted has one spelling"
        );
    }
}

/// A header of ours with its checksum made right, so that the checks behind it are reached.
pub fn sealed_header(data: &[u8]) {
    let Some((length, bytes)) = data.split_first_chunk::<8>() else { return };
    let Some(bytes) = bytes.get(..4092) else { return };
    let mut sealed = bytes.to_vec();
    sealed.extend(crc32c::crc32c(bytes).to_le_bytes());
    header(&[&length[..], &sealed].concat());
}

/// Offsets and neighbours as a hostile file would have them.
pub fn offsets(data: &[u8]) {
    let words: Vec<u64> =
        data.as_chunks::<8>().0.iter().map(|chunk| u64::from_le_bytes(*chunk)).collect();
    let Some((&limit, offsets)) = words.split_first() else { return };
    let bad = content::first_bad_offset(0, offsets, limit);
    let slow =
        (0..offsets.len()).find(|&i| offsets[i] > limit || (i > 0 && offsets[i] < offsets[i - 1]));
    assert_eq!(bad, slow);
    let ids: Vec<i64> = offsets.iter().map(|&word| word as i64).collect();
    let slow = ids.iter().position(|&id| id < 0 || id as u64 >= limit);
    assert_eq!(content::first_bad_id(&ids, limit), slow);
}

/// A packed sequence as a hostile file would have it, read in every way; and the same bytes as values to be packed.
pub fn packed(data: &[u8]) {
    let Some((count, bytes)) = data.split_first_chunk::<2>() else { return };
    let count = u64::from(u16::from_le_bytes(*count)) % 3000;
    if let Some(sequence) = PackedSequence::new(bytes, count) {
        let singly: Option<Vec<u64>> = (0..count).map(|index| sequence.get(index)).collect();
        let mut together = Vec::new();
        let is_whole = sequence.read(0..count, |value| together.push(value));
        // A block is read only if all of it is there, a value if its own bytes are.
        if is_whole {
            assert_eq!(Some(&together), singly.as_ref());
            for (index, pair) in together.windows(2).enumerate() {
                assert_eq!(sequence.pair(index as u64), Some((pair[0], pair[1])));
            }
        }
        if sequence.first_bad_block().is_none() {
            assert_eq!(packed::encode(&together).as_deref(), Ok(bytes));
        }
    }
    let words = bytes.as_chunks::<8>().0.iter().take(3000);
    let values: Vec<u64> = words.map(|word| u64::from_le_bytes(*word)).collect();
    if let Ok(encoded) = packed::encode(&values) {
        let sequence = PackedSequence::new(&encoded, values.len() as u64).expect("it is whole");
        assert_eq!(sequence.first_bad_block(), None);
        let read: Option<Vec<u64>> = (0..sequence.len()).map(|index| sequence.get(index)).collect();
        assert_eq!(read, Some(values));
    }
}

/// A manifest.
pub fn manifest(data: &[u8]) {
    if let Ok(manifest) = Manifest::parse(data) {
        assert_eq!(Manifest::parse(&manifest.encode()), Ok(manifest));
    }
}

/// A manifest with its checksum made right, so that what lies behind it is reached.
pub fn sealed_manifest(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let text = text.trim();
    let envelope =
        format!("{{\"crc32c\": {},\n\"manifest\": {text}}}\n", crc32c::crc32c(text.as_bytes()));
    manifest(envelope.as_bytes());
}

/// GraphZero's two headers.
pub fn graphzero(data: &[u8]) {
    let Some((length, bytes)) = data.split_first_chunk::<8>() else { return };
    let length = u64::from_le_bytes(*length);
    if let Ok(layout) = graphzero::parse_graph(bytes, length) {
        assert_eq!(graphzero::encode_graph_header(&layout), bytes[..64]);
    }
    if let Ok((shape, section)) = graphzero::parse_table(bytes, length) {
        assert_eq!(section.length(), shape.length());
    }
}
