//! `.gl`: topology as neighbour lists, one set of sections per stored direction.
//!
//! The description in the header gives nodes, edges, whether the graph is undirected and the order within lists. A
//! [`GraphShape`] plans a file; a [`GraphLayout`] is what was found in one, every count checked.

use crate::bytes::{first_nonzero, put, u64_at};
use crate::header::{DESCRIPTION_AT, DESCRIPTION_LENGTH, SectionPlan};
use crate::{
    Direction, ElementType, Error, FileKind, Header, Result, Section, SectionKind, feature_bits,
    packed,
};
use std::fmt;
use std::str::FromStr;

const NODES_AT: usize = 0;
const EDGES_AT: usize = 8;
const UNDIRECTED_AT: usize = 16;
const ORDER_AT: usize = 17;
const DESCRIPTION_USED: usize = 18;

/// The order of the neighbours within one list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ListOrder {
    /// Ascending ids: membership by binary search, and what packing needs.
    #[default]
    Id = 0,
    /// Ascending times.
    Time = 1,
    /// As the source had them.
    File = 2,
}

impl ListOrder {
    const ALL: [ListOrder; 3] = [ListOrder::Id, ListOrder::Time, ListOrder::File];

    /// The name used in options.
    pub fn name(self) -> &'static str {
        match self {
            ListOrder::Id => "id",
            ListOrder::Time => "time",
            ListOrder::File => "file",
        }
    }
}

impl fmt::Display for ListOrder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for ListOrder {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        ListOrder::ALL.into_iter().find(|order| order.name() == text).ok_or_else(|| {
            Error::impossible("neighbour order", format!("{text:?} is none of id, time, file"))
        })
    }
}

/// How the neighbours of a file to be written are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Whatever suits the graph.
    #[default]
    Auto,
    /// 32 bits each, which fewer than 2^31 nodes allow.
    I32,
    /// 64 bits each.
    I64,
    /// In as few bits as it takes.
    Packed,
}

impl Encoding {
    /// The type of plain neighbours that it asks for.
    pub fn element(self) -> Option<ElementType> {
        match self {
            Encoding::Auto | Encoding::Packed => None,
            Encoding::I32 => Some(ElementType::I32),
            Encoding::I64 => Some(ElementType::I64),
        }
    }

    /// Whether it asks for packed lists, if it says so.
    pub fn packed(self) -> Option<bool> {
        match self {
            Encoding::Auto => None,
            Encoding::I32 | Encoding::I64 => Some(false),
            Encoding::Packed => Some(true),
        }
    }
}

impl FromStr for Encoding {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(Encoding::Auto),
            "i32" => Ok(Encoding::I32),
            "i64" => Ok(Encoding::I64),
            "packed" => Ok(Encoding::Packed),
            _ => {
                let problem = format!("{text:?} is none of auto, i32, i64, packed");
                Err(Error::impossible("encoding", problem))
            }
        }
    }
}

/// Bytes of the packed sections of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedLengths {
    /// Of the compact offsets.
    pub offsets: u64,
    /// Of the packed neighbours.
    pub neighbours: u64,
}

/// What a `.gl` file to be written will hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphShape {
    /// Number of nodes.
    pub num_nodes: u64,
    /// Number of stored edges of one direction.
    pub num_edges: u64,
    /// Whether every edge is stored both ways in one set.
    pub undirected: bool,
    /// The order within lists.
    pub order: ListOrder,
    /// The stored directions: `[Both]` when undirected, else out, in, or out and in.
    pub directions: Vec<Direction>,
    /// `I32` or `I64`; of no meaning if lists are packed.
    pub neighbours: ElementType,
    /// How long the packed sections of each direction are; empty if lists are not packed.
    pub packed: Vec<PackedLengths>,
    /// Whether the source row of every edge is stored.
    pub edge_ids: bool,
    /// Whether weights are stored.
    pub weights: bool,
    /// Whether running sums of the weights are stored too.
    pub cumulative_weights: bool,
    /// Whether edge times are stored.
    pub edge_times: bool,
    /// Whether the nodes' original ids are stored.
    pub original_ids: bool,
}

