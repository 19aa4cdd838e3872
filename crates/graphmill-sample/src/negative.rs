//! Pairs of nodes that are no edges, for link prediction.
//! Pairs are drawn and, if they must not be edges, looked up in the lists and drawn again; many are looked up at once,
//! since each look waits for memory. Which pairs are edges that count is the caller's business.

mod seeker;

use crate::random::{Key, Purpose};
use crate::rows::{check_room, fill_rows, in_jobs};
use crate::typed_lists::over_lists;
use crate::{Result, Topology};
use graphmill_format::Direction;
use graphmill_store::Lists;
use seeker::Seeking;

/// Pairs that are handed to a thread at once.
const PAIRS_PER_JOB: usize = 1 << 13;

/// Which pairs are drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NegativeOptions<'a> {
    /// Whether destinations are drawn in proportion to the number of edges that end at them; else all alike.
    pub weighted: bool,
    /// Whether pairs that are edges, and pairs of a node with itself, are drawn again.
    pub strict: bool,
    /// Which nodes are drawn that are not drawn by edges; all of them by default.
    pub among: Option<FirstNodes<'a>>,
    /// The seed of all randomness.
    pub seed: u64,
}

/// Leading nodes of an order, such as those before a point in time: how many differs from pair to pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstNodes<'a> {
    /// Nodes.
    pub order: &'a [i64],
    /// For each pair how many of them may be drawn: at least one, and no more than there are.
    pub counts: &'a [usize],
}

impl<'a> NegativeOptions<'a> {
    /// Draws pairs that are no edges, all alike.
    pub fn new() -> Self {
        NegativeOptions { weighted: false, strict: true, among: None, seed: 0 }
    }

    /// Says whether destinations are drawn by the number of edges that end at them.
    pub fn weighted(self, weighted: bool) -> Self {
        NegativeOptions { weighted, ..self }
    }

    /// Says whether edges and loops are drawn again.
    pub fn strict(self, strict: bool) -> Self {
        NegativeOptions { strict, ..self }
    }

    /// Draws the nodes of each pair among the first of an order.
    pub fn among(self, among: Option<FirstNodes<'a>>) -> Self {
        NegativeOptions { among, ..self }
    }

    /// Sets the seed of all randomness.
    pub fn seed(self, seed: u64) -> Self {
        NegativeOptions { seed, ..self }
    }
}

/// Draws pairs over stored lists; see [`negative_edges_over`].
pub fn negative_edges(
    lists: &Lists<'_>,
    follow: Direction,
    options: &NegativeOptions<'_>,
    sources: &mut [i64],
    destinations: &mut [i64],
) -> Result<()> {
    over_lists!(lists, |lists| negative_edges_over(lists, follow, options, sources, destinations))
}

/// Draws as many pairs as there is room for, independently of each other.
///
/// `follow` says which way the lists point, as for fan-outs. Sources are drawn uniformly, destinations uniformly or by
/// the number of edges that end at them. Strict pairs follow that law among all pairs of two different nodes that are no
/// edges; when so many pairs are edges that none is found in a bounded number of tries, that is an error.
pub fn negative_edges_over<T: Topology + ?Sized>(
    topology: &T,
    follow: Direction,
    options: &NegativeOptions<'_>,
    sources: &mut [i64],
    destinations: &mut [i64],
) -> Result<()> {
    check_room("destinations", destinations.len(), sources.len(), 1)?;
    if sources.is_empty() {
        return Ok(());
    }
    let seeking = Seeking::new(topology, follow, options)?;
    let key = Key::new(options.seed, Purpose::NegativeEdges);
    let parts = sources.chunks_mut(PAIRS_PER_JOB).zip(destinations.chunks_mut(PAIRS_PER_JOB));
    in_jobs(parts, |job, (sources, destinations)| {
        let first = job * PAIRS_PER_JOB;
        let begin = |row: usize| (key.with((first + row) as u64).stream(), None);
        seeking.run(first, sources.len(), begin, |row, source, destination| {
            sources[row] = source as i64;
            destinations[row] = destination as i64;
        })
    })
}

/// Draws destinations over stored lists; see [`negative_destinations_over`].
pub fn negative_destinations(
    lists: &Lists<'_>,
    follow: Direction,
    sources: &[i64],
    count: usize,
    options: &NegativeOptions<'_>,
    destinations: &mut [i64],
) -> Result<()> {
    over_lists!(lists, |lists| negative_destinations_over(
        lists,
        follow,
        sources,
        count,
        options,
        destinations
    ))
}

/// Draws `count` destinations for each source: a row of `destinations` for each, as [`negative_edges_over`] would if it
/// had drawn that source.
pub fn negative_destinations_over<T: Topology + ?Sized>(
    topology: &T,
    follow: Direction,
    sources: &[i64],
    count: usize,
    options: &NegativeOptions<'_>,
    destinations: &mut [i64],
) -> Result<()> {
    crate::check_seeds(sources, topology.num_nodes())?;
    check_room("destinations", destinations.len(), sources.len(), count)?;
    if destinations.is_empty() {
        return Ok(());
    }
    let seeking = Seeking::new(topology, follow, options)?;
    let key = Key::new(options.seed, Purpose::NegativeEdges);
    fill_rows(destinations, 1, PAIRS_PER_JOB, |first, destinations| {
        let begin = |row: usize| {
            let pair = first + row;
            (key.with(pair as u64).stream(), Some(sources[pair / count] as u64))
        };
        seeking.run(first, destinations.len(), begin, |row, _, destination| {
            destinations[row] = destination as i64;
        })
    })
}
