//! Edges in memory, as arrays of Python are.
//! They go the way of all sources, in chunks with exact row numbers, so that a build from arrays
//! and one from files differ in nothing else; bad rows are named or left out as in files. It must
//! not know what is built.

use std::ops::Range;
use std::sync::Mutex;

use graphmill_disk::Budget;

use super::chunk::{EdgeChunk, ReadReport};
use super::faults::{Faults, RowFault};
use super::id_array::IdArray;
use super::id_numbers::all_good;
use super::names::LONGEST_NAME;
use super::options::OnBadRow;
use super::pieces::{PieceReading, Pieces};
use super::turns::lock;
use crate::progress::Observer;
use crate::{Error, Result};

/// Edges of one chunk at most.
const CHUNK: usize = 1 << 15;
/// Bytes of names in one chunk, beyond which no further edge is added.
const NAMES: usize = 512 << 10;

/// Digits of the largest id.
const DIGITS: usize = 19;

/// Edges in arrays: an id for each end, and perhaps a weight and a time for each edge.
///
/// ```
/// use graphmill_disk::Budget;
/// use graphmill_ingest::source::{EdgeArrays, EdgeInput, EdgeInputOptions};
///
/// # fn main() -> graphmill_ingest::Result<()> {
/// let arrays = EdgeArrays::new(&[0_i32, 1][..], &[1_i64, 2][..]).weights(&[0.5, 2.0]);
/// let input = EdgeInput::memory(arrays, &EdgeInputOptions::new())?;
/// let report = input.read(&Budget::new(8 << 20), &|chunk| {
///     assert_eq!((&chunk.sources[..], &chunk.destinations[..]), (&[0, 1][..], &[1, 2][..]));
///     Ok(())
/// }, None)?;
/// assert_eq!(report.rows, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct EdgeArrays<'a> {
    pub(super) sources: IdArray<'a>,
    pub(super) destinations: IdArray<'a>,
    pub(super) weights: Option<&'a [f32]>,
    pub(super) times: Option<&'a [i64]>,
}

impl<'a> EdgeArrays<'a> {
    /// Edges from `sources[i]` to `destinations[i]`.
    pub fn new(
        sources: impl Into<IdArray<'a>>,
        destinations: impl Into<IdArray<'a>>,
    ) -> EdgeArrays<'a> {
        let (sources, destinations) = (sources.into(), destinations.into());
        EdgeArrays { sources, destinations, weights: None, times: None }
    }

    /// A weight for each edge.
    pub fn weights(mut self, weights: &'a [f32]) -> Self {
        self.weights = Some(weights);
        self
    }

    /// A time for each edge.
    pub fn times(mut self, times: &'a [i64]) -> Self {
        self.times = Some(times);
        self
    }

    /// Whether the ids are words.
    pub(crate) fn has_words(&self) -> bool {
        self.sources.is_text()
    }

    /// Refuses arrays that do not belong together.
    pub(super) fn check(&self) -> Result<()> {
        let edges = self.sources.len();
        let columns = [
            ("destinations", Some(self.destinations.len())),
            ("weights", self.weights.map(<[f32]>::len)),
            ("times", self.times.map(<[i64]>::len)),
        ];
        for (what, count) in columns {
            if let Some(count) = count.filter(|count| *count != edges) {
                let found = format!("{count} {what}");
                let expected = format!("{edges}, one for each source");
                return Err(Error::source("edges", found, expected, "give arrays of equal length"));
            }
        }
        if self.sources.is_text() != self.destinations.is_text() {
            let found = "one end as numbers and the other as text";
            let remedy = "give both ends alike";
            return Err(Error::source("edges", found, "ids of one kind", remedy));
        }
        Ok(())
    }

    pub(super) fn edges(&self) -> u64 {
        self.sources.len() as u64
    }

    pub(super) fn bytes(&self) -> u64 {
        let ids = |ids: &IdArray<'_>| match ids {
            IdArray::I32(_) | IdArray::U32(_) => 4 * ids.len() as u64,
            IdArray::Text(cells) => cells.bytes(),
            _ => 8 * ids.len() as u64,
        };
        let weights = self.weights.map_or(0, |weights| 4 * weights.len() as u64);
        let times = self.times.map_or(0, |times| 8 * times.len() as u64);
        ids(&self.sources) + ids(&self.destinations) + weights + times
    }

    /// Reads all edges once; with `names`, ids that are numbers become their digits.
    pub(super) fn read(
        &self,
        names: bool,
        on_bad_row: OnBadRow,
        budget: &Budget,
        consume: &(dyn Fn(&mut EdgeChunk) -> Result<()> + Sync),
        observer: Option<Observer<'_>>,
    ) -> Result<ReadReport> {
        let names = names || self.sources.is_text();
        let chunk = CHUNK.min(self.sources.len().max(1)) as u64;
        let values = 4 * u64::from(self.weights.is_some()) + 8 * u64::from(self.times.is_some());
        // The last edge may exceed the limit by two names.
        let longest = (NAMES + 2 * LONGEST_NAME) as u64;
        let ids = match (names, self.sources.is_text()) {
            (false, _) => chunk * 16,
            (true, true) => chunk * 16 + 2 * longest,
            (true, false) => chunk * (16 + 2 * DIGITS as u64),
        };
        let reading = PieceReading {
            rows: self.edges(),
            first_row: 0,
            memory: ids + chunk * values,
            what: "edges of arrays",
            stage: "reading edges",
            ordered: false,
            on_bad_row,
            file: None,
            budget,
            observer,
        };
        let pieces = MemoryPieces { arrays: self, names, next: Mutex::new(0) };
        let report = reading.run(&pieces, consume)?;
        Ok(ReadReport { bytes: self.bytes(), ..report })
    }
}

