//! From the ids of the source to the numbers of the nodes, and back.
//!
//! A build may number nodes by heat, or because their ids were scattered integers or text. The topology then holds the
//! original id of every number; a table of places lists the numbers in ascending order of those ids, and text has two
//! more files with the names. Datasets and loaders ask here; topology and rows know nothing but numbers. Whatever is
//! read is checked before it leads anywhere, and a number that was found is compared with what it was found by, so a
//! lying file gives an error and never another node.

use crate::dataset::open_table;
use crate::mapped_file::{check_index, elements};
use crate::names::Names;
use crate::{Error, Graph, Result, Table};
use graphmill_disk::{Advice, Mapped, ReadAt, pool};
use graphmill_format::{ElementType, Section, manifest};
use rayon::prelude::*;
use std::fmt;
use std::path::{Path, PathBuf};

/// Ids that one thread translates at a time; fewer are not worth waking others for.
const AT_ONCE: usize = 1 << 14;
/// One look in so many pages of a file: from there on it is cheaper to read all of it in order.
const PAGES_PER_LOOK: u64 = 8;

/// What the ids of the source have to do with the numbers of the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdKind {
    /// The id of a node is its number.
    Same,
    /// The ids are the numbers from 0 on, but in another order.
    Reordered,
    /// The ids are any integers.
    Mapped,
    /// The ids are text.
    Text,
}

impl IdKind {
    /// How it is written.
    pub fn name(self) -> &'static str {
        match self {
            IdKind::Same => "same",
            IdKind::Reordered => "reordered",
            IdKind::Mapped => "mapped",
            IdKind::Text => "text",
        }
    }
}

impl fmt::Display for IdKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The original ids of a dataset's nodes. Cloning shares the maps.
///
/// The original id of a node whose id was text is the place of its name among all names.
#[derive(Clone, Debug)]
pub struct NodeIds {
    folder: PathBuf,
    graph: Graph,
    places: Option<Table>,
    names: Option<Names>,
}

impl NodeIds {
    pub(crate) fn open(
        folder: &Path,
        graph: &Graph,
        entry: Option<&manifest::NodeIds>,
    ) -> Result<Self> {
        let count = graph.num_nodes();
        let places = entry.and_then(|entry| entry.places.as_ref());
        let places = places.map(|entry| open_table(folder, entry, count)).transpose()?;
        if let Some(places) = &places {
            places.check_vector(&[ElementType::I32, ElementType::I64])?;
            let stored = graph.layout().original_ids.map_or(0, |section| section.count);
            let what = "number of original ids";
            crate::dataset::check_count(graph.path(), what, stored, count)?;
        }
        let names = entry.and_then(|entry| entry.names.as_ref());
        let names = names.map(|entry| Names::open(folder, entry, count)).transpose()?;
        Ok(NodeIds { folder: folder.to_path_buf(), graph: graph.clone(), places, names })
    }

    /// Whether the id of every node is its number.
    pub fn are_numbers(&self) -> bool {
        self.graph.layout().original_ids.is_none() && self.names.is_none()
    }

    /// Whether the ids of the source were text.
    pub fn are_text(&self) -> bool {
        self.names.is_some()
    }

    /// What the ids are; looks at two of them at most.
    pub fn kind(&self) -> Result<IdKind> {
        if self.are_text() {
            return Ok(IdKind::Text);
        }
        if self.are_numbers() {
            return Ok(IdKind::Same);
        }
        // Different integers that ascend from 0 to N - 1 are all of those.
        let (view, count) = (self.view()?, self.graph.num_nodes());
        let reordered = count == 0
            || view.original(view.number_at(0)?) == 0
                && view.original(view.number_at(count - 1)?) as u64 == count - 1;
        Ok(if reordered { IdKind::Reordered } else { IdKind::Mapped })
    }

    /// Replaces numbers of nodes by their original ids.
    pub fn make_original(&self, numbers: &mut [i64]) -> Result<()> {
        let view = self.view()?;
        self.will_look_at_originals(numbers.len());
        translate(numbers, |_, number| {
            let count = self.graph.num_nodes();
            check_index(&self.folder, "node", number as u64, count)?;
            Ok(view.original(number as u64))
        })
    }

