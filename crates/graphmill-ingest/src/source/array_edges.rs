//! Edges in NumPy arrays: all sources and then all destinations, or pairs.
//! A `.npy` is read by all threads at once, a member of an archive front to back, so that its
//! checksum is seen; either way memory is bounded and rows have their exact numbers. It must not know what is built.

use std::sync::atomic::{AtomicU64, Ordering};

use graphmill_disk::{Budget, PageBuffer};
use graphmill_format::ElementType;

use super::array::{ArrayFile, ArrayStream};
use super::chunk::{BadRow, EdgeChunk, ReadReport};
use super::options::OnBadRow;
use crate::progress::{Observer, Stage};
use crate::{Error, Result};

/// Edges of one chunk at most.
const CHUNK: u64 = 1 << 16;
/// Rows left out that are kept for the report.
const KEPT: usize = 10;

/// Edges in one array.
#[derive(Debug)]
pub(crate) struct ArrayEdges {
    array: ArrayFile,
    edges: u64,
    /// Whether all sources lie before all destinations.
    by_end: bool,
}

impl ArrayEdges {
    pub(crate) fn new(array: ArrayFile) -> Result<Self> {
        let header = array.header();
        let fault = |place: &str, found: String, expected: &str| {
            let remedy = "give edges as edge_index, integers of shape [2, E]";
            Err(Error::source(place, found, expected, remedy).in_file(array.file.path()))
        };
        let (edges, by_end) = match header.shape[..] {
            [2, edges] => (edges, !array.is_fortran()),
            [edges, 2] => (edges, array.is_fortran()),
            _ => {
                let found = format!("an array of shape {:?}", header.shape);
                return fault("shape", found, "[2, E] or [E, 2]");
            }
        };
        if !is_integer(header.element) {
            return fault("type", header.element.name().to_owned(), "integers");
        }
        Ok(ArrayEdges { array, edges, by_end })
    }

    /// Number of edges.
    pub(crate) fn edges(&self) -> u64 {
        self.edges
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.array.data_length()
    }

    /// Reads all edges, the first as row `first_row`.
    pub(crate) fn read(
        &self,
        first_row: u64,
        on_bad_row: OnBadRow,
        budget: &Budget,
        consume: &(dyn Fn(&mut EdgeChunk) -> Result<()> + Sync),
        observer: Option<Observer<'_>>,
    ) -> Result<ReadReport> {
        let width = self.array.header().element.width();
        // Raw bytes of both ends, and the ids made of them.
        let per_worker = CHUNK.min(self.edges.max(1)) * (2 * width + 16) + 2 * 4096;
        let stage = Stage::new(observer, "reading edges", self.edges);
        match self.array.stored_at() {
            Some(start) if on_bad_row == OnBadRow::Stop && !self.array.is_member() => {
                self.read_stored(start, first_row, per_worker, budget, consume, stage)
            }
            _ => self.read_stream(first_row, on_bad_row, per_worker, budget, consume, stage),
        }
    }

