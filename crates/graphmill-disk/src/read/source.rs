//! An open file as backends with many requests in flight see it: through the page cache, and past it where that works.
//! The ring and the reading threads share one per file. It must not know how requests are made.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::direct::Direct;
use super::piece::{Piece, Request};
use super::pread::fill_at;
use super::{Opened, in_memory, longest_within};
use crate::error::{Error, Result};

/// A file and its second descriptor.
///
/// Both are opened at once: a lock around a later opening could be held by another thread while this one forks, and the
/// child would wait for it for ever.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) opened: Opened,
    direct: Option<Direct>,
    /// Set when the file system took the flag and then refused to read that way.
    refuses_direct: AtomicBool,
}

impl Source {
    pub(crate) fn new(opened: Opened) -> Self {
        let direct = Direct::of(&opened.file);
        Self { opened, direct, refuses_direct: AtomicBool::new(false) }
    }

    /// The way past the page cache, if there is one.
    pub(crate) fn direct(&self) -> Option<&Direct> {
        self.direct.as_ref().filter(|_| !self.refuses_direct.load(Ordering::Relaxed))
    }

    /// What must hold before many ranges are read; the bytes of the longest one with the blocks around it.
    pub(crate) fn check(&self, ranges: &[Range<u64>]) -> Result<usize> {
        let longest = longest_within(ranges, &self.opened.path, self.opened.length)?;
        self.opened.check_length()?;
        in_memory(with_blocks(longest), &self.opened.path)
    }

    /// Completes a request of which `outcome` tells what came, and `into` is the part that is needed.
    ///
    /// What a signal, a busy device, the end of the file or an unwilling file system left out is read once more
    /// through the page cache, which knows none of these except the end.
    pub(crate) fn complete(
        &self,
        piece: &Piece,
        request: &Request,
        outcome: io::Result<usize>,
        into: &mut [u8],
    ) -> Result<()> {
        let came = match outcome {
            Ok(came) => came.min(into.len()),
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock => 0,
                io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
                    if !self.refuses_direct.swap(true, Ordering::Relaxed) =>
                {
                    tracing::debug!(path = %self.opened.path.display(), %error, "no direct reads: using the page cache");
                    0
                }
                io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported => 0,
                _ => return Err(Error::io("read", &self.opened.path, error)),
            },
        };
        let rest = &mut into[came..];
        if rest.is_empty() {
            return Ok(());
        }
        let filled = fill_at(&self.opened.file, request.offset + came as u64, rest)
            .map_err(|source| Error::io("read", &self.opened.path, source))?;
        if filled < rest.len() {
            let Range { start, end } = piece.range();
            return Err(self.opened.truncated(start, end - start, self.opened.length_now()?));
        }
        Ok(())
    }
}

/// Bytes that a range of `length` bytes takes at most in a buffer, whatever the alignment.
pub(crate) fn with_blocks(length: u64) -> u64 {
    const PAGE: u64 = 4096;
    // It may begin and end in the middle of a block.
    length.saturating_add(2 * PAGE - 2) / PAGE * PAGE
}
