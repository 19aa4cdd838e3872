//! One range on its way from the disk: which blocks cover it, and which requests fetch them.
//! Backends that keep many requests in flight, by a ring or by threads, cut ranges with it, so that both treat the end of
//! the file and long ranges alike. It must not know how requests are made.

use std::ops::Range;

use super::direct::Direct;
use super::length_of;

/// The longest single request. A longer range becomes several, which the device serves at once.
pub(crate) const LONGEST_REQUEST: u64 = 512 << 10;

/// A range, and the part of the file that is read for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// The range's place among those asked for.
    pub(crate) place: usize,
    /// Where reading begins.
    start: u64,
    /// Bytes that are read before the range's first.
    skipped: u64,
    /// Bytes of the range.
    wanted: u64,
    /// Bytes that are asked for: up to a whole block, which may lie beyond the end of the file.
    covered: u64,
}

/// One request of a piece: `length` bytes into the piece's buffer at `at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// Where in the file it begins.
    pub(crate) offset: u64,
    /// Where in the piece's buffer its bytes go.
    pub(crate) at: usize,
    /// Bytes to ask for.
    pub(crate) length: usize,
    /// Bytes without which the range would be incomplete; the others may be missing at the end of the file.
    pub(crate) needed: usize,
}

impl Piece {
    /// Through `direct` in whole blocks, else the very bytes.
    pub(crate) fn new(place: usize, range: &Range<u64>, direct: Option<&Direct>) -> Self {
        let wanted = length_of(range);
        let cover = match direct {
            Some(direct) if wanted > 0 => direct.cover(range),
            _ => range.start..range.start + wanted,
        };
        let (start, covered) = (cover.start, length_of(&cover));
        Self { place, start, skipped: range.start - start, wanted, covered }
    }

    /// The range itself.
    pub(crate) fn range(&self) -> Range<u64> {
        let start = self.start + self.skipped;
        start..start + self.wanted
    }

    /// Bytes of the buffer that the piece needs; they fit, because callers have checked the longest range.
    pub(crate) fn buffer_length(&self) -> usize {
        self.covered as usize
    }

    /// How many requests fetch it.
    pub(crate) fn requests(&self) -> u32 {
        // Fits: a buffer of 2^32 such requests would be two petabytes long.
        self.covered.div_ceil(LONGEST_REQUEST) as u32
    }

    /// One of its requests.
    pub(crate) fn request(&self, number: u32) -> Request {
        let at = u64::from(number) * LONGEST_REQUEST;
        let length = LONGEST_REQUEST.min(self.covered - at);
        let needed = (self.skipped + self.wanted).saturating_sub(at).min(length);
        Request {
            offset: self.start + at,
            at: at as usize,
            length: length as usize,
            needed: needed as usize,
        }
    }

    /// The range itself within the piece's buffer.
    pub(crate) fn slice<'a>(&self, buffer: &'a [u8]) -> &'a [u8] {
        let skipped = self.skipped as usize;
        &buffer[skipped..skipped + self.wanted as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn direct() -> Direct {
        Direct { file: tempfile::tempfile().unwrap(), alignment: 4096 }
    }

    #[test]
    fn blocks_cover_a_range_and_only_its_bytes_are_needed() {
        let piece = Piece::new(3, &(5_000..9_000), Some(&direct()));
        assert_eq!((piece.place, piece.requests(), piece.buffer_length()), (3, 1, 8192));
        let expected = Request { offset: 4096, at: 0, length: 8192, needed: 4904 };
        assert_eq!(piece.request(0), expected);
        let bytes: Vec<u8> = (0..8192).map(|byte| (byte / 16) as u8).collect();
        assert_eq!(piece.slice(&bytes), &bytes[904..4904]);
    }

    #[test]
    fn without_direct_reads_the_very_bytes_are_read() {
        let piece = Piece::new(0, &(5_000..9_000), None);
        let expected = Request { offset: 5_000, at: 0, length: 4_000, needed: 4_000 };
        assert_eq!(piece.request(0), expected);
        assert_eq!(Piece::new(0, &(77..77), Some(&direct())).requests(), 0);
    }

    #[test]
    fn long_ranges_become_several_requests_that_tile_them() {
        let piece = Piece::new(0, &(10..3 * LONGEST_REQUEST + 4090), Some(&direct()));
        assert_eq!(piece.requests(), 4);
        let requests: Vec<Request> = (0..4).map(|number| piece.request(number)).collect();
        for pair in requests.windows(2) {
            assert_eq!(pair[1].offset, pair[0].offset + pair[0].length as u64);
            assert_eq!(pair[1].at, pair[0].at + pair[0].length);
            assert_eq!(pair[0].needed, pair[0].length);
        }
        assert_eq!((requests[3].length, requests[3].needed), (4096, 4090));
    }
}
