//! Topology: degrees and neighbour lists, straight from the mapped file.
//!
//! [`Graph`] is the handle; [`Lists`] is one stored direction with typed slices over the map, which samplers borrow for
//! the length of a call. The ids inside a list come from the file as they are; whoever follows one checks it.

use crate::announce::{Announce, Announcer, Announcing};
use crate::mapped_file::{self, Origin, check_index, elements, elements_of};
use crate::stored_lists::{Neighbours, Offsets, prefetch_value};
use crate::topology_copy::{ListsCopy, TopologyCopies};
use crate::{Error, Placement, Result};
use graphmill_disk::{Budget, Mapped, ReadAt, room};
use graphmill_format::packed::{BLOCK, PackedSequence};
use graphmill_format::{
    Direction, DirectionSections, ElementType, FileKind, GraphLayout, Header, ListOrder, Section,
    graphzero,
};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// An open `.gl` file, ours or GraphZero's. Cloning shares the map.
#[derive(Clone, Debug)]
pub struct Graph {
    mapped: Arc<Mapped>,
    layout: Arc<GraphLayout>,
    header: Option<Arc<Header>>,
    announcing: Announcing,
    copies: Arc<TopologyCopies>,
}

impl Graph {
    /// Opens a topology; takes microseconds whatever its size.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (mapped, start) = mapped_file::open(path)?;
        let (layout, header) = match mapped_file::recognise(&start) {
            Some((Origin::GraphZero, FileKind::Graph)) => {
                (graphzero::parse_graph(&start, mapped.len()), None)
            }
            _ => match Header::parse(&start, mapped.len()) {
                Ok(header) => (header.graph_layout(), Some(Arc::new(header))),
                Err(error) => (Err(error), None),
            },
        };
        let layout = Arc::new(layout.map_err(Error::format(path))?);
        let copies = TopologyCopies::none(Placement::Mapped, &Budget::unlimited(), &layout);
        let announcing = Announcing::default();
        Ok(Graph { mapped, layout, header, announcing, copies: Arc::new(copies) })
    }

    /// Reads lists from the mapped file or from a copy in memory, whose bytes are taken from `budget`.
    pub fn placed(self, placement: Placement, budget: &Budget) -> Result<Self> {
        if placement == Placement::Ram && self.copies.asked() == Placement::Ram {
            return Ok(self);
        }
        let copies = TopologyCopies::new(placement, budget, &self.mapped, &self.layout)?;
        Ok(Graph { copies: Arc::new(copies), ..self })
    }

    /// Sets when the pages of the file are announced before they are read; this changes how fast a topology is read
    /// that is not in memory, and nothing else.
    pub fn announced(self, when: Announce) -> Self {
        Graph { announcing: Announcing::new(when), ..self }
    }

    /// Where lists are read from now: [`Placement::Ram`] if those of a direction are copied, else [`Placement::Mapped`].
    pub fn placement(&self) -> Placement {
        if self.copied_bytes() > 0 { Placement::Ram } else { Placement::Mapped }
    }

    /// Where lists shall be read from.
    pub fn asked_placement(&self) -> Placement {
        self.copies.asked()
    }

    /// The budget that pays for copies.
    pub fn copies_budget(&self) -> &Budget {
        self.copies.budget()
    }

    /// Bytes of lists that are copied to memory.
    pub fn copied_bytes(&self) -> u64 {
        self.copies.len()
    }

    /// The path it was opened by.
    pub fn path(&self) -> &Path {
        self.mapped.path()
    }

    /// Number of nodes.
    pub fn num_nodes(&self) -> u64 {
        self.layout.num_nodes
    }

    /// Number of stored edges of one direction.
    pub fn num_edges(&self) -> u64 {
        self.layout.num_edges
    }

    /// What the file holds and where.
    pub fn layout(&self) -> &GraphLayout {
        &self.layout
    }

    /// The header, for files of ours.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_deref()
    }

    /// Who wrote the file.
    pub fn origin(&self) -> Origin {
        if self.header.is_some() { Origin::Graphmill } else { Origin::GraphZero }
    }

    /// The order within lists.
    pub fn order(&self) -> ListOrder {
        self.layout.order
    }

    /// The map, which keeps the bytes of every view alive.
    pub fn mapped(&self) -> &Arc<Mapped> {
        &self.mapped
    }

    /// Whether edges have weights.
    pub fn has_weights(&self) -> bool {
        self.layout.directions[0].weights.is_some()
    }

    /// Whether the source row of every edge is stored.
    pub fn has_edge_ids(&self) -> bool {
        self.layout.directions[0].edge_ids.is_some()
    }

    /// The sections that serve a direction; an undirected graph has one set for both.
    pub fn sections(&self, wanted: Direction) -> Result<&DirectionSections> {
        Ok(&self.layout.directions[self.place_of(wanted)?])
    }

    /// The same sections, for those who want to see offsets and neighbours as plain numbers; fails if they are packed.
    pub fn plain_sections(&self, wanted: Direction) -> Result<&DirectionSections> {
        let sections = self.sections(wanted)?;
        if sections.is_packed() {
            return Err(Error::PackedLists { path: self.path().to_path_buf() });
        }
        Ok(sections)
    }

    /// Which of the stored directions serves one.
    fn place_of(&self, wanted: Direction) -> Result<usize> {
        let serves = |sections: &DirectionSections| {
            sections.direction == wanted || sections.direction == Direction::Both
        };
        self.layout.directions.iter().position(serves).ok_or_else(|| Error::DirectionNotStored {
            path: self.path().to_path_buf(),
            wanted,
            stored: self.layout.directions[0].direction,
        })
    }

    /// Prepares for reading a direction over and over, as loaders do.
    ///
    /// If it is left to us where lists are read from, and the page cache cannot keep them beside what the budget allows
    /// everybody else, they are copied to memory now, before rows take it.
    pub fn settle(&self, wanted: Direction) -> Result<()> {
        self.copies.settle(self.place_of(wanted)?, &self.mapped, &self.layout)
    }

    /// The neighbour lists of a direction. Checks first that the file is as long as it was.
    pub fn lists(&self, wanted: Direction) -> Result<Lists<'_>> {
        let place = self.place_of(wanted)?;
        self.mapped.check_length()?;
        let sections = &self.layout.directions[place];
        let source = Source {
            mapped: &self.mapped,
            copy: self.copies.get(place, &self.mapped, &self.layout)?,
        };
        let packed = |section: &Section, count: u64| {
            PackedSequence::new(source.values(section), count).expect(
                "a section has room for its directory, or the header would have been refused",
            )
        };
        let offsets = match sections.is_packed() {
            true => Offsets::Packed(packed(&sections.offsets, self.num_nodes() + 1)),
            false => Offsets::Plain(source.values(&sections.offsets)),
        };
        let neighbours = match sections.neighbours.element {
            _ if sections.is_packed() => {
                Neighbours::Packed(packed(&sections.neighbours, self.num_edges()))
            }
            ElementType::I32 => Neighbours::I32(source.values(&sections.neighbours)),
            _ => Neighbours::I64(source.values(&sections.neighbours)),
        };
        let announcer = Announcer { mapped: &self.mapped, announcing: &self.announcing };
        Ok(Lists {
            path: self.path(),
            sections,
            num_nodes: self.num_nodes(),
            order: self.order(),
            offsets,
            neighbours,
            edge_ids: sections.edge_ids.as_ref().map(|section| source.values(section)),
            weights: sections.weights.as_ref().map(|section| source.values(section)),
            cumulative_weights: sections
                .cumulative_weights
                .as_ref()
                .map(|section| source.values(section)),
            edge_times: sections.edge_times.as_ref().map(|section| source.values(section)),
            announcer: source.copy.is_none().then_some(announcer),
            edges_read: self.copies.counter(place),
        })
    }

    /// The ids that nodes had in the source, if they were changed.
    pub fn original_ids(&self) -> Option<&[i64]> {
        self.layout.original_ids.as_ref().map(|section| elements(&self.mapped, section))
    }
}

