//! Named lists of nodes, from lists of ids or masks.
//! Ids are those of the source and become numbers of nodes; the order of a list stays. It must not
//! know what the lists are for.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use graphmill_disk::Budget;
use graphmill_format::{ElementType, TableShape, content};

use super::options::{BuildOptions, SourceIds};
use super::repeats::{Repeat, first_repeat};
use super::sources::TableSource;
use crate::node_numbers::NodeNumbers;
use crate::source::{Column, TableChunk, TableInput, TableInputOptions, TextCells};
use crate::table_writer::{TableWriter, Written};
use crate::{Error, Result};

/// What reading splits needs.
pub(super) struct SplitReader<'b> {
    pub(super) options: &'b BuildOptions<'b>,
    pub(super) budget: &'b Budget,
    pub(super) numbers: Option<&'b dyn NodeNumbers>,
    pub(super) num_nodes: u64,
}

impl SplitReader<'_> {
    /// Writes the nodes of a split into an empty file, and gives their number.
    pub(super) fn write(
        &self,
        name: &str,
        source: &TableSource<'_>,
        file: &dyn graphmill_disk::OutputFile,
    ) -> Result<(Written, u64)> {
        let input = self.open(name, source)?;
        let is_mask = input.description().element == Some(ElementType::Bool);
        if is_mask && self.options.ids != SourceIds::Numbers {
            let problem = format!(
                "{name:?} is a mask, and with mapped ids its places belong to no node; list ids"
            );
            return Err(Error::request("split", problem));
        }
        let shape = TableShape::vector(0, ElementType::I64).map_err(Error::format(file.path()))?;
        let table = Mutex::new(TableWriter::counting(file, shape)?);
        let append = |chunk: &mut TableChunk| {
            let nodes = self.nodes(name, chunk, is_mask)?;
            let bytes: Vec<u8> = nodes.iter().flat_map(|node| node.to_le_bytes()).collect();
            table.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).write_rows(&bytes)
        };
        let read = input.read(self.budget, &append, self.options.observer)?;
        if is_mask && read.rows != self.num_nodes {
            let found = format!("a mask of {} rows", read.rows);
            let expected = format!("{}, one for each node", self.num_nodes);
            let remedy = "give a mask of all nodes, or a list of ids";
            return Err(Error::source(format!("split {name:?}"), found, expected, remedy));
        }
        let table = table.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        let count = table.rows();
        let written = table.finish()?;
        // The places of a mask are different by themselves.
        if !is_mask && let Some(repeat) = first_repeat(file, count, self.num_nodes, self.budget)? {
            let error = self.repeated(name, &input, &repeat)?;
            return Err(match source {
                TableSource::Memory(_) => error,
                _ => error.in_file(path(source)),
            });
        }
        Ok((written, count))
    }

    /// Says which id of a list comes twice, or that the list looks like a mask.
    fn repeated(&self, name: &str, input: &TableInput<'_>, repeat: &Repeat) -> Result<Error> {
        let (shown, others) = (Mutex::new(String::new()), AtomicU64::new(0));
        let look = |chunk: &mut TableChunk| {
            let cells = self.cells(chunk);
            let other = cells.iter().filter(|cell| !["0", "1"].contains(cell)).count();
            others.fetch_add(other as u64, Ordering::Relaxed);
            let at = repeat.second.checked_sub(chunk.first_row).map(|at| at as usize);
            if let Some(cell) = at.and_then(|at| cells.get(at)) {
                *shown.lock().unwrap_or_else(PoisonError::into_inner) = cell.to_owned();
            }
            Ok(())
        };
        let read = input.read(self.budget, &look, self.options.observer)?;
        let shown = shown.into_inner().unwrap_or_else(PoisonError::into_inner);
        if others.into_inner() == 0 {
            let found = format!("{} values that are all 0 or 1", read.rows);
            let expected = "ids that are listed once, or a mask of booleans";
            let remedy = "for a mask give booleans (true and false, mask.astype(bool)), for ids list each once";
            return Ok(Error::source(format!("split {name:?}"), found, expected, remedy));
        }
        let place = format!("split {name:?}, positions {} and {}", repeat.first, repeat.second);
        let found = format!("the id {shown} twice");
        Ok(Error::source(place, found, "every id once", "list each id once"))
    }

    /// The ids of a chunk as they read.
    fn cells(&self, chunk: &TableChunk) -> TextCells {
        if chunk.bytes.is_empty() {
            return chunk.texts.clone();
        }
        let ids = chunk.bytes.as_chunks().0.iter().map(|id| i64::from_le_bytes(*id));
        ids.map(|id| id.to_string()).collect()
    }

    fn open<'a>(&self, name: &str, source: &TableSource<'a>) -> Result<TableInput<'a>> {
        // Numbers in memory are taken by their digits, as those of edges are.
        let numbers = matches!(source, TableSource::Memory(array) if !array.has_words());
        let text = self.options.ids == SourceIds::Text && !numbers;
        let plain = self.options.table_input().budget(self.budget);
        let plain = plain.text_ids(false).positional(true).ordered(true);
        let look = open(source, &plain.clone().text(text).list(text))?;
        let description = look.description();
        let words = matches!(source, TableSource::Memory(array) if array.has_words());
        if words && !text && !description.looks_boolean {
            let remedy =
                "say that ids are words (SourceIds::Text, string_ids=True), or give integers";
            let place = format!("split {name:?}");
            return Err(Error::source(place, "words", "integers or a mask of booleans", remedy));
        }
        let mut wanted = if text {
            plain.clone().text(true).list(true)
        } else if description.looks_boolean || description.element == Some(ElementType::Bool) {
            plain.clone().element(ElementType::Bool)
        } else {
            plain.clone().element(ElementType::I64).list(true)
        };
        if description.columns != 1 {
            let names = description.names.unwrap_or_default();
            let id = names.iter().find(|name| {
                ["id", "node_id"].iter().any(|known| name.eq_ignore_ascii_case(known))
            });
            let Some(id) = id else {
                let found = format!("{} columns", description.columns);
                let remedy = "give one column of ids, or name it id";
                let place = format!("split {name:?}");
                return Err(Error::source(place, found, "one column", remedy).in_file(path(source)));
            };
            let flags =
                names.iter().filter(|name| *name != id).map(|name| Column::Name(name.to_owned()));
            let flags: Vec<Column> = flags.collect();
            // Which ids are meant would be lost with such a column.
            if flags.len() == 1
                && open(source, &plain.clone().columns(flags))?.description().looks_boolean
            {
                let found = format!("a column of booleans beside the column {id:?}");
                let remedy = "leave out the rows that are false, and give the ids alone";
                let place = format!("split {name:?}");
                return Err(Error::source(place, found, "one column", remedy).in_file(path(source)));
            }
            wanted = wanted.columns(vec![Column::Name(id.to_owned())]);
        }
        open(source, &wanted)
    }

    /// The numbers of the nodes that a chunk names.
    fn nodes(&self, name: &str, chunk: &TableChunk, is_mask: bool) -> Result<Vec<i64>> {
        let place = |at: usize| format!("split {name:?}, position {}", chunk.first_row + at as u64);
        if self.options.ids == SourceIds::Text {
            let mut numbers = Vec::new();
            if let Some(known) = self.numbers {
                let names = self.cells(chunk);
                known.of_names(&names, &mut numbers)?.map_err(|at| {
                    let found = names.get(at).unwrap_or_default();
                    Error::source(
                        place(at),
                        found,
                        "the id of a node",
                        "list only ids of the graph",
                    )
                })?;
            }
            return Ok(numbers.into_iter().map(|number| number as i64).collect());
        }
        let ids: Vec<i64> = if is_mask {
            let chosen = chunk.bytes.iter().enumerate().filter(|(_, byte)| **byte != 0);
            chosen.map(|(at, _)| (chunk.first_row + at as u64) as i64).collect()
        } else {
            chunk.bytes.as_chunks().0.iter().map(|id| i64::from_le_bytes(*id)).collect()
        };
        let outside = |at: usize| {
            let expected = match self.options.ids {
                SourceIds::Numbers => format!("the id of one of {} nodes", self.num_nodes),
                _ => "the id of a node".to_owned(),
            };
            Error::source(place(at), ids[at], expected, "list only ids of the graph")
        };
        let limit = match self.options.ids {
            SourceIds::Numbers => self.num_nodes,
            _ => i64::MAX as u64,
        };
        if let Some(at) = content::first_bad_id(&ids, limit) {
            return Err(outside(at));
        }
        let Some(known) = self.numbers else { return Ok(ids) };
        let mut numbers: Vec<u64> = ids.iter().map(|&id| id as u64).collect();
        known.of_ids(&mut numbers)?.map_err(outside)?;
        Ok(numbers.into_iter().map(|number| number as i64).collect())
    }
}

fn open<'a>(source: &TableSource<'a>, options: &TableInputOptions) -> Result<TableInput<'a>> {
    match source {
        TableSource::Files(paths) => TableInput::open(paths, options),
        TableSource::Part(part) => {
            TableInput::open(std::slice::from_ref(&part.path), &part.table_options(options))
        }
        TableSource::Memory(array) => TableInput::memory(*array, options),
    }
}

fn path<'s>(source: &'s TableSource<'_>) -> &'s Path {
    match source {
        TableSource::Files(paths) => paths.first().map_or(Path::new("split"), |path| path),
        TableSource::Part(part) => &part.path,
        TableSource::Memory(_) => Path::new("memory"),
    }
}
