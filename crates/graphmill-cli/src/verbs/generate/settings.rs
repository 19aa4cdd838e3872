//! What the flags of `generate` ask for, checked and with every default filled in.
//! A flag that would have no effect is refused, so that nobody waits for a graph with features that has none. It must
//! not know how anything is written.

use super::{FeatureType, Flags, Kind};
use crate::verbs::usage;
use graphmill::format::ElementType;
use graphmill::ingest::Directions;
use graphmill::ingest::generate::{EdgeSource, GenerateError, NodeData, Papers, Rmat, Sbm};
use std::path::{Path, PathBuf};

const NODES: u64 = 100_000;
const SCALE: u32 = 17;
const EDGES_PER_NODE: f64 = 16.0;
const CLASSES: u32 = 16;
const FEATURES: usize = 128;
/// Extensions of files that a folder is hardly ever named like.
const OTHER_FILES: [&str; 8] = ["gd", "npy", "npz", "parquet", "tsv", "txt", "gz", "zst"];

/// Everything that is needed to write the graph.
pub struct Settings {
    pub graph: SyntheticGraph,
    pub out: PathBuf,
    pub target: Target,
    pub directions: Directions,
    pub features: ElementType,
    pub overwrite: bool,
}

/// What OUT shall be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Dataset,
    Topology,
    Csv,
}

/// Edges, and where there are any the data of the nodes.
pub struct SyntheticGraph {
    edges: Box<dyn EdgeSource>,
    nodes: Option<Box<dyn NodeData>>,
}

impl SyntheticGraph {
    pub fn edges(&self) -> &dyn EdgeSource {
        &*self.edges
    }

    pub fn nodes(&self) -> Option<&dyn NodeData> {
        self.nodes.as_deref()
    }
}

impl Settings {
    pub fn resolve(flags: &Flags) -> Result<Self, clap::Error> {
        let target = target(&flags.out)?;
        refuse_idle_flags(flags, target)?;
        let graph = graph(flags, target).map_err(|error| usage("generate", error))?;
        Ok(Settings {
            graph,
            out: flags.out.clone(),
            target,
            directions: flags.direction.directions().unwrap_or_default(),
            features: match flags.dtype {
                Some(FeatureType::F16) => ElementType::F16,
                Some(FeatureType::F32) | None => ElementType::F32,
            },
            overwrite: flags.work.overwrite,
        })
    }
}

fn target(out: &Path) -> Result<Target, clap::Error> {
    let extension = out.extension().and_then(|extension| extension.to_str()).unwrap_or("");
    match extension {
        "csv" => Ok(Target::Csv),
        "gl" => Ok(Target::Topology),
        other if OTHER_FILES.contains(&other) => Err(usage(
            "generate",
            format!("OUT is a dataset folder, a .gl or a .csv, not a .{other}"),
        )),
        _ => Ok(Target::Dataset),
    }
}

fn refuse_idle_flags(flags: &Flags, target: Target) -> Result<(), clap::Error> {
    let kind = |kinds: &[Kind]| kinds.contains(&flags.kind);
    let has_rows = flags.features.map_or(flags.kind != Kind::Rmat, |features| features > 0);
    let node_data = target == Target::Dataset;
    let without_rows = "needs node data, which --features 0 leaves out";
    let without_dataset = "describes node data, which only a dataset folder holds";
    let checks = [
        (
            "--nodes",
            flags.nodes.is_some(),
            !kind(&[Kind::Rmat]),
            "is not for rmat, which has 2^S nodes: give --scale S",
        ),
        ("--scale", flags.scale.is_some(), kind(&[Kind::Rmat]), "is for rmat: give --nodes N"),
        (
            "--communities",
            flags.communities.is_some(),
            kind(&[Kind::Papers]),
            "is for papers; --classes sets the blocks of sbm",
        ),
        ("--features", flags.features.is_some(), node_data, without_dataset),
        ("--dtype", flags.dtype.is_some(), node_data, without_dataset),
        ("--signal", flags.signal.is_some(), node_data, without_dataset),
        ("--dtype", flags.dtype.is_some(), has_rows, without_rows),
        ("--signal", flags.signal.is_some(), has_rows, without_rows),
        (
            "--classes",
            flags.classes.is_some() && kind(&[Kind::Rmat]),
            has_rows,
            "of rmat needs --features D",
        ),
        (
            "--direction and --undirected",
            flags.direction.directions().is_some(),
            target != Target::Csv,
            "say how lists are stored, and a .csv has none",
        ),
    ];
    match checks.into_iter().find(|(_, given, useful, _)| *given && !*useful) {
        Some((flag, _, _, reason)) => Err(usage("generate", format!("{flag} {reason}"))),
        None => Ok(()),
    }
}