/// The lists of one direction, in the file or in memory.
struct Source<'a> {
    mapped: &'a Mapped,
    copy: Option<&'a ListsCopy>,
}

impl<'a> Source<'a> {
    fn values<T>(&self, section: &Section) -> &'a [T]
    where
        T: FromBytes + Immutable + KnownLayout,
    {
        match self.copy.and_then(|copy| copy.bytes(section)) {
            Some(bytes) => elements_of(bytes),
            None => elements(self.mapped, section),
        }
    }
}

/// One stored direction of a graph.
#[derive(Clone, Copy, Debug)]
pub struct Lists<'a> {
    pub(crate) path: &'a Path,
    pub(crate) sections: &'a DirectionSections,
    num_nodes: u64,
    order: ListOrder,
    pub(crate) offsets: Offsets<'a>,
    pub(crate) neighbours: Neighbours<'a>,
    edge_ids: Option<&'a [i64]>,
    weights: Option<&'a [f32]>,
    cumulative_weights: Option<&'a [f64]>,
    edge_times: Option<&'a [i64]>,
    /// None if the lists are in memory for good.
    pub(crate) announcer: Option<Announcer<'a>>,
    /// None if it no longer matters.
    edges_read: Option<&'a AtomicU64>,
}

impl<'a> Lists<'a> {
    /// Number of nodes.
    pub fn num_nodes(&self) -> u64 {
        self.num_nodes
    }

