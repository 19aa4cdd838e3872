//! An existing `.gl`, ours or GraphZero's, as a source of edges.
//! Conversions read it as they read any other stream: in chunks, again and again. The offsets are
//! checked once when it is opened and every id when it is read, so a lying file ends in an error
//! that names the byte. It must not know what is written from it.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use graphmill_disk::{Backend, ReadAt};
use graphmill_format::packed::{self, PackedWindow};
use graphmill_format::{
    Direction, DirectionSections, GraphLayout, HEADER_LENGTH, Header, Section, SectionKind,
    content, graphzero,
};

use crate::edges::EdgeStream;
use crate::stored::{StoredValues, read_integers};
use crate::{Error, Result};

/// Offsets looked at together.
const OFFSETS: u64 = 1 << 13;
/// Packed numbers read together.
const PACKED: u64 = 1 << 14;

/// A topology file, its header read and its offsets checked.
#[derive(Clone, Debug)]
pub struct GraphFile {
    file: Arc<dyn ReadAt>,
    layout: GraphLayout,
    /// The direction that edges are read from.
    lists: DirectionSections,
    is_graphzero: bool,
}

impl GraphFile {
    /// Opens a graphmill or GraphZero `.gl`.
    pub fn open(path: &Path) -> Result<Self> {
        let file = graphmill_disk::open(path, Backend::Pread)?;
        let mut start = vec![0; file.len().min(HEADER_LENGTH) as usize];
        file.read_exact_at(0, &mut start)?;
        let is_graphzero = start.starts_with(&graphzero::GRAPH_MAGIC);
        let layout = if is_graphzero {
            graphzero::parse_graph(&start, file.len())
        } else {
            Header::parse(&start, file.len()).and_then(|header| header.graph_layout())
        };
        let layout = layout.map_err(Error::format(path))?;
        // Directions are listed with out before in: walks and exports follow out-edges.
        let lists = layout.directions[0];
        for sections in &layout.directions {
            check_offsets(&*file, &sections.offsets, &layout)?;
        }
        Ok(GraphFile { file, layout, lists, is_graphzero })
    }

    /// Where the file is.
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// What the file holds.
    pub fn layout(&self) -> &GraphLayout {
        &self.layout
    }

    /// Whether the file has GraphZero's layout.
    pub fn is_graphzero(&self) -> bool {
        self.is_graphzero
    }

    /// The direction whose lists the stream follows: out or both, in only where that is all.
    pub fn direction(&self) -> Direction {
        self.lists.direction
    }

    /// The same file, its edges read from the lists of a direction; None if those are not stored.
    pub(crate) fn following(&self, direction: Direction) -> Option<Self> {
        let serves = |lists: &&DirectionSections| {
            lists.direction == direction || lists.direction == Direction::Both
        };
        let lists = *self.layout.directions.iter().find(serves)?;
        Some(GraphFile { lists: DirectionSections { direction, ..lists }, ..self.clone() })
    }

    /// The stored ids of the stream's edges.
    pub(crate) fn edge_ids(&self) -> Option<StoredValues> {
        self.lists.edge_ids.map(|section| self.values(section))
    }

    /// The weights of the stream's edges.
    pub(crate) fn weights(&self) -> Option<StoredValues> {
        self.lists.weights.map(|section| self.values(section))
    }

    /// The times of the stream's edges.
    pub(crate) fn times(&self) -> Option<StoredValues> {
        self.lists.edge_times.map(|section| self.values(section))
    }

    /// The ids that the nodes had before they were renumbered.
    pub(crate) fn original_ids(&self) -> Option<StoredValues> {
        self.layout.original_ids.map(|section| self.values(section))
    }

    fn values(&self, section: Section) -> StoredValues {
        StoredValues { file: self.file.clone(), section }
    }

    /// Hands over some offsets with their places among them.
    fn offsets(&self, range: Range<u64>, take: impl FnMut(usize, u64)) -> Result<()> {
        let count = self.layout.num_nodes + 1;
        read_numbers(&*self.file, &self.lists.offsets, count, range, take)
    }

