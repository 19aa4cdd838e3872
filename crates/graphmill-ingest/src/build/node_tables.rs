//! Tables of a dataset: features, labels and others, from whatever they come in.
//! Every source is opened with the type that its table wants, and its rows go to the placement with
//! the numbers of their nodes. It must not know how rows are placed, nor how nodes are numbered.

use std::path::PathBuf;
use std::sync::Arc;

use graphmill_disk::{Budget, FileSystem};
use graphmill_format::ElementType;
use graphmill_format::manifest::FileEntry;

use super::classes::{self, Classes};
use super::options::{BuildOptions, SourceIds};
use super::report::TableReport;
use super::sources::TableSource;
use super::table_checks::{check_columns, element_of, refuse_scattered_rows, unknown};
use crate::dataset_writer::{DatasetWriter, NewFile};
use crate::edge_reading::reading_share;
use crate::node_numbers::NodeNumbers;
use crate::placement::{
    CopyOptions, Duplicates, Fill, Layout, Placement, PlacementReport, Recode, TableFile,
    TablePlan, Targets, copy_table,
};
use crate::source::{
    OnBadRow, ReadReport, SourceFormat, TableArray, TableChunk, TableDescription, TableInput,
    TableInputOptions,
};
use crate::table_padding::pad_rows;
use crate::table_writer::Written;
use crate::{Error, Result};

/// What a table is for, which decides its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Features,
    Labels,
    Other,
}

/// A table that is to be built.
pub(super) struct TableTask<'t, 'a> {
    pub(super) name: &'t str,
    pub(super) role: Role,
    /// Whether its rows are those of the edges of the source, in their order.
    pub(super) of_edges: bool,
    /// Side by side.
    pub(super) sources: &'t [TableSource<'a>],
}

/// A table whose file is written, but may lack rows.
pub(super) struct BuiltTable {
    pub(super) report: TableReport,
    pub(super) rows: u64,
    classes: Vec<String>,
    file: NewFile,
    written: Written,
    fill: Vec<u8>,
}

/// What building tables needs.
pub(super) struct TableBuilder<'b> {
    pub(super) options: &'b BuildOptions<'b>,
    pub(super) budget: &'b Budget,
    pub(super) file_system: &'b Arc<dyn FileSystem>,
    pub(super) writer: &'b DatasetWriter,
    pub(super) numbers: Option<&'b dyn NodeNumbers>,
    /// The number of nodes, as far as it is known before the edges are read.
    pub(super) rows: Option<u64>,
}

/// What came out of reading a table.
struct Placed {
    rows: u64,
    written: Written,
    read: ReadReport,
    placed: PlacementReport,
    classes: Vec<String>,
}

impl BuiltTable {
    /// Adds the rows that are missing up to `rows`.
    pub(super) fn extend(&mut self, rows: u64) -> Result<()> {
        if rows > self.rows {
            self.written = pad_rows(self.file.file(), &self.written, rows, &self.fill)?;
            self.report.filled += rows - self.rows;
            self.rows = rows;
        }
        Ok(())
    }

    /// Makes the file durable.
    pub(super) fn keep(
        self,
        writer: &DatasetWriter,
    ) -> Result<(FileEntry, Vec<String>, TableReport)> {
        let entry = writer.keep(self.file, &self.written)?;
        Ok((entry, self.classes, self.report))
    }
}

