//! Checks of original ids: every node can be found by its id, and by its name if it has one.
//!
//! Runs after the files themselves were found sound, so blocks are read without their digests. Ids have to ascend
//! strictly in the order that the dataset says they do; different ids in N places are then a complete list of nodes.

use super::blocks::{BlockReader, Piece};
use super::values::aligned;
use super::{Fault, Report, fault};
use crate::{Graph, NodeIds, Result, Table};
use graphmill_disk::{PageBuffer, Pread, ReadAt};
use graphmill_format::content::{self, NodeId};
use graphmill_format::{ElementType, Section};
use std::sync::atomic::{AtomicBool, Ordering};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// Bytes of places that are in memory at a time while ids point into them from all over.
const WINDOW: u64 = 64 << 20;

/// A table or section whose bytes are read, not mapped.
struct Column {
    file: Pread,
    section: Section,
}

impl Column {
    fn of_table(table: &Table) -> Result<Self> {
        Ok(Column { file: Pread::of(table.mapped())?, section: *table.section() })
    }

    fn int64_at(&self, index: u64) -> Result<i64> {
        let mut bytes = [0; 8];
        self.file.read_exact_at(self.section.offset + index * 8, &mut bytes)?;
        Ok(i64::from_le_bytes(bytes))
    }
}

pub(super) fn check_ids(graph: &Graph, ids: &NodeIds, report: &mut Report) -> Result<()> {
    let Some(section) = graph.layout().original_ids else { return Ok(()) };
    let originals = Column { file: Pread::of(graph.mapped())?, section };
    let Some(places) = ids.places() else {
        return check_ascending(&originals, ids.are_text(), report);
    };
    let places = Column::of_table(places)?;
    match places.section.element {
        ElementType::I32 => check_places::<i32>(&originals, &places, ids.are_text(), report),
        _ => check_places::<i64>(&originals, &places, ids.are_text(), report),
    }
}

/// Without places, ids ascend with the numbers; those of text are places of names.
fn check_ascending(originals: &Column, is_text: bool, report: &mut Report) -> Result<()> {
    let limit = if is_text { originals.section.count } else { 1 << 63 };
    BlockReader::new(&originals.file, None)?.check(&originals.section, report, |piece| {
        let Some(ids) = aligned::<i64>(piece.bytes) else { return Ok(None) };
        let first = piece.start / 8;
        let before = if first == 0 { -1 } else { originals.int64_at(first - 1)? };
        let previous = std::iter::once(before).chain(ids.iter().copied());
        let is_wrong = |(&id, before): (&i64, i64)| id <= before.max(-1) || id as u64 >= limit;
        Ok(ids.iter().zip(previous).position(is_wrong).map(|at| {
            let before = if at == 0 { before } else { ids[at - 1] };
            let expected = format!("one above {before} and below {limit}");
            piece.fault(at, format!("found original id {}, expected {expected}", ids[at]))
        }))
    })
}

/// Places lead through all nodes in ascending order of their ids.
fn check_places<T: Place>(
    originals: &Column,
    places: &Column,
    is_text: bool,
    report: &mut Report,
) -> Result<()> {
    let count = originals.section.count;
    let all_below = AtomicBool::new(true);
    let reader = BlockReader::new(&originals.file, None)?;
    reader.check(&originals.section, report, |piece| {
        let Some(ids) = aligned::<i64>(piece.bytes) else { return Ok(None) };
        let Some(at) = content::first_bad_id(ids, count) else { return Ok(None) };
        all_below.store(false, Ordering::Relaxed);
        let problem = format!("found place {} of a name, expected 0 to {count} - 1", ids[at]);
        Ok(is_text.then(|| piece.fault(at, problem)))
    })?;
    match (all_below.into_inner(), is_text) {
        (true, _) => check_inverse::<T>(&reader, &originals.section, places, WINDOW, report),
        (false, true) => Ok(()),
        (false, false) => check_scattered::<T>(originals, places, report),
    }
}

/// Ids below N: place number i must hold the node with id i.
///
/// If each of N nodes stands in the place that its id names, no two have the same id, so every place is taken and the
/// ids ascend. Ids point anywhere, so a window of places is in memory while all ids pass.
fn check_inverse<T: Place>(
    originals: &BlockReader,
    section: &Section,
    places: &Column,
    window: u64,
    report: &mut Report,
) -> Result<()> {
    let width = size_of::<T>() as u64;
    let length = places.section.length();
    let mut buffer = PageBuffer::new(length.min(window) as usize);
    for start in (0..length).step_by(window as usize) {
        let bytes = &mut buffer[..(length - start).min(window) as usize];
        places.file.read_exact_at(places.section.offset + start, bytes)?;
        let listed = aligned::<T>(bytes).unwrap_or_default();
        let first = start / width;
        originals.check(section, report, |piece| {
            let Some(ids) = aligned::<i64>(piece.bytes) else { return Ok(None) };
            let first_node = piece.start / 8;
            for (at, &id) in ids.iter().enumerate() {
                let place = (id as u64).wrapping_sub(first);
                let Some(found) = listed.get(place as usize) else { continue };
                let node = first_node + at as u64;
                if found.bits() != node {
                    let problem = format!(
                        "node {node} has original id {id}, but that place lists node {found}"
                    );
                    return Ok(Some(piece.fault(at, problem)));
                }
            }
            Ok(None)
        })?;
    }
    Ok(())
}

