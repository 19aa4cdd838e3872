//! Edges of compiled topologies: graphmill's and GraphZero's `.gl`.
//! The lists are read again as plain edges, in the order in which they are stored, with the
//! weights and times that they have; that order becomes the order of rows. It must not know what
//! is built from them.

use std::ops::Range;
use std::path::{Path, PathBuf};

use graphmill_disk::Budget;

use super::chunk::{EdgeChunk, ReadReport};
use super::faults::{Faults, RowFault};
use super::options::OnBadRow;
use super::pieces::{PieceReading, Pieces, RowCounter};
use crate::Result;
use crate::edges::{EdgeStream, EdgeValues};
use crate::graph_file::GraphFile;
use crate::progress::Observer;
use crate::stored::StoredValues;

/// Edges of one chunk.
const CHUNK: u64 = 1 << 15;
/// What reading numbers in pieces takes.
const PIECE: u64 = 64 << 10;

/// Edges of one `.gl`.
#[derive(Debug)]
pub(crate) struct CompiledEdges {
    path: PathBuf,
    file: GraphFile,
    weights: Option<StoredValues>,
    times: Option<StoredValues>,
    bytes: u64,
}

impl CompiledEdges {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = GraphFile::open(path)?;
        let (weights, times) = (file.weights(), file.times());
        // Only told to the user; a file that vanished since will fail when it is read.
        let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        Ok(CompiledEdges { path: path.to_path_buf(), file, weights, times, bytes })
    }

    pub(crate) fn edges(&self) -> u64 {
        self.file.edge_count()
    }

    pub(crate) fn nodes(&self) -> u64 {
        self.file.node_count()
    }

    pub(crate) fn has_weights(&self) -> bool {
        self.weights.is_some()
    }

    pub(crate) fn has_times(&self) -> bool {
        self.times.is_some()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
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
        let values = 4 * u64::from(self.has_weights()) + 8 * u64::from(self.has_times());
        let reading = PieceReading {
            rows: self.edges(),
            first_row,
            memory: CHUNK.min(self.edges()) * (16 + values) + PIECE,
            what: "edges of a topology",
            stage: "reading edges",
            ordered: false,
            on_bad_row,
            file: Some(&self.path),
            budget,
            observer,
        };
        let pieces = Lists { edges: self, rows: RowCounter::new(self.edges(), CHUNK) };
        let report = reading.run(&pieces, consume)?;
        Ok(ReadReport { bytes: self.bytes(), ..report })
    }
}

struct Lists<'a> {
    edges: &'a CompiledEdges,
    rows: RowCounter,
}

impl Pieces for Lists<'_> {
    type Chunk = EdgeChunk;
    type Own = ();

    fn own(&self) -> Result<()> {
        Ok(())
    }

    fn take(&self, (): &mut ()) -> Result<Option<Range<u64>>> {
        Ok(self.rows.take())
    }

    fn fill(
        &self,
        (): &mut (),
        rows: Range<u64>,
        chunk: &mut EdgeChunk,
        faults: &mut Faults<'_>,
    ) -> Result<()> {
        let count = (rows.end - rows.start) as usize;
        chunk.sources.resize(count, 0);
        chunk.destinations.resize(count, 0);
        self.edges.file.read(rows.start, &mut chunk.sources, &mut chunk.destinations)?;
        if let Some(stored) = &self.edges.times {
            let times = chunk.times.get_or_insert_default();
            times.resize(count, 0);
            stored.read(rows.start, times)?;
        }
        if let Some(stored) = &self.edges.weights {
            let weights = chunk.weights.get_or_insert_default();
            weights.resize(count, 0.0);
            stored.read(rows.start, weights)?;
            leave_out_bad_weights(rows.start, chunk, faults)?;
        }
        Ok(())
    }
}

/// GraphZero checks no weights, so its files may hold any.
fn leave_out_bad_weights(first: u64, chunk: &mut EdgeChunk, faults: &mut Faults<'_>) -> Result<()> {
    let Some(weights) = &mut chunk.weights else { return Ok(()) };
    // Adding nothing turns -0.0 into 0.0.
    weights.iter_mut().for_each(|weight| *weight += 0.0);
    let is_good = |weight: f32| weight >= 0.0 && weight.is_finite();
    if weights.iter().all(|weight| is_good(*weight)) {
        return Ok(());
    }
    let mut kept = 0;
    for at in 0..weights.len() {
        if !is_good(weights[at]) {
            let place = format!("edge {}, weight", first + at as u64);
            faults.add(RowFault::weight(place, weights[at]))?;
            continue;
        }
        weights[kept] = weights[at];
        chunk.sources[kept] = chunk.sources[at];
        chunk.destinations[kept] = chunk.destinations[at];
        if let Some(times) = &mut chunk.times {
            times[kept] = times[at];
        }
        kept += 1;
    }
    weights.truncate(kept);
    chunk.sources.truncate(kept);
    chunk.destinations.truncate(kept);
    chunk.times.iter_mut().for_each(|times| times.truncate(kept));
    Ok(())
}
