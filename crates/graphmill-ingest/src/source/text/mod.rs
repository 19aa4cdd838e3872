//! Edges as text: CSV and its kin, plain or compressed.
//! Files are cut into blocks of whole lines, blocks are parsed by all threads, and chunks of edges
//! are handed over with their exact row numbers. It must not know what is built from them.

mod blocks;
mod decimal;
mod dialect;
mod digits;
mod edge_lines;
mod fault;
mod fields;
mod header_rule;
mod name_lines;
mod number;
mod plain_lines;
mod read;

use std::path::PathBuf;

use graphmill_disk::Budget;

use super::chunk::{EdgeChunk, ReadReport};
use super::endpoints::endpoints;
use super::options::{Column, EdgeInputOptions};
use crate::progress::Observer;
use crate::{Error, Result};

pub(crate) use blocks::TextFile;
pub(crate) use decimal::decimal;
pub(crate) use dialect::{Dialect, Forced, Kind};
pub(crate) use digits::digits;
pub(crate) use edge_lines::{EdgeColumns, EdgeLines, Parsed};
pub(crate) use fault::Fault;
pub use fields::Delimiter;
pub(crate) use fields::{Fields, is_doubtful_comment, is_skipped, trim, without_return};
pub(crate) use header_rule::{ID_NAMES, Rule};
pub(crate) use number::Unfit;
pub(crate) use read::{Lines, TextReading};
pub(crate) mod numbers {
    //! How cells are read.
    pub(crate) use super::number::{
        boolean, float, id, is_boolean, is_gap, is_missing, is_number, signed,
    };
}

/// Files of edges as text, one input.
#[derive(Debug)]
pub(crate) struct TextEdges {
    files: Vec<TextFile>,
    dialects: Vec<Dialect>,
    lines: Vec<EdgeLines>,
}

impl TextEdges {
    /// Looks at the first lines of every file.
    pub(crate) fn open(paths: &[PathBuf], options: &EdgeInputOptions) -> Result<Self> {
        let ends = [options.source.as_ref(), options.destination.as_ref()];
        let others = [options.weight.as_ref(), options.time.as_ref()];
        let rule = Rule::Edges { text_ids: options.text_ids, ends, others };
        let (delimiter, header) = (options.delimiter, options.header);
        let forced = Forced { delimiter, header, rule, rows: None };
        let budget = options.paying();
        let mut edges = TextEdges { files: Vec::new(), dialects: Vec::new(), lines: Vec::new() };
        for path in paths {
            let file = TextFile::open(path)?;
            let dialect = Dialect::find(&file, forced, &budget)?;
            let columns = columns(&dialect, options).map_err(|error| error.in_file(path))?;
            let delimiter = dialect.delimiter;
            let (on_bad_row, names) = (options.on_bad_row, options.text_ids);
            edges.lines.push(EdgeLines { delimiter, columns, on_bad_row, fast: true, names });
            edges.dialects.push(dialect);
            edges.files.push(file);
        }
        edges.check_agreement()?;
        Ok(edges)
    }

    /// Refuses files of which only some have weights.
    fn check_agreement(&self) -> Result<()> {
        let full = || (0..self.files.len()).filter(|&file| !self.dialects[file].empty);
        let weighted = |file: usize| self.lines[file].columns.weight.is_some();
        let Some(first) = full().next() else { return Ok(()) };
        match full().find(|&file| weighted(file) != weighted(first)) {
            None => Ok(()),
            Some(other) => {
                let says = |weighted| if weighted { "weights" } else { "no weights" };
                let found = says(weighted(other));
                let expected = format!(
                    "{}, as in `{}`",
                    says(weighted(first)),
                    self.files[first].path().display()
                );
                let remedy = "give files of the same columns";
                let error = Error::source("line 1", found, expected, remedy);
                Err(error.in_file(&self.files[other].path()))
            }
        }
    }

    pub(crate) fn has_weights(&self) -> bool {
        self.lines.iter().any(|lines| lines.columns.weight.is_some())
    }

    pub(crate) fn has_times(&self) -> bool {
        self.lines.iter().any(|lines| lines.columns.time.is_some())
    }

    /// Bytes of all files.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.file.len()).sum()
    }

    pub(crate) fn read(
        &self,
        budget: &Budget,
        consume: &(dyn Fn(&mut EdgeChunk) -> Result<()> + Sync),
        observer: Option<Observer<'_>>,
    ) -> Result<ReadReport> {
        let reading = TextReading {
            files: &self.files,
            dialects: &self.dialects,
            budget,
            observer,
            stage: "reading edges",
            ordered: false,
        };
        reading.run(&AllEdges { lines: &self.lines }, consume)
    }
}

struct AllEdges<'a> {
    lines: &'a [EdgeLines],
}

impl Lines for AllEdges<'_> {
    type Chunk = EdgeChunk;

    fn parse(
        &self,
        file: usize,
        text: &[u8],
        end: usize,
        chunk: &mut EdgeChunk,
        parsed: &mut Parsed,
    ) {
        self.lines[file].parse(text, end, chunk, parsed);
    }

    fn expansion(&self) -> u64 {
        // The shortest line, `1,2` with its end, has four bytes and becomes two ids; for names each
        // end has room for the whole text besides.
        let columns = self.lines.first().map(|lines| lines.columns);
        let value = |column: Option<usize>, bytes| column.map_or(0, |_| bytes);
        let names = self.lines.first().is_some_and(|lines| lines.names);
        4 + 2 * u64::from(names)
            + columns.map_or(0, |columns| value(columns.weight, 1) + value(columns.time, 2))
    }
}

fn columns(dialect: &Dialect, options: &EdgeInputOptions) -> Result<EdgeColumns> {
    if dialect.empty {
        // Nothing will be read, and nothing can be looked up.
        let value = |column: &Option<Column>| column.as_ref().map(|_| 2);
        let (weight, time) = (value(&options.weight), value(&options.time));
        return Ok(EdgeColumns { source: 0, destination: 1, weight, time });
    }
    let place = |column: &Option<Column>| column.as_ref().map(|c| dialect.place(c)).transpose();
    let mut weight = place(&options.weight)?;
    if options.third_is_weight && weight.is_none() && dialect.first.len() > 2 {
        weight = Some(2);
    }
    let (time, mut source, mut destination) =
        (place(&options.time)?, place(&options.source)?, place(&options.destination)?);
    if options.third_is_weight {
        // GraphZero knows places alone.
        (source, destination) = (source.or(Some(0)), destination.or(Some(1)));
    }
    let taken: Vec<usize> = weight.into_iter().chain(time).collect();
    let names = dialect.names.as_ref();
    let columns = dialect.first.len().max(names.map_or(0, |names| names.len()));
    let (source, destination) = endpoints(columns, names, source, destination, &taken)?;
    Ok(EdgeColumns { source, destination, weight, time })
}
