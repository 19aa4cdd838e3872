//! Where the lists of a graph are read from: the mapped file, or a copy in memory.
//! A handle that is told to stay in memory holds a [`TopologyCopy`] beside its map; views that users take keep pointing at
//! the file. What is in the sections is unknown here.

use crate::Result;
use graphmill_disk::{Budget, Mapped, MemoryCopy};
use graphmill_format::{GraphLayout, Section};
use std::fmt;
use std::str::FromStr;

/// Where a topology is read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// As is best: the mapped file.
    #[default]
    Auto,
    /// The mapped file; nothing is ever copied.
    Mapped,
    /// A copy in memory, on huge pages.
    Ram,
}

impl Placement {
    /// All of them.
    pub const ALL: [Placement; 3] = [Placement::Auto, Placement::Mapped, Placement::Ram];

    /// Its name for users.
    pub fn name(self) -> &'static str {
        match self {
            Placement::Auto => "auto",
            Placement::Mapped => "mapped",
            Placement::Ram => "ram",
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Placement {
    type Err = String;

    fn from_str(name: &str) -> std::result::Result<Self, String> {
        Self::ALL.into_iter().find(|placement| placement.name() == name).ok_or_else(|| {
            format!("residency is {name:?}, expected \"auto\", \"mapped\" or \"ram\"")
        })
    }
}

/// The sections of all stored directions, in memory.
#[derive(Debug)]
pub(crate) struct TopologyCopy {
    /// By where the section is in the file.
    sections: Vec<(u64, MemoryCopy)>,
}

impl TopologyCopy {
    /// Copies all sections, or none if the budget does not allow it.
    pub(crate) fn read(mapped: &Mapped, layout: &GraphLayout, budget: &Budget) -> Result<Self> {
        let wanted: Vec<&Section> = layout
            .directions
            .iter()
            .flat_map(|lists| {
                let optional =
                    [&lists.edge_ids, &lists.weights, &lists.cumulative_weights, &lists.edge_times];
                let optional = optional.into_iter().filter_map(Option::as_ref);
                [&lists.offsets, &lists.neighbours].into_iter().chain(optional)
            })
            .collect();
        const WHAT: &str = "the topology in memory";
        // All of it or nothing, and known before the first byte is read.
        let bytes = wanted.iter().map(|section| section.end() - section.offset).sum();
        drop(budget.reserve(bytes, WHAT)?);
        let mut sections = Vec::with_capacity(wanted.len());
        for section in wanted {
            let copy = MemoryCopy::read(mapped, section.offset..section.end(), budget, WHAT)?;
            sections.push((section.offset, copy));
        }
        Ok(TopologyCopy { sections })
    }

    /// The bytes of a section that a direction has.
    pub(crate) fn bytes(&self, section: &Section) -> Option<&[u8]> {
        let length = section.end() - section.offset;
        // An empty section may begin where the next one does.
        let is_it = |(offset, copy): &&(u64, MemoryCopy)| {
            *offset == section.offset && copy.bytes().len() as u64 == length
        };
        self.sections.iter().find(is_it).map(|(_, copy)| copy.bytes())
    }

    /// Bytes of all sections.
    pub(crate) fn len(&self) -> u64 {
        self.sections.iter().map(|(_, copy)| copy.bytes().len() as u64).sum()
    }
}