impl GraphShape {
    /// A directed graph stored one or both ways, neighbours as narrow as its ids allow, nothing optional.
    pub fn new(num_nodes: u64, num_edges: u64, directions: &[Direction]) -> Self {
        GraphShape {
            num_nodes,
            num_edges,
            undirected: directions == [Direction::Both],
            order: ListOrder::Id,
            directions: directions.to_vec(),
            neighbours: narrowest(num_nodes),
            packed: Vec::new(),
            edge_ids: false,
            weights: false,
            cumulative_weights: false,
            edge_times: false,
            original_ids: false,
        }
    }

    fn encode(&self) -> [u8; DESCRIPTION_LENGTH] {
        let mut description = [0; DESCRIPTION_LENGTH];
        put(&mut description, NODES_AT, &self.num_nodes.to_le_bytes());
        put(&mut description, EDGES_AT, &self.num_edges.to_le_bytes());
        description[UNDIRECTED_AT] = self.undirected.into();
        description[ORDER_AT] = self.order as u8;
        description
    }

    fn sections(&self) -> Vec<SectionPlan> {
        let (nodes, edges) = (self.num_nodes, self.num_edges);
        let mut plans: Vec<SectionPlan> = Vec::new();
        for (number, &direction) in self.directions.iter().enumerate() {
            let optional = [
                (self.edge_ids, SectionKind::EdgeIds, ElementType::I64),
                (self.weights, SectionKind::Weights, ElementType::F32),
                (self.cumulative_weights, SectionKind::CumulativeWeights, ElementType::F64),
                (self.edge_times, SectionKind::EdgeTimes, ElementType::I64),
            ];
            plans.extend(match self.packed.get(number) {
                None => [
                    (SectionKind::Offsets, Some(direction), ElementType::U64, nodes + 1),
                    (SectionKind::Neighbours, Some(direction), self.neighbours, edges),
                ],
                Some(&PackedLengths { offsets, neighbours }) => [
                    (SectionKind::CompactOffsets, Some(direction), ElementType::U8, offsets),
                    (SectionKind::PackedNeighbours, Some(direction), ElementType::U8, neighbours),
                ],
            });
            let wanted = optional.into_iter().filter(|(wanted, ..)| *wanted);
            plans.extend(wanted.map(|(_, kind, element)| (kind, Some(direction), element, edges)));
        }
        if self.original_ids {
            plans.push((SectionKind::OriginalIds, None, ElementType::I64, nodes));
        }
        plans
    }
}

/// The narrowest type that holds every id of a graph; both are torch types.
pub(crate) fn narrowest(num_nodes: u64) -> ElementType {
    if num_nodes < 1 << 31 { ElementType::I32 } else { ElementType::I64 }
}

/// The sections of one stored direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectionSections {
    /// Which way the lists point.
    pub direction: Direction,
    /// `u64[N + 1]`, or `u8` if lists are packed.
    pub offsets: Section,
    /// `i32[M]` or `i64[M]`, or `u8` if lists are packed.
    pub neighbours: Section,
    /// `i64[M]`.
    pub edge_ids: Option<Section>,
    /// `f32[M]`.
    pub weights: Option<Section>,
    /// `f64[M]`: running sums of the weights within each list.
    pub cumulative_weights: Option<Section>,
    /// `i64[M]`.
    pub edge_times: Option<Section>,
}

impl DirectionSections {
    /// Whether offsets and neighbours are [packed sequences](crate::packed).
    pub fn is_packed(&self) -> bool {
        self.neighbours.kind == Some(SectionKind::PackedNeighbours)
    }

    /// How neighbours are stored, as options and reports call it.
    pub fn encoding(&self) -> &'static str {
        match self.neighbours.element {
            _ if self.is_packed() => "packed",
            ElementType::I32 => "i32",
            _ => "i64",
        }
    }
}

/// What a `.gl` file holds, every count checked against nodes and edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphLayout {
    /// Number of nodes.
    pub num_nodes: u64,
    /// Number of stored edges of one direction.
    pub num_edges: u64,
    /// Whether one set of lists serves both directions.
    pub undirected: bool,
    /// The order within lists.
    pub order: ListOrder,
    /// The stored directions, one or two.
    pub directions: Vec<DirectionSections>,
    /// `i64[N]`: ids of the source, when the file was renumbered or mapped.
    pub original_ids: Option<Section>,
}

impl GraphLayout {
    /// Whether lists are packed.
    pub fn is_packed(&self) -> bool {
        self.directions[0].is_packed()
    }

