//! Rows of a table as text, one line each, cells separated by commas.
//! There is no header and no column of ids unless the rows belong to nodes that have ids, so that
//! reading the text back gives the same rows in the same order. Portions within the budget are formatted in parallel and written in order. It must not
//! know who publishes the file.

use graphmill_disk::{Budget, OutputFile};
use graphmill_format::{ElementType, TableShape, content};
use half::{bf16, f16};
use rayon::prelude::*;

use crate::edge_csv::push_name;
use crate::node_naming::NodeNaming;
use crate::number_text::{push_float, push_signed, push_unsigned};
use crate::placement::TableFile;
use crate::progress::{Observer, Stage};
use crate::section_writer::SectionWriter;
use crate::{Error, Result};

/// Bytes of rows and of their text that one thread holds at a time.
const PORTION: u64 = 1 << 20;
/// The same in a tight budget, if rows are not longer.
const LEAST: u64 = 16 << 10;

/// Room for a name and the quotes around it, twice.
const NAME: u64 = 2 * ((64 << 10) + 2);

/// What is written in front of every row.
pub(crate) struct RowIds<'a> {
    /// What the column is called.
    pub(crate) column: &'a str,
    pub(crate) naming: &'a NodeNaming,
}

/// Writes all rows; gives the bytes of the text. With ids there is a header, in which columns are
/// called `name`, or `name0`, `name1` and so on.
pub(crate) fn write_table_csv(
    table: &TableFile,
    name: &str,
    ids: Option<&RowIds<'_>>,
    file: &dyn OutputFile,
    budget: &Budget,
    observer: Option<Observer<'_>>,
) -> Result<u64> {
    let shape = &table.shape;
    let rows = shape.rows();
    let mut text = SectionWriter::text(file);
    if let Some(ids) = ids {
        text.write(ids.column.as_bytes())?;
        for column in 0..shape.columns() {
            let cell =
                if shape.is_vector() { format!(",{name}") } else { format!(",{name}{column}") };
            text.write(cell.as_bytes())?;
        }
        text.write(b"\n")?;
    }
    if rows == 0 {
        let length = text.written();
        text.finish()?;
        return Ok(length);
    }
    if shape.columns() == 0 {
        let remedy = "text has no line for them; name a .npy target";
        let error = Error::source("shape", "rows without columns", "at least one column", remedy);
        return Err(error.in_file(table.file.path()));
    }
    let pool = graphmill_disk::pool()?;
    let id = match ids {
        Some(ids) if ids.naming.has_names() => NAME,
        Some(_) => 21 + 8,
        None => 0,
    };
    let line = shape.columns().saturating_mul(widest(shape.element()) + 1).saturating_add(id);
    let row = line.saturating_add(shape.stride());
    let half = budget.free() / 2;
    let threads = (half / row.max(LEAST)).clamp(1, pool.current_num_threads() as u64);
    let step = ((half / threads).min(PORTION) / row).clamp(1, rows);
    let memory = row.saturating_mul(step * threads);
    let _reserved = budget.reserve(memory, "rows and their text")?;
    let mut portions: Vec<Portion> = Vec::new();
    portions.resize_with(threads as usize, Portion::default);
    for portion in &mut portions {
        portion.lines.reserve_exact((line * step) as usize);
    }
    let mut stage = Stage::new(observer, "writing lines", rows);
    let mut first = 0;
    while first < rows {
        let end = first.saturating_add(step * threads).min(rows);
        pool.install(|| {
            portions.par_iter_mut().enumerate().try_for_each(|(index, portion)| {
                let start = first.saturating_add(index as u64 * step).min(end);
                portion.format(table, ids, start, start.saturating_add(step).min(end))
            })
        })?;
        portions.iter().try_for_each(|portion| text.write(&portion.lines))?;
        stage.advance(end - first)?;
        first = end;
    }
    let length = text.written();
    text.finish()?;
    Ok(length)
}

/// Characters of the longest cell.
fn widest(element: ElementType) -> u64 {
    match element {
        ElementType::Bool => 1,
        ElementType::U8 => 3,
        ElementType::I8 => 4,
        ElementType::I16 => 6,
        ElementType::I32 => 11,
        ElementType::I64 | ElementType::U64 => 20,
        // A sign and sixteen digits; a sign, 0.0000 and seventeen digits.
        ElementType::F16 | ElementType::Bf16 | ElementType::F32 => 17,
        _ => 24,
    }
}

