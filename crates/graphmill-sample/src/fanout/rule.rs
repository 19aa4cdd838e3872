//! What a hop does with each list.
//! Made once per hop from options and seeds, then read by every picker of the hop, whichever thread it runs on. It holds
//! no state and draws nothing itself.

use super::options::{FanoutOptions, Method, Seeds, Strategy};
use crate::random::{Key, Purpose, Stream};
use graphmill_format::Direction;

/// The rule of one hop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule<'a> {
    /// Edges per list; None for all.
    pub(super) count: Option<usize>,
    pub(super) replace: bool,
    pub(super) weighted: bool,
    /// Where the numbers of the neighbours are addressed, for LABOR.
    pub(super) labor: Option<Key>,
    pub(super) strategy: Strategy,
    pub(super) window: Option<u64>,
    pub(super) follow: Direction,
    pub(super) seeds: Seeds<'a>,
    /// Whether every edge of a list may be picked, all alike: then only degrees decide how many are.
    pub(super) is_plain: bool,
    trees: bool,
    key: Key,
}

impl<'a> Rule<'a> {
    /// The rule of hop `hop`, with options that have been checked.
    pub(super) fn of(
        hop: usize,
        options: &FanoutOptions,
        seeds: Seeds<'a>,
        follow: Direction,
    ) -> Self {
        let (fanout, word) = (options.fanouts[hop], hop as u64);
        let of_batch =
            |purpose| Key::new(options.seed, purpose).with(options.epoch).with(options.batch);
        let labor = match options.method {
            Method::Uniform => None,
            Method::Labor { layer_dependency: true } => Some(of_batch(Purpose::Labor)),
            Method::Labor { layer_dependency: false } => Some(of_batch(Purpose::Labor).with(word)),
        };
        Rule {
            count: if fanout < 0 {
                None
            } else {
                Some(usize::try_from(fanout).unwrap_or(usize::MAX))
            },
            replace: options.replace,
            weighted: options.weighted,
            labor,
            strategy: options.strategy,
            window: options.window,
            follow,
            seeds,
            is_plain: !options.weighted
                && labor.is_none()
                && seeds.times.is_none()
                && seeds.excluded.is_none(),
            trees: options.disjoint || seeds.times.is_some(),
            key: of_batch(Purpose::Fanout).with(word),
        }
    }

    /// A rule that takes every edge that may be taken at all.
    pub(super) fn everything(options: &FanoutOptions, seeds: Seeds<'a>, follow: Direction) -> Self {
        let options = FanoutOptions::new([-1]).window(options.window).disjoint(options.disjoint);
        Rule::of(0, &options, seeds, follow)
    }

    /// How many edges of a list of `degree` are picked if all of them may be; None if only picking tells.
    #[inline]
    pub(super) fn most(&self, degree: usize) -> Option<usize> {
        match self.count {
            _ if degree == 0 => Some(0),
            Some(count) if self.labor.is_none() => {
                Some(if self.replace { count } else { count.min(degree) })
            }
            None if self.is_plain => Some(degree),
            _ => None,
        }
    }

    /// The random numbers for picking from the list of a node.
    #[inline]
    pub(super) fn stream(&self, tree: u32, node: u64) -> Stream {
        let key = self.key.with(node);
        if self.trees { key.with(tree.into()).stream() } else { key.stream() }
    }

    /// The number that LABOR gives to a neighbour.
    #[inline]
    pub(super) fn labor_number(&self, key: Key, tree: u32, neighbour: u64) -> u64 {
        let key = key.with(neighbour);
        let key = if self.trees { key.with(tree.into()) } else { key };
        key.stream().word()
    }

    /// The earliest and the latest time that a tree may see.
    pub(super) fn times(&self, tree: u32) -> Option<(i64, i64)> {
        let latest = *self.seeds.times?.get(tree as usize)?;
        let earliest =
            self.window.map_or(i64::MIN, |window| latest.saturating_sub_unsigned(window));
        Some((earliest, latest))
    }
}
