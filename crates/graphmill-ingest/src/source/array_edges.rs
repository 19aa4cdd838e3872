//! Edges in NumPy arrays: all sources and then all destinations, or pairs.
//! What is not packed is read at any position by all threads; packed members are unpacked once,
//! front to back. Either way memory is bounded, checksums are confirmed, and rows have their exact
//! numbers. It must not know what is built.

use std::ops::Range;

use graphmill_disk::{Budget, PageBuffer};

use super::array::ArrayFile;
use super::chunk::{EdgeChunk, ReadReport};
use super::faults::{Faults, RowFault};
use super::id_numbers::{LARGEST_ID, all_good, extend_ids, shown};
use super::options::EdgeInputOptions;
use super::pieces::{PieceReading, Pieces, RowCounter};
use super::positions::Positions;
use crate::progress::Observer;
use crate::{Error, Result};

/// Edges of one chunk at most.
const LARGEST_CHUNK: u64 = 1 << 16;
/// Edges of one chunk in a tight budget; both ends still start on a page.
const SMALLEST_CHUNK: u64 = 1 << 12;

/// Edges in one array.
#[derive(Debug)]
pub(crate) struct ArrayEdges {
    pub(super) array: ArrayFile,
    pub(super) edges: u64,
    /// Whether all sources lie before all destinations.
    pub(super) by_end: bool,
}

impl ArrayEdges {
    pub(crate) fn new(array: ArrayFile) -> Result<Self> {
        let header = array.header();
        let fault = |place: &str, found: String, expected: &str| {
            let remedy = "give edges as edge_index, integers of shape [2, E]";
            Err(Error::source(place, found, expected, remedy).in_file(array.file.path()))
        };
        let (edges, by_end) = match header.shape[..] {
            [2, edges] => (edges, !header.fortran),
            [edges, 2] => (edges, header.fortran),
            _ => {
                let found = format!("an array of shape {:?}", header.shape);
                return fault("shape", found, "[2, E] or [E, 2]");
            }
        };
        if !header.numbers.is_integer() {
            return fault("type", header.numbers.name().to_owned(), "integers");
        }
        Ok(ArrayEdges { array, edges, by_end })
    }

    /// Number of edges.
    pub(crate) fn edges(&self) -> u64 {
        self.edges
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.array.bytes()
    }

    pub(super) fn width(&self) -> u64 {
        self.array.header().numbers.width()
    }

    /// Reads all edges, the first as row `first_row`.
    pub(crate) fn read(
        &self,
        first_row: u64,
        options: &EdgeInputOptions,
        budget: &Budget,
        consume: &(dyn Fn(&mut EdgeChunk) -> Result<()> + Sync),
        observer: Option<Observer<'_>>,
    ) -> Result<ReadReport> {
        let step = self.step(budget);
        let reading = PieceReading {
            rows: self.edges,
            first_row,
            memory: Raw::memory(step, self.width()),
            what: "edges of an array",
            stage: "reading edges",
            ordered: false,
            on_bad_row: options.on_bad_row,
            file: Some(self.array.file.path()),
            budget,
            observer,
        };
        let reads = 2 * self.edges.div_ceil(step);
        let report = match Positions::new(&self.array, reads, budget)? {
            Some(positions) => {
                let rows = RowCounter::new(self.edges, step);
                let pieces = StoredEdges { edges: self, positions, rows, step };
                let report = reading.run(&pieces, consume)?;
                pieces.positions.confirm()?;
                report
            }
            None => self.read_packed(&reading, step, options.scratch.as_ref(), consume)?,
        };
        Ok(ReadReport { bytes: self.bytes(), ..report })
    }

    /// Edges of a chunk, so that one fits into half of what is free.
    fn step(&self, budget: &Budget) -> u64 {
        let mut step = LARGEST_CHUNK;
        while step > SMALLEST_CHUNK && Raw::memory(step, self.width()) > budget.free() / 2 {
            step /= 2;
        }
        step
    }

