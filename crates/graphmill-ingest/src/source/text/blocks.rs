//! Files as blocks of whole lines.
//! A plain file is cut at fixed offsets and every block reads its own bytes, so threads share
//! nothing but a counter; a compressed one is unpacked by whichever thread asks next, one at a
//! time. Blocks are numbered in the order of the files. It must not know what lines mean.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;

use graphmill_disk::{Backend, Budget, PageBuffer, ReadAt, Reservation};

use super::fault::Fault;
use crate::source::compressed::{Compression, Unpacked};
use crate::source::turns::lock;
use crate::{Error, Result};

/// A line may be as long as this.
pub(crate) const LONGEST_LINE: usize = 16 << 20;
/// Bytes behind the last line that parsers may look at.
pub(crate) const SLACK: usize = 64;
/// Bytes of text in which lines are counted at a time.
const COUNTED: usize = 256 << 10;
/// Bytes read beyond a block in the hope that its last line ends there.
const OVERLAP: usize = 4096;

/// Whole lines of one file, each with its line end.
pub(crate) struct Block {
    buffer: PageBuffer,
    reserved: Reservation,
    lines: Range<usize>,
    /// Number of the block among all blocks of all files.
    pub(crate) index: u64,
    /// Which file it belongs to.
    pub(crate) file: usize,
    /// Where the lines start in the file, or in what it unpacks to.
    pub(crate) first_byte: u64,
    /// Bytes of the file that were used up by this block.
    pub(crate) consumed: u64,
}

impl Block {
    pub(crate) fn new(length: usize, budget: &Budget) -> Result<Self> {
        let reserved = budget.reserve(Self::memory(length), "a block of text")?;
        let buffer = PageBuffer::new(length + OVERLAP + SLACK);
        Ok(Block { buffer, reserved, lines: 0..0, index: 0, file: 0, first_byte: 0, consumed: 0 })
    }

    /// Bytes that a block of this length keeps.
    pub(crate) fn memory(length: usize) -> u64 {
        (length + OVERLAP + SLACK + 4096) as u64
    }

    /// The lines with [`SLACK`] more bytes behind them, and the length of the lines alone.
    pub(crate) fn text(&self) -> (&[u8], usize) {
        (&self.buffer[self.lines.start..self.lines.end + SLACK], self.lines.len())
    }

    /// Sets the lines, closing the last one if the file forgot to.
    fn set_lines(&mut self, mut lines: Range<usize>) {
        if !lines.is_empty() && self.buffer[lines.end - 1] != b'\n' {
            self.buffer[lines.end] = b'\n';
            lines.end += 1;
        }
        self.lines = lines;
    }

    /// Room for at least `length` bytes and the slack, keeping the first `kept`.
    fn grow(&mut self, length: usize, kept: usize) -> Result<()> {
        if self.buffer.len() <= length + SLACK {
            self.reserved.grow(Self::memory(length))?;
            let mut larger = PageBuffer::new(length + OVERLAP + SLACK);
            larger[..kept].copy_from_slice(&self.buffer[..kept]);
            self.buffer = larger;
            self.reserved.resize(Self::memory(length))?;
        }
        Ok(())
    }
}

/// A file and how its bytes are had.
#[derive(Clone, Debug)]
pub(crate) struct TextFile {
    pub(crate) file: Arc<dyn ReadAt>,
    pub(crate) compression: Option<Compression>,
}

impl TextFile {
    pub(crate) fn open(path: &std::path::Path) -> Result<Self> {
        let file = graphmill_disk::open(path, Backend::Pread)?;
        let mut start = [0; 4];
        let length = file.len().min(4) as usize;
        file.read_exact_at(0, &mut start[..length])?;
        Ok(TextFile { compression: Compression::of(&start[..length]), file })
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.file.path().to_path_buf()
    }

    /// Bytes that the first `length` bytes of the text take at most.
    pub(crate) fn head_length(&self, length: usize) -> u64 {
        match self.compression {
            Some(_) => length as u64,
            None => self.file.len().min(length as u64),
        }
    }

    /// The first bytes of the text, at most `length`, fewer only if there are no more.
    pub(crate) fn head(&self, length: usize, budget: &Budget) -> Result<Vec<u8>> {
        let mut head = vec![0; self.head_length(length) as usize];
        let Some(compression) = self.compression else {
            self.file.read_exact_at(0, &mut head)?;
            return Ok(head);
        };
        let mut unpacked = Unpacked::open(self.file.clone(), compression, budget)?;
        let filled = unpacked.fill(&mut head)?;
        head.truncate(filled);
        Ok(head)
    }