    /// The order within lists.
    pub fn order(&self) -> ListOrder {
        self.order
    }

    /// Whether every edge is listed at both its ends, as in an undirected graph.
    pub fn is_symmetric(&self) -> bool {
        self.sections.direction == Direction::Both
    }

    /// Where the list of a node lies among all neighbours; within bounds whatever the file says.
    #[inline(always)]
    pub fn range(&self, node: u64) -> Result<Range<usize>> {
        check_index(self.path, "node", node, self.num_nodes)?;
        self.check_range(node, self.offsets.pair(node))
    }

    /// What offsets say of the list of a node that exists, unless it is impossible.
    #[inline(always)]
    pub(crate) fn check_range(&self, node: u64, (start, end): (u64, u64)) -> Result<Range<usize>> {
        if start <= end && end <= self.neighbours.len() as u64 {
            Ok(start as usize..end as usize)
        } else {
            Err(self.bad_offsets(node, start, end))
        }
    }

    /// Number of neighbours of a node.
    pub fn degree(&self, node: u64) -> Result<u64> {
        self.range(node).map(|range| range.len() as u64)
    }

    /// The neighbour at a position, checked to be a node.
    #[inline]
    pub fn neighbour(&self, position: usize) -> Result<u64> {
        let id = self.neighbours.get(position);
        if (id as u64) < self.num_nodes {
            Ok(id as u64)
        } else {
            Err(self.bad_neighbour(position, id))
        }
    }

    /// The ids of a list that [`range`](Self::range) gave, checked to be nodes.
    pub fn decode(&self, range: Range<usize>) -> Result<Vec<i64>> {
        room::check(8 * range.len() as u64)?;
        let mut ids = vec![0; range.len()];
        self.decode_into(range.start, &mut ids)?;
        Ok(ids)
    }

    /// Reads the ids of the positions from `start` on, checked to be nodes.
    #[inline]
    pub(crate) fn decode_into(&self, start: usize, ids: &mut [i64]) -> Result<()> {
        let bound = self.neighbours.read_list(start, ids);
        self.check_ids(bound, start, ids)
    }