    fn read_stored(
        &self,
        start: u64,
        first_row: u64,
        per_worker: u64,
        budget: &Budget,
        consume: &(dyn Fn(&mut EdgeChunk) -> Result<()> + Sync),
        stage: Stage<'_>,
    ) -> Result<ReadReport> {
        let pool = graphmill_disk::pool()?;
        let affordable = (budget.free() / 2 / per_worker).max(1);
        let workers = affordable.min(pool.current_num_threads() as u64);
        let width = self.array.header().element.width();
        let next = AtomicU64::new(0);
        let stage = std::sync::Mutex::new(stage);
        let outcomes = pool.broadcast(|context| {
            if context.index() as u64 >= workers {
                return Ok(());
            }
            let _reserved = budget.reserve(per_worker, "edges of an array")?;
            let mut raw = Raw::new(CHUNK.min(self.edges), width);
            let mut chunk = EdgeChunk::default();
            loop {
                let first = next.fetch_add(CHUNK, Ordering::Relaxed);
                if first >= self.edges {
                    return Ok(());
                }
                let count = CHUNK.min(self.edges - first);
                raw.read_at(self, start, first, count)?;
                chunk.first_row = first_row + first;
                let outcome = self.decode(
                    &raw,
                    first,
                    count,
                    OnBadRow::Stop,
                    &mut chunk,
                    &mut ReadReport::default(),
                );
                let outcome = outcome.and_then(|()| consume(&mut chunk)).and_then(|()| {
                    let mut stage = stage.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    stage.advance(count)
                });
                if outcome.is_err() {
                    // The others stop at their next chunk.
                    next.store(self.edges, Ordering::Relaxed);
                    return outcome;
                }
            }
        });
        outcomes.into_iter().collect::<Result<()>>()?;
        Ok(ReadReport { rows: self.edges, bytes: self.bytes(), ..ReadReport::default() })
    }

    fn read_stream(
        &self,
        first_row: u64,
        on_bad_row: OnBadRow,
        per_worker: u64,
        budget: &Budget,
        consume: &(dyn Fn(&mut EdgeChunk) -> Result<()> + Sync),
        mut stage: Stage<'_>,
    ) -> Result<ReadReport> {
        let _reserved = budget.reserve(per_worker, "edges of an array")?;
        let width = self.array.header().element.width();
        let mut report = ReadReport { bytes: self.bytes(), ..ReadReport::default() };
        let mut raw = Raw::new(CHUNK.min(self.edges), width);
        let mut chunk = EdgeChunk::default();
        let mut sources = self.array.stream()?;
        let mut destinations = None;
        if self.by_end && self.edges > 0 {
            // The second half is unpacked on its own, so that neither half has to be kept.
            let mut second = self.array.stream()?;
            second.skip(self.edges * width)?;
            destinations = Some(second);
        }
        let mut first = 0;
        while first < self.edges {
            let count = CHUNK.min(self.edges - first);
            raw.fill(&mut sources, destinations.as_mut(), count)?;
            chunk.first_row = first_row + report.rows;
            self.decode(&raw, first, count, on_bad_row, &mut chunk, &mut report)?;
            report.rows += chunk.len() as u64;
            if !chunk.is_empty() {
                consume(&mut chunk)?;
            }
            stage.advance(count)?;
            first += count;
        }
        Ok(report)
    }

    /// Turns raw bytes into ids, leaving out or refusing what is no id.
    fn decode(
        &self,
        raw: &Raw,
        first: u64,
        count: u64,
        on_bad_row: OnBadRow,
        chunk: &mut EdgeChunk,
        report: &mut ReadReport,
    ) -> Result<()> {
        chunk.clear();
        let count = count as usize;
        let element = self.array.header().element;
        let width = raw.width;
        if self.by_end {
            integers(element, &raw.sources[..count * width], |id| chunk.sources.push(id as u64));
            let ends = &raw.destinations[..count * width];
            integers(element, ends, |id| chunk.destinations.push(id as u64));
        } else {
            let mut is_source = true;
            let pairs = raw.pairs(count);
            for half in pairs {
                integers(element, half, |id| {
                    let into = if is_source { &mut chunk.sources } else { &mut chunk.destinations };
                    into.push(id as u64);
                    is_source = !is_source;
                });
            }
        }
        // Negative ids were sign-extended to large ones.
        let largest = chunk.sources.iter().chain(&chunk.destinations).fold(0, |a, &id| a.max(id));
        if largest <= i64::MAX as u64 {
            return Ok(());
        }
        let mut kept = 0;
        for at in 0..chunk.len() {
            let ids = [("source", chunk.sources[at]), ("destination", chunk.destinations[at])];
            let Some((end, id)) = ids.into_iter().find(|(_, id)| *id > i64::MAX as u64) else {
                chunk.sources[kept] = chunk.sources[at];
                chunk.destinations[kept] = chunk.destinations[at];
                kept += 1;
                continue;
            };
            let path = self.array.file.path();
            let place = format!("edge {}, {end}", first + at as u64);
            let (found, expected) = (id as i64, "a node id from 0 to 2^63 - 1");
            if on_bad_row == OnBadRow::Stop {
                let remedy = "correct the id or leave the edge out";
                return Err(Error::source(place, found, expected, remedy).in_file(path));
            }
            report.skipped += 1;
            if report.bad_examples.len() < KEPT {
                let (found, expected) = (found.to_string(), expected.to_owned());
                let file = path.to_path_buf();
                report.bad_examples.push(BadRow { file, place, found, expected });
            }
        }
        chunk.sources.truncate(kept);
        chunk.destinations.truncate(kept);
        Ok(())
    }
}

