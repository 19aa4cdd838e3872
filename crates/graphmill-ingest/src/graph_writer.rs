//! `.gl` files from edges.
//! The lists come slab by slab, in the order of the file, and every section of a direction grows
//! with them; the header is the last write. Lone files and datasets both end up here. It must not
//! know how lists are made, nor where edges come from.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use graphmill_disk::{Budget, FileDraft, FileSystem, OutputFile, RealFileSystem};
use graphmill_format::{
    Direction, ElementType, GraphLayout, GraphShape, Header, Section, graphzero,
};

use crate::edges::{Borrowed, EdgeColumn, EdgeRecords, EdgeStream};
use crate::entry::{Entry, WithRow, WithValues};
use crate::graph_options::GraphOptions;
use crate::lists::{Histogram, ListBuilder, Lists, Plan};
use crate::pack::write_packed;
use crate::progress::Stage;
use crate::replay::{EdgeInput, Replay};
use crate::running_sums::write_running_sums;
use crate::section_writer::SectionWriter;
use crate::table_writer::{Written, seal};
use crate::{Error, Result};

/// Original ids copied at a time.
const IDS: u64 = 1 << 16;

/// What became of the edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphReport {
    /// Number of nodes.
    pub num_nodes: u64,
    /// Number of stored edges of one direction.
    pub num_edges: u64,
    /// Number of edges of the source.
    pub source_rows: u64,
    /// Whether every edge is stored both ways in one set.
    pub undirected: bool,
    /// Passes over the source that the budget made necessary.
    pub passes: u32,
    /// Bytes of the file.
    pub length: u64,
}

/// Writes a lone `.gl`.
///
/// `source` may be any [`EdgeStream`], `&dyn EdgeSource` included.
pub fn write_graph<S: EdgeStream + ?Sized>(
    path: &Path,
    source: &S,
    options: &GraphOptions<'_>,
    budget: &Budget,
    overwrite: bool,
) -> Result<GraphReport> {
    let file_system = Arc::new(RealFileSystem);
    let draft = FileDraft::begin(file_system.clone(), path, overwrite)?;
    let source = Borrowed(source);
    let (_, report) =
        write_graph_into(&*file_system, draft.file(), path, &source, options, budget)?;
    draft.publish()?;
    Ok(report)
}

/// Writes a `.gl` into an empty file that somebody else publishes as `name`.
pub(crate) fn write_graph_into(
    file_system: &dyn FileSystem,
    file: &dyn OutputFile,
    name: &Path,
    source: &dyn EdgeStream,
    options: &GraphOptions<'_>,
    budget: &Budget,
) -> Result<(Written, GraphReport)> {
    if options.packed != Some(true) {
        return write_plain_into(file, name, source, options, budget);
    }
    let write_plain =
        |plain: &dyn OutputFile| write_plain_into(plain, name, source, options, budget);
    let (written, mut report) =
        write_packed(file_system, file, name, budget, options.observer, write_plain)?;
    report.length = written.length;
    Ok((written, report))
}

fn write_plain_into(
    file: &dyn OutputFile,
    name: &Path,
    source: &dyn EdgeStream,
    options: &GraphOptions<'_>,
    budget: &Budget,
) -> Result<(Written, GraphReport)> {
    let shape = options.shape(source)?;
    let header = Header::for_graph(&shape).map_err(Error::format(name))?;
    let layout = header.graph_layout().map_err(Error::format(name))?;
    let target = Target { file, layout: &layout, padded: true };
    let (mut digests, passes) = write_lists(&target, &shape, source, options, budget)?;
    if let (Some(ids), Some(section)) = (options.original_ids, &layout.original_ids) {
        digests.extend(copy_ids(SectionWriter::new(file, section), ids)?);
    }
    let written = seal(file, header, &digests)?;
    let report = report(&shape, source, passes, written.length);
    Ok((written, report))
}

