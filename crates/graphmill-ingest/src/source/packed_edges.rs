//! Edges in packed members of archives, unpacked exactly once.
//! Whichever thread is free unpacks the next piece, one at a time, and then makes edges of it
//! while the next thread unpacks; so unpacking is all that the reading waits for. Where all
//! sources come first they are kept aside until their destinations come. It must not know what is
//! built.

use std::ops::Range;

use graphmill_disk::PageBuffer;

use super::array_edges::{ArrayEdges, Raw};
use super::chunk::{EdgeChunk, ReadReport};
use super::compressed::UNPACKING;
use super::faults::Faults;
use super::id_numbers::{LARGEST_ID, all_good, extend_ids};
use super::kept_half::{KeptHalf, ScratchPlace};
use super::options::OnBadRow;
use super::pieces::{PieceReading, Pieces};
use super::shared_stream::SharedStream;
use crate::Result;

impl ArrayEdges {
    pub(super) fn read_packed(
        &self,
        reading: &PieceReading<'_>,
        step: u64,
        scratch: Option<&ScratchPlace>,
        consume: &(dyn Fn(&mut EdgeChunk) -> Result<()> + Sync),
    ) -> Result<ReadReport> {
        let _reserved = reading.budget.reserve(UNPACKING, "unpacking an array")?;
        let (stream, width) = (self.array.stream()?, self.width());
        if !self.by_end {
            let stream = SharedStream::new(stream, self.edges, step, 2 * width);
            return reading.run(&PackedPairs { edges: self, stream, step }, consume);
        }
        let kept = KeptHalf::new(scratch, self.edges.div_ceil(step), reading.budget)?;
        let stop = reading.on_bad_row == OnBadRow::Stop;
        let stream = SharedStream::new(stream, self.edges, step, width);
        let sources = PackedSources { edges: self, stream, step, kept: &kept, stop };
        let keeping = PieceReading { stage: "keeping sources", file: reading.file, ..*reading };
        keeping.run(&sources, &|_| Ok(()))?;
        let stream = sources.stream.into_stream();
        let stream = SharedStream::new(stream, self.edges, step, width);
        reading.run(&PackedDestinations { edges: self, stream, step, kept: &kept }, consume)
    }
}

/// Source and destination of one edge after the other.
struct PackedPairs<'a> {
    edges: &'a ArrayEdges,
    stream: SharedStream,
    step: u64,
}

impl Pieces for PackedPairs<'_> {
    type Chunk = EdgeChunk;
    type Own = Raw;

    fn own(&self) -> Result<Raw> {
        Ok(Raw::new(self.step, self.edges.width()))
    }

    fn take(&self, raw: &mut Raw) -> Result<Option<Range<u64>>> {
        self.stream.take(&mut raw.bytes)
    }

    fn fill(
        &self,
        raw: &mut Raw,
        rows: Range<u64>,
        chunk: &mut EdgeChunk,
        faults: &mut Faults<'_>,
    ) -> Result<()> {
        raw.extend_pairs(self.edges, rows.end - rows.start, chunk);
        self.edges.check(rows.start, chunk, faults)
    }
}

/// What a thread needs for one end of edges.
struct OneEnd {
    packed: PageBuffer,
    kept: PageBuffer,
}

impl OneEnd {
    fn new(step: u64, width: u64) -> Self {
        let packed = PageBuffer::new((step * width) as usize);
        OneEnd { packed, kept: PageBuffer::new(KeptHalf::buffer_bytes(step) as usize) }
    }
}

/// The first half: sources, which are kept.
struct PackedSources<'a> {
    edges: &'a ArrayEdges,
    stream: SharedStream,
    step: u64,
    kept: &'a KeptHalf,
    /// Whether the first bad one ends the reading; otherwise it is left out with its destination.
    stop: bool,
}

impl Pieces for PackedSources<'_> {
    type Chunk = KeptIds;
    type Own = OneEnd;

    fn own(&self) -> Result<OneEnd> {
        Ok(OneEnd::new(self.step, self.edges.width()))
    }

    fn take(&self, own: &mut OneEnd) -> Result<Option<Range<u64>>> {
        self.stream.take(&mut own.packed)
    }

    fn fill(
        &self,
        own: &mut OneEnd,
        rows: Range<u64>,
        ids: &mut KeptIds,
        faults: &mut Faults<'_>,
    ) -> Result<()> {
        let length = ((rows.end - rows.start) * self.edges.width()) as usize;
        extend_ids(self.edges.array.header().numbers, &own.packed[..length], &mut ids.0);
        if self.stop
            && !all_good(&ids.0)
            && let Some(at) = ids.0.iter().position(|id| *id > LARGEST_ID)
        {
            return faults.add(self.edges.bad_id(rows.start + at as u64, "source", ids.0[at]));
        }
        self.kept.write(rows.start / self.step, &ids.0, &mut own.kept)
    }
}

/// Ids on their way to the disk: rows that nobody receives.
#[derive(Default)]
struct KeptIds(Vec<u64>);

impl super::chunk::Chunk for KeptIds {
    fn clear(&mut self) {
        self.0.clear();
    }

    fn rows(&self) -> u64 {
        0
    }

    fn set_first_row(&mut self, _: u64) {}
}

/// The second half: destinations, and the sources that were kept.
struct PackedDestinations<'a> {
    edges: &'a ArrayEdges,
    stream: SharedStream,
    step: u64,
    kept: &'a KeptHalf,
}

impl Pieces for PackedDestinations<'_> {
    type Chunk = EdgeChunk;
    type Own = OneEnd;

    fn own(&self) -> Result<OneEnd> {
        Ok(OneEnd::new(self.step, self.edges.width()))
    }

    fn take(&self, own: &mut OneEnd) -> Result<Option<Range<u64>>> {
        self.stream.take(&mut own.packed)
    }

    fn fill(
        &self,
        own: &mut OneEnd,
        rows: Range<u64>,
        chunk: &mut EdgeChunk,
        faults: &mut Faults<'_>,
    ) -> Result<()> {
        let count = (rows.end - rows.start) as usize;
        let packed = &own.packed[..count * self.edges.width() as usize];
        extend_ids(self.edges.array.header().numbers, packed, &mut chunk.destinations);
        self.kept.read(rows.start / self.step, count, &mut own.kept, &mut chunk.sources)?;
        self.edges.check(rows.start, chunk, faults)
    }
}
