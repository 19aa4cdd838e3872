//! The running sums of the weights of each list, for weighted choice by binary search.
//! Written when offsets and weights of a direction are in the file, by reading them back front to back: a list may have
//! been written in parts and by several threads, but its sums need all that comes before. It must not know who wrote.

use graphmill_disk::{OutputFile, PageBuffer};
use graphmill_format::{DirectionSections, Section};

use crate::Result;
use crate::section_writer::SectionWriter;

/// Bytes of a section read at a time.
const PIECE: usize = 1 << 18;

/// Writes the section of running sums, if there is to be one; gives its digests.
pub(crate) fn write_running_sums(
    file: &dyn OutputFile,
    sections: &DirectionSections,
) -> Result<Vec<u64>> {
    let (Some(weights), Some(sums)) = (&sections.weights, &sections.cumulative_weights) else {
        return Ok(Vec::new());
    };
    let mut writer = SectionWriter::new(file, sums);
    let mut weights = Values::new(file, weights);
    let mut offsets = Values::new(file, &sections.offsets);
    let mut end = offsets.next(u64::from_le_bytes)?;
    let (mut position, mut sum) = (0, 0.0);
    while position < sums.count {
        // Empty lists end where they begin.
        while position == end && offsets.is_left() {
            end = offsets.next(u64::from_le_bytes)?;
            sum = 0.0;
        }
        sum += f64::from(weights.next(f32::from_le_bytes)?);
        writer.write_values([sum.to_le_bytes()])?;
        position += 1;
    }
    writer.finish()
}

/// The values of a section, one after the other.
struct Values<'a> {
    file: &'a dyn OutputFile,
    /// What has not been read yet.
    left: std::ops::Range<u64>,
    buffer: PageBuffer,
    filled: usize,
    at: usize,
}

impl<'a> Values<'a> {
    fn new(file: &'a dyn OutputFile, section: &Section) -> Self {
        let buffer = PageBuffer::new(PIECE);
        Values { file, left: section.range(), buffer, filled: 0, at: 0 }
    }

    fn is_left(&self) -> bool {
        self.at < self.filled || !self.left.is_empty()
    }

    fn next<T, const N: usize>(&mut self, value: impl Fn([u8; N]) -> T) -> Result<T> {
        if self.at == self.filled {
            self.filled = (PIECE as u64).min(self.left.end - self.left.start) as usize;
            self.file.read_exact_at(self.left.start, &mut self.buffer[..self.filled])?;
            self.left.start += self.filled as u64;
            self.at = 0;
        }
        let bytes = &self.buffer[self.at..self.at + N];
        self.at += N;
        Ok(value(bytes.try_into().expect("as many bytes as a value has")))
    }
}
