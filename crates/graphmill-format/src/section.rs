//! Sections: what a file is made of after its header.
//!
//! An entry of the section table says what a section is, which direction it belongs to, and where it lies. Sections
//! follow each other without a hole, each starting on a 4 KiB boundary with zeros before the next.

use crate::bytes::{first_nonzero, put, u16_at, u32_at, u64_at};
use crate::{ElementType, Error, Result};
use std::fmt;

/// Every section starts at a multiple of this, so that maps and direct reads need no adjustment.
pub const SECTION_ALIGNMENT: u64 = 4096;
/// Bytes of one entry of the section table.
pub(crate) const ENTRY_LENGTH: usize = 64;

/// What a section holds. The numbers are part of the format; those not yet written have their place reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
#[non_exhaustive]
pub enum SectionKind {
    /// `u64[N + 1]`: list `v` is `neighbours[offsets[v] .. offsets[v + 1]]`.
    Offsets = 1,
    /// `i32[M]` or `i64[M]`: the lists, one after the other.
    Neighbours = 2,
    /// `i64[M]`: the source row of each stored edge.
    EdgeIds = 3,
    /// `f32[M]`: the weight of each stored edge.
    Weights = 4,
    /// `f64[M]`: running sums of the weights within each list.
    CumulativeWeights = 5,
    /// `i64[M]`: the time of each stored edge.
    EdgeTimes = 6,
    /// `i32[M]`: the type of each stored edge.
    EdgeTypes = 7,
    /// `u8`: neighbour lists as a [packed sequence](crate::packed), instead of `Neighbours`.
    PackedNeighbours = 8,
    /// `u8`: offsets as a packed sequence, instead of `Offsets`.
    CompactOffsets = 9,
    /// `i64[N]`: the id that each node had in the source.
    OriginalIds = 16,
    /// `i64[N]`: nodes in ascending order of their original id, to search it.
    NodesByOriginalId = 17,
    /// `i32[N]`: the type of each node.
    NodeTypes = 18,
    /// The rows of a `.gd` file.
    Table = 32,
    /// `u64`: one XXH3-64 digest per MiB of every other section; always the last section.
    Digests = 255,
}

use SectionKind::*;

impl SectionKind {
    /// Every kind that this release can name.
    pub const ALL: [SectionKind; 14] = [
        Offsets,
        Neighbours,
        EdgeIds,
        Weights,
        CumulativeWeights,
        EdgeTimes,
        EdgeTypes,
        PackedNeighbours,
        CompactOffsets,
        OriginalIds,
        NodesByOriginalId,
        NodeTypes,
        Table,
        Digests,
    ];

    /// The name used in messages and by `inspect`.
    pub fn name(self) -> &'static str {
        match self {
            Offsets => "offsets",
            Neighbours => "neighbours",
            EdgeIds => "edge-ids",
            Weights => "weights",
            CumulativeWeights => "cumulative-weights",
            EdgeTimes => "edge-times",
            EdgeTypes => "edge-types",
            PackedNeighbours => "packed-neighbours",
            CompactOffsets => "compact-offsets",
            OriginalIds => "original-ids",
            NodesByOriginalId => "nodes-by-original-id",
            NodeTypes => "node-types",
            Table => "table",
            Digests => "digests",
        }
    }

    fn from_code(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|&kind| kind as u16 == code)
    }
}

/// Which way a set of neighbour lists points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Direction {
    /// List `v` holds the destinations of the edges that leave `v`.
    Out = 1,
    /// List `v` holds the sources of the edges that arrive at `v`.
    In = 2,
    /// The graph is undirected: one set serves both.
    Both = 3,
}

