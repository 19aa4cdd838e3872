//! A whole synthetic dataset, streamed to disk.
//! Edges, feature rows, labels and splits are all computed from counters, so nothing larger than a
//! few chunks of rows and the lists of the graph is ever in memory. It must not know which
//! generator it serves.

use std::path::Path;

use graphmill_disk::Budget;
use graphmill_format::{ElementType, Manifest, TableShape, manifest};
use half::f16;
use rayon::prelude::*;

use crate::dataset_writer::DatasetWriter;
use crate::edges::EdgeStream;
use crate::generate::{NodeData, Split};
use crate::graph_options::GraphOptions;
use crate::progress::{Observer, Stage};
use crate::{Error, Result};

/// Bytes of rows that one thread makes at a time.
const CHUNK: u64 = 1 << 20;
/// Nodes whose split is looked up by one thread at a time.
const NODES: u64 = 1 << 16;

/// Options of a synthetic dataset.
#[derive(Clone, Copy)]
pub struct GeneratedOptions<'a> {
    graph: GraphOptions<'a>,
    features: ElementType,
    align_rows: bool,
    overwrite: bool,
    observer: Option<Observer<'a>>,
}

impl Default for GeneratedOptions<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> GeneratedOptions<'a> {
    /// Both directions by id, `f32` features, a folder that holds no dataset yet.
    pub fn new() -> Self {
        GeneratedOptions {
            graph: GraphOptions::new(),
            features: ElementType::F32,
            align_rows: false,
            overwrite: false,
            observer: None,
        }
    }

    /// How the topology is stored.
    pub fn graph(mut self, graph: GraphOptions<'a>) -> Self {
        self.graph = graph;
        self
    }

    /// The type of the features: `F32` or `F16`.
    pub fn features(mut self, element: ElementType) -> Self {
        self.features = element;
        self
    }

    /// Whether feature rows start on multiples of 512 bytes.
    pub fn align_rows(mut self, align: bool) -> Self {
        self.align_rows = align;
        self
    }

    /// Whether a dataset that is there already is replaced.
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Hears about the progress of every stage and may cancel.
    pub fn observer(mut self, observer: Observer<'a>) -> Self {
        self.observer = Some(observer);
        self
    }
}

/// Writes a synthetic dataset: the graph and, with `nodes`, tables `x` and `y` and the splits.
///
/// ```
/// use graphmill_disk::Budget;
/// use graphmill_ingest::generate::Sbm;
/// use graphmill_ingest::{GeneratedOptions, write_generated};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path().join("blocks");
/// let graph = Sbm::builder(1000, 8000, 4).features(16).build()?;
/// let options = GeneratedOptions::new();
/// let manifest =
///     write_generated(&folder, &graph, Some(&graph), &options, &Budget::new(16 << 20))?;
/// assert_eq!(manifest.splits.len(), 3);
/// # Ok(())
/// # }
/// ```
pub fn write_generated<S: EdgeStream + ?Sized>(
    folder: &Path,
    edges: &S,
    nodes: Option<&dyn NodeData>,
    options: &GeneratedOptions<'_>,
    budget: &Budget,
) -> Result<Manifest> {
    if !matches!(options.features, ElementType::F32 | ElementType::F16) {
        let problem = format!("{} cannot be generated; choose f32 or f16", options.features);
        return Err(Error::request("features", problem));
    }
    let mut writer = DatasetWriter::begin(folder, options.overwrite)?;
    let mut graph = options.graph;
    graph.observer = graph.observer.or(options.observer);
    if let Some(nodes) = nodes {
        graph.num_nodes = Some(graph.num_nodes.unwrap_or(0).max(nodes.num_nodes()));
    }
    writer.graph(edges, &graph, budget)?;
    if let Some(nodes) = nodes {
        NodeTables { nodes, options, budget }.write(&mut writer)?;
    }
    writer.publish()
}

struct NodeTables<'a> {
    nodes: &'a dyn NodeData,
    options: &'a GeneratedOptions<'a>,
    budget: &'a Budget,
}

