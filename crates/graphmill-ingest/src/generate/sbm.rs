//! The stochastic block model: equal blocks, equal expected degrees, a fixed share of edges inside.
//! The graph to test learning and partitioning on, because the right answer is known: a node's
//! class is its block. Rank `r` belongs to block `r mod blocks`; ids are permuted ranks.

use super::counter::{Chance, Purpose, Words, below};
use super::divisor::Divisor;
use super::error::{self, GenerateError};
use super::node_data::{NodeData, Planted, PlantedParameters, Split};
use super::scramble::Scramble;
use super::{EdgeSource, WORDS_PER_EDGE};

/// A stochastic block model graph with features, labels and splits.
#[derive(Clone, Debug)]
pub struct Sbm {
    nodes: u64,
    edges: u64,
    /// Blocks that have a node: never more than there are nodes.
    blocks: Divisor,
    /// One less, for counting the ranks outside a block; 1 where there is only one block.
    other_blocks: Divisor,
    classes: u32,
    within: Chance,
    words: Words,
    ids: Option<Scramble>,
    planted: Planted,
}

/// Collects the parameters of an [`Sbm`].
#[derive(Clone, Debug)]
pub struct SbmBuilder {
    nodes: u64,
    edges: u64,
    blocks: u32,
    within_share: f64,
    seed: u64,
    scrambled: bool,
    planted: PlantedParameters,
}

impl Sbm {
    /// A graph of `nodes` nodes in `blocks` blocks, whose sizes differ by one at most.
    ///
    /// ```
    /// use graphmill_ingest::generate::{NodeData, Sbm};
    ///
    /// let graph = Sbm::builder(1000, 8000, 4).within_share(0.9).features(16).build()?;
    /// let mut row = [0.0; 16];
    /// graph.features(7, &mut row);
    /// assert!(graph.label(7) < 4);
    /// # Ok::<(), graphmill_ingest::generate::GenerateError>(())
    /// ```
    pub fn builder(nodes: u64, edges: u64, blocks: u32) -> SbmBuilder {
        SbmBuilder {
            nodes,
            edges,
            blocks,
            within_share: 0.6,
            seed: 0,
            scrambled: true,
            planted: PlantedParameters::default(),
        }
    }

    /// The block of `node`, which is also its label.
    pub fn block(&self, node: u64) -> u64 {
        let rank = self.ids.as_ref().map_or(node, |ids| ids.invert(0, node));
        self.blocks.split(rank).1
    }

    #[inline(always)]
    fn ranks(&self, index: u64) -> (u64, u64) {
        let first = index.wrapping_mul(WORDS_PER_EDGE);
        let source = below(self.words.at(first), self.nodes);
        let within = self.within.hits(self.words.at(first + 1));
        let destination = self.destination(source, within, self.words.at(first + 2));
        (source, destination)
    }

    /// Uniform among the other nodes of the block, or among the nodes of the other blocks; where
    /// there are none, among whatever there is.
    #[inline(always)]
    fn destination(&self, source: u64, within: bool, word: u64) -> u64 {
        let (index, block) = self.blocks.split(source);
        let blocks = self.blocks.get();
        let (full, rest) = self.blocks.split(self.nodes);
        let block_size = full + u64::from(block < rest);
        let outside = self.nodes - block_size;
        if (within || outside == 0) && block_size > 1 {
            let other = below(word, block_size - 1);
            (other + u64::from(other >= index)) * blocks + block
        } else if outside > 0 {
            // Numbers the ranks outside the block without a gap: each stretch of `blocks` ranks
            // holds one of the block.
            let other = below(word, outside);
            let (stretch, place) = self.other_blocks.split(other);
            stretch * blocks + place + u64::from(place >= block)
        } else {
            source
        }
    }
}

impl SbmBuilder {
    /// Another seed gives another graph; 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Share of the edges whose ends are in one block; 0.6 by default.
    pub fn within_share(mut self, share: f64) -> Self {
        self.within_share = share;
        self
    }

    /// Whether ids are permuted (the default); otherwise node `v` is in block `v mod blocks`.
    pub fn scrambled(mut self, scrambled: bool) -> Self {
        self.scrambled = scrambled;
        self
    }

    /// Number of feature values of a node; 128 by default.
    pub fn features(mut self, features: usize) -> Self {
        self.planted.features = features;
        self
    }

    /// Distance of a class from the origin, in standard deviations of the noise; 1.75 by default.
    pub fn signal(mut self, signal: f32) -> Self {
        self.planted.signal = signal;
        self
    }

    /// Shares of the nodes for training, validation and test; 0.10, 0.05 and 0.05 by default.
    pub fn splits(mut self, train: f64, valid: f64, test: f64) -> Self {
        (self.planted.train, self.planted.valid, self.planted.test) = (train, valid, test);
        self
    }

    /// Checks the parameters.
    pub fn build(self) -> Result<Sbm, GenerateError> {
        let nodes = error::nodes(self.nodes)?;
        if self.blocks == 0 {
            return Err(GenerateError::Zero { parameter: "the number of blocks" });
        }
        let blocks = u64::from(self.blocks).min(nodes);
        Ok(Sbm {
            nodes,
            edges: error::edges(self.edges)?,
            blocks: Divisor::new(blocks),
            other_blocks: Divisor::new((blocks - 1).max(1)),
            classes: self.blocks,
            within: Chance::of(error::share("the share within blocks", self.within_share)?),
            words: Words::new(self.seed, Purpose::Edges),
            ids: self
                .scrambled
                .then(|| Scramble::new(nodes, Words::new(self.seed, Purpose::NodeIds))),
            planted: Planted::new(&self.planted, self.seed)?,
        })
    }
}

impl EdgeSource for Sbm {
    fn num_nodes(&self) -> u64 {
        self.nodes
    }

    fn num_edges(&self) -> u64 {
        self.edges
    }

    fn fill(&self, first: u64, sources: &mut [u64], destinations: &mut [u64]) {
        super::fill_each(first, sources, destinations, self.ids.as_ref(), |index| {
            self.ranks(index)
        });
    }
}

impl NodeData for Sbm {
    fn num_nodes(&self) -> u64 {
        self.nodes
    }

    fn num_features(&self) -> usize {
        self.planted.num_features()
    }

    fn num_classes(&self) -> u32 {
        self.classes
    }

    fn label(&self, node: u64) -> u32 {
        // Blocks are numbered below `classes`, a u32.
        self.block(node) as u32
    }

    fn features(&self, node: u64, row: &mut [f32]) {
        self.planted.row(node, self.label(node), row);
    }

    fn split(&self, node: u64) -> Option<Split> {
        self.planted.split(node)
    }
}
