//! Where the batches of a loader start: at nodes, or at links between nodes.
//! A loader translates its seeds once and asks here for those of a batch by position. For links that includes pairs that
//! are no edges, drawn afresh for every batch. How a neighbourhood is sampled around them is unknown here.

use crate::digest::digest;
use crate::nodes_by_time::NodesByTime;
use crate::seeds::SeedNumbers;
use crate::{Error, Result, Seeds};
use graphmill_disk::{Budget, Reservation};
use graphmill_format::Direction;
use graphmill_sample::random::{Key, Purpose};
use graphmill_sample::{
    Exclude, ExcludedEdges, FirstNodes, NegativeOptions, negative_destinations, negative_edges,
};
use graphmill_store::{Dataset, Lists};
use std::sync::Arc;

/// Which pairs that are no edges join the links of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Negatives {
    /// None.
    #[default]
    None,
    /// Pairs of any two nodes, so many for each link; a batch has the next whole number of them.
    Binary(f64),
    /// Other destinations for the source of each link, so many.
    Triplet(usize),
}

/// Pairs of nodes to start from.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LinkSeeds {
    /// Where links begin; not splits, because both ends of a link need each other.
    pub sources: Seeds,
    /// Where links end.
    pub destinations: Seeds,
    /// The pairs that are no edges.
    pub negatives: Negatives,
    /// Whether negative pairs that are edges after all, and pairs of a node with itself, are drawn again.
    pub strict: bool,
    /// Whether the edges of the links are kept out of their batch; in an undirected graph, their reverses too.
    pub exclude: bool,
}

impl LinkSeeds {
    /// Links from `sources` to `destinations`, pair by pair, without negatives.
    pub fn new(sources: Seeds, destinations: Seeds) -> Self {
        let negatives = Negatives::None;
        LinkSeeds { sources, destinations, negatives, strict: true, exclude: false }
    }

    /// Sets the pairs that are no edges.
    pub fn negatives(self, negatives: Negatives) -> Self {
        LinkSeeds { negatives, ..self }
    }

    /// Says whether negative pairs that are edges after all are drawn again.
    pub fn strict(self, strict: bool) -> Self {
        LinkSeeds { strict, ..self }
    }

    /// Keeps the edges of the links out of their batch.
    pub fn exclude(self, exclude: bool) -> Self {
        LinkSeeds { exclude, ..self }
    }
}

/// The seeds of a loader, as numbers of nodes.
#[derive(Debug)]
pub(crate) enum Start {
    Nodes { seeds: Arc<[i64]>, _memory: Reservation },
    Links(KnownLinks),
}

/// Links as numbers of nodes.
#[derive(Debug)]
pub(crate) struct KnownLinks {
    sources: Arc<[i64]>,
    destinations: Arc<[i64]>,
    negatives: Negatives,
    strict: bool,
    exclude: Exclude,
    /// Where negatives must not be later than their link.
    by_time: Option<NodesByTime>,
    _memory: [Reservation; 2],
}

/// Where one batch starts.
#[derive(Debug)]
pub(crate) struct BatchStart {
    /// The nodes, or all endpoints of links: sources, then destinations, then further destinations of triplets: one of
    /// every link, the next of every link, and so on.
    pub(crate) ids: Vec<i64>,
    /// How many links there are, negative ones not counted; None for nodes.
    pub(crate) links: Option<usize>,
    /// For each of the ids the place of the seed or link whose time it has.
    pub(crate) owners: Vec<usize>,
    pub(crate) excluded: Option<ExcludedEdges>,
}

impl Start {
    pub(crate) fn nodes(seeds: Seeds, dataset: &Dataset) -> Result<Self> {
        let (seeds, memory) = seeds.numbers(dataset)?;
        Ok(Start::Nodes { seeds, _memory: memory })
    }

    pub(crate) fn links(links: LinkSeeds, dataset: &Dataset) -> Result<Self> {
        let LinkSeeds { sources, destinations, negatives, strict, exclude } = links;
        if let Negatives::Binary(ratio) = negatives
            && !(ratio.is_finite() && ratio > 0.0)
        {
            return Err(Error::NegativeRatio { found: ratio });
        }
        let (sources, sources_memory): SeedNumbers = sources.numbers(dataset)?;
        let (destinations, destinations_memory) = destinations.numbers(dataset)?;
        if sources.len() != destinations.len() {
            let (sources, destinations) = (sources.len(), destinations.len());
            return Err(graphmill_sample::Error::Links { sources, destinations }.into());
        }
        let exclude = match (exclude, dataset.graph().layout().undirected) {
            (false, _) => Exclude::None,
            (true, false) => Exclude::Links,
            (true, true) => Exclude::Both,
        };
        let memory = [sources_memory, destinations_memory];
        Ok(Start::Links(KnownLinks {
            sources,
            destinations,
            negatives,
            strict,
            exclude,
            by_time: None,
            _memory: memory,
        }))
    }

