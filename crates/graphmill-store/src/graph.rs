//! Topology: degrees and neighbour lists, straight from the mapped file.
//!
//! [`Graph`] is the handle; [`Lists`] is one stored direction with typed slices over the map, which samplers borrow for
//! the length of a call. The ids inside a list come from the file as they are; whoever follows one checks it.

use crate::announce::{Announce, Announcer, Announcing};
use crate::mapped_file::{self, Origin, check_index, elements, elements_of};
use crate::topology_copy::{Placement, TopologyCopy};
use crate::{Error, Result};
use graphmill_disk::{Budget, Mapped, ReadAt, prefetch};
use graphmill_format::{
    Direction, DirectionSections, ElementType, FileKind, GraphLayout, Header, ListOrder, Section,
    graphzero,
};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// An open `.gl` file, ours or GraphZero's. Cloning shares the map.
#[derive(Clone, Debug)]
pub struct Graph {
    mapped: Arc<Mapped>,
    layout: Arc<GraphLayout>,
    header: Option<Arc<Header>>,
    announcing: Announcing,
    copy: Option<Arc<TopologyCopy>>,
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
        Ok(Graph { mapped, layout, header, announcing: Announcing::default(), copy: None })
    }

    /// Reads lists from the mapped file or from a copy in memory, whose bytes are taken from `budget`.
    pub fn placed(self, placement: Placement, budget: &Budget) -> Result<Self> {
        let copy = match placement {
            Placement::Auto | Placement::Mapped => None,
            Placement::Ram if self.copy.is_some() => self.copy,
            Placement::Ram => {
                let copy = TopologyCopy::read(&self.mapped, &self.layout, budget)?;
                Some(Arc::new(copy))
            }
        };
        Ok(Graph { copy, ..self })
    }

    /// Sets when the pages of the file are announced before they are read; this changes how fast a topology is read
    /// that is not in memory, and nothing else.
    pub fn announced(self, when: Announce) -> Self {
        Graph { announcing: Announcing::new(when), ..self }
    }

    /// Where lists are read from: [`Placement::Mapped`] or [`Placement::Ram`].
    pub fn placement(&self) -> Placement {
        if self.copy.is_some() { Placement::Ram } else { Placement::Mapped }
    }

    /// Bytes of lists that are copied to memory.
    pub fn copied_bytes(&self) -> u64 {
        self.copy.as_ref().map_or(0, |copy| copy.len())
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
        let serves = |sections: &&DirectionSections| {
            sections.direction == wanted || sections.direction == Direction::Both
        };
        self.layout.directions.iter().find(serves).ok_or_else(|| Error::DirectionNotStored {
            path: self.path().to_path_buf(),
            wanted,
            stored: self.layout.directions[0].direction,
        })
    }

    /// The neighbour lists of a direction. Checks first that the file is as long as it was.
    pub fn lists(&self, wanted: Direction) -> Result<Lists<'_>> {
        let sections = self.sections(wanted)?;
        self.mapped.check_length()?;
        let neighbours = match sections.neighbours.element {
            ElementType::I32 => Neighbours::I32(self.values(&sections.neighbours)),
            _ => Neighbours::I64(self.values(&sections.neighbours)),
        };
        let announcer = Announcer { mapped: &self.mapped, announcing: &self.announcing };
        Ok(Lists {
            path: self.path(),
            sections,
            num_nodes: self.num_nodes(),
            order: self.order(),
            offsets: self.values(&sections.offsets),
            neighbours,
            edge_ids: sections.edge_ids.as_ref().map(|section| self.values(section)),
            weights: sections.weights.as_ref().map(|section| self.values(section)),
            cumulative_weights: sections
                .cumulative_weights
                .as_ref()
                .map(|section| self.values(section)),
            edge_times: sections.edge_times.as_ref().map(|section| self.values(section)),
            announcer: self.copy.is_none().then_some(announcer),
        })
    }

    /// The elements of a section of lists, in the file or in memory.
    fn values<T>(&self, section: &Section) -> &[T]
    where
        T: FromBytes + Immutable + KnownLayout,
    {
        match self.copy.as_ref().and_then(|copy| copy.bytes(section)) {
            Some(bytes) => elements_of(bytes),
            None => elements(&self.mapped, section),
        }
    }

    /// The ids that nodes had in the source, if they were changed.
    pub fn original_ids(&self) -> Option<&[i64]> {
        self.layout.original_ids.as_ref().map(|section| elements(&self.mapped, section))
    }
}

/// The concatenated lists in their stored type.
#[derive(Clone, Copy, Debug)]
pub enum Neighbours<'a> {
    /// Fewer than 2^31 nodes.
    I32(&'a [i32]),
    /// Any number of nodes.
    I64(&'a [i64]),
}

impl Neighbours<'_> {
    /// The id at a position, as it is stored; panics past the end, like a slice.
    pub fn get(&self, position: usize) -> i64 {
        match self {
            Neighbours::I32(ids) => ids[position].into(),
            Neighbours::I64(ids) => ids[position],
        }
    }

    /// Number of stored edges.
    pub fn len(&self) -> usize {
        match self {
            Neighbours::I32(ids) => ids.len(),
            Neighbours::I64(ids) => ids.len(),
        }
    }

    /// Whether there are no edges.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One stored direction of a graph.
#[derive(Clone, Copy, Debug)]
pub struct Lists<'a> {
    path: &'a Path,
    pub(crate) sections: &'a DirectionSections,
    num_nodes: u64,
    order: ListOrder,
    offsets: &'a [u64],
    neighbours: Neighbours<'a>,
    edge_ids: Option<&'a [i64]>,
    weights: Option<&'a [f32]>,
    cumulative_weights: Option<&'a [f64]>,
    edge_times: Option<&'a [i64]>,
    /// None if the lists are in memory for good.
    pub(crate) announcer: Option<Announcer<'a>>,
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
    #[inline]
    pub fn range(&self, node: u64) -> Result<Range<usize>> {
        check_index(self.path, "node", node, self.num_nodes)?;
        let (start, end) = (self.offsets[node as usize], self.offsets[node as usize + 1]);
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

    /// Announces that [`range`](Self::range) will be asked for this node; any number may be given.
    #[inline]
    pub fn prefetch_offsets(&self, node: u64) {
        prefetch(self.offsets, node as usize);
    }

    /// Announces that the neighbour at a position will be read; any number may be given.
    #[inline]
    pub fn prefetch_position(&self, position: usize) {
        match self.neighbours {
            Neighbours::I32(ids) => prefetch(ids, position),
            Neighbours::I64(ids) => prefetch(ids, position),
        }
    }

    /// All offsets, `N + 1` of them.
    pub fn offsets(&self) -> &'a [u64] {
        self.offsets
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
            byte: self.sections.offsets.offset + node * 8,
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
            byte: section.offset + position as u64 * section.element.width(),
            what: "a neighbour",
            found: id.to_string(),
            expected: format!("0 to {}", self.num_nodes.saturating_sub(1)),
        }
    }
}
