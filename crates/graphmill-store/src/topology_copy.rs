//! Copies of neighbour lists in memory, beside the mapped file.
//! A handle asks for the copy of a direction each time it hands out lists; views that users take keep pointing at the file.
//! What is in the sections is unknown here.
//!
//! A copy lies on huge pages, so that a read at random finds its address at once; of a map of small pages, the page table
//! itself has to be read from memory most times.

use crate::{Error, Placement, Result};
use graphmill_disk::{Budget, Mapped, MemoryCopy, machine_memory};
use graphmill_format::{DirectionSections, GraphLayout, Section};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What the budget calls a copy.
const WHAT: &str = "the topology in memory";
/// A direction that is smaller is not copied by itself: processors remember where that many small pages are.
const LEAST_BYTES: u64 = 8 << 20;
/// A direction is copied by itself when a part of its edges like this one has been read: copying costs about as much time
/// as reading those from a copy would have saved.
const READ_PART: u64 = 8;
/// And only if it takes no more than a part of the free budget like this one, since rows need memory more.
const BUDGET_PART: u64 = 4;
/// The same where the page cache cannot keep it: lists that come from disk again and again cost more than rows that do.
const CRAMPED_PART: f64 = 0.6;

/// The copies of one handle and its clones.
#[derive(Debug)]
pub(crate) struct TopologyCopies {
    asked: Placement,
    budget: Budget,
    /// One for each stored direction.
    directions: Vec<Direction>,
}

#[derive(Debug, Default)]
struct Direction {
    copy: OnceLock<ListsCopy>,
    edges_read: AtomicU64,
    /// Whether it was decided about a copy, by whichever thread was first.
    is_decided: AtomicBool,
}

impl TopologyCopies {
    /// Copies what is asked for now, and remembers what is asked for later.
    pub(crate) fn new(
        asked: Placement,
        budget: &Budget,
        mapped: &Mapped,
        layout: &GraphLayout,
    ) -> Result<Self> {
        let mut copies = Self::none(asked, budget, layout);
        if asked != Placement::Ram {
            return Ok(copies);
        }
        // All of it or nothing, and known before the first byte is read.
        drop(budget.reserve(layout.directions.iter().map(bytes_of).sum(), WHAT)?);
        for (direction, sections) in copies.directions.iter_mut().zip(&layout.directions) {
            direction.copy = ListsCopy::read(mapped, sections, budget)?.into();
        }
        Ok(copies)
    }

    /// Nothing is copied yet.
    pub(crate) fn none(asked: Placement, budget: &Budget, layout: &GraphLayout) -> Self {
        let directions = layout.directions.iter().map(|_| Direction::default()).collect();
        TopologyCopies { asked, budget: budget.clone(), directions }
    }

    /// What the user asked for.
    pub(crate) fn asked(&self) -> Placement {
        self.asked
    }

    /// Who pays for copies.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Bytes of all copies.
    pub(crate) fn len(&self) -> u64 {
        self.directions
            .iter()
            .filter_map(|direction| direction.copy.get())
            .map(ListsCopy::len)
            .sum()
    }

    /// The copy of the direction at `place` among those stored, if there is one by now.
    pub(crate) fn get(
        &self,
        place: usize,
        mapped: &Mapped,
        layout: &GraphLayout,
    ) -> Result<Option<&ListsCopy>> {
        let direction = &self.directions[place];
        if let Some(copy) = direction.copy.get() {
            return Ok(Some(copy));
        }
        if self.asked != Placement::Auto
            || direction.edges_read.load(Ordering::Relaxed) < layout.num_edges / READ_PART
            || direction.is_decided.load(Ordering::Relaxed)
            || direction.is_decided.swap(true, Ordering::Relaxed)
        {
            return Ok(None);
        }
        let bytes = bytes_of(&layout.directions[place]);
        if bytes < LEAST_BYTES || bytes > self.budget.free() / BUDGET_PART {
            return Ok(None);
        }
        self.copy(place, mapped, layout)
    }

    /// Copies the direction at `place` before it is read at all, if that is left to us and the page cache could not keep
    /// it beside the budget.
    pub(crate) fn settle(&self, place: usize, mapped: &Mapped, layout: &GraphLayout) -> Result<()> {
        let direction = &self.directions[place];
        let bytes = bytes_of(&layout.directions[place]);
        let fits = bytes as f64 <= self.budget.free() as f64 * CRAMPED_PART;
        let left = machine_memory().checked_sub(self.budget.total());
        let is_cramped = left.is_some_and(|left| left < bytes);
        if self.asked == Placement::Auto
            && (fits && is_cramped && bytes >= LEAST_BYTES)
            && !direction.is_decided.swap(true, Ordering::Relaxed)
        {
            self.copy(place, mapped, layout)?;
        }
        Ok(())
    }

    /// Copies a direction, unless the budget says no: nobody asked for a copy.
    fn copy(
        &self,
        place: usize,
        mapped: &Mapped,
        layout: &GraphLayout,
    ) -> Result<Option<&ListsCopy>> {
        match ListsCopy::read(mapped, &layout.directions[place], &self.budget) {
            Ok(copy) => Ok(Some(self.directions[place].copy.get_or_init(|| copy))),
            Err(Error::Disk(graphmill_disk::Error::Budget { .. })) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Where the edges read of a direction are counted, as long as that may still lead to a copy.
    pub(crate) fn counter(&self, place: usize) -> Option<&AtomicU64> {
        let direction = &self.directions[place];
        let may_be_copied =
            self.asked == Placement::Auto && !direction.is_decided.load(Ordering::Relaxed);
        may_be_copied.then_some(&direction.edges_read)
    }
}

/// The sections of one direction, in memory.
#[derive(Debug)]
pub(crate) struct ListsCopy {
    /// By where the section is in the file.
    sections: Vec<(u64, MemoryCopy)>,
}

impl ListsCopy {
    fn read(mapped: &Mapped, lists: &DirectionSections, budget: &Budget) -> Result<Self> {
        let copied = sections_of(lists).map(|section| {
            let copy = MemoryCopy::read(mapped, section.offset..section.end(), budget, WHAT)?;
            Ok((section.offset, copy))
        });
        Ok(ListsCopy { sections: copied.collect::<Result<_>>()? })
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

    fn len(&self) -> u64 {
        self.sections.iter().map(|(_, copy)| copy.bytes().len() as u64).sum()
    }
}

fn sections_of(lists: &DirectionSections) -> impl Iterator<Item = &Section> {
    let optional = [&lists.edge_ids, &lists.weights, &lists.cumulative_weights, &lists.edge_times];
    let optional = optional.into_iter().filter_map(Option::as_ref);
    [&lists.offsets, &lists.neighbours].into_iter().chain(optional)
}

fn bytes_of(lists: &DirectionSections) -> u64 {
    sections_of(lists).map(|section| section.end() - section.offset).sum()
}