    /// The same content for another file, its lists plain and as narrow as they can be.
    pub fn shape(&self) -> GraphShape {
        let first = &self.directions[0];
        let directions: Vec<Direction> =
            self.directions.iter().map(|lists| lists.direction).collect();
        GraphShape {
            order: self.order,
            edge_ids: first.edge_ids.is_some(),
            weights: first.weights.is_some(),
            cumulative_weights: first.cumulative_weights.is_some(),
            edge_times: first.edge_times.is_some(),
            original_ids: self.original_ids.is_some(),
            ..GraphShape::new(self.num_nodes, self.num_edges, &directions)
        }
    }
}

impl Header {
    /// Plans a `.gl` file.
    pub fn for_graph(shape: &GraphShape) -> Result<Self> {
        let limit = i64::MAX as u64;
        if shape.num_nodes >= limit || shape.num_edges > limit {
            let problem =
                format!("{} nodes and {} edges exceed 2^63", shape.num_nodes, shape.num_edges);
            return Err(Error::impossible("graph", problem));
        }
        if shape.neighbours != narrowest(shape.num_nodes) && shape.neighbours != ElementType::I64 {
            let problem = format!("{} nodes as {} neighbours", shape.num_nodes, shape.neighbours);
            return Err(Error::impossible("graph", problem));
        }
        let expected = shape.undirected == (shape.directions == [Direction::Both]);
        let known = matches!(
            shape.directions[..],
            [Direction::Both]
                | [Direction::Out]
                | [Direction::In]
                | [Direction::Out, Direction::In]
        );
        if !expected || !known {
            let problem =
                format!("directions {:?}, undirected {}", shape.directions, shape.undirected);
            return Err(Error::impossible("graph", problem));
        }
        if shape.packed.is_empty() {
            return Header::plan(FileKind::Graph, shape.encode(), shape.sections());
        }
        let limit = 1 << packed::VALUE_BITS;
        if shape.num_nodes > limit || shape.num_edges >= limit {
            let problem = format!(
                "{} nodes and {} edges exceed the 2^48 that packed lists can tell apart; use i64",
                shape.num_nodes, shape.num_edges
            );
            return Err(Error::impossible("graph", problem));
        }
        let is_long_enough = |lengths: &PackedLengths| {
            lengths.offsets >= packed::least_length(shape.num_nodes + 1)
                && lengths.neighbours >= packed::least_length(shape.num_edges)
        };
        if shape.packed.len() != shape.directions.len() || !shape.packed.iter().all(is_long_enough)
        {
            let problem = format!("packed lengths {:?}", shape.packed);
            return Err(Error::impossible("graph", problem));
        }
        let header = Header::plan(FileKind::Graph, shape.encode(), shape.sections())?;
        Ok(header.needing(feature_bits::PACKED_LISTS))
    }

    /// What a `.gl` file holds.
    pub fn graph_layout(&self) -> Result<GraphLayout> {
        if self.kind() != FileKind::Graph {
            let found = self.kind().name().to_owned();
            return Err(Error::Magic { expected: FileKind::Graph.name(), found });
        }
        let description = self.description();
        let place = |offset: usize| (DESCRIPTION_AT + offset) as u64;
        let (num_nodes, num_edges) = (u64_at(description, NODES_AT), u64_at(description, EDGES_AT));
        if num_nodes >= i64::MAX as u64 {
            return Err(Error::field(
                "number of nodes",
                place(NODES_AT),
                num_nodes,
                "below 2^63 - 1",
            ));
        }
        let undirected = match description[UNDIRECTED_AT] {
            0 => false,
            1 => true,
            other => return Err(Error::field("undirected", place(UNDIRECTED_AT), other, "0 or 1")),
        };
        let code = description[ORDER_AT];
        let order = ListOrder::ALL
            .into_iter()
            .find(|&order| order as u8 == code)
            .ok_or_else(|| Error::field("neighbour order", place(ORDER_AT), code, "0 to 2"))?;
        if let Some(at) = first_nonzero(description, DESCRIPTION_USED..DESCRIPTION_LENGTH) {
            return Err(Error::field("reserved byte", place(at), description[at], 0));
        }
        let is_packed = self.needs(feature_bits::PACKED_LISTS);
        if is_packed && num_edges >> packed::VALUE_BITS != 0 {
            return Err(Error::field("number of edges", place(EDGES_AT), num_edges, "below 2^48"));
        }
        let possible: &[Direction] =
            if undirected { &[Direction::Both] } else { &[Direction::Out, Direction::In] };
        let counts = Counts { header: self, num_nodes, num_edges, is_packed };
        let mut directions = Vec::new();
        for &direction in possible {
            directions.extend(counts.direction(direction)?);
        }
        if directions.is_empty() {
            let section = format!("{}.{}", counts.offsets_kind().name(), possible[0]);
            return Err(Error::MissingSection {
                section,
                why: "a .gl file stores at least one direction",
            });
        }
        let original_ids =
            counts.optional(SectionKind::OriginalIds, None, ElementType::I64, num_nodes)?;
        Ok(GraphLayout { num_nodes, num_edges, undirected, order, directions, original_ids })
    }
}