impl NodeTables<'_> {
    fn write(&self, writer: &mut DatasetWriter) -> Result<()> {
        let Self { nodes, options, .. } = self;
        let folder = writer.folder().to_path_buf();
        let impossible = |error| Error::format(&folder)(error);
        let (rows, columns) = (nodes.num_nodes(), nodes.num_features() as u64);
        let mut shape = TableShape::matrix(rows, columns, options.features).map_err(impossible)?;
        if options.align_rows {
            shape = shape.with_aligned_rows().map_err(impossible)?;
        }
        let half = options.features == ElementType::F16;
        writer.table(manifest::FEATURES, shape, |table| {
            self.rows(
                "writing x",
                shape.row_length(),
                |bytes| table.write_rows(bytes),
                |node, bytes| {
                    let mut row = vec![0.0; nodes.num_features()];
                    nodes.features(node, &mut row);
                    if half {
                        bytes.extend(
                            row.iter().flat_map(|&value| f16::from_f32(value).to_le_bytes()),
                        );
                    } else {
                        bytes.extend(row.iter().flat_map(|value| value.to_le_bytes()));
                    }
                },
            )
        })?;
        let shape = TableShape::vector(rows, ElementType::I64).map_err(impossible)?;
        writer.table(manifest::LABELS, shape, |table| {
            self.rows(
                "writing y",
                8,
                |bytes| table.write_rows(bytes),
                |node, bytes| {
                    bytes.extend(i64::from(nodes.label(node)).to_le_bytes());
                },
            )
        })?;
        for (name, stage, split) in [
            ("train", "writing train", Split::Train),
            ("valid", "writing valid", Split::Valid),
            ("test", "writing test", Split::Test),
        ] {
            let mut stage = Stage::new(options.observer, stage, rows);
            let chunks = self.split_chunks(split)?.map(|(nodes, chunk)| {
                stage.advance(nodes)?;
                Ok(chunk)
            });
            writer.split_chunks(name, chunks)?;
        }
        Ok(())
    }

    /// Makes the rows of all nodes in parallel chunks and writes them in order.
    fn rows(
        &self,
        stage: &'static str,
        row_length: u64,
        mut write: impl FnMut(&[u8]) -> Result<()>,
        make: impl Fn(u64, &mut Vec<u8>) + Sync,
    ) -> Result<()> {
        let total = self.nodes.num_nodes();
        let pool = graphmill_disk::pool()?;
        let threads = pool.current_num_threads() as u64;
        let affordable = self.budget.free() / 4 / threads;
        let chunk = (CHUNK.min(affordable) / row_length.max(1)).max(1);
        let bytes = (chunk * threads).min(total).saturating_mul(row_length);
        let _reserved = self.budget.reserve(bytes, "chunks of generated rows")?;
        let mut buffers = vec![Vec::new(); threads as usize];
        let mut stage = Stage::new(self.options.observer, stage, total);
        let mut first = 0;
        while first < total {
            let end = (first + chunk * threads).min(total);
            pool.install(|| {
                buffers.par_iter_mut().enumerate().for_each(
                    |(index, buffer): (_, &mut Vec<u8>)| {
                        buffer.clear();
                        let start = first + index as u64 * chunk;
                        let nodes = start.min(end)..(start + chunk).min(end);
                        buffer.reserve_exact(((nodes.end - nodes.start) * row_length) as usize);
                        nodes.for_each(|node| make(node, buffer));
                    },
                );
            });
            buffers.iter().try_for_each(|buffer| write(buffer))?;
            stage.advance(end - first)?;
            first = end;
        }
        Ok(())
    }

    /// The nodes of a split in ascending order, chunk by chunk, each with the nodes looked at.
    fn split_chunks(&self, split: Split) -> Result<impl Iterator<Item = (u64, Vec<i64>)>> {
        let nodes = self.nodes;
        let total = nodes.num_nodes();
        let pool = graphmill_disk::pool()?;
        let step = NODES * pool.current_num_threads() as u64;
        Ok((0..total).step_by(step as usize).map(move |first| {
            let end = (first + step).min(total);
            let chunk = pool.install(|| {
                let members = (first..end).into_par_iter();
                members
                    .filter(|&node| nodes.split(node) == Some(split))
                    .map(|node| node as i64)
                    .collect()
            });
            (end - first, chunk)
        }))
    }
}
