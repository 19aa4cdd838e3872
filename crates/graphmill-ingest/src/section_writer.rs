//! One section of a file, written front to back.
//! Graph and table writers open one per section, several at a time, each with its own place in the
//! same file; bytes are gathered into pieces, digested, and their way to the disk is started behind
//! the writer so that the final sync is short. It must not know what the bytes mean.

use std::ops::Range;

use graphmill_disk::{OutputFile, PageBuffer};
use graphmill_format::digest::BlockDigester;
use graphmill_format::{SECTION_ALIGNMENT, Section};

use crate::{Error, Result};

/// Bytes gathered before they are handed to the operating system.
const PIECE: usize = 1 << 20;

/// Writes one section from its first byte to its last.
pub struct SectionWriter<'a> {
    file: &'a dyn OutputFile,
    start: u64,
    /// Bytes of data accepted so far.
    accepted: u64,
    /// Bytes of data to come in all, if that is known.
    expected: Option<u64>,
    alignment: u64,
    buffer: PageBuffer,
    /// Bytes in the buffer.
    filled: usize,
    /// Where the buffer's first byte goes.
    position: u64,
    digester: BlockDigester,
}

impl<'a> SectionWriter<'a> {
    /// Starts a planned section.
    pub fn new(file: &'a dyn OutputFile, section: &Section) -> Self {
        Self::at(file, section.range(), SECTION_ALIGNMENT)
    }

    /// Starts a section that takes whatever is written from byte `start` on.
    pub fn open_ended(file: &'a dyn OutputFile, start: u64) -> Self {
        SectionWriter { expected: None, ..Self::at(file, start..start, SECTION_ALIGNMENT) }
    }

    /// Starts a stretch of a foreign layout, which is not padded.
    pub(crate) fn unpadded(file: &'a dyn OutputFile, range: Range<u64>) -> Self {
        Self::at(file, range, 1)
    }

    /// Starts a text, which is neither padded nor of a known length.
    pub(crate) fn text(file: &'a dyn OutputFile) -> Self {
        SectionWriter { expected: None, ..Self::at(file, 0..0, 1) }
    }

    fn at(file: &'a dyn OutputFile, range: Range<u64>, alignment: u64) -> Self {
        SectionWriter {
            file,
            start: range.start,
            accepted: 0,
            expected: Some(range.end - range.start),
            alignment,
            buffer: PageBuffer::new(PIECE),
            filled: 0,
            position: range.start,
            digester: BlockDigester::default(),
        }
    }

    /// Bytes written so far.
    pub fn written(&self) -> u64 {
        self.accepted
    }

    /// Takes the next bytes.
    pub fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        self.accepted = self.accepted.saturating_add(bytes.len() as u64);
        if self.expected.is_some_and(|expected| self.accepted > expected) {
            return Err(self.wrong_length());
        }
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(PIECE - self.filled));
            self.take(now)?;
            bytes = later;
        }
        Ok(())
    }

    /// Takes the next values, each as its little-endian bytes.
    pub fn write_values<const N: usize>(
        &mut self,
        values: impl IntoIterator<Item = [u8; N]>,
    ) -> Result<()> {
        // Pieces are multiples of every element's width, so values never straddle two.
        const { assert!(PIECE.is_multiple_of(N)) };
        if !self.filled.is_multiple_of(N) {
            return values.into_iter().try_for_each(|value| self.write(&value));
        }
        for value in values {
            self.accepted += N as u64;
            self.take(&value)?;
        }
        match self.expected {
            Some(expected) if self.accepted > expected => Err(self.wrong_length()),
            _ => Ok(()),
        }
    }

    /// Writes what is left and the zeros up to the next section; gives the digests of the blocks.
    pub fn finish(mut self) -> Result<Vec<u64>> {
        if self.expected.is_some_and(|expected| self.accepted != expected) {
            return Err(self.wrong_length());
        }
        self.flush()?;
        let padding = (self.position.next_multiple_of(self.alignment) - self.position) as usize;
        if padding > 0 {
            self.file.write_all_at(self.position, &[0; SECTION_ALIGNMENT as usize][..padding])?;
        }
        Ok(self.digester.finish())
    }

    /// Adds bytes for which there is room, and empties a full buffer.
    #[inline]
    fn take(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer[self.filled..self.filled + bytes.len()].copy_from_slice(bytes);
        self.filled += bytes.len();
        if self.filled == PIECE { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if self.filled == 0 {
            return Ok(());
        }
        let piece = &self.buffer[..self.filled];
        self.digester.update(piece);
        self.file.write_all_at(self.position, piece)?;
        let end = self.position + self.filled as u64;
        self.file.start_write_back(self.position..end)?;
        self.position = end;
        self.filled = 0;
        Ok(())
    }

    fn wrong_length(&self) -> Error {
        let Self { file, start, accepted, expected, .. } = self;
        let problem = format!(
            "`{}`, byte {start}: {accepted} bytes were written, expected {}",
            file.path().display(),
            expected.unwrap_or(*accepted)
        );
        Error::request("section", problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use graphmill_disk::{FileSystem, RealFileSystem};
    use graphmill_format::digest::{BLOCK_LENGTH, digest};

    fn bytes(length: usize) -> Vec<u8> {
        (0..length).map(|i| (i * 7 + i / 251) as u8 | 1).collect()
    }

    #[test]
    fn two_open_sections_land_in_their_places_padded_and_digested() {
        let folder = tempfile::tempdir().unwrap();
        let file = RealFileSystem.create(&folder.path().join("x")).unwrap();
        let data = bytes(2_500_000);
        let mut first = SectionWriter::at(&*file, 4096..4096 + 2_500_000, 4096);
        let mut second = SectionWriter::open_ended(&*file, 2_506_752);
        for piece in data.chunks(300_001) {
            first.write(piece).unwrap();
            second.write(&piece[..5]).unwrap();
        }
        let expected: Vec<u64> = data.chunks(BLOCK_LENGTH as usize).map(digest).collect();
        assert_eq!(first.finish().unwrap(), expected);
        assert_eq!(second.written(), 45);
        assert_eq!(second.finish().unwrap().len(), 1);
        let written = std::fs::read(folder.path().join("x")).unwrap();
        assert_eq!(written.len(), 2_506_752 + 4096);
        assert_eq!(written[4096..2_504_096], data);
        assert!(written[2_504_096..2_506_752].iter().all(|&byte| byte == 0));
        assert!(written[2_506_752 + 45..].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn too_few_and_too_many_bytes_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = RealFileSystem.create(&folder.path().join("x")).unwrap();
        let mut writer = SectionWriter::at(&*file, 0..16, 4096);
        writer.write_values([7_u64.to_le_bytes()]).unwrap();
        let text = writer.finish().unwrap_err().to_string();
        assert!(text.contains("8 bytes were written, expected 16"), "{text}");
        let mut writer = SectionWriter::at(&*file, 0..16, 4096);
        assert!(writer.write_values([0_u64; 3].map(u64::to_le_bytes)).is_err());
        assert!(SectionWriter::at(&*file, 0..16, 4096).write(&[0; 17]).is_err());
    }
}