impl Direction {
    /// The name used in messages and options.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Out => "out",
            Direction::In => "in",
            Direction::Both => "both",
        }
    }

    fn from_code(code: u8) -> Option<Option<Self>> {
        match code {
            0 => Some(None),
            1 => Some(Some(Direction::Out)),
            2 => Some(Some(Direction::In)),
            3 => Some(Some(Direction::Both)),
            _ => None,
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// One entry of the section table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// What it holds; `None` for a kind of a later minor version, which is carried along unread.
    pub kind: Option<SectionKind>,
    /// Which direction it belongs to, for those that belong to one.
    pub direction: Option<Direction>,
    /// The type of its elements.
    pub element: ElementType,
    /// Where it starts in the file.
    pub offset: u64,
    /// How many elements it has.
    pub count: u64,
    code: u16,
}

impl Section {
    /// A section of `count` elements at `offset`; refuses what cannot be addressed.
    pub fn new(
        kind: SectionKind,
        direction: Option<Direction>,
        element: ElementType,
        offset: u64,
        count: u64,
    ) -> Result<Self> {
        let section =
            Section { kind: Some(kind), direction, element, offset, count, code: kind as u16 };
        let fits = section.checked_padded_end().is_some_and(|end| end <= i64::MAX as u64);
        if fits {
            Ok(section)
        } else {
            Err(Error::impossible(
                "section",
                format!("{section} of {count} elements exceeds 2^63 bytes"),
            ))
        }
    }

    /// Bytes of data, without the padding.
    pub fn length(&self) -> u64 {
        self.count * self.element.width()
    }

    /// Where the data ends.
    pub fn end(&self) -> u64 {
        self.offset + self.length()
    }

    /// Where the next section starts, or the file ends.
    pub fn padded_end(&self) -> u64 {
        self.end().next_multiple_of(SECTION_ALIGNMENT)
    }

    /// The bytes of the data as a range of the file.
    pub fn range(&self) -> std::ops::Range<u64> {
        self.offset..self.end()
    }

    fn checked_padded_end(&self) -> Option<u64> {
        let length = self.count.checked_mul(self.element.width())?;
        self.offset.checked_add(length)?.checked_next_multiple_of(SECTION_ALIGNMENT)
    }

    pub(crate) fn encode(&self, entry: &mut [u8]) {
        put(entry, 0, &self.code.to_le_bytes());
        entry[2] = self.direction.map_or(0, |direction| direction as u8);
        put(entry, 4, &(self.element as u32).to_le_bytes());
        put(entry, 8, &self.offset.to_le_bytes());
        put(entry, 16, &self.length().to_le_bytes());
        put(entry, 24, &self.count.to_le_bytes());
    }

    /// Reads the entry at byte `at` of `header`; `expected_offset` is where the section before it ended.
    pub(crate) fn parse(header: &[u8], at: usize, expected_offset: u64) -> Result<Self> {
        let place = |offset: usize| (at + offset) as u64;
        let code = u16_at(header, at);
        let direction_code = header[at + 2];
        let direction = Direction::from_code(direction_code)
            .ok_or_else(|| Error::field("section direction", place(2), direction_code, "0 to 3"))?;
        let element_code = u32_at(header, at + 4);
        let element = ElementType::from_code(element_code).ok_or_else(|| {
            Error::field("section element type", place(4), element_code, "1 to 11")
        })?;
        let (offset, length, count) =
            (u64_at(header, at + 8), u64_at(header, at + 16), u64_at(header, at + 24));
        if code == 0 {
            return Err(Error::field("section kind", place(0), code, "a kind above 0"));
        }
        if header[at + 3] != 0 {
            return Err(Error::field("reserved byte", place(3), header[at + 3], 0));
        }
        if let Some(wrong) = first_nonzero(header, at + 32..at + ENTRY_LENGTH) {
            return Err(Error::field("reserved byte", wrong as u64, header[wrong], 0));
        }
        if offset != expected_offset {
            return Err(Error::field("section offset", place(8), offset, expected_offset));
        }
        let section =
            Section { kind: SectionKind::from_code(code), direction, element, offset, count, code };
        if count.checked_mul(element.width()) != Some(length) {
            let expected = format!("{count} elements of {} bytes", element.width());
            return Err(Error::field("section length", place(16), length, expected));
        }
        match section.checked_padded_end() {
            Some(end) if end <= i64::MAX as u64 => Ok(section),
            _ => Err(Error::field("section length", place(16), length, "an end below 2^63")),
        }
    }
}

impl fmt::Display for Section {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Some(kind) => formatter.write_str(kind.name())?,
            None => write!(formatter, "kind-{}", self.code)?,
        }
        match self.direction {
            Some(direction) => write!(formatter, ".{direction}"),
            None => Ok(()),
        }
    }
}