impl TableBuilder<'_> {
    pub(super) fn build(&self, task: &TableTask<'_, '_>) -> Result<BuiltTable> {
        let mut last = None;
        for attempt in self.attempts(task)? {
            match self.build_as(task, &attempt) {
                Err(error @ Error::Source { .. }) => last = Some(error),
                outcome => return outcome,
            }
        }
        Err(last.unwrap_or_else(|| Error::request("table", "there is nothing to build it from")))
    }

    /// The ways to read a table, the next only if the one before does not fit the cells.
    fn attempts(&self, task: &TableTask<'_, '_>) -> Result<Vec<TableInputOptions>> {
        let plain = self.options.table_input();
        match task.role {
            Role::Features => Ok(vec![match self.options.features {
                Some(element) => plain.element(element),
                None => plain,
            }]),
            Role::Labels => {
                let numbers = plain.clone().element(ElementType::I64).missing(-1);
                let inputs = self.open(task, &numbers)?;
                let any = |is: fn(&TableDescription) -> bool| {
                    inputs.iter().any(|input| is(&input.description()))
                };
                let words = plain.text(true);
                Ok(if any(|description| !description.looks_numeric) {
                    vec![words]
                } else if any(|description| description.looks_missing) {
                    // A first label that is missing may be of either kind.
                    vec![numbers, words]
                } else {
                    vec![numbers]
                })
            }
            Role::Other => {
                let inputs = self.open(task, &plain)?;
                let has_words = |source: &TableSource<'_>| matches!(source, TableSource::Memory(array) if array.has_words());
                let words_in_memory = task.sources.iter().any(has_words);
                let has_type = |input: &TableInput<'_>| match input.format() {
                    None if words_in_memory => false,
                    format => {
                        !is_written(format)
                            || input.description().element == Some(ElementType::Bool)
                    }
                };
                if inputs.iter().any(has_type) {
                    return Ok(vec![plain]);
                }
                // Classes belong to nodes, so that words in a table of edges are told as what they are.
                if !task.of_edges && inputs.iter().any(|input| !input.description().looks_numeric) {
                    return Ok(vec![plain.text(true)]);
                }
                // Whole numbers stay whole; a column with one fraction is one of fractions.
                Ok(vec![plain.clone().element(ElementType::I64), plain])
            }
        }
    }

    /// Opens the sources of a table for the ids of their rows alone.
    pub(super) fn open_for_ids<'a>(&self, task: &TableTask<'_, 'a>) -> Result<Vec<TableInput<'a>>> {
        // The cells are read by another pass, with their own type.
        let options = self.options.table_input().text(true).ids_only(true);
        let inputs = self.open(task, &options)?;
        for input in &inputs {
            self.check_ids(task, &input.description())?;
        }
        Ok(inputs)
    }

    /// Opens the sources of a table, which lie side by side.
    pub(super) fn open<'a>(
        &self,
        task: &TableTask<'_, 'a>,
        options: &TableInputOptions,
    ) -> Result<Vec<TableInput<'a>>> {
        let mut options = options.clone().budget(self.budget);
        if let Some(rows) = self.rows.filter(|_| !task.of_edges) {
            options = options.rows(rows);
        }
        let options = &options;
        let mut inputs = Vec::new();
        for source in task.sources {
            match source {
                TableSource::Memory(array) => {
                    self.check_memory(task, array)?;
                    let options = self.with_columns(task, options, None);
                    // Numbers have a type, and are never asked for as words.
                    let text = options.text && array.has_words();
                    inputs.push(TableInput::memory(*array, &options.text(text))?);
                }
                TableSource::Part(part) => {
                    let options = part.table_options(&options.clone().positional(true));
                    inputs.push(TableInput::open(std::slice::from_ref(&part.path), &options)?);
                }
                TableSource::Files(paths) => {
                    let paths = crate::source::expand(paths)?;
                    let open = |paths: &[PathBuf]| {
                        let format = SourceFormat::of(&paths[0]).ok();
                        TableInput::open(paths, &self.with_columns(task, options, format))
                    };
                    match open(&paths) {
                        Ok(input) => inputs.push(input),
                        // Files of different widths cannot follow each other, so they lie side by side.
                        Err(error) => {
                            let each = paths.iter().map(|path| open(std::slice::from_ref(path)));
                            match each.collect::<Result<Vec<_>>>() {
                                Ok(each) if have_different_widths(&each) => inputs.extend(each),
                                _ => return Err(error),
                            }
                        }
                    }
                }
            }
        }
        Ok(inputs)
    }

    /// Refuses ids of rows in memory that would not be looked at.
    fn check_memory(&self, task: &TableTask<'_, '_>, array: &TableArray<'_>) -> Result<()> {
        let Some(ids) = array.row_ids() else { return Ok(()) };
        let place = format!("ids of table {:?}", task.name);
        if task.of_edges {
            let remedy = "give a row for each row of the edges, in their order";
            return Err(Error::source(place, "ids of edges", "rows without ids", remedy));
        }
        if ids.is_text() && self.options.ids != SourceIds::Text {
            let remedy =
                "say that ids are words (SourceIds::Text, string_ids=True), or give integers";
            return Err(Error::source(place, "words", "integers from 0 on", remedy));
        }
        Ok(())
    }

    /// The options with the columns of ids and labels, where there can be any.
    fn with_columns(
        &self,
        task: &TableTask<'_, '_>,
        options: &TableInputOptions,
        format: Option<SourceFormat>,
    ) -> TableInputOptions {
        let mut options = options.clone();
        if task.of_edges {
            // Its rows belong to rows: whatever ids are, none stands in it.
            return options.positional(true).text_ids(false);
        }
        if !is_written(format) {
            return options;
        }
        if let Some(column) = &self.options.id_column {
            options = options.id_column(column.clone());
        }
        match &self.options.label_column {
            Some(column) if task.role == Role::Labels => options.columns(vec![column.clone()]),
            _ => options,
        }
    }

    fn build_as(
        &self,
        task: &TableTask<'_, '_>,
        options: &TableInputOptions,
    ) -> Result<BuiltTable> {
        let inputs = self.open(task, options)?;
        let descriptions: Vec<TableDescription> =
            inputs.iter().map(TableInput::description).collect();
        for description in &descriptions {
            self.check_ids(task, description)?;
        }
        let words = descriptions.iter().any(|description| description.element.is_none());
        let element = element_of(&descriptions)
            .map_err(|problem| Error::request("table", format!("{:?}: {problem}", task.name)))?;
        let columns = descriptions.iter().map(|description| description.columns).sum();
        check_columns(task, columns, words)?;
        let is_vector = match task.role {
            Role::Labels => columns == 1,
            Role::Features => {
                inputs.len() == 1 && descriptions[0].is_vector && !is_written(inputs[0].format())
            }
            Role::Other => inputs.len() == 1 && descriptions[0].is_vector,
        };
        let fill = if task.role == Role::Labels || words { Fill::MinusOne } else { Fill::Zero };
        let plan = TablePlan {
            element,
            columns,
            is_vector,
            align_rows: self.options.align_rows && task.role == Role::Features,
            parts: descriptions.iter().map(|description| description.columns).collect(),
            fill,
            duplicates: match self.options.input.on_bad_row {
                OnBadRow::Stop => Duplicates::Refuse,
                OnBadRow::Skip => Duplicates::KeepFirst,
            },
            layout: Layout::Graphmill,
            recoded: words,
        };
        let in_order = inputs.len() == 1
            && !words
            && !descriptions[0].has_ids
            && self.numbers_for(task).is_none();
        let row = (columns * element.width()) as usize;
        let fill = vec![fill.byte(); row];
        let prefix = if task.of_edges { "edge-" } else { "" };
        let stem = format!("{prefix}{}", task.name);
        let file = self.writer.create(&stem, "gd")?;
        match self.place(task, &inputs, plan, &file, in_order) {
            Ok(Placed { rows, written, read, placed, classes }) => {
                let report = TableReport {
                    name: task.name.to_owned(),
                    of_edges: task.of_edges,
                    columns,
                    element,
                    by_ids: descriptions.iter().any(|description| description.has_ids),
                    read,
                    filled: placed.filled,
                    duplicates: placed.duplicates,
                    classes: classes.len(),
                };
                Ok(BuiltTable { report, classes, file, rows, written, fill })
            }
            Err(error) => {
                self.writer.discard(file);
                Err(error)
            }
        }
    }

    /// Reads all sources into the file.
    fn place(
        &self,
        task: &TableTask<'_, '_>,
        inputs: &[TableInput<'_>],
        plan: TablePlan,
        file: &NewFile,
        in_order: bool,
    ) -> Result<Placed> {
        let words = inputs.iter().any(|input| input.description().element.is_none());
        if in_order && let Some(table) = inputs[0].plain_rows()? {
            return self.copy(&table, &plan, file);
        }
        let classes = if words { Some(Classes::new(self.budget)?) } else { None };
        let free = self.budget.free();
        let memory = free - reading_share(free);
        let placement = if in_order {
            Placement::in_order(plan, self.budget, file.file(), memory)?
        } else {
            let (system, scratch) = (self.file_system.clone(), file.scratch_path());
            Placement::new(plan, self.budget, system, &scratch, file.file(), memory)?
        };
        let mut read = ReadReport::default();
        for (part, input) in inputs.iter().enumerate() {
            let put =
                |chunk: &mut TableChunk| self.put(task, &placement, part, chunk, classes.as_ref());
            read.add(input.read(self.budget, &put, self.options.observer)?);
        }
        let rows = placement.rows();
        refuse_scattered_rows(task, rows, read.rows)?;
        let (classes, numbers) = classes.map(Classes::finish).unwrap_or_default();
        let recode = |bytes: &mut [u8]| classes::recode(&numbers, bytes);
        let recode: Option<Recode<'_>> = if words { Some(&recode) } else { None };
        let (written, placed) = placement.finish(rows, recode, self.options.observer)?;
        Ok(Placed { rows, written, read, placed, classes })
    }

    /// Copies rows that lie in a file as they shall lie in the dataset.
    fn copy(&self, table: &TableFile, plan: &TablePlan, file: &NewFile) -> Result<Placed> {
        let rows = table.shape.rows();
        let options = CopyOptions {
            rows,
            fill: plan.fill,
            align_rows: plan.align_rows,
            budget: self.budget,
            observer: self.options.observer,
        };
        let written = copy_table(table, file.file(), plan.layout, &options)?;
        let bytes = table.shape.length();
        let read = ReadReport { rows, bytes, ..ReadReport::default() };
        Ok(Placed { rows, written, read, placed: PlacementReport::default(), classes: Vec::new() })
    }

    /// Who numbers the rows of a table, if anybody does.
    fn numbers_for(&self, task: &TableTask<'_, '_>) -> Option<&dyn NodeNumbers> {
        self.numbers.filter(|_| !task.of_edges)
    }

    /// With mapped ids a row belongs to nobody unless it says so.
    fn check_ids(&self, task: &TableTask<'_, '_>, description: &TableDescription) -> Result<()> {
        let mapped = self.options.ids != SourceIds::Numbers && !task.of_edges;
        if mapped && !description.has_ids {
            let problem = format!(
                "{:?} has no column of ids, and with mapped ids a row belongs to no node without; \
                 name the column id or node_id, or give --id-column",
                task.name
            );
            return Err(Error::request("table", problem));
        }
        Ok(())
    }

    /// Sends the rows of a chunk to their places.
    fn put(
        &self,
        task: &TableTask<'_, '_>,
        placement: &Placement<'_>,
        part: usize,
        chunk: &mut TableChunk,
        classes: Option<&Classes>,
    ) -> Result<()> {
        let mut coded = Vec::new();
        let bytes = match classes {
            Some(classes) => {
                classes.encode(&chunk.texts, &mut coded)?;
                &coded
            }
            None => &chunk.bytes,
        };
        let mut targets = match (&mut chunk.ids, &chunk.id_names, self.numbers_for(task)) {
            (Some(ids), _, _) => std::mem::take(ids),
            (None, Some(names), Some(numbers)) => {
                let mut found = Vec::with_capacity(names.len());
                let outcome = numbers.of_names(names, &mut found)?;
                outcome.map_err(|at| {
                    unknown(task, chunk.first_row + at as u64, names.get(at).unwrap_or(""))
                })?;
                return placement.put(part, chunk.first_row, Targets::Each(&found), bytes);
            }
            (None, _, Some(_)) => (chunk.first_row..chunk.first_row + chunk.rows as u64).collect(),
            (None, _, None) => {
                let rows = chunk.first_row..chunk.first_row + chunk.rows as u64;
                return placement.put(part, chunk.first_row, Targets::Range(rows), bytes);
            }
        };
        if let Some(numbers) = self.numbers_for(task) {
            let outcome = numbers.of_ids(&mut targets)?;
            outcome.map_err(|at| unknown(task, chunk.first_row + at as u64, targets[at]))?;
        }
        placement.put(part, chunk.first_row, Targets::Each(&targets), bytes)?;
        if let Some(ids) = &mut chunk.ids {
            // The reader uses the memory again.
            *ids = targets;
        }
        Ok(())
    }
}

/// Whether a format is read cell by cell, with columns that may be ids or words.
fn is_written(format: Option<SourceFormat>) -> bool {
    matches!(format, Some(SourceFormat::Text | SourceFormat::Parquet))
}

fn have_different_widths(inputs: &[TableInput<'_>]) -> bool {
    inputs.windows(2).any(|pair| pair[0].description().columns != pair[1].description().columns)
}