    /// The node whose list holds the stored edge: the last one whose list starts at or before it.
    fn owner(&self, edge: u64) -> Result<u64> {
        let (mut low, mut high) = (0, self.layout.num_nodes);
        while low < high {
            let middle = low + (high - low) / 2;
            let mut end = 0;
            self.offsets(middle + 1..middle + 2, |_, offset| end = offset)?;
            if end <= edge {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// Writes the owner of every stored edge of `edges`.
    fn owners(&self, edges: Range<u64>, into: &mut [u64]) -> Result<()> {
        let mut node = self.owner(edges.start)?;
        let mut filled = 0;
        while filled < into.len() && node < self.layout.num_nodes {
            let count = (self.layout.num_nodes - node).min(OFFSETS);
            self.offsets(node + 1..node + 1 + count, |index, offset| {
                let end = offset.saturating_sub(edges.start);
                let end = end.min(into.len() as u64) as usize;
                if end > filled {
                    into[filled..end].fill(node + index as u64);
                    filled = end;
                }
            })?;
            node += count;
        }
        if filled == into.len() {
            return Ok(());
        }
        // The offsets were whole when the file was opened.
        let found = format!("offsets that end at edge {}", edges.start + filled as u64);
        let expected = format!("lists up to edge {}", edges.end);
        let remedy = "leave the file alone while it is being read";
        Err(Error::source("offsets", found, expected, remedy).in_file(self.file.path()))
    }
}

impl EdgeStream for GraphFile {
    fn node_count(&self) -> u64 {
        self.layout.num_nodes
    }

    fn edge_count(&self) -> u64 {
        self.layout.num_edges
    }

    fn read(&self, first: u64, sources: &mut [u64], destinations: &mut [u64]) -> Result<()> {
        let section = &self.lists.neighbours;
        let (owners, neighbours) = match self.lists.direction {
            Direction::In => (destinations, sources),
            Direction::Out | Direction::Both => (sources, destinations),
        };
        self.owners(first..first + owners.len() as u64, owners)?;
        let range = first..first + neighbours.len() as u64;
        let count = self.layout.num_edges;
        read_numbers(&*self.file, section, count, range, |i, id| neighbours[i] = id)?;
        match neighbours.iter().position(|&id| id >= self.layout.num_nodes) {
            None => Ok(()),
            Some(wrong) => {
                let at = place_of(section, first + wrong as u64);
                let expected = format!("an id of {} nodes", self.layout.num_nodes);
                Err(lie(&*self.file, "neighbour", at, neighbours[wrong] as i64, expected))
            }
        }
    }
}

/// Reads some of the `count` numbers of a section, plain or packed, and hands each to `take` with its place among them.
fn read_numbers(
    file: &dyn ReadAt,
    section: &Section,
    count: u64,
    range: Range<u64>,
    mut take: impl FnMut(usize, u64),
) -> Result<()> {
    if !is_packed(section) {
        let at = section.offset + range.start * section.element.width();
        let numbers = (range.end - range.start) as usize;
        return read_integers(file, section.element, at, numbers, take);
    }
    let mut window = PackedWindow::new();
    let mut index = 0;
    let mut first = range.start;
    while first < range.end {
        let some = first..range.end.min(first + PACKED);
        first = some.end;
        let size = (count, section.length());
        let is_filled = window
            .fill(size, some.clone(), |at, bytes| file.read_exact_at(section.offset + at, bytes))?;
        let is_read = is_filled
            && window.read(some.clone(), |value| {
                take(index, value);
                index += 1;
            });
        if !is_read {
            let at = place_of(section, some.start);
            let expected = "packed values; run `graphmill verify` and build the file again";
            return Err(lie(file, "directory", at, "one that leads nowhere", expected));
        }
    }
    Ok(())
}

fn is_packed(section: &Section) -> bool {
    matches!(section.kind, Some(SectionKind::CompactOffsets | SectionKind::PackedNeighbours))
}

/// The byte at which a number of a section stands, or the part of the directory that leads to it.
fn place_of(section: &Section, index: u64) -> u64 {
    if is_packed(section) {
        section.offset + index / packed::VALUES_PER_ENTRY * packed::ENTRY_LENGTH
    } else {
        section.offset + index * section.element.width()
    }
}

/// Offsets start at 0, never descend, and end at the number of edges.
fn check_offsets(file: &dyn ReadAt, section: &Section, layout: &GraphLayout) -> Result<()> {
    let (total, num_edges) = (layout.num_nodes + 1, layout.num_edges);
    let mut previous = 0;
    let mut piece = Vec::with_capacity(total.min(OFFSETS) as usize);
    let mut first = 0;
    while first < total {
        let count = (total - first).min(OFFSETS);
        let at = |index: usize| place_of(section, first + index as u64);
        piece.clear();
        read_numbers(file, section, total, first..first + count, |_, offset| piece.push(offset))?;
        if first == 0 && piece[0] != 0 {
            return Err(lie(file, "offset", at(0), piece[0], "0"));
        }
        if let Some(wrong) = content::first_bad_offset(previous, &piece, num_edges) {
            let before = if wrong == 0 { previous } else { piece[wrong - 1] };
            let expected = format!("{before} to {num_edges}");
            return Err(lie(file, "offset", at(wrong), piece[wrong], expected));
        }
        previous = piece[piece.len() - 1];
        first += count;
    }
    if previous != num_edges {
        return Err(lie(file, "last offset", place_of(section, total - 1), previous, num_edges));
    }
    Ok(())
}

fn lie(
    file: &dyn ReadAt,
    field: &'static str,
    at: u64,
    found: impl ToString,
    expected: impl ToString,
) -> Error {
    let (found, expected) = (found.to_string(), expected.to_string());
    Error::format(file.path())(graphmill_format::Error::Field { field, at, found, expected })
}