    /// Lets negatives be nodes that are not later than their link, by the times of all nodes.
    pub(crate) fn draw_by_time(&mut self, node_times: &[i64], budget: &Budget) -> Result<()> {
        if let Start::Links(links) = self
            && links.negatives != Negatives::None
        {
            links.by_time = Some(NodesByTime::new(node_times, budget)?);
        }
        Ok(())
    }

    /// Whether batches start at links.
    pub(crate) fn is_links(&self) -> bool {
        matches!(self, Start::Links(_))
    }

    /// Number of seeds or links.
    pub(crate) fn len(&self) -> usize {
        self.seeds().len()
    }

    /// The seeds, or the sources of links.
    pub(crate) fn seeds(&self) -> &[i64] {
        match self {
            Start::Nodes { seeds, .. } => seeds,
            Start::Links(links) => &links.sources,
        }
    }

    /// A number that stands for all seeds in their order.
    pub(crate) fn digest(&self) -> u64 {
        match self {
            Start::Nodes { seeds, .. } => digest(&[seeds]),
            Start::Links(links) => digest(&[&links.sources, &links.destinations]),
        }
    }

    /// The most ids that a batch of so many seeds or links starts from.
    pub(crate) fn most_ids(&self, batch_size: usize) -> usize {
        let Start::Links(links) = self else { return batch_size };
        let negatives = links.negatives.count(batch_size);
        let ends = if matches!(links.negatives, Negatives::Triplet(_)) { 1 } else { 2 };
        (2 * batch_size).saturating_add(negatives.saturating_mul(ends))
    }

    /// The seeds at these positions; `key` addresses what is random about them. `times` are those of all nodes and those
    /// of these seeds, where both are known.
    pub(crate) fn batch(
        &self,
        positions: &[i64],
        key: (u64, u64, u64),
        times: Option<(&[i64], &[i64])>,
        lists: &Lists<'_>,
        follow: Direction,
    ) -> Result<BatchStart> {
        let at = |ids: &[i64]| -> Vec<i64> {
            positions.iter().map(|&position| ids[position as usize]).collect()
        };
        match self {
            Start::Nodes { seeds, .. } => Ok(BatchStart {
                ids: at(seeds),
                links: None,
                owners: (0..positions.len()).collect(),
                excluded: None,
            }),
            Start::Links(links) => {
                let ends = (at(&links.sources), at(&links.destinations));
                links.batch(ends, key, times, lists, follow)
            }
        }
    }
}

impl KnownLinks {
    fn batch(
        &self,
        (mut sources, mut destinations): (Vec<i64>, Vec<i64>),
        (seed, epoch, batch): (u64, u64, u64),
        times: Option<(&[i64], &[i64])>,
        lists: &Lists<'_>,
        follow: Direction,
    ) -> Result<BatchStart> {
        let count = sources.len();
        let excluded = (self.exclude != Exclude::None)
            .then(|| ExcludedEdges::new(&sources, &destinations, self.exclude == Exclude::Both))
            .transpose()?;
        let word = Key::new(seed, Purpose::NegativeEdges).with(epoch).with(batch).stream().word();
        let negatives = self.negatives.count(count);
        let counts = match (&self.by_time, times) {
            (Some(nodes), Some((node_times, limits))) => {
                let counts = nodes.counts(node_times, limits)?;
                (0..negatives).map(|row| counts[self.link_of(row, count)]).collect()
            }
            _ => Vec::new(),
        };
        let among = self.by_time.as_ref();
        let among = among.map(|nodes| FirstNodes { order: nodes.order(), counts: &counts });
        let options = NegativeOptions::new().strict(self.strict).among(among).seed(word);
        match self.negatives {
            Negatives::Triplet(each) => {
                let mut others = vec![0; negatives];
                negative_destinations(lists, follow, &sources, each, &options, &mut others)?;
                // One further destination of every link, then the next of every link, as PyG has them.
                let turns = 0..each.min(others.len());
                let rounds = turns.flat_map(|turn| others.iter().skip(turn).step_by(each));
                destinations.extend(rounds);
            }
            _ => {
                let (mut from, mut to) = (vec![0; negatives], vec![0; negatives]);
                negative_edges(lists, follow, &options, &mut from, &mut to)?;
                sources.extend(from);
                destinations.extend(to);
            }
        }
        // Negative pairs belong to the links in turn, and so do further destinations.
        let owner = |position: usize| position % count.max(1);
        let owners = (0..sources.len()).chain(0..destinations.len()).map(owner).collect();
        let ids = [sources, destinations].concat();
        Ok(BatchStart { ids, links: Some(count), owners, excluded })
    }

    /// The link that a drawn row belongs to, of so many: binary ones go round, those of a triplet stand together.
    fn link_of(&self, row: usize, links: usize) -> usize {
        match self.negatives {
            Negatives::Triplet(each) => row / each,
            _ => row % links,
        }
    }
}

impl Negatives {
    /// How many negative pairs, or further destinations, so many links get.
    fn count(self, links: usize) -> usize {
        match self {
            Negatives::None => 0,
            Negatives::Binary(ratio) => (links as f64 * ratio).ceil() as usize,
            Negatives::Triplet(each) => links.saturating_mul(each),
        }
    }
}