    /// Replaces original ids by the numbers of their nodes; fails at the first that no node has.
    pub fn make_numbers(&self, ids: &mut [i64]) -> Result<()> {
        let view = self.view()?;
        self.will_look_at_originals(ids.len());
        self.will_look_at_places(ids.len());
        translate(ids, |position, id| match view.find(id)? {
            Some(number) => Ok(number as i64),
            None => Err(self.unknown(position, id)),
        })
    }

    /// The numbers of all nodes in ascending order of their original ids.
    ///
    /// They are as the file has them: whoever follows one checks it.
    pub fn in_order(&self) -> Result<impl ExactSizeIterator<Item = i64> + '_> {
        let view = self.view()?;
        let count = self.graph.num_nodes() as usize;
        self.will_look_at_places(count);
        Ok((0..count).map(move |place| view.numbers.map_or(place as i64, |n| n.get(place))))
    }

    /// Visits the names of nodes; fails unless the ids are text.
    pub fn visit_names(&self, numbers: &[i64], mut visit: impl FnMut(&str)) -> Result<()> {
        let names = self.names()?.view()?;
        let (view, count) = (self.view()?, self.graph.num_nodes());
        for &number in numbers {
            check_index(&self.folder, "node", number as u64, count)?;
            let place = view.original(number as u64);
            if place as u64 >= count {
                return Err(view.bad_original(number as u64, place));
            }
            visit(names.get(place as u64)?);
        }
        Ok(())
    }

    /// The numbers of the nodes with these names; fails at the first that no node has, and unless the ids are text.
    pub fn numbers_of_names<S: AsRef<str>>(&self, wanted: &[S]) -> Result<Vec<i64>> {
        let names = self.names()?.view()?;
        let view = self.view()?;
        let number = |(position, name): (usize, &S)| {
            let name = name.as_ref();
            let place = names.find(name)?.ok_or_else(|| Error::UnknownNode {
                path: self.folder.clone(),
                name: name.to_owned(),
                position,
            })?;
            match view.find(place as i64)? {
                Some(number) => Ok(number as i64),
                None => Err(self.unknown(position, place as i64)),
            }
        };
        wanted.iter().enumerate().map(number).collect()
    }

    pub(crate) fn places(&self) -> Option<&Table> {
        self.places.as_ref()
    }

    pub(crate) fn names(&self) -> Result<&Names> {
        self.names.as_ref().ok_or_else(|| Error::IdKind {
            path: self.folder.clone(),
            found: "text",
            expected: "integers",
        })
    }

    /// Typed slices over the maps, whose files are as long as they were.
    fn view(&self) -> Result<View<'_>> {
        self.graph.mapped().check_length()?;
        let numbers = match &self.places {
            None => None,
            Some(places) => {
                places.mapped().check_length()?;
                let section = places.section();
                Some(match places.shape().element() {
                    ElementType::I32 => Numbers::I32(elements(places.mapped(), section)),
                    _ => Numbers::I64(elements(places.mapped(), section)),
                })
            }
        };
        Ok(View { ids: self, originals: self.graph.original_ids(), numbers })
    }

    fn will_look_at_originals(&self, looks: usize) {
        if let Some(section) = &self.graph.layout().original_ids {
            will_look(self.graph.mapped(), section, looks);
        }
    }

    fn will_look_at_places(&self, looks: usize) {
        if let Some(places) = &self.places {
            will_look(places.mapped(), places.section(), looks);
        }
    }

    #[cold]
    fn unknown(&self, position: usize, id: i64) -> Error {
        // Every number below N is the id of a node unless ids are scattered, so the file must be to blame.
        let blame =
            (id as u64) < self.graph.num_nodes() && !matches!(self.kind(), Ok(IdKind::Mapped));
        match &self.places {
            Some(places) if blame => Error::Corrupt {
                path: places.path().to_path_buf(),
                byte: places.section().offset + id as u64 * places.section().element.width(),
                what: "the place of an original id",
                found: "a node with another id".to_owned(),
                expected: format!("the node with id {id}"),
            },
            _ => Error::UnknownId { path: self.folder.clone(), id, position },
        }
    }
}

