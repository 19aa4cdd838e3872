//! Edges as text, `source,destination` on each line, with their weight and time where they have them.
//! For generated graphs that other tools shall read, and for looking at a topology; chunks are
//! formatted in parallel and written in order. It must not know where edges come from.

use std::path::Path;
use std::sync::Arc;

use graphmill_disk::{FileDraft, OutputFile, RealFileSystem};
use rayon::prelude::*;

use crate::Result;
use crate::edges::{Borrowed, EdgeColumn, EdgeStream};
use crate::number_text::{push_float, push_signed, push_unsigned};
use crate::progress::{Observer, Stage};
use crate::section_writer::SectionWriter;

/// Edges that one thread turns into text at a time.
const CHUNK: u64 = 1 << 15;

/// Writes a stream as text, after the line `src,dst` if `header`; gives the bytes of the file.
pub fn write_edge_csv<S: EdgeStream + ?Sized>(
    path: &Path,
    source: &S,
    header: bool,
    overwrite: bool,
    observer: Option<Observer<'_>>,
) -> Result<u64> {
    let draft = FileDraft::begin(Arc::new(RealFileSystem), path, overwrite)?;
    let lines = EdgeLines { edges: &Borrowed(source), weights: None, times: None };
    let length = write_csv_into(draft.file(), &lines, header, observer)?;
    draft.publish()?;
    Ok(length)
}

/// What becomes lines.
pub(crate) struct EdgeLines<'a> {
    pub(crate) edges: &'a dyn EdgeStream,
    pub(crate) weights: Option<EdgeColumn<'a, f32>>,
    pub(crate) times: Option<EdgeColumn<'a, i64>>,
}

impl EdgeLines<'_> {
    /// The first line: columns of values can only be told apart by their names, so they always have
    /// them.
    fn header(&self, wanted: bool) -> &'static str {
        match (self.weights.is_some(), self.times.is_some()) {
            (true, true) => "source,destination,weight,time\n",
            (true, false) => "source,destination,weight\n",
            (false, true) => "source,destination,time\n",
            (false, false) if wanted => "src,dst\n",
            (false, false) => "",
        }
    }
}

/// Writes edges and their values as text, after the line `src,dst` if `header`; gives the bytes of it.
pub(crate) fn write_csv_into(
    file: &dyn OutputFile,
    source: &EdgeLines<'_>,
    header: bool,
    observer: Option<Observer<'_>>,
) -> Result<u64> {
    let mut text = SectionWriter::text(file);
    text.write(source.header(header).as_bytes())?;
    let total = source.edges.edge_count();
    let pool = graphmill_disk::pool()?;
    let mut stage = Stage::new(observer, "writing lines", total);
    let mut chunks: Vec<Chunk> = Vec::new();
    chunks.resize_with(pool.current_num_threads(), Chunk::default);
    let mut first = 0;
    while first < total {
        let end = first.saturating_add(CHUNK * chunks.len() as u64).min(total);
        pool.install(|| {
            chunks.par_iter_mut().enumerate().try_for_each(|(index, chunk)| {
                let start = first + index as u64 * CHUNK;
                chunk.format(source, start.min(end), start.saturating_add(CHUNK).min(end))
            })
        })?;
        chunks.iter().try_for_each(|chunk| text.write(&chunk.lines))?;
        stage.advance(end - first)?;
        first = end;
    }
    let length = text.written();
    text.finish()?;
    Ok(length)
}

#[derive(Default)]
struct Chunk {
    sources: Vec<u64>,
    destinations: Vec<u64>,
    weights: Vec<f32>,
    times: Vec<i64>,
    lines: Vec<u8>,
}

impl Chunk {
    fn format(&mut self, source: &EdgeLines<'_>, first: u64, end: u64) -> Result<()> {
        let length = (end - first) as usize;
        self.sources.resize(length, 0);
        self.destinations.resize(length, 0);
        source.edges.read(first, &mut self.sources, &mut self.destinations)?;
        if let Some(weights) = source.weights {
            self.weights.resize(length, 0.0);
            weights.read(first, &mut self.weights)?;
        }
        if let Some(times) = source.times {
            self.times.resize(length, 0);
            times.read(first, &mut self.times)?;
        }
        self.lines.clear();
        for (at, (&from, &to)) in self.sources.iter().zip(&self.destinations).enumerate() {
            push_unsigned(&mut self.lines, from);
            self.lines.push(b',');
            push_unsigned(&mut self.lines, to);
            if source.weights.is_some() {
                self.lines.push(b',');
                push_float(&mut self.lines, self.weights[at]);
            }
            if source.times.is_some() {
                self.lines.push(b',');
                push_signed(&mut self.lines, self.times[at]);
            }
            self.lines.push(b'\n');
        }
        Ok(())
    }
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