struct MemoryPieces<'a> {
    arrays: &'a EdgeArrays<'a>,
    names: bool,
    next: Mutex<usize>,
}

impl MemoryPieces<'_> {
    /// Adds one edge, or says what is wrong with it.
    fn edge(&self, at: usize, chunk: &mut EdgeChunk) -> std::result::Result<(), RowFault> {
        let EdgeArrays { sources, destinations, weights, .. } = self.arrays;
        if let Some(weights) = weights
            && !(weights[at] >= 0.0 && weights[at].is_finite())
        {
            return Err(RowFault::weight(format!("edge {at}, weight"), weights[at]));
        }
        let ends = [("source", sources), ("destination", destinations)];
        let before = chunk.source_names.len();
        for (end, ids) in ends {
            let place = || format!("edge {at}, {end}");
            let is_source = end == "source";
            let names =
                if is_source { &mut chunk.source_names } else { &mut chunk.destination_names };
            let outcome = match ids.word(at) {
                Some(word) => word.map(|word| names.push(word)).map_err(|why| why.at(place())),
                None => match ids.number(at) {
                    Err(found) => Err(RowFault::id(place(), found)),
                    Ok(id) if self.names => {
                        names.push(&id.to_string());
                        Ok(())
                    }
                    Ok(id) => {
                        let into =
                            if is_source { &mut chunk.sources } else { &mut chunk.destinations };
                        into.push(id);
                        Ok(())
                    }
                },
            };
            if let Err(fault) = outcome {
                chunk.sources.truncate(chunk.destinations.len());
                chunk.source_names.truncate(before);
                return Err(fault);
            }
        }
        Ok(())
    }

    fn push_values(&self, range: Range<usize>, chunk: &mut EdgeChunk) {
        if let Some(weights) = self.arrays.weights {
            let into = chunk.weights.get_or_insert_default();
            // Adding nothing turns -0.0 into 0.0.
            into.extend(weights[range.clone()].iter().map(|weight| weight + 0.0));
        }
        if let Some(times) = self.arrays.times {
            chunk.times.get_or_insert_default().extend_from_slice(&times[range]);
        }
    }
}

impl Pieces for MemoryPieces<'_> {
    type Chunk = EdgeChunk;
    type Own = ();

    fn own(&self) -> Result<()> {
        Ok(())
    }

    fn take(&self, (): &mut ()) -> Result<Option<Range<u64>>> {
        let EdgeArrays { sources, destinations, .. } = self.arrays;
        let mut next = lock(&self.next);
        let first = *next;
        let most = first.saturating_add(CHUNK).min(sources.len());
        *next = most;
        if sources.is_text() {
            let mut bytes = 0;
            *next = first;
            while *next < most && bytes <= NAMES {
                let ends = [sources.word_bytes(*next), destinations.word_bytes(*next)];
                bytes += ends.iter().map(|length| LONGEST_NAME.min(*length)).sum::<usize>();
                *next += 1;
            }
        }
        Ok((first < *next).then_some(first as u64..*next as u64))
    }

    fn fill(
        &self,
        (): &mut (),
        rows: Range<u64>,
        chunk: &mut EdgeChunk,
        faults: &mut Faults<'_>,
    ) -> Result<()> {
        let range = rows.start as usize..rows.end as usize;
        if !self.names {
            self.arrays.sources.extend(range.clone(), &mut chunk.sources);
            self.arrays.destinations.extend(range.clone(), &mut chunk.destinations);
            let weights = self.arrays.weights.map(|weights| &weights[range.clone()]);
            let good_weights =
                weights.is_none_or(|weights| weights.iter().all(|w| *w >= 0.0 && w.is_finite()));
            if good_weights && all_good(&chunk.sources) && all_good(&chunk.destinations) {
                self.push_values(range, chunk);
                return Ok(());
            }
            chunk.clear();
        } else {
            let EdgeArrays { sources, destinations, .. } = self.arrays;
            let ends =
                [(sources, &mut chunk.source_names), (destinations, &mut chunk.destination_names)];
            for (ids, names) in ends {
                let bytes = |at| match ids.is_text() {
                    true => ids.word_bytes(at).min(LONGEST_NAME),
                    false => DIGITS,
                };
                names.reserve(range.len(), range.clone().map(bytes).sum());
            }
        }
        for at in range {
            match self.edge(at, chunk) {
                Ok(()) => self.push_values(at..at + 1, chunk),
                Err(fault) => faults.add(fault)?,
            }
        }
        Ok(())
    }
}