/// Numbers of nodes in their stored type.
#[derive(Clone, Copy)]
enum Numbers<'a> {
    I32(&'a [i32]),
    I64(&'a [i64]),
}

impl Numbers<'_> {
    fn get(&self, place: usize) -> i64 {
        match self {
            Numbers::I32(numbers) => numbers[place].into(),
            Numbers::I64(numbers) => numbers[place],
        }
    }
}

#[derive(Clone, Copy)]
struct View<'a> {
    ids: &'a NodeIds,
    originals: Option<&'a [i64]>,
    /// None if the nodes are stored in ascending order of their original ids.
    numbers: Option<Numbers<'a>>,
}

impl View<'_> {
    /// The original id of a node that exists.
    fn original(&self, number: u64) -> i64 {
        self.originals.map_or(number as i64, |originals| originals[number as usize])
    }

    /// The node with the smallest original id but `place`; there are as many places as nodes.
    fn number_at(&self, place: u64) -> Result<u64> {
        let Some(numbers) = self.numbers else { return Ok(place) };
        let number = numbers.get(place as usize);
        if (number as u64) < self.ids.graph.num_nodes() {
            Ok(number as u64)
        } else {
            Err(self.bad_number(place, number))
        }
    }

    fn find(&self, id: i64) -> Result<Option<u64>> {
        let count = self.ids.graph.num_nodes();
        let Some(originals) = self.originals else {
            return Ok(((id as u64) < count).then_some(id as u64));
        };
        // Where ids are the numbers from 0 on, the first look finds the node.
        if (id as u64) < count {
            let number = self.number_at(id as u64)?;
            if originals[number as usize] == id {
                return Ok(Some(number));
            }
        }
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low + (high - low) / 2;
            let number = self.number_at(middle)?;
            match originals[number as usize].cmp(&id) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Ok(Some(number)),
            }
        }
        Ok(None)
    }

    #[cold]
    fn bad_number(&self, place: u64, number: i64) -> Error {
        let table = self.ids.places.as_ref();
        let section = table.map(Table::section);
        Error::Corrupt {
            path: table.map_or(self.ids.folder.as_path(), Table::path).to_path_buf(),
            byte: section.map_or(0, |found| found.offset + place * found.element.width()),
            what: "the number of a node",
            found: number.to_string(),
            expected: format!("0 to {}", self.ids.graph.num_nodes().saturating_sub(1)),
        }
    }

    #[cold]
    fn bad_original(&self, number: u64, place: i64) -> Error {
        let section = self.ids.graph.layout().original_ids;
        Error::Corrupt {
            path: self.ids.graph.path().to_path_buf(),
            byte: section.map_or(0, |section| section.offset + number * 8),
            what: "the place of a name",
            found: place.to_string(),
            expected: format!("0 to {}", self.ids.graph.num_nodes().saturating_sub(1)),
        }
    }
}

/// Replaces every id, on all cores if there are many; of several failures the first in the list is told.
fn translate(ids: &mut [i64], one: impl Fn(usize, i64) -> Result<i64> + Sync) -> Result<()> {
    let piece = |(index, piece): (usize, &mut [i64])| -> Result<()> {
        for (at, id) in piece.iter_mut().enumerate() {
            *id = one(index * AT_ONCE + at, *id)?;
        }
        Ok(())
    };
    if ids.len() <= AT_ONCE {
        return piece((0, ids));
    }
    let failures: Vec<(usize, Error)> = pool()?.install(|| {
        let pieces = ids.par_chunks_mut(AT_ONCE).enumerate();
        let failed = |(index, ids)| piece((index, ids)).err().map(|error| (index, error));
        pieces.filter_map(failed).collect()
    });
    match failures.into_iter().min_by_key(|(index, _)| *index) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

/// Lets a section be read in order, if it is about to be looked at in most places anyway: page by page from a disk
/// would take a hundred times as long.
fn will_look(mapped: &Mapped, section: &Section, looks: usize) {
    if looks > AT_ONCE && looks as u64 >= section.length() / (4096 * PAGES_PER_LOOK) {
        // A hint; the looks find the same without it.
        let _ = mapped.advise(Advice::WillNeed, section.offset..section.end());
    }
}