/// Looks sections up and checks their type and count.
struct Counts<'a> {
    header: &'a Header,
    num_nodes: u64,
    num_edges: u64,
    is_packed: bool,
}

impl Counts<'_> {
    fn offsets_kind(&self) -> SectionKind {
        if self.is_packed { SectionKind::CompactOffsets } else { SectionKind::Offsets }
    }

    fn neighbours_kind(&self) -> SectionKind {
        if self.is_packed { SectionKind::PackedNeighbours } else { SectionKind::Neighbours }
    }

    fn direction(&self, direction: Direction) -> Result<Option<DirectionSections>> {
        let some = Some(direction);
        let Some(&offsets) = self.header.section(self.offsets_kind(), some) else {
            let is_orphan = |section: &Section| section.kind.is_some() && section.direction == some;
            if self.header.sections().iter().any(is_orphan) {
                let section = format!("{}.{direction}", self.offsets_kind().name());
                return Err(Error::MissingSection { section, why: "its lists need offsets" });
            }
            return Ok(None);
        };
        let neighbours = *self.header.section(self.neighbours_kind(), some).ok_or_else(|| {
            let section = format!("{}.{direction}", self.neighbours_kind().name());
            Error::MissingSection { section, why: "offsets need neighbours" }
        })?;
        if self.is_packed {
            self.check_packed(&offsets, self.num_nodes + 1)?;
            self.check_packed(&neighbours, self.num_edges)?;
        } else {
            self.check(&offsets, ElementType::U64, self.num_nodes + 1)?;
            let wide = neighbours.element == ElementType::I64;
            let element = if wide { ElementType::I64 } else { narrowest(self.num_nodes) };
            self.check(&neighbours, element, self.num_edges)?;
        }
        let per_edge = |kind, element| self.optional(kind, some, element, self.num_edges);
        Ok(Some(DirectionSections {
            direction,
            offsets,
            neighbours,
            edge_ids: per_edge(SectionKind::EdgeIds, ElementType::I64)?,
            weights: per_edge(SectionKind::Weights, ElementType::F32)?,
            cumulative_weights: per_edge(SectionKind::CumulativeWeights, ElementType::F64)?,
            edge_times: per_edge(SectionKind::EdgeTimes, ElementType::I64)?,
        }))
    }

    fn optional(
        &self,
        kind: SectionKind,
        direction: Option<Direction>,
        element: ElementType,
        count: u64,
    ) -> Result<Option<Section>> {
        let section = self.header.section(kind, direction).copied();
        if let Some(section) = &section {
            self.check(section, element, count)?;
        }
        Ok(section)
    }

    /// A packed sequence is as long as it is, but has a directory.
    fn check_packed(&self, section: &Section, values: u64) -> Result<()> {
        let least = packed::least_length(values);
        if section.element == ElementType::U8 && section.count >= least {
            return Ok(());
        }
        let found = format!("{section} of {} x {}", section.count, section.element);
        let expected = format!("at least {least} x uint8 for {values} values");
        Err(Error::field("section", section.offset, found, expected))
    }

    fn check(&self, section: &Section, element: ElementType, count: u64) -> Result<()> {
        if section.element == element && section.count == count {
            return Ok(());
        }
        let found = format!("{section} of {} x {}", section.count, section.element);
        Err(Error::field("section", section.offset, found, format!("{count} x {element}")))
    }
}