    /// Number of lines from byte `from` of the text on, the last one even if it lacks its end.
    pub(crate) fn count_lines(&self, from: u64, budget: &Budget) -> Result<u64> {
        let _reserved = budget.reserve(COUNTED as u64, "counting lines")?;
        let mut piece = vec![0; COUNTED];
        let mut unpacked = match self.compression {
            Some(compression) => Some(Unpacked::open(self.file.clone(), compression, budget)?),
            None => None,
        };
        let (mut position, mut lines, mut last) = (0, 0, b'\n');
        loop {
            let filled = match &mut unpacked {
                Some(unpacked) => unpacked.fill(&mut piece)?,
                None => {
                    let length = (self.file.len() - position).min(COUNTED as u64) as usize;
                    self.file.read_exact_at(position, &mut piece[..length])?;
                    length
                }
            };
            if filled == 0 {
                return Ok(lines + u64::from(last != b'\n'));
            }
            let before = from.saturating_sub(position).min(filled as u64) as usize;
            let counted = &piece[before..filled];
            lines += memchr::memchr_iter(b'\n', counted).count() as u64;
            last = counted.last().copied().unwrap_or(last);
            position += filled as u64;
        }
    }
}

/// Hands out the blocks of some files, in order, to any number of threads.
pub(crate) struct Blocks<'a> {
    files: &'a [TextFile],
    length: usize,
    budget: &'a Budget,
    next: Mutex<Next>,
}

#[derive(Default)]
struct Next {
    index: u64,
    file: usize,
    /// Offset of the next block in a plain file.
    offset: u64,
    stream: Option<Stream>,
}

struct Stream {
    unpacked: Unpacked,
    /// The beginning of the next block, paid for by `kept`.
    carry: Vec<u8>,
    kept: Reservation,
    position: u64,
    consumed: u64,
}

/// What taking a block came to.
pub(crate) enum Taken {
    Block,
    /// A block whose lines cannot be had.
    Bad(Error),
    /// A block whose first or last line is longer than any line may be.
    TooLong(Fault),
    End,
}

impl<'a> Blocks<'a> {
    /// Blocks of about `length` bytes, a multiple of 4096 so that reads start on a page.
    pub(crate) fn new(files: &'a [TextFile], length: usize, budget: &'a Budget) -> Self {
        Blocks { files, length, budget, next: Mutex::default() }
    }

    /// Fills `block` with the next lines; its number is set unless the end is reached.
    pub(crate) fn take(&self, block: &mut Block) -> Taken {
        let mut next = lock(&self.next);
        loop {
            let Some(file) = self.files.get(next.file) else { return Taken::End };
            block.file = next.file;
            block.index = next.index;
            block.consumed = 0;
            block.lines = 0..0;
            if let Some(compression) = file.compression {
                let result = self.take_unpacked(&mut next, file, compression, block);
                if matches!(result, Ok(Ok(()))) && block.lines.is_empty() {
                    *next = Next { index: next.index, file: next.file + 1, ..Next::default() };
                    continue;
                }
                next.index += 1;
                return taken(result);
            }
            if next.offset >= file.file.len() {
                *next = Next { index: next.index, file: next.file + 1, ..Next::default() };
                continue;
            }
            let offset = next.offset;
            next.offset += self.length as u64;
            next.index += 1;
            drop(next);
            return taken(self.read(&*file.file, offset, block));
        }
    }

    /// Reads the lines that start in the block at `offset`.
    ///
    /// A line belongs to the block that holds the line end before it, so that no block has to look
    /// at bytes in front of its own.
    fn read(
        &self,
        file: &dyn ReadAt,
        offset: u64,
        block: &mut Block,
    ) -> Result<std::result::Result<(), Fault>> {
        let behind = file.len() - offset;
        let own = behind.min(self.length as u64) as usize;
        let mut filled = behind.min((self.length + OVERLAP) as u64) as usize;
        block.consumed = own as u64;
        file.read_exact_at(offset, &mut block.buffer[..filled])?;
        let start = match memchr::memchr(b'\n', &block.buffer[..own]) {
            _ if offset == 0 => 0,
            Some(line_end) => line_end + 1,
            None => return Ok(Ok(())),
        };
        block.first_byte = offset + start as u64;
        let mut searched = own;
        loop {
            if let Some(line_end) = memchr::memchr(b'\n', &block.buffer[searched..filled]) {
                block.set_lines(start..searched + line_end + 1);
                return Ok(Ok(()));
            }
            if filled as u64 == behind {
                block.set_lines(start..filled);
                return Ok(Ok(()));
            }
            if filled - own > LONGEST_LINE {
                let line = memchr::memchr_iter(b'\n', &block.buffer[start..own]).count() as u64;
                return Ok(Err(Fault { line, ..Fault::long_line(LONGEST_LINE) }));
            }
            searched = filled;
            filled = behind.min(2 * filled as u64) as usize;
            block.grow(filled, searched)?;
            file.read_exact_at(offset + searched as u64, &mut block.buffer[searched..filled])?;
        }
    }

