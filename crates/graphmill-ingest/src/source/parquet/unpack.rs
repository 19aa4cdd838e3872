//! Pages unpacked into exactly as many bytes as their header says.
//! The buffer is taken once, of that size, and a stream that holds fewer or more bytes is an error: no codec decides
//! how much memory a page takes.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use parquet::basic::Compression;

/// The first bytes of an LZ4 frame, which tells neither how long it is nor how far it unpacks.
const LZ4_FRAME: [u8; 4] = 0x184D_2204_u32.to_le_bytes();

/// Unpacks all of `packed` behind what `into` holds, up to its whole length of `length` bytes.
///
/// The error says what is wrong.
pub(super) fn unpack(
    codec: Compression,
    packed: &[u8],
    mut into: Vec<u8>,
    length: usize,
) -> Result<Vec<u8>, String> {
    let start = into.len();
    into.resize(length, 0);
    let target = into.get_mut(start..).unwrap_or_default();
    if target.is_empty() {
        // Pages of nulls alone may hold nothing, not even an empty stream.
        return Ok(into);
    }
    let found = match codec {
        Compression::UNCOMPRESSED => {
            target.copy_from_slice(packed.get(..target.len()).ok_or("fewer bytes than it says")?);
            packed.len()
        }
        Compression::SNAPPY => {
            // Decoding refuses a target that is too short.
            snap::raw::Decoder::new().decompress(packed, target).map_err(|e| e.to_string())?
        }
        Compression::GZIP(_) => gunzip(packed, target)?,
        Compression::ZSTD(_) => {
            zstd::bulk::decompress_to_buffer(packed, target).map_err(|e| e.to_string())?
        }
        Compression::LZ4_RAW => raw_lz4(packed, target)?,
        Compression::LZ4 if packed.starts_with(&LZ4_FRAME) => {
            return Err("an LZ4 frame, which is not read: write LZ4_RAW".to_owned());
        }
        // Older writers meant what is called LZ4_RAW now.
        Compression::LZ4 => {
            hadoop_lz4(packed, target).map_or_else(|| raw_lz4(packed, target), Ok)?
        }
        Compression::BROTLI(_) | Compression::LZO => {
            return Err(format!("compression {codec}, which is not read"));
        }
    };
    if found != length - start {
        return Err(format!("{found} unpacked bytes instead of {}", length - start));
    }
    Ok(into)
}

/// Whether this module unpacks a codec.
pub(super) fn is_known(codec: Compression) -> bool {
    !matches!(codec, Compression::BROTLI(_) | Compression::LZO)
}

fn raw_lz4(packed: &[u8], target: &mut [u8]) -> Result<usize, String> {
    lz4_flex::block::decompress_into(packed, target).map_err(|error| error.to_string())
}

fn gunzip(packed: &[u8], target: &mut [u8]) -> Result<usize, String> {
    let mut stream = MultiGzDecoder::new(packed);
    let mut found = 0;
    while found < target.len() {
        match stream.read(&mut target[found..]).map_err(|error| error.to_string())? {
            0 => return Ok(found),
            more => found += more,
        }
    }
    let beyond = stream.read(&mut [0]).map_err(|error| error.to_string())?;
    Ok(found + beyond)
}

/// Blocks as Hadoop frames them: both lengths, the highest byte first, before each. None if that is not what it is.
fn hadoop_lz4(packed: &[u8], target: &mut [u8]) -> Option<usize> {
    let (mut rest, mut found) = (packed, 0_usize);
    while !rest.is_empty() {
        let (lengths, behind) = rest.split_first_chunk::<8>()?;
        let [unpacked, length] = [&lengths[..4], &lengths[4..]]
            .map(|bytes| bytes.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)));
        let end = found.checked_add(unpacked)?;
        let block = target.get_mut(found..end)?;
        if raw_lz4(behind.get(..length)?, block) != Ok(unpacked) {
            return None;
        }
        (rest, found) = (&behind[length..], end);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn packed_by_each(bytes: &[u8]) -> Vec<(Compression, Vec<u8>)> {
        let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(bytes).unwrap();
        let lz4 = lz4_flex::block::compress(bytes);
        let lengths = [bytes.len() as u32, lz4.len() as u32].map(u32::to_be_bytes).concat();
        vec![
            (Compression::UNCOMPRESSED, bytes.to_vec()),
            (Compression::SNAPPY, snap::raw::Encoder::new().compress_vec(bytes).unwrap()),
            (Compression::GZIP(Default::default()), gzip.finish().unwrap()),
            (Compression::ZSTD(Default::default()), zstd::bulk::compress(bytes, 1).unwrap()),
            (Compression::LZ4_RAW, lz4.clone()),
            (Compression::LZ4, lz4.clone()),
            (Compression::LZ4, [lengths, lz4].concat()),
        ]
    }

    #[test]
    fn every_codec_gives_back_what_was_packed_and_exactly_that() {
        let bytes: Vec<u8> = (0..5000_u32).map(|number| (number / 7 % 251) as u8).collect();
        for (codec, packed) in packed_by_each(&bytes) {
            let unpacked = unpack(codec, &packed, b"levels".to_vec(), 5006).unwrap();
            assert_eq!(&unpacked[6..], bytes, "{codec}");
            // Another length than the stream has.
            for length in [1, 4999, 5001, 60_000] {
                assert!(unpack(codec, &packed, Vec::new(), length).is_err(), "{codec} {length}");
            }
            // A stream that ends early, and one that is damaged.
            assert!(unpack(codec, &packed[..packed.len() - 9], Vec::new(), 5000).is_err());
            assert!(unpack(codec, b"nothing of the kind", Vec::new(), 5000).is_err(), "{codec}");
        }
    }

    #[test]
    fn a_stream_that_unpacks_further_than_the_header_says_takes_no_more_memory() {
        let (codec, bomb) = packed_by_each(&vec![0; 64 << 20]).remove(2);
        assert!(bomb.len() < 100 << 10);
        let error = unpack(codec, &bomb, Vec::new(), 100).unwrap_err();
        assert_eq!(error, "101 unpacked bytes instead of 100");
    }

    #[test]
    fn frames_and_unknown_codecs_are_refused_in_words() {
        let frame = [&LZ4_FRAME[..], &[0; 40]].concat();
        let error = unpack(Compression::LZ4, &frame, Vec::new(), 10).unwrap_err();
        assert!(error.contains("LZ4_RAW"), "{error}");
        assert!(unpack(Compression::LZO, &[1], Vec::new(), 10).is_err());
        assert!(!is_known(Compression::LZO) && is_known(Compression::LZ4));
    }
}
