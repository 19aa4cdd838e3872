//! Who is next to whom, whichever way the edges lead: neighbour lists of all ranks in a scratch file.
//! Orders by neighbourhood are found in it; it lives only as long as they are looked for. It must not
//! know what an order is.

use std::sync::Mutex;

use graphmill_disk::OutputFile;
use graphmill_format::{HEADER_LENGTH, Header, Section};
use zerocopy::IntoBytes;

use super::edge_log::EdgeLog;
use super::scratch_array::{ArrayReader, IO_BYTES, PAGE, Stored};
use super::workspace::Workspace;
use crate::edge_sort::{EdgeSortOptions, EdgeSorter};
use crate::graph_options::Directions;
use crate::progress::{Observer, Stage};
use crate::{Error, Result};

/// Lists of numbers below 2^31.
pub(super) struct SymmetricLists {
    file: Box<dyn OutputFile>,
    offsets: Section,
    neighbours: Section,
    count: u64,
}

impl SymmetricLists {
    /// Sorts the edges of a log, whose ids are below `count`; edges from a node to itself say nothing.
    pub(super) fn of(
        workspace: &Workspace,
        log: &EdgeLog,
        count: u64,
        observer: Option<Observer<'_>>,
    ) -> Result<Self> {
        if count >= 1 << 31 {
            let problem = format!("{count} nodes are too many for it; choose hot or none");
            return Err(Error::request("order", problem));
        }
        let file = workspace.scratch("neighbours")?;
        let path = file.path().to_path_buf();
        let mut options = EdgeSortOptions::new()
            .directions(Directions::Undirected)
            .drop_self_loops(true)
            .num_nodes(count);
        if let Some(observer) = observer {
            options = options.observer(observer);
        }
        let file_system = workspace.file_system().clone();
        let sorter = EdgeSorter::new(options, workspace.budget(), file_system, &path)?;
        let stage = Mutex::new(Stage::new(observer, "sorting neighbours", log.rows()));
        log.replay(&stage, &|chunk| sorter.push(&chunk))?;
        let (written, _) = sorter.finish(&*file, &path, None)?;
        let mut start = vec![0; written.length.min(HEADER_LENGTH) as usize];
        file.read_exact_at(0, &mut start)?;
        let layout = Header::parse(&start, written.length).and_then(|header| header.graph_layout());
        let layout = layout.map_err(Error::format(&path))?;
        let (offsets, neighbours) = (layout.directions[0].offsets, layout.directions[0].neighbours);
        Ok(SymmetricLists { file, offsets, neighbours, count })
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Bytes that reading all lists takes.
    pub(super) const READING: u64 = 2 * (IO_BYTES + PAGE) as u64;

    /// All lists in their order.
    pub(super) fn reader(&self) -> Result<ListReader<'_>> {
        let neighbours = self.array(&self.neighbours);
        Ok(ListReader { lengths: self.lengths()?, neighbours })
    }

    /// The lengths of all lists in their order.
    pub(super) fn lengths(&self) -> Result<LengthReader<'_>> {
        let mut offsets = self.array(&self.offsets);
        let start = offsets.next()?.unwrap_or(0);
        Ok(LengthReader { offsets, start })
    }

    fn array<T: Stored>(&self, section: &Section) -> ArrayReader<'_, T> {
        ArrayReader::new(&*self.file, section.offset, section.count, IO_BYTES)
    }

    /// Replaces `into` by the list of a node.
    pub(super) fn read(&self, node: u32, into: &mut Vec<u32>) -> Result<()> {
        let mut ends = [0_u64; 2];
        self.file.read_exact_at(self.offsets.offset + u64::from(node) * 8, ends.as_mut_bytes())?;
        into.clear();
        into.resize((ends[1] - ends[0]) as usize, 0);
        Ok(self.file.read_exact_at(self.neighbours.offset + ends[0] * 4, into.as_mut_bytes())?)
    }
}

/// Lengths one after the other.
pub(super) struct LengthReader<'a> {
    offsets: ArrayReader<'a, u64>,
    start: u64,
}

impl LengthReader<'_> {
    /// The length of the next list, or None after the last.
    pub(super) fn next(&mut self) -> Result<Option<u64>> {
        let end = self.offsets.next()?;
        Ok(end.map(|end| end - std::mem::replace(&mut self.start, end)))
    }
}

/// Lists one after the other.
pub(super) struct ListReader<'a> {
    lengths: LengthReader<'a>,
    neighbours: ArrayReader<'a, u32>,
}

impl ListReader<'_> {
    /// Replaces `into` by the next list, of which at most `most` neighbours are taken, evenly spread.
    /// Gives its whole length, or None after the last list.
    pub(super) fn next(&mut self, most: usize, into: &mut Vec<u32>) -> Result<Option<u64>> {
        into.clear();
        let Some(length) = self.lengths.next()? else { return Ok(None) };
        let step = length.div_ceil(most as u64).max(1);
        for at in 0..length {
            let neighbour = self.neighbours.next()?;
            if at % step == 0 {
                into.extend(neighbour);
            }
        }
        Ok(Some(length))
    }
}
