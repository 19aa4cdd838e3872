//! The bytes that wait for one window: the older ones in the scratch file, the younger in memory.
//! Threads append records, and whoever needs memory moves the front of a stream to the scratch file;
//! in the end it is read once, front to back. It must not know what the bytes mean.
//!
//! Byte `p` of the stream lies at `p % region` of its region number `p / region`, and at `p % slab`
//! of its slab, so that copies to the scratch file stay on pages however much is moved at a time.

use std::collections::VecDeque;

use super::scratch::Scratch;
use super::sizing::Sizing;
use super::slabs::Slab;
use crate::Result;

const PAGE: u64 = 4096;

/// Bytes for one window.
#[derive(Default)]
pub(super) struct Stream {
    length: u64,
    /// Bytes that are in the scratch file.
    spilled: u64,
    /// Those behind, from the start of the slab that byte `spilled` lies in.
    slabs: VecDeque<Slab>,
    /// Where its regions of the scratch file start.
    regions: Vec<u64>,
}

impl Stream {
    /// Memory that its first regions take.
    pub(super) const FIRST_REGIONS: u64 = 64;
    /// Memory that each of its regions takes, in a list that may be half empty.
    pub(super) const REGION_MEMORY: u64 = 16;

    /// Bytes that came.
    pub(super) fn len(&self) -> u64 {
        self.length
    }

    /// Adds bytes, taking slabs from a stock that holds enough of them.
    pub(super) fn append(&mut self, mut bytes: &[u8], stock: &mut Vec<Slab>, sizing: &Sizing) {
        let size = sizing.slab as u64;
        while !bytes.is_empty() {
            let index = (self.length / size - self.spilled / size) as usize;
            if index == self.slabs.len() {
                let slab = stock.pop().expect("the caller stocked slabs for all that it appends");
                self.slabs.push_back(slab);
            }
            let offset = (self.length % size) as usize;
            let (now, later) = bytes.split_at(bytes.len().min(sizing.slab - offset));
            self.slabs[index][offset..offset + now.len()].copy_from_slice(now);
            self.length += now.len() as u64;
            bytes = later;
        }
    }

    /// Moves the full slabs to the scratch file, or `all`; gives those that are free now.
    pub(super) fn spill(
        &mut self,
        all: bool,
        window: u64,
        sizing: &Sizing,
        scratch: &Scratch,
        pay: impl Fn(u64) -> Result<()>,
    ) -> Result<VecDeque<Slab>> {
        let size = sizing.slab as u64;
        let end = if all { self.length } else { self.length - self.length % size };
        if end <= self.spilled {
            return Ok(VecDeque::new());
        }
        let file = scratch.file(window)?;
        let mut buffer = scratch.buffer();
        let mut at = self.spilled;
        while at < end {
            let lead = (at % PAGE) as usize;
            let room = (buffer.len() - lead) as u64;
            let piece = (end - at).min(room).min(sizing.region - at % sizing.region);
            let into = &mut buffer[lead..lead + piece as usize];
            self.copy_out(at, into, sizing.slab);
            if self.regions.len() as u64 == at / sizing.region {
                pay(Self::REGION_MEMORY)?;
                self.regions.push(scratch.allocate(window, sizing.region));
            }
            file.write_all_at(self.place(at, sizing), into)?;
            at += piece;
        }
        let kept =
            if end.is_multiple_of(size) { end / size - self.spilled / size } else { u64::MAX };
        let kept = self.slabs.split_off(self.slabs.len().min(kept as usize));
        self.spilled = end;
        Ok(std::mem::replace(&mut self.slabs, kept))
    }

    /// Hands the bytes to `take` in order.
    pub(super) fn read(
        &self,
        window: u64,
        sizing: &Sizing,
        scratch: &Scratch,
        take: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut at = 0;
        if self.spilled > 0 {
            let file = scratch.file(window)?;
            let mut buffer = scratch.buffer();
            while at < self.spilled {
                let lead = (at % PAGE) as usize;
                let room = (buffer.len() - lead) as u64;
                let piece = (self.spilled - at).min(room).min(sizing.region - at % sizing.region);
                let into = &mut buffer[lead..lead + piece as usize];
                file.read_exact_at(self.place(at, sizing), into)?;
                take(into)?;
                at += piece;
            }
        }
        for slab in &self.slabs {
            let offset = at as usize % sizing.slab;
            let end = (sizing.slab as u64).min(offset as u64 + self.length - at) as usize;
            take(&slab[offset..end])?;
            at += (end - offset) as u64;
        }
        Ok(())
    }

    /// The memory of those that are not in the scratch file.
    pub(super) fn into_slabs(self) -> VecDeque<Slab> {
        self.slabs
    }

    /// Where a byte lies in the scratch file.
    fn place(&self, at: u64, sizing: &Sizing) -> u64 {
        self.regions[(at / sizing.region) as usize] + at % sizing.region
    }

    /// Copies bytes that are in memory, from byte `at` on.
    fn copy_out(&self, at: u64, into: &mut [u8], size: usize) {
        let mut index = (at / size as u64 - self.spilled / size as u64) as usize;
        let mut offset = (at % size as u64) as usize;
        let mut filled = 0;
        while filled < into.len() {
            let length = (size - offset).min(into.len() - filled);
            let from = &self.slabs[index][offset..offset + length];
            into[filled..filled + length].copy_from_slice(from);
            (index, offset, filled) = (index + 1, 0, filled + length);
        }
    }
}