    fn take_unpacked(
        &self,
        next: &mut Next,
        file: &TextFile,
        compression: Compression,
        block: &mut Block,
    ) -> Result<std::result::Result<(), Fault>> {
        let stream = match &mut next.stream {
            Some(stream) => stream,
            none => none.insert(Stream {
                unpacked: Unpacked::open(file.file.clone(), compression, self.budget)?,
                carry: Vec::new(),
                kept: self.budget.reserve(0, "a line between two blocks")?,
                position: 0,
                consumed: 0,
            }),
        };
        let mut filled = stream.carry.len();
        block.grow(filled.max(self.length), 0)?;
        block.buffer[..filled].copy_from_slice(&stream.carry);
        stream.carry.clear();
        let mut room = self.length.max(2 * filled);
        loop {
            block.grow(room, filled)?;
            let more = stream.unpacked.fill(&mut block.buffer[filled..room])?;
            let ended = more < room - filled;
            let last = memchr::memrchr(b'\n', &block.buffer[filled..filled + more]);
            let searched = filled;
            filled += more;
            let end = match last {
                _ if ended => filled,
                Some(last) => searched + last + 1,
                None if filled > LONGEST_LINE => return Ok(Err(Fault::long_line(LONGEST_LINE))),
                None => {
                    room = 2 * filled;
                    continue;
                }
            };
            if filled - end > stream.carry.capacity() {
                stream.kept.resize((filled - end) as u64)?;
                stream.carry = Vec::with_capacity(filled - end);
            }
            stream.carry.extend_from_slice(&block.buffer[end..filled]);
            block.first_byte = stream.position;
            stream.position += end as u64;
            block.consumed = stream.unpacked.consumed() - stream.consumed;
            stream.consumed += block.consumed;
            block.set_lines(0..end);
            return Ok(Ok(()));
        }
    }
}

fn taken(result: Result<std::result::Result<(), Fault>>) -> Taken {
    match result {
        Ok(Ok(())) => Taken::Block,
        Ok(Err(fault)) => Taken::TooLong(fault),
        Err(error) => Taken::Bad(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    /// All lines, glued together again, and where every block said its lines start.
    fn glued(path: &std::path::Path, length: usize) -> Vec<u8> {
        let files = [TextFile::open(path).unwrap()];
        let budget = Budget::unlimited();
        let blocks = Blocks::new(&files, length, &budget);
        let mut block = Block::new(length, &budget).unwrap();
        let mut all = Vec::new();
        let mut index = 0;
        while let Taken::Block = blocks.take(&mut block) {
            assert_eq!(block.index, index);
            index += 1;
            let (text, length) = block.text();
            if length > 0 {
                assert_eq!(block.first_byte, all.len() as u64);
                assert_eq!(text[length - 1], b'\n');
            }
            all.extend_from_slice(&text[..length]);
        }
        all
    }

    proptest! {
        #[test]
        fn blocks_hold_every_line_once(
            lines in proptest::collection::vec(0_usize..20_000, 0..12), last: bool,
            compressed: bool, pages in 1_usize..3,
        ) {
            let mut text: Vec<u8> = Vec::new();
            for (number, length) in lines.iter().enumerate() {
                text.extend(std::iter::repeat_n(b'a' + number as u8, *length));
                text.push(b'\n');
            }
            if last {
                text.extend(b"no line end");
            }
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("lines");
            if compressed {
                let file = std::fs::File::create(&path).unwrap();
                let mut gz = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
                gz.write_all(&text).unwrap();
                gz.finish().unwrap();
            } else {
                std::fs::write(&path, &text).unwrap();
            }
            if last {
                text.push(b'\n');
            }
            prop_assert!(glued(&path, pages * 4096) == text);
        }
    }

    #[test]
    fn a_line_without_end_is_refused_before_it_fills_the_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        std::fs::write(&path, vec![b'7'; 3 * LONGEST_LINE]).unwrap();
        let files = [TextFile::open(&path).unwrap()];
        let budget = Budget::unlimited();
        let mut block = Block::new(1 << 20, &budget).unwrap();
        assert!(matches!(
            Blocks::new(&files, 1 << 20, &budget).take(&mut block),
            Taken::TooLong(_)
        ));
        assert!(block.buffer.len() <= 3 * LONGEST_LINE);
    }
}
