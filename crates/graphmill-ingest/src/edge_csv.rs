//! Edges as text, `source,destination` on each line, with their weight, time and id where they have
//! them.
//! For generated graphs that other tools shall read, and for exports of a topology; batches are
//! formatted in parallel and written in order. It must not know where edges come from.

use std::path::Path;
use std::sync::Arc;

use graphmill_disk::{Budget, FileDraft, OutputFile, RealFileSystem};
use rayon::prelude::*;

use crate::edge_rows::{EdgeColumns, EdgeRows, stream_rows};
use crate::edges::{Borrowed, EdgeStream};
use crate::node_naming::NodeNaming;
use crate::number_text::{push_float, push_signed, push_unsigned};
use crate::progress::Observer;
use crate::section_writer::SectionWriter;
use crate::{Error, Result};

/// Rows that one thread turns into text at a time.
const ROWS: usize = 1 << 12;

/// Writes a stream as text, after the line `src,dst` if `header`; gives the bytes of the file.
pub fn write_edge_csv<S: EdgeStream + ?Sized>(
    path: &Path,
    source: &S,
    header: bool,
    overwrite: bool,
    observer: Option<Observer<'_>>,
) -> Result<u64> {
    let draft = FileDraft::begin(Arc::new(RealFileSystem), path, overwrite)?;
    let budget = Budget::new(graphmill_disk::default_budget());
    let header = header.then_some(["src", "dst"]);
    let mut text =
        EdgeCsv::new(draft.file(), EdgeColumns::default(), header, &NodeNaming::Numbers)?;
    stream_rows(&Borrowed(source), &budget, observer, &mut |rows| text.write(rows))?;
    let length = text.finish()?;
    draft.publish()?;
    Ok(length)
}

/// A text of edges that grows.
pub(crate) struct EdgeCsv<'a> {
    text: SectionWriter<'a>,
    columns: EdgeColumns,
    naming: &'a NodeNaming,
}

impl<'a> EdgeCsv<'a> {
    /// Starts the text; columns of values can only be told apart by their names, so they always have
    /// them, and columns of names likewise.
    pub(crate) fn new(
        file: &'a dyn OutputFile,
        columns: EdgeColumns,
        header: Option<[&str; 2]>,
        naming: &'a NodeNaming,
    ) -> Result<Self> {
        let mut text = SectionWriter::text(file);
        let needs_header = columns != EdgeColumns::default() || naming.has_names();
        let header = if needs_header { Some(["source", "destination"]) } else { header };
        if let Some([source, destination]) = header {
            let mut line = format!("{source},{destination}");
            let named = [
                (columns.weights, ",weight"),
                (columns.times, ",time"),
                (columns.edge_ids, ",edge_id"),
            ];
            named.iter().filter(|(has, _)| *has).for_each(|(_, name)| line += name);
            text.write(line.as_bytes())?;
            text.write(b"\n")?;
        }
        Ok(EdgeCsv { text, columns, naming })
    }

    pub(crate) fn write(&mut self, rows: &EdgeRows) -> Result<()> {
        let columns = self.columns;
        if self.naming.has_names() {
            let text = &mut self.text;
            return self.naming.each_pair_of_names(rows, &mut |range, sources, destinations| {
                let mut lines = Vec::new();
                for (at, (source, to)) in range.zip(sources.iter().zip(destinations.iter())) {
                    push_name(&mut lines, source)?;
                    lines.push(b',');
                    push_name(&mut lines, to)?;
                    push_values(&mut lines, columns, rows, at);
                }
                text.write(&lines)
            });
        }
        let (mut sources, mut destinations) = (rows.sources.clone(), rows.destinations.clone());
        self.naming.replace(&mut sources)?;
        self.naming.replace(&mut destinations)?;
        let lines: Vec<Vec<u8>> = graphmill_disk::pool()?.install(|| {
            let pieces = sources.par_chunks(ROWS).zip(destinations.par_chunks(ROWS)).enumerate();
            let format = |(piece, (sources, destinations)): (usize, (&[u64], &[u64]))| {
                let mut lines = Vec::new();
                for (at, (&source, &to)) in sources.iter().zip(destinations).enumerate() {
                    push_unsigned(&mut lines, source);
                    lines.push(b',');
                    push_unsigned(&mut lines, to);
                    push_values(&mut lines, columns, rows, piece * ROWS + at);
                }
                lines
            };
            pieces.map(format).collect()
        });
        lines.iter().try_for_each(|lines| self.text.write(lines))
    }

    /// Ends the text; gives its bytes.
    pub(crate) fn finish(self) -> Result<u64> {
        let length = self.text.written();
        self.text.finish()?;
        Ok(length)
    }
}

fn push_values(lines: &mut Vec<u8>, columns: EdgeColumns, rows: &EdgeRows, at: usize) {
    if columns.weights {
        lines.push(b',');
        push_float(lines, rows.weights[at]);
    }
    if columns.times {
        lines.push(b',');
        push_signed(lines, rows.times[at]);
    }
    if columns.edge_ids {
        lines.push(b',');
        push_signed(lines, rows.edge_ids[at]);
    }
    lines.push(b'\n');
}

/// Adds a name, in quotes: so it is one whatever it holds, and no comment.
pub(crate) fn push_name(lines: &mut Vec<u8>, name: &str) -> Result<()> {
    if name.contains(['\n', '\r']) {
        let found = format!("the name {name:?}");
        let remedy = "name a .parquet target, which can hold it";
        return Err(Error::source("names of nodes", found, "names of one line in a text", remedy));
    }
    lines.push(b'"');
    for piece in name.split_inclusive('"') {
        lines.extend_from_slice(piece.as_bytes());
        if piece.ends_with('"') {
            lines.push(b'"');
        }
    }
    lines.push(b'"');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{EdgeSource, Rmat};

    #[test]
    fn every_edge_is_a_line_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("edges.csv");
        let graph = Rmat::builder(12, 100_000).build().unwrap();
        let length = write_edge_csv(&path, &graph, true, false, None).unwrap();
        let (mut sources, mut destinations) = (vec![0; 100_000], vec![0; 100_000]);
        graph.fill(0, &mut sources, &mut destinations);
        let mut expected = "src,dst\n".to_owned();
        for (source, destination) in sources.iter().zip(&destinations) {
            expected += &format!("{source},{destination}\n");
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.len() as u64, length);
        assert!(text == expected);
        assert!(write_edge_csv(&path, &graph, false, false, None).is_err());
    }
}