fn graph(flags: &Flags, target: Target) -> Result<SyntheticGraph, GenerateError> {
    let nodes = flags.nodes.unwrap_or(NODES);
    let classes = flags.classes.unwrap_or(CLASSES);
    let default = if flags.kind == Kind::Rmat { 0 } else { FEATURES };
    let features = flags.features.unwrap_or(default);
    let with_nodes = target == Target::Dataset && features > 0;
    // Builders have defaults of their own for what is not said.
    let signal = |sbm: graphmill::ingest::generate::SbmBuilder| match flags.signal {
        Some(signal) => sbm.signal(signal),
        None => sbm,
    };
    match flags.kind {
        Kind::Rmat => {
            let scale = flags.scale.unwrap_or(SCALE);
            // Of a scale that is too large no number of edges can be made.
            let nodes = Rmat::builder(scale, 0).build()?.num_nodes();
            let edges = edges(flags, nodes as f64)?;
            let graph = Rmat::builder(scale, edges).seed(flags.seed).build()?;
            // R-MAT has no classes of its own: rows and labels belong together, edges know nothing of them.
            let rows = Sbm::builder(nodes, 0, classes).seed(flags.seed);
            let rows = signal(rows.features(features)).build()?;
            Ok(SyntheticGraph::new(graph, with_nodes.then_some(rows)))
        }
        Kind::Sbm => {
            let edges = edges(flags, nodes as f64)?;
            let graph = Sbm::builder(nodes, edges, classes).seed(flags.seed).features(features);
            let graph = signal(graph).build()?;
            Ok(SyntheticGraph::new(graph.clone(), with_nodes.then_some(graph)))
        }
        Kind::Papers => {
            let mut graph = Papers::builder(nodes).seed(flags.seed).features(features);
            graph = graph.classes(classes);
            if let Some(edges) = flags.edges {
                graph = graph.edges(edges);
            }
            if let Some(edges_per_node) = flags.edges_per_node {
                graph = graph.edges_per_node(edges_per_node);
            }
            if let Some(communities) = flags.communities {
                graph = graph.communities(communities);
            }
            if let Some(signal) = flags.signal {
                graph = graph.signal(signal);
            }
            let graph = graph.build()?;
            Ok(SyntheticGraph::new(graph.clone(), with_nodes.then_some(graph)))
        }
    }
}

impl SyntheticGraph {
    fn new(edges: impl EdgeSource + 'static, nodes: Option<impl NodeData + 'static>) -> Self {
        SyntheticGraph {
            edges: Box::new(edges),
            nodes: nodes.map(|nodes| Box::new(nodes) as Box<dyn NodeData>),
        }
    }
}

/// The number of edges, from itself or from a mean degree.
fn edges(flags: &Flags, nodes: f64) -> Result<u64, GenerateError> {
    if let Some(edges) = flags.edges {
        return Ok(edges);
    }
    let edges_per_node = flags.edges_per_node.unwrap_or(EDGES_PER_NODE);
    let edges = edges_per_node * nodes + 0.5;
    if edges_per_node >= 0.0 && edges < graphmill::ingest::generate::MAX_EDGES as f64 {
        Ok(edges as u64)
    } else {
        Err(GenerateError::EdgesPerNode { edges_per_node, nodes: nodes as u64 })
    }
}
