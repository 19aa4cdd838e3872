//! What the nodes of a topology are called outside: numbers of the source, or names.
//! Exports write these instead of the numbers that nodes have inside. Names are looked up in memory
//! if that takes no more than a quarter of what is free, and else in their files, in the order of
//! the file. It must not know what is exported.

use std::ops::Range;
use std::sync::Arc;

use graphmill_disk::{Budget, ReadAt, Reservation};
use graphmill_format::Section;

use crate::edge_rows::EdgeRows;
use crate::source::TextCells;
use crate::stored::StoredValues;
use crate::stored_ids::StoredIds;
use crate::{Error, Result};

/// Bytes of names that are looked up together, if there is more than one.
const NAMES: u64 = 1 << 18;
/// Edges whose names are looked for together.
const PAIRS: usize = 1 << 12;

/// What takes the names of the sources and destinations of some rows.
type TakePairs<'t> = dyn FnMut(Range<usize>, &TextCells, &TextCells) -> Result<()> + 't;

/// How nodes are called.
#[derive(Debug)]
pub(crate) enum NodeNaming {
    /// By their numbers.
    Numbers,
    /// By the ids that they had before they were renumbered.
    Ids(StoredIds),
    /// By names; in an order, the stored id of a node is the position of its name.
    Names(Box<StoredNames>, Option<StoredIds>),
}

impl NodeNaming {
    pub(crate) fn has_names(&self) -> bool {
        matches!(self, NodeNaming::Names(..))
    }

    /// Replaces nodes by their ids, or by the positions of their names.
    pub(crate) fn replace(&self, nodes: &mut [u64]) -> Result<()> {
        match self {
            NodeNaming::Numbers | NodeNaming::Names(_, None) => Ok(()),
            NodeNaming::Ids(ids) | NodeNaming::Names(_, Some(ids)) => ids.replace(nodes),
        }
    }
}

impl NodeNaming {
    /// Hands over the names of both ends of edges, of some edges at a time so that they take little
    /// memory however long they are; nothing if nodes have no names.
    pub(crate) fn each_pair_of_names(
        &self,
        rows: &EdgeRows,
        take: &mut TakePairs<'_>,
    ) -> Result<()> {
        let NodeNaming::Names(names, _) = self else { return Ok(()) };
        for first in (0..rows.len()).step_by(PAIRS) {
            let some = first..rows.len().min(first + PAIRS);
            let ranges = |nodes: &[u64]| {
                let mut positions = nodes[some.clone()].to_vec();
                self.replace(&mut positions)?;
                names.ranges(&positions)
            };
            let (sources, destinations) = (ranges(&rows.sources)?, ranges(&rows.destinations)?);
            let bytes =
                |at: usize| sources[at].1 - sources[at].0 + destinations[at].1 - destinations[at].0;
            let mut start = 0;
            while start < some.len() {
                let (mut end, mut taken) = (start + 1, bytes(start));
                while end < some.len() && taken + bytes(end) <= NAMES {
                    taken += bytes(end);
                    end += 1;
                }
                let (from, to) =
                    (names.texts(&sources[start..end])?, names.texts(&destinations[start..end])?);
                take(first + start..first + end, &from, &to)?;
                start = end;
            }
        }
        Ok(())
    }

    /// Hands over the names of consecutive nodes in the same way.
    pub(crate) fn each_name(
        &self,
        nodes: Range<u64>,
        take: &mut dyn FnMut(&TextCells) -> Result<()>,
    ) -> Result<()> {
        let NodeNaming::Names(names, _) = self else { return Ok(()) };
        let mut positions: Vec<u64> = nodes.collect();
        self.replace(&mut positions)?;
        let ranges = names.ranges(&positions)?;
        let mut start = 0;
        while start < ranges.len() {
            let (mut end, mut taken) = (start, 0);
            while end < ranges.len()
                && (end == start || taken + ranges[end].1 - ranges[end].0 <= NAMES)
            {
                taken += ranges[end].1 - ranges[end].0;
                end += 1;
            }
            take(&names.texts(&ranges[start..end])?)?;
            start = end;
        }
        Ok(())
    }
}

/// Texts that follow each other in one file, and where each ends in another.
#[derive(Debug)]
pub(crate) struct StoredNames {
    text: Arc<dyn ReadAt>,
    section: Section,
    ends: StoredIds,
    /// All texts, where memory allows it.
    loaded: Option<(Vec<u8>, Reservation)>,
}

impl StoredNames {
    pub(crate) fn load(
        text: Arc<dyn ReadAt>,
        section: Section,
        ends: StoredValues,
        budget: &Budget,
    ) -> Result<Self> {
        let ends = StoredIds::load(ends, budget)?;
        let length = section.length();
        if length > budget.free() / 4 {
            return Ok(StoredNames { text, section, ends, loaded: None });
        }
        let reserved = budget.reserve(length, "names of nodes")?;
        let mut bytes = vec![0; length as usize];
        text.read_exact_at(section.offset, &mut bytes)?;
        Ok(StoredNames { text, section, ends, loaded: Some((bytes, reserved)) })
    }

    /// Number of names.
    pub(crate) fn count(&self) -> u64 {
        self.ends.count()
    }

    /// Where some names stand in the text.
    pub(crate) fn ranges(&self, positions: &[u64]) -> Result<Vec<(u64, u64)>> {
        if let Some(&wrong) = positions.iter().find(|&&position| position >= self.count()) {
            return Err(self.lie(format!("the position {wrong} among {} names", self.count())));
        }
        let mut ends = positions.to_vec();
        self.ends.replace(&mut ends)?;
        let mut starts: Vec<u64> =
            positions.iter().map(|&position| position.saturating_sub(1)).collect();
        self.ends.replace(&mut starts)?;
        let ranges = positions.iter().zip(starts).zip(ends);
        ranges
            .map(|((&position, start), end)| {
                let start = if position == 0 { 0 } else { start };
                if start > end || end > self.section.length() {
                    return Err(self.lie(format!("a name from byte {start} to byte {end}")));
                }
                Ok((start, end))
            })
            .collect()
    }

    /// The names in some ranges, in the order asked for.
    pub(crate) fn texts(&self, ranges: &[(u64, u64)]) -> Result<TextCells> {
        let mut cells = TextCells::default();
        if let Some((bytes, _)) = &self.loaded {
            for &(start, end) in ranges {
                cells.push(self.utf8(&bytes[start as usize..end as usize])?);
            }
            return Ok(cells);
        }
        let mut order: Vec<u32> = (0..ranges.len() as u32).collect();
        order.sort_unstable_by_key(|&at| ranges[at as usize]);
        let mut found = vec![Vec::new(); ranges.len()];
        for at in order {
            let (start, end) = ranges[at as usize];
            let name = &mut found[at as usize];
            name.resize((end - start) as usize, 0);
            self.text.read_exact_at(self.section.offset + start, name)?;
        }
        for name in &found {
            cells.push(self.utf8(name)?);
        }
        Ok(cells)
    }

    fn utf8<'t>(&self, bytes: &'t [u8]) -> Result<&'t str> {
        std::str::from_utf8(bytes).map_err(|_| self.lie("bytes that are no UTF-8".to_owned()))
    }

    fn lie(&self, found: String) -> Error {
        let remedy = "run `graphmill verify`, and build the dataset again";
        let error = Error::source("names of nodes", found, "the names of all nodes", remedy);
        error.in_file(self.text.path())
    }
}