/// Raw bytes of the ids of one chunk; pairs fill the first buffer and then the second.
struct Raw {
    sources: PageBuffer,
    destinations: PageBuffer,
    width: usize,
}

impl Raw {
    fn new(edges: u64, width: u64) -> Self {
        let length = (edges * width) as usize;
        let (sources, destinations) = (PageBuffer::new(length), PageBuffer::new(length));
        Raw { sources, destinations, width: width as usize }
    }

    /// The bytes of `count` pairs, in two pieces.
    fn pairs(&self, count: usize) -> [&[u8]; 2] {
        let length = 2 * count * self.width;
        let first = length.min(self.sources.len());
        [&self.sources[..first], &self.destinations[..length - first]]
    }

    fn read_at(&mut self, edges: &ArrayEdges, start: u64, first: u64, count: u64) -> Result<()> {
        let file = &*edges.array.file;
        let width = self.width as u64;
        let length = (count * width) as usize;
        if edges.by_end {
            file.read_exact_at(start + first * width, &mut self.sources[..length])?;
            let second = start + (edges.edges + first) * width;
            file.read_exact_at(second, &mut self.destinations[..length])?;
            return Ok(());
        }
        let at = start + 2 * first * width;
        let half = (2 * length).min(self.sources.len());
        file.read_exact_at(at, &mut self.sources[..half])?;
        let rest = 2 * length - half;
        file.read_exact_at(at + half as u64, &mut self.destinations[..rest])?;
        Ok(())
    }

    fn fill(
        &mut self,
        stream: &mut ArrayStream,
        second: Option<&mut ArrayStream>,
        count: u64,
    ) -> Result<()> {
        let length = count as usize * self.width;
        match second {
            Some(second) => {
                stream.fill(&mut self.sources[..length])?;
                second.fill(&mut self.destinations[..length])
            }
            None => {
                let half = (2 * length).min(self.sources.len());
                stream.fill(&mut self.sources[..half])?;
                stream.fill(&mut self.destinations[..2 * length - half])
            }
        }
    }
}

pub(crate) fn is_integer(element: ElementType) -> bool {
    use ElementType::{I8, I16, I32, I64, U8};
    matches!(element, I8 | I16 | I32 | I64 | U8)
}

/// Hands on every integer of some bytes.
pub(crate) fn integers(element: ElementType, bytes: &[u8], mut take: impl FnMut(i64)) {
    match element {
        ElementType::I8 => bytes.iter().for_each(|byte| take((*byte as i8).into())),
        ElementType::U8 | ElementType::Bool => bytes.iter().for_each(|byte| take((*byte).into())),
        ElementType::I16 => {
            bytes.as_chunks().0.iter().for_each(|bytes| take(i16::from_le_bytes(*bytes).into()));
        }
        ElementType::I32 => {
            bytes.as_chunks().0.iter().for_each(|bytes| take(i32::from_le_bytes(*bytes).into()));
        }
        _ => bytes.as_chunks().0.iter().for_each(|bytes| take(i64::from_le_bytes(*bytes))),
    }
}
