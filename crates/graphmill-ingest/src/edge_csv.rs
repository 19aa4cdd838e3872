//! Edges as text, `source,destination` on each line.
//! For generated graphs that other tools shall read, and for looking at a topology; chunks are
//! formatted in parallel and written in order. It must not know where edges come from.

use std::path::Path;
use std::sync::Arc;

use graphmill_disk::{FileDraft, OutputFile, RealFileSystem};
use rayon::prelude::*;

use crate::Result;
use crate::edges::{Borrowed, EdgeStream};
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
    let length = write_csv_into(draft.file(), &Borrowed(source), header, observer)?;
    draft.publish()?;
    Ok(length)
}

pub(crate) fn write_csv_into(
    file: &dyn OutputFile,
    source: &dyn EdgeStream,
    header: bool,
    observer: Option<Observer<'_>>,
) -> Result<u64> {
    let mut text = SectionWriter::text(file);
    if header {
        text.write(b"src,dst\n")?;
    }
    let total = source.edge_count();
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
    lines: Vec<u8>,
}

impl Chunk {
    fn format(&mut self, source: &dyn EdgeStream, first: u64, end: u64) -> Result<()> {
        let length = (end - first) as usize;
        self.sources.resize(length, 0);
        self.destinations.resize(length, 0);
        source.read(first, &mut self.sources, &mut self.destinations)?;
        self.lines.clear();
        for (&source, &destination) in self.sources.iter().zip(&self.destinations) {
            push_number(&mut self.lines, source);
            self.lines.push(b',');
            push_number(&mut self.lines, destination);
            self.lines.push(b'\n');
        }
        Ok(())
    }
}

fn push_number(text: &mut Vec<u8>, mut number: u64) {
    // 2^64 has twenty digits.
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{EdgeSource, Rmat};

    #[test]
    fn numbers_read_as_the_library_writes_them() {
        for number in [0, 7, 10, 99, 100, 12_345_678_901, u64::MAX] {
            let mut text = Vec::new();
            push_number(&mut text, number);
            assert_eq!(text, number.to_string().as_bytes());
        }
    }

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