/// Writes a `.gl` in GraphZero's layout; one direction is all that it can hold.
pub(crate) fn write_graphzero_into(
    file: &dyn OutputFile,
    name: &Path,
    source: &dyn EdgeStream,
    options: &GraphOptions<'_>,
    budget: &Budget,
) -> Result<GraphReport> {
    let shape = options.shape(source)?;
    let laid_out = graphzero::graph_layout(shape.num_nodes, shape.num_edges, shape.weights);
    let (layout, length) = laid_out.map_err(Error::format(name))?;
    let target = Target { file, layout: &layout, padded: false };
    // The gaps between its sections are zeros.
    file.set_len(length)?;
    let (_, passes) = write_lists(&target, &shape, source, options, budget)?;
    file.write_all_at(0, &graphzero::encode_graph_header(&layout))?;
    Ok(report(&shape, source, passes, length))
}

fn report(shape: &GraphShape, source: &dyn EdgeStream, passes: u32, length: u64) -> GraphReport {
    GraphReport {
        num_nodes: shape.num_nodes,
        num_edges: shape.num_edges,
        source_rows: source.edge_count(),
        undirected: shape.undirected,
        passes,
        length,
    }
}

/// Copies the original ids of the nodes, a piece at a time.
fn copy_ids(mut section: SectionWriter<'_>, ids: EdgeColumn<'_, i64>) -> Result<Vec<u64>> {
    let mut piece = Vec::new();
    let mut first = 0;
    while first < ids.count() {
        piece.resize((ids.count() - first).min(IDS) as usize, 0);
        ids.read(first, &mut piece)?;
        section.write_values(piece.iter().map(|id| id.to_le_bytes()))?;
        first += piece.len() as u64;
    }
    section.finish()
}

/// The file that lists go to, and how its sections are started.
#[derive(Clone, Copy)]
struct Target<'a> {
    file: &'a dyn OutputFile,
    layout: &'a GraphLayout,
    /// Whether sections end on a multiple of our alignment.
    padded: bool,
}

impl<'a> Target<'a> {
    fn open(&self, section: &Section) -> SectionWriter<'a> {
        if self.padded {
            SectionWriter::new(self.file, section)
        } else {
            SectionWriter::unpadded(self.file, section.range())
        }
    }
}

/// Writes the sections of every direction; gives their digests and the passes over the source.
fn write_lists(
    target: &Target<'_>,
    shape: &GraphShape,
    source: &dyn EdgeStream,
    options: &GraphOptions<'_>,
    budget: &Budget,
) -> Result<(Vec<u64>, u32)> {
    let &GraphOptions { rows, weights, times, .. } = options;
    let records = EdgeRecords { edges: source, rows, weights, times };
    let all = 0..shape.directions.len();
    let write = |records: EdgeRecords<'_>, which: Range<usize>| {
        let input = EdgeInput::new(records, shape.num_nodes);
        GraphBuild { target, shape, which, input, options, budget }.write()
    };
    match options.in_lists {
        Some(in_lists) if all.len() == 2 => {
            let (mut digests, passes) = write(records, 0..1)?;
            let (further, more) = write(in_lists, 1..2)?;
            digests.extend(further);
            Ok((digests, passes + more))
        }
        _ => write(records, all),
    }
}

struct GraphBuild<'a> {
    target: &'a Target<'a>,
    shape: &'a GraphShape,
    /// Which of the stored directions.
    which: Range<usize>,
    input: EdgeInput<'a>,
    options: &'a GraphOptions<'a>,
    budget: &'a Budget,
}