#[derive(Default)]
struct Portion {
    rows: Vec<u8>,
    lines: Vec<u8>,
    /// Where the id of each row ends, and all of them as text.
    ids: (Vec<usize>, Vec<u8>),
}

impl Portion {
    fn format(
        &mut self,
        table: &TableFile,
        ids: Option<&RowIds<'_>>,
        first: u64,
        end: u64,
    ) -> Result<()> {
        let (shape, stride) = (&table.shape, table.shape.stride());
        self.lines.clear();
        self.format_ids(ids, first, end)?;
        self.rows.resize(((end - first) * stride) as usize, 0);
        table.file.read_exact_at(table.start + first * stride, &mut self.rows)?;
        match shape.element() {
            ElementType::Bool => {
                self.check_booleans(table, first)?;
                self.each(shape, |text, cell: [u8; 1]| text.push(b'0' + cell[0]));
            }
            ElementType::U8 => self.each(shape, |text, [cell]| push_signed(text, cell.into())),
            ElementType::I8 => {
                self.each(shape, |text, cell| push_signed(text, i8::from_le_bytes(cell).into()));
            }
            ElementType::I16 => {
                self.each(shape, |text, cell| push_signed(text, i16::from_le_bytes(cell).into()));
            }
            ElementType::I32 => {
                self.each(shape, |text, cell| push_signed(text, i32::from_le_bytes(cell).into()));
            }
            ElementType::F16 => {
                self.each(shape, |text, cell| push_float(text, f16::from_le_bytes(cell).to_f32()));
            }
            ElementType::Bf16 => {
                self.each(shape, |text, cell| push_float(text, bf16::from_le_bytes(cell).to_f32()));
            }
            ElementType::F32 => {
                self.each(shape, |text, cell| push_float(text, f32::from_le_bytes(cell)));
            }
            ElementType::F64 => {
                self.each(shape, |text, cell| push_float(text, f64::from_le_bytes(cell)));
            }
            // Tables of unsigned numbers of 64 bits do not exist.
            _ => self.each(shape, |text, cell| push_signed(text, i64::from_le_bytes(cell))),
        }
        Ok(())
    }

    /// The ids of the rows, each with the comma behind it.
    fn format_ids(&mut self, ids: Option<&RowIds<'_>>, first: u64, end: u64) -> Result<()> {
        let (ends, text) = &mut self.ids;
        ends.clear();
        text.clear();
        let Some(RowIds { naming, .. }) = ids else { return Ok(()) };
        if naming.has_names() {
            return naming.each_name(first..end, &mut |names| {
                for name in names.iter() {
                    push_name(text, name)?;
                    text.push(b',');
                    ends.push(text.len());
                }
                Ok(())
            });
        }
        let mut nodes: Vec<u64> = (first..end).collect();
        naming.replace(&mut nodes)?;
        for id in nodes {
            push_unsigned(text, id);
            text.push(b',');
            ends.push(text.len());
        }
        Ok(())
    }

    fn each<const N: usize>(&mut self, shape: &TableShape, push: impl Fn(&mut Vec<u8>, [u8; N])) {
        let length = shape.row_length() as usize;
        let (ends, ids) = &self.ids;
        let mut start = 0;
        for (at, row) in self.rows.chunks_exact(shape.stride() as usize).enumerate() {
            if let Some(&end) = ends.get(at) {
                self.lines.extend_from_slice(&ids[start..end]);
                start = end;
            }
            for cell in row[..length].as_chunks().0 {
                push(&mut self.lines, *cell);
                self.lines.push(b',');
            }
            // Every row has a cell, and a comma behind the last.
            if let Some(last) = self.lines.last_mut() {
                *last = b'\n';
            }
        }
    }

    fn check_booleans(&self, table: &TableFile, first: u64) -> Result<()> {
        let length = table.shape.row_length() as usize;
        for (row, cells) in self.rows.chunks_exact(table.shape.stride() as usize).enumerate() {
            if let Some(at) = content::first_bad_bool(&cells[..length]) {
                let (place, remedy) = (first + row as u64, "save the table as truth values");
                let error = Error::source(format!("row {place}"), cells[at], "0 or 1", remedy);
                return Err(error.in_file(table.file.path()));
            }
        }
        Ok(())
    }
}
