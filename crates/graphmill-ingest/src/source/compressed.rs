//! Compressed text, unpacked as a stream.
//! gzip (with all its members) and zstd (with all its frames) are told by their first bytes, never
//! by a name; what comes out feeds the same parsers as plain text. It must not know what the bytes
//! mean.

use std::io::{self, BufRead, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use graphmill_disk::{Budget, PageBuffer, ReadAt, Reservation};

use super::zstd_frames::ZstdFrames;
use crate::{Error, Result};

/// Compressed bytes read at a time.
const PIECE: usize = 256 << 10;
/// What a piece of packed bytes and the state of gzip or deflate take.
pub(crate) const UNPACKING: u64 = PIECE as u64 + (128 << 10);

/// How a text is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compression {
    /// gzip, one or more members.
    Gzip,
    /// Zstandard, one or more frames.
    Zstd,
}

impl Compression {
    /// Told by the first bytes of a file.
    pub fn of(start: &[u8]) -> Option<Self> {
        match start {
            [0x1F, 0x8B, ..] => Some(Compression::Gzip),
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Compression::Zstd),
            // A skippable frame, which pzstd writes first.
            [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Some(Compression::Zstd),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        }
    }
}

/// What a compressed file unpacks to, front to back.
pub(crate) struct Unpacked {
    reader: Box<dyn Read + Send>,
    compression: Compression,
    file: Arc<dyn ReadAt>,
    consumed: Arc<AtomicU64>,
    position: u64,
    _reserved: Reservation,
}

impl Unpacked {
    /// What unpacking takes is reserved as it becomes known.
    pub(crate) fn open(
        file: Arc<dyn ReadAt>,
        compression: Compression,
        budget: &Budget,
    ) -> Result<Self> {
        let reserved = budget.reserve(UNPACKING, "unpacking text")?;
        let consumed = Arc::new(AtomicU64::new(0));
        let packed = FileReader::range(file.clone(), 0..file.len(), consumed.clone());
        let reader: Box<dyn Read + Send> = match compression {
            Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(packed)),
            Compression::Zstd => {
                let frames = ZstdFrames::new(packed, budget);
                Box::new(frames.map_err(|error| unpacking(&*file, compression, 0, error))?)
            }
        };
        Ok(Unpacked { reader, compression, file, consumed, position: 0, _reserved: reserved })
    }

    /// Fills `into`; fewer bytes come only at the end of the text.
    pub(crate) fn fill(&mut self, into: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while filled < into.len() {
            match self.reader.read(&mut into[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let position = self.position + filled as u64;
                    return Err(unpacking(&*self.file, self.compression, position, error));
                }
            }
        }
        self.position += filled as u64;
        Ok(filled)
    }

    /// Compressed bytes read so far.
    pub(crate) fn consumed(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }
}

fn unpacking(
    file: &dyn ReadAt,
    compression: Compression,
    position: u64,
    error: io::Error,
) -> Error {
    let error = match of_the_disk(error) {
        Ok(error) => return error.into(),
        Err(error) => error,
    };
    let (found, remedy) = match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            ("the end of the file".to_owned(), "the file is truncated; copy it again")
        }
        _ => (error.to_string(), "the file is damaged; copy it again"),
    };
    let place = format!("byte {position} of the unpacked text");
    let expected = format!("more {} data", compression.name());
    Error::source(place, found, expected, remedy).in_file(file.path())
}

/// What the disk or the budget said, if that is what a stream failed with.
pub(crate) fn of_the_disk(
    error: io::Error,
) -> std::result::Result<graphmill_disk::Error, io::Error> {
    error.downcast::<graphmill_disk::Error>()
}

/// A range of a file read front to back through a buffer that starts on a page.
pub(crate) struct FileReader {
    file: Arc<dyn ReadAt>,
    left: Range<u64>,
    buffer: PageBuffer,
    ready: Range<usize>,
    consumed: Arc<AtomicU64>,
}

impl FileReader {
    /// `consumed` counts the bytes that were taken.
    pub(crate) fn range(
        file: Arc<dyn ReadAt>,
        range: Range<u64>,
        consumed: Arc<AtomicU64>,
    ) -> Self {
        let length = (range.end - range.start).min(PIECE as u64) as usize;
        FileReader { file, left: range, buffer: PageBuffer::new(length), ready: 0..0, consumed }
    }