impl GraphBuild<'_> {
    /// Builds the lists with the narrowest entries that hold what will be stored.
    fn write(&self) -> Result<(Vec<u64>, u32)> {
        let shape = self.shape;
        if shape.weights || shape.edge_times {
            self.run::<WithValues>()
        } else if shape.edge_ids || self.options.by_rows {
            self.run::<WithRow>()
        } else if shape.num_nodes <= 1 << 32 {
            self.run::<u32>()
        } else {
            self.run::<u64>()
        }
    }

    /// Gives the digests of all sections and the number of passes over the source.
    fn run<E: Entry>(&self) -> Result<(Vec<u64>, u32)> {
        let (budget, num_nodes) = (self.budget, self.shape.num_nodes);
        // A stream that holds both halves already has whole lists under its sources.
        let directions: &[Direction] = match self.options.symmetric {
            true => &[Direction::Out],
            false => &self.shape.directions[self.which.clone()],
        };
        let mut replay = Replay::new(self.input, budget)?;
        let edges = self.input.edges.edge_count();
        let observer = self.options.observer;
        let mut stage = Stage::new(observer, "counting edges", edges);
        let histogram = Histogram::count(&mut replay, directions, num_nodes, budget, &mut stage)?;
        let threads = graphmill_disk::pool()?.current_num_threads();
        let plan = Plan::cut::<E>(&histogram, num_nodes, budget, threads);
        // Asked for beforehand: what cannot fit shall not be found out after many passes.
        plan.check(budget)?;
        let total = edges.saturating_mul(plan.passes(&histogram));
        let mut stage = Stage::new(observer, "building lists", total);
        let key = self.options.key();
        let builder = ListBuilder { directions, histogram: &histogram, key, budget };
        let mut digests = Vec::new();
        let mut current: Option<DirectionWriter<'_>> = None;
        for group in &plan.groups {
            let slabs = &plan.slabs[group.clone()];
            builder.build::<E>(slabs, &mut replay, &mut stage, |lists| {
                let index = self.which.start + lists.slab.direction;
                if current.as_ref().is_none_or(|writer| writer.index != index) {
                    if let Some(finished) = current.take() {
                        finished.finish(self.target, &mut digests)?;
                    }
                    current = Some(DirectionWriter::start(self.target, index)?);
                }
                current.as_mut().expect("started just above").write(lists)
            })?;
        }
        if let Some(finished) = current {
            finished.finish(self.target, &mut digests)?;
        }
        Ok((digests, replay.passes))
    }
}

/// The sections of one direction, growing side by side.
struct DirectionWriter<'a> {
    index: usize,
    neighbours_are_wide: bool,
    /// Stored edges of the slabs before.
    edges: u64,
    offsets: SectionWriter<'a>,
    neighbours: SectionWriter<'a>,
    edge_ids: Option<SectionWriter<'a>>,
    weights: Option<SectionWriter<'a>>,
    times: Option<SectionWriter<'a>>,
}

impl<'a> DirectionWriter<'a> {
    fn start(target: &Target<'a>, index: usize) -> Result<Self> {
        let sections = &target.layout.directions[index];
        let open = |section: &Section| target.open(section);
        let mut offsets = open(&sections.offsets);
        offsets.write_values([0_u64.to_le_bytes()])?;
        Ok(DirectionWriter {
            index,
            neighbours_are_wide: sections.neighbours.element == ElementType::I64,
            edges: 0,
            offsets,
            neighbours: open(&sections.neighbours),
            edge_ids: sections.edge_ids.as_ref().map(open),
            weights: sections.weights.as_ref().map(open),
            times: sections.edge_times.as_ref().map(open),
        })
    }

    fn write<E: Entry>(&mut self, lists: &Lists<E>) -> Result<()> {
        let before = self.edges;
        self.offsets.write_values(lists.ends.iter().map(|&end| (before + end).to_le_bytes()))?;
        let entries = &lists.entries;
        if self.neighbours_are_wide {
            let ids = entries.iter().map(|entry| entry.neighbour().to_le_bytes());
            self.neighbours.write_values(ids)?;
        } else {
            // Planned only where every id is below 2^31.
            let ids = entries.iter().map(|entry| (entry.neighbour() as u32).to_le_bytes());
            self.neighbours.write_values(ids)?;
        }
        if let Some(section) = &mut self.edge_ids {
            section.write_values(entries.iter().map(|entry| entry.row().to_le_bytes()))?;
        }
        if let Some(section) = &mut self.weights {
            section.write_values(entries.iter().map(|entry| entry.weight().to_le_bytes()))?;
        }
        if let Some(section) = &mut self.times {
            section.write_values(entries.iter().map(|entry| entry.time().to_le_bytes()))?;
        }
        self.edges += entries.len() as u64;
        Ok(())
    }

    fn finish(self, target: &Target<'_>, digests: &mut Vec<u64>) -> Result<()> {
        let optional = [self.edge_ids, self.weights].into_iter().flatten();
        for section in [self.offsets, self.neighbours].into_iter().chain(optional) {
            digests.extend(section.finish()?);
        }
        digests.extend(write_running_sums(target.file, &target.layout.directions[self.index])?);
        if let Some(section) = self.times {
            digests.extend(section.finish()?);
        }
        Ok(())
    }
}