    /// Fails if one of the ids from `start` on, which do not exceed a bound, is no node.
    #[inline(always)]
    pub(crate) fn check_ids(&self, bound: u64, start: usize, ids: &[i64]) -> Result<()> {
        if bound < self.num_nodes {
            return Ok(());
        }
        // All are looked at, without a decision for each: an id is a node if neither it nor what it lacks to the last node
        // is negative.
        let last = self.num_nodes.wrapping_sub(1) as i64;
        let signs = ids.iter().fold(0, |signs, &id| signs | id | last.wrapping_sub(id));
        match signs < 0 {
            true => self.find_bad_id(start, ids),
            false => Ok(()),
        }
    }

    #[cold]
    fn find_bad_id(&self, start: usize, ids: &[i64]) -> Result<()> {
        match ids.iter().position(|&id| id as u64 >= self.num_nodes) {
            Some(wrong) => Err(self.bad_neighbour(start + wrong, ids[wrong])),
            None => Ok(()),
        }
    }

    /// Tells how many edges a call has read, by which it is decided whether a copy in memory pays.
    pub fn count_edges_read(&self, edges: u64) {
        if let Some(counter) = self.edges_read {
            counter.fetch_add(edges, Ordering::Relaxed);
        }
    }

    /// Announces that [`range`](Self::range) will be asked for this node; any number may be given.
    #[inline]
    pub fn prefetch_offsets(&self, node: u64) {
        self.offsets.prefetch(node);
    }

    /// Announces that the neighbour at a position will be read; any number may be given.
    #[inline]
    pub fn prefetch_position(&self, position: usize) {
        match &self.neighbours {
            Neighbours::Packed(sequence) => {
                prefetch_value(sequence, position as u64);
            }
            plain => plain.prefetch(&[position]),
        }
    }

    /// All lists, one after the other.
    pub fn neighbours(&self) -> Neighbours<'a> {
        self.neighbours
    }

    /// The source row of every stored edge.
    pub fn edge_ids(&self) -> Option<&'a [i64]> {
        self.edge_ids
    }

    /// The weight of every stored edge.
    pub fn weights(&self) -> Option<&'a [f32]> {
        self.weights
    }

    /// The running sums of the weights within each list, if the file has them.
    pub fn cumulative_weights(&self) -> Option<&'a [f64]> {
        self.cumulative_weights
    }

    /// The time of every stored edge.
    pub fn edge_times(&self) -> Option<&'a [i64]> {
        self.edge_times
    }

    #[cold]
    fn bad_offsets(&self, node: u64, start: u64, end: u64) -> Error {
        Error::Corrupt {
            path: self.path.to_path_buf(),
            byte: match self.offsets {
                Offsets::Plain(_) => self.sections.offsets.offset + node * 8,
                Offsets::Packed(offsets) => self.sections.offsets.offset + block_at(&offsets, node),
            },
            what: "the list of a node",
            found: format!("{start}..{end} for node {node}"),
            expected: format!("ascending offsets up to {}", self.neighbours.len()),
        }
    }

    #[cold]
    fn bad_neighbour(&self, position: usize, id: i64) -> Error {
        let section = &self.sections.neighbours;
        Error::Corrupt {
            path: self.path.to_path_buf(),
            byte: match self.neighbours {
                Neighbours::Packed(ids) => section.offset + block_at(&ids, position as u64),
                _ => section.offset + position as u64 * section.element.width(),
            },
            what: "a neighbour",
            found: id.to_string(),
            expected: format!("0 to {}", self.num_nodes.saturating_sub(1)),
        }
    }
}

/// Where the block of a value begins in its section, or else the entry of the directory that does not say.
fn block_at(sequence: &PackedSequence<'_>, index: u64) -> u64 {
    let block = sequence.block_bytes(index / BLOCK).map(|bytes| bytes.start);
    let block = block.filter(|&at| at < sequence.bytes().len());
    block.unwrap_or_else(|| sequence.entry_at(index)) as u64
}