    /// Leaves out or refuses edges whose ends are no ids; `first` is the row of the first.
    pub(super) fn check(
        &self,
        first: u64,
        chunk: &mut EdgeChunk,
        faults: &mut Faults<'_>,
    ) -> Result<()> {
        if all_good(&chunk.sources) && all_good(&chunk.destinations) {
            return Ok(());
        }
        let mut kept = 0;
        for at in 0..chunk.sources.len() {
            let ids = [("source", chunk.sources[at]), ("destination", chunk.destinations[at])];
            match ids.into_iter().find(|(_, id)| *id > LARGEST_ID) {
                Some((end, id)) => faults.add(self.bad_id(first + at as u64, end, id))?,
                None => {
                    chunk.sources[kept] = chunk.sources[at];
                    chunk.destinations[kept] = chunk.destinations[at];
                    kept += 1;
                }
            }
        }
        chunk.sources.truncate(kept);
        chunk.destinations.truncate(kept);
        Ok(())
    }

    pub(super) fn bad_id(&self, edge: u64, end: &str, id: u64) -> RowFault {
        RowFault::id(format!("edge {edge}, {end}"), shown(self.array.header().numbers, id))
    }
}

/// What a thread reads ids into.
pub(super) struct Raw {
    /// Sources and, from the middle on, destinations; or pairs.
    pub(super) bytes: PageBuffer,
    /// The ends of pairs, one after the other.
    ids: Vec<u64>,
}

impl Raw {
    pub(super) fn new(step: u64, width: u64) -> Self {
        Raw { bytes: PageBuffer::new((step * 2 * width) as usize), ids: Vec::new() }
    }

    /// Bytes of both ends as stored, of pairs as ids, and of the chunk; one end on its way from or
    /// to the disk takes less.
    fn memory(step: u64, width: u64) -> u64 {
        step * 2 * width + 2 * 4096 + step * 2 * 8 * 2
    }

    /// Adds the first `count` pairs to a chunk.
    pub(super) fn extend_pairs(&mut self, edges: &ArrayEdges, count: u64, chunk: &mut EdgeChunk) {
        let length = (2 * count * edges.width()) as usize;
        self.ids.clear();
        extend_ids(edges.array.header().numbers, &self.bytes[..length], &mut self.ids);
        let pairs = self.ids.as_chunks::<2>().0;
        chunk.sources.extend(pairs.iter().map(|[source, _]| source));
        chunk.destinations.extend(pairs.iter().map(|[_, destination]| destination));
    }
}

/// Edges that are read at any position.
struct StoredEdges<'a> {
    edges: &'a ArrayEdges,
    positions: Positions<'a>,
    rows: RowCounter,
    step: u64,
}

impl Pieces for StoredEdges<'_> {
    type Chunk = EdgeChunk;
    type Own = Raw;

    fn own(&self) -> Result<Raw> {
        Ok(Raw::new(self.step, self.edges.width()))
    }

    fn take(&self, _: &mut Raw) -> Result<Option<Range<u64>>> {
        Ok(self.rows.take())
    }

    fn fill(
        &self,
        raw: &mut Raw,
        rows: Range<u64>,
        chunk: &mut EdgeChunk,
        faults: &mut Faults<'_>,
    ) -> Result<()> {
        let (edges, numbers) = (self.edges, self.edges.array.header().numbers);
        let (width, count) = (edges.width(), rows.end - rows.start);
        let length = (count * width) as usize;
        if edges.by_end {
            let (sources, destinations) = raw.bytes.split_at_mut((self.step * width) as usize);
            self.positions.read(rows.start * width, &mut sources[..length])?;
            let second = (edges.edges + rows.start) * width;
            self.positions.read(second, &mut destinations[..length])?;
            extend_ids(numbers, &sources[..length], &mut chunk.sources);
            extend_ids(numbers, &destinations[..length], &mut chunk.destinations);
        } else {
            self.positions.read(2 * rows.start * width, &mut raw.bytes[..2 * length])?;
            raw.extend_pairs(edges, count, chunk);
        }
        edges.check(rows.start, chunk, faults)
    }
}
