//! What all sections share: the inputs, the limits, and the clock.
//! It is made once, makes the inputs that are not there yet, and is handed to one section after the other. It must not
//! know what they measure.

use super::inputs::Workplace;
use super::shape::{Shape, Size};
use super::{Flags, SectionName};
use crate::interruption::Interruption;
use anyhow::anyhow;
use graphmill::disk::profile::USUAL_EFFORT;
use graphmill::disk::{self, Budget, DeviceProfile};
use graphmill::format::{Encoding, manifest};
use graphmill::ingest::generate::{NodeData, Rmat, Sbm};
use graphmill::ingest::{
    self, ConvertOptions, GeneratedOptions, GraphOptions, Observer, Progress, convert,
    write_edge_csv, write_generated, write_graph,
};
use graphmill::sample::random::{Key, Purpose, Stream};
use graphmill::store::Dataset;
use std::fmt::Display;
use std::time::Duration;

/// Classes of the nodes, which nothing is measured of.
const CLASSES: u32 = 16;

pub struct BenchRun<'a> {
    pub place: Workplace,
    pub shape: Shape,
    pub threads: usize,
    pub seed: u64,
    /// What the disk can do, if that was measured.
    pub disk: Option<DeviceProfile>,
    /// The data of the nodes, to hold what is read against.
    pub nodes: Sbm,
    edges: Rmat,
    memory: u64,
    repeats: u16,
    interruption: &'a Interruption,
}

impl<'a> BenchRun<'a> {
    pub fn new(
        place: Workplace,
        shape: Shape,
        flags: &Flags,
        threads: usize,
        memory: u64,
        interruption: &'a Interruption,
    ) -> anyhow::Result<Self> {
        let seed = flags.seed;
        let edges = Rmat::builder(shape.scale, shape.edges).seed(seed).build()?;
        let nodes = Sbm::builder(shape.num_nodes(), 0, CLASSES).seed(seed);
        let nodes = nodes.features(shape.features).build()?;
        let (disk, repeats) = (None, flags.repeats);
        Ok(BenchRun {
            place,
            shape,
            threads,
            seed,
            disk,
            nodes,
            edges,
            memory,
            repeats,
            interruption,
        })
    }

    /// Writes what these sections read, unless it is there.
    pub fn make_inputs(
        &self,
        sections: &[SectionName],
        observer: Observer<'_>,
    ) -> anyhow::Result<()> {
        let place = &self.place;
        let graph = GraphOptions::new().observer(observer);
        self.install(|| {
            if !place.has_dataset() {
                let options = GeneratedOptions::new().observer(observer);
                let options = options.graph(graph.encoding(Encoding::I32));
                let nodes: &dyn NodeData = &self.nodes;
                write_generated(
                    &place.dataset(),
                    &self.edges,
                    Some(nodes),
                    &options,
                    &self.budget(),
                )?;
            }
            if sections.iter().any(|name| name.needs_packed_lists()) && !place.packed().exists() {
                let graph = graph.encoding(Encoding::Packed);
                write_graph(&place.packed(), &self.edges, &graph, &self.budget(), false)?;
            }
            if sections.contains(&SectionName::Ingest) {
                if !place.edges().exists() {
                    write_edge_csv(&place.edges(), &self.edges, true, false, Some(observer))?;
                }
                if !place.array().exists() {
                    let options = ConvertOptions::new().budget(self.budget()).observer(observer);
                    let table = Dataset::open(place.dataset(), self.budget())?;
                    let table = table.table(manifest::FEATURES)?.path().to_path_buf();
                    convert(&table, &place.array(), &options)?;
                }
            }
            Ok(())
        })
    }

    /// Measures the disk under the inputs; the smallest size takes what is known.
    pub fn measure_disk(&mut self, size: Size) -> anyhow::Result<()> {
        let table = self.dataset()?.table(manifest::FEATURES)?.path().to_path_buf();
        self.disk = match size {
            Size::Tiny => DeviceProfile::cached(&table),
            Size::Small | Size::Medium => Some(DeviceProfile::measure(&table, USUAL_EFFORT)?),
        };
        Ok(())
    }

    pub fn num_nodes(&self) -> u64 {
        self.shape.num_nodes()
    }

    /// All the memory that there is, for one piece of work.
    pub fn budget(&self) -> Budget {
        Budget::new(self.memory)
    }

    /// The dataset, opened anew.
    pub fn dataset(&self) -> anyhow::Result<Dataset> {
        Ok(Dataset::open(self.place.dataset(), self.budget())?)
    }

    /// Random numbers for one purpose of the benchmark's own.
    pub fn draw(&self, purpose: u64) -> Stream {
        Key::new(self.seed, Purpose::Shuffle).with(purpose).stream()
    }

    /// One thread and all threads, or one thread if that is all.
    pub fn thread_counts(&self) -> Vec<usize> {
        if self.threads == 1 { vec![1] } else { vec![1, self.threads] }
    }

    /// Does work on all threads.
    pub fn install<T: Send>(
        &self,
        work: impl FnOnce() -> anyhow::Result<T> + Send,
    ) -> anyhow::Result<T> {
        disk::with_threads(Some(self.threads))?.install(work)
    }

    /// The seconds of every repeat; `once` does the work and says how long what counts of it took.
    pub fn timed(
        &self,
        mut once: impl FnMut() -> anyhow::Result<Duration>,
    ) -> anyhow::Result<Vec<f64>> {
        let repeat = |_| {
            self.go_on()?;
            // No clock is so coarse, but a rate must be a number.
            Ok(once()?.as_secs_f64().max(1e-9))
        };
        (0..self.repeats).map(repeat).collect()
    }

    /// Fails if somebody asked to stop.
    pub fn go_on(&self) -> anyhow::Result<()> {
        if self.interruption.is_requested() {
            return Err(ingest::Error::Cancelled.into());
        }
        Ok(())
    }

    /// Lets writers go on as long as nobody asked to stop.
    pub fn observe(&self, _: Progress) -> bool {
        !self.interruption.is_requested()
    }

    /// A wrong result, which makes its figure worthless.
    pub fn mismatch(&self, what: impl Display, expected: &str) -> anyhow::Error {
        anyhow!(
            "{what} and {expected} differ, so no figure can be trusted: if --work keeps inputs of \
             another version, remove them; else report it with the seed {}",
            self.seed
        )
    }
}