    /// Looks at the bytes that come next, as many as fit or are left, without taking them.
    pub(crate) fn ahead(&self, into: &mut [u8]) -> io::Result<usize> {
        let position = self.left.start - self.ready.len() as u64;
        let length = (self.left.end - position).min(into.len() as u64) as usize;
        self.file.read_exact_at(position, &mut into[..length]).map_err(io::Error::other)?;
        Ok(length)
    }
}

impl Read for FileReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let ready = self.fill_buf()?;
        let count = ready.len().min(into.len());
        into[..count].copy_from_slice(&ready[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for FileReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.ready.is_empty() {
            // Reads after the first start on a page of the file as they do in memory.
            let to_page = PIECE as u64 - self.left.start % PIECE as u64;
            let most = to_page.min(self.buffer.len() as u64);
            let length = (self.left.end - self.left.start).min(most) as usize;
            let piece = &mut self.buffer[..length];
            self.file.read_exact_at(self.left.start, piece).map_err(io::Error::other)?;
            self.left.start += length as u64;
            self.ready = 0..length;
        }
        Ok(&self.buffer[self.ready.clone()])
    }

    fn consume(&mut self, count: usize) {
        self.ready.start += count;
        self.consumed.fetch_add(count as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use graphmill_disk::Backend;
    use std::io::Write;

    fn unpack(bytes: &[u8]) -> Result<Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("packed");
        std::fs::write(&path, bytes).unwrap();
        let file = graphmill_disk::open(&path, Backend::Pread)?;
        let compression = Compression::of(bytes).expect("a known magic");
        let mut unpacked = Unpacked::open(file, compression, &Budget::new(4 << 20))?;
        let mut all = vec![0; 1 << 20];
        let filled = unpacked.fill(&mut all)?;
        assert_eq!(unpacked.fill(&mut [0; 8])?, 0);
        assert_eq!(unpacked.consumed(), bytes.len() as u64);
        all.truncate(filled);
        Ok(all)
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        writer.write_all(text).unwrap();
        writer.finish().unwrap()
    }

    #[test]
    fn all_members_and_frames_are_unpacked() {
        let members = [gzip(b"1,2\n"), gzip(b""), gzip(b"3,4\n")].concat();
        assert_eq!(unpack(&members).unwrap(), b"1,2\n3,4\n");
        let frame = |text: &[u8]| zstd::encode_all(text, 3).unwrap();
        let skippable = [&[0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0], &b"abc"[..]].concat();
        let frames = [skippable, frame(b"1,2\n"), frame(b"3,4\n")].concat();
        assert_eq!(unpack(&frames).unwrap(), b"1,2\n3,4\n");
    }

    #[test]
    fn a_window_is_taken_from_the_budget_before_it_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("packed");
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(24).unwrap();
        encoder.write_all(&[b'7'; 1 << 20]).unwrap();
        std::fs::write(&path, encoder.finish().unwrap()).unwrap();
        let read = |budget: &Budget| {
            let file = graphmill_disk::open(&path, Backend::Pread)?;
            Unpacked::open(file, Compression::Zstd, budget)?.fill(&mut [0; 100])
        };
        let error = read(&Budget::new(16 << 20)).unwrap_err();
        assert!(matches!(error, Error::Disk(graphmill_disk::Error::Budget { .. })), "{error}");
        let enough = Budget::new(18 << 20);
        assert_eq!(read(&enough).unwrap(), 100);
        assert!(enough.peak() > 16 << 20);
        assert_eq!(enough.used(), 0);
    }

    #[test]
    fn truncated_and_damaged_streams_are_errors_wherever_the_damage_is() {
        let text: Vec<u8> =
            (0..4000_u32).flat_map(|i| format!("{i},{}\n", i * 7).into_bytes()).collect();
        for packed in [gzip(&text), zstd::encode_all(&text[..], 3).unwrap()] {
            for cut in 4..packed.len() {
                if cut % 97 == 0 || cut + 16 > packed.len() {
                    assert!(unpack(&packed[..cut]).is_err(), "cut at {cut}");
                }
            }
        }
        let mut damaged = gzip(&text);
        let middle = damaged.len() / 2;
        damaged[middle] ^= 0x55;
        let error = unpack(&damaged).unwrap_err().to_string();
        assert!(error.contains("of the unpacked text"), "{error}");
    }
}
