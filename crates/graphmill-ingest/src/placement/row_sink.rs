//! Where rows go in the file, and what makes the file whole.
//! Placing and copying write rows here by their position among all rows, from any thread; ours are
//! digested on the way, foreign layouts are a header and the rows behind it. It must not know rows.

use std::sync::atomic::{AtomicU64, Ordering};

use graphmill_disk::OutputFile;
use graphmill_format::digest::BLOCK_LENGTH;
use graphmill_format::{HEADER_LENGTH, Header, TableShape, graphzero};

use super::books::Books;
use super::plan::Layout;
use crate::shared_section::{SharedSection, WholeBlock};
use crate::table_writer::{Written, seal};
use crate::{Error, Result};

const PAGE: u64 = 4096;

/// The rows of one file.
pub(super) struct RowSink<'a> {
    file: &'a dyn OutputFile,
    /// Where the first row starts.
    start: u64,
    /// None for a layout without digests.
    section: Option<SharedSection<'a>>,
    /// Bytes of rows of which the digests are paid for.
    paid: AtomicU64,
}

impl<'a> RowSink<'a> {
    /// Rows in one of the layouts of a `.gd`, however many will come.
    pub(super) fn new(file: &'a dyn OutputFile, layout: Layout, most_gathered: usize) -> Self {
        match layout {
            Layout::GraphZero => Self::plain(file, graphzero::TABLE_HEADER_LENGTH),
            Layout::Graphmill => {
                let section = SharedSection::open_ended(file, HEADER_LENGTH, most_gathered);
                RowSink {
                    file,
                    start: HEADER_LENGTH,
                    section: Some(section),
                    paid: AtomicU64::new(0),
                }
            }
        }
    }

    /// Rows behind a header of this length, without digests.
    pub(super) fn plain(file: &'a dyn OutputFile, start: u64) -> Self {
        RowSink { file, start, section: None, paid: AtomicU64::new(0) }
    }

    /// The file.
    pub(super) fn file(&self) -> &'a dyn OutputFile {
        self.file
    }

    /// Where in its page a byte of the rows lies: buffers that agree are copied faster.
    pub(super) fn place_in_page(&self, from: u64) -> usize {
        ((self.start + from) % PAGE) as usize
    }

    /// Memory for what is known about rows of so many bytes.
    pub(super) fn known_memory(&self, length: u64) -> u64 {
        self.section.as_ref().map_or(0, |_| SharedSection::known_memory(length))
    }

    /// Pays for that, as far as nobody has yet.
    pub(super) fn pay(&self, length: u64, books: &Books) -> Result<()> {
        let paid = self.paid.fetch_max(length, Ordering::Relaxed);
        books.claim(self.known_memory(length) - self.known_memory(paid.min(length)))
    }

    /// Takes bytes of rows from a position among all rows on; every byte comes once.
    pub(super) fn write(&self, from: u64, bytes: &[u8]) -> Result<()> {
        match &self.section {
            Some(section) => section.write(from, bytes),
            None => {
                let position = self.start + from;
                self.file.write_all_at(position, bytes)?;
                let end = position + bytes.len() as u64;
                Ok(self.file.start_write_back(position..end)?)
            }
        }
    }

    /// Starts the bytes of one digest block, which one thread writes front to back.
    pub(super) fn block(&self, block: u64) -> SinkBlock<'_, 'a> {
        let whole = self.section.as_ref().map(|section| section.whole_block(block));
        SinkBlock { sink: self, from: block * BLOCK_LENGTH, whole }
    }

    /// Completes a `.gd` of either layout.
    pub(super) fn finish(self, shape: &TableShape) -> Result<Written> {
        let path = self.file.path();
        match self.section {
            Some(section) => {
                let header = Header::for_table(shape).map_err(Error::format(path))?;
                let digests = section.finish_at(shape.length())?;
                seal(self.file, header, &digests)
            }
            None => {
                let header = graphzero::encode_table_header(shape).map_err(Error::format(path))?;
                self.finish_plain(header.to_vec(), shape.length())
            }
        }
    }

    /// Completes a file of rows behind a header.
    pub(super) fn finish_plain(self, header: Vec<u8>, length: u64) -> Result<Written> {
        self.file.write_all_at(0, &header)?;
        Ok(Written { header, length: self.start + length })
    }
}

/// One block on its way to the file.
pub(super) struct SinkBlock<'s, 'a> {
    sink: &'s RowSink<'a>,
    from: u64,
    whole: Option<WholeBlock<'s, 'a>>,
}

impl SinkBlock<'_, '_> {
    /// Takes the next bytes.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.whole {
            Some(whole) => whole.write(bytes),
            None => {
                self.sink.write(self.from, bytes)?;
                self.from += bytes.len() as u64;
                Ok(())
            }
        }
    }

    /// Says that all bytes of the block have come.
    pub(super) fn finish(self) -> Result<()> {
        self.whole.map_or(Ok(()), WholeBlock::finish)
    }
}