/// Any ids: each is looked up where its place says, and compared with the one before.
fn check_scattered<T: Place>(
    originals: &Column,
    places: &Column,
    report: &mut Report,
) -> Result<()> {
    let count = originals.section.count;
    BlockReader::new(&places.file, None)?.check(&places.section, report, |piece| {
        let Some(numbers) = aligned::<T>(piece.bytes) else { return Ok(None) };
        if let Some(at) = content::first_bad_id(numbers, count) {
            let problem = format!("found node {}, expected 0 to {count} - 1", numbers[at]);
            return Ok(Some(piece.fault(at, problem)));
        }
        let mut before = match place_before::<T>(piece)?.and_then(T::id) {
            // A place outside is the fault of the piece before.
            Some(number) if number < count => originals.int64_at(number)?,
            _ => -1,
        };
        for (at, number) in numbers.iter().enumerate() {
            let id = originals.int64_at(number.bits())?;
            if id <= before.max(-1) {
                let problem = format!(
                    "found node {number} with original id {id}, expected one above {before}"
                );
                return Ok(Some(piece.fault(at, problem)));
            }
            before = id;
        }
        Ok(None)
    })
}

fn place_before<T: FromBytes>(piece: &Piece) -> Result<Option<T>> {
    if piece.start == 0 {
        return Ok(None);
    }
    let mut bytes = vec![0; size_of::<T>()];
    let at = piece.section.offset + piece.start - bytes.len() as u64;
    piece.file.read_exact_at(at, &mut bytes)?;
    Ok(T::read_from_bytes(&bytes).ok())
}

/// The types that places are stored in.
trait Place: NodeId + FromBytes + Immutable + KnownLayout + Sync + std::fmt::Display {}
impl Place for i32 {}
impl Place for i64 {}

/// The numbers of a table stand for classes that have names; -1 is none of them.
pub(super) fn check_classes(table: &Table, classes: u64, report: &mut Report) -> Result<()> {
    if table.check_vector(&[ElementType::I64]).is_err() {
        let problem = format!("found {}, expected an int64 vector", table.shape().element());
        report.add(fault(table.path(), "classes", problem));
        return Ok(());
    }
    let column = Column::of_table(table)?;
    BlockReader::new(&column.file, None)?.check(&column.section, report, |piece| {
        let Some(values) = aligned::<i64>(piece.bytes) else { return Ok(None) };
        let outside = |&value: &i64| value < -1 || value >= 0 && value as u64 >= classes;
        let describe = |at: usize| -> Fault {
            piece.fault(at, format!("found class {}, expected -1 to {classes} - 1", values[at]))
        };
        Ok(values.iter().position(outside).map(describe))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use graphmill_format::TableShape;
    use graphmill_ingest::write_table;
    use std::path::Path;

    fn column(path: &Path, values: &[i64]) -> Column {
        let shape = TableShape::vector(values.len() as u64, ElementType::I64).unwrap();
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        write_table(path, shape, [Ok(bytes)], true).unwrap();
        Column::of_table(&Table::open(path).unwrap()).unwrap()
    }

    #[test]
    fn windows_together_see_every_place() {
        let folder = tempfile::tempdir().unwrap();
        let count = 50_000;
        let mut places: Vec<i64> = (0..count).rev().collect();
        let originals = column(&folder.path().join("originals.gd"), &places);
        let reader = BlockReader::new(&originals.file, None).unwrap();
        let faults = |places: &[i64]| {
            let places = column(&folder.path().join("places.gd"), places);
            let mut report = Report::default();
            check_inverse::<i64>(&reader, &originals.section, &places, 8192, &mut report).unwrap();
            report.faults
        };
        assert_eq!(faults(&places), []);
        for place in [0, 1023, 1024, 1025, 49_151, 49_152, 49_999] {
            places[place] += 1;
            let found = faults(&places);
            let expected = format!("element {}", 49_999 - place);
            assert!(found[0].place.ends_with(&expected), "{place}: {}", found[0]);
            places[place] -= 1;
        }
    }
}
