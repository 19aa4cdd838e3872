//! Sampling around links instead of nodes.
//! A link is a pair of nodes about whose edge something is to be predicted; both ends become seeds, and the edge itself
//! can be hidden from the sample. Where links come from, and which of them are true, is the caller's affair.

use super::{ExcludedEdges, FanoutOptions, Seeds, sample_within};
use crate::{Error, Result, Sample, Scratch, Topology};
use graphmill_disk::{Budget, Reservation, room};
use graphmill_format::Direction;

/// Which of the links' own edges a sample must not hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exclude {
    /// It may hold all.
    #[default]
    None,
    /// Those from source to destination.
    Links,
    /// Those and their reverses, as an undirected graph needs.
    Both,
}

/// Pairs of nodes to sample around.
#[derive(Clone, Copy, Debug, Default)]
pub struct Links<'a> {
    sources: &'a [i64],
    destinations: &'a [i64],
    times: Option<&'a [i64]>,
    node_times: Option<&'a [i64]>,
    exclude: Exclude,
}

impl<'a> Links<'a> {
    /// Links from `sources` to `destinations`, pair by pair.
    pub fn new(sources: &'a [i64], destinations: &'a [i64]) -> Self {
        Links { sources, destinations, ..Self::default() }
    }

    /// Hides the edges of the links.
    pub fn exclude(self, exclude: Exclude) -> Self {
        Links { exclude, ..self }
    }

    /// The time of each link, which is that of both its ends. Implies disjoint trees.
    pub fn times(self, times: &'a [i64]) -> Self {
        Links { times: Some(times), ..self }
    }

    /// The time of every node of the graph, as for [`Seeds`].
    pub fn node_times(self, node_times: &'a [i64]) -> Self {
        Links { node_times: Some(node_times), ..self }
    }
}

/// A sample around links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkSample {
    /// The neighbourhood of all ends.
    pub sample: Sample,
    /// Local id of the source of each link.
    pub link_row: Vec<i64>,
    /// Local id of the destination of each link.
    pub link_col: Vec<i64>,
}

/// Samples the neighbourhood of both ends of links.
///
/// In one tree the seeds are the distinct ends in ascending order, as PyTorch Geometric has them; with disjoint trees
/// they are all sources and then all destinations, each with a tree of its own. Edges that are excluded are left out
/// before anything is picked, so a node still gets its full number of edges if it has them.
pub fn sample_links(
    topology: &(impl Topology + ?Sized),
    links: Links<'_>,
    options: &FanoutOptions,
    follow: Direction,
    scratch: &mut Scratch,
) -> Result<LinkSample> {
    let mut memory = Budget::unlimited().reserve(0, "a sample")?;
    sample_links_within(topology, links, options, follow, scratch, &mut memory)
}

/// Like [`sample_links`], with the lists of the sample asked from a budget before they grow.
pub fn sample_links_within(
    topology: &(impl Topology + ?Sized),
    links: Links<'_>,
    options: &FanoutOptions,
    follow: Direction,
    scratch: &mut Scratch,
    memory: &mut Reservation,
) -> Result<LinkSample> {
    let Links { sources, destinations, times, node_times, exclude } = links;
    let count = sources.len();
    if destinations.len() != count {
        return Err(Error::Links { sources: count, destinations: destinations.len() });
    }
    if let Some(times) = times.filter(|times| times.len() != count) {
        let (found, expected) = (times.len() as u64, count as u64);
        return Err(Error::Times { what: "link times", found, expected });
    }
    super::check_seeds(sources, topology.num_nodes())?;
    super::check_seeds(destinations, topology.num_nodes())?;
    let ends = joined(sources, destinations)?;
    let times = times.map(|times| joined(times, times)).transpose()?;
    let excluded = match exclude {
        Exclude::None => None,
        _ => Some(ExcludedEdges::new(sources, destinations, exclude == Exclude::Both)?),
    };
    let start =
        Seeds { ids: &ends, times: times.as_deref(), node_times, excluded: excluded.as_ref() };
    let (sample, labels) = sample_ends_within(topology, start, options, follow, scratch, memory)?;
    let (link_row, link_col) = labels.split_at(count);
    let (link_row, link_col) = (room::copy_of(link_row)?, room::copy_of(link_col)?);
    Ok(LinkSample { sample, link_row, link_col })
}

fn joined(first: &[i64], second: &[i64]) -> Result<Vec<i64>> {
    let mut both = room::vector(first.len() + second.len())?;
    both.extend_from_slice(first);
    both.extend_from_slice(second);
    Ok(both)
}

/// Samples the neighbourhood of the ends of links, in whatever way they belong together, and gives the local id of each.
///
/// In one tree the seeds are the distinct ends in ascending order; with disjoint trees, or times, each end has a tree of its
/// own.
pub fn sample_ends_within(
    topology: &(impl Topology + ?Sized),
    ends: Seeds<'_>,
    options: &FanoutOptions,
    follow: Direction,
    scratch: &mut Scratch,
    memory: &mut Reservation,
) -> Result<(Sample, Vec<i64>)> {
    super::check_seeds(ends.ids, topology.num_nodes())?;
    if options.disjoint || ends.times.is_some() {
        let mut labels = room::vector(ends.ids.len())?;
        labels.extend(0..ends.ids.len() as i64);
        return Ok((sample_within(topology, ends, options, follow, scratch, memory)?, labels));
    }
    let (seeds, labels) = distinct(ends.ids)?;
    let ends = Seeds { ids: &seeds, ..ends };
    Ok((sample_within(topology, ends, options, follow, scratch, memory)?, labels))
}

/// The distinct numbers in ascending order, and where each of `ends` is among them.
fn distinct(ends: &[i64]) -> Result<(Vec<i64>, Vec<i64>)> {
    let mut seeds = room::copy_of(ends)?;
    seeds.sort_unstable();
    seeds.dedup();
    let mut labels = room::vector(ends.len())?;
    labels.extend(ends.iter().map(|end| seeds.partition_point(|seed| seed < end) as i64));
    Ok((seeds, labels))
}
