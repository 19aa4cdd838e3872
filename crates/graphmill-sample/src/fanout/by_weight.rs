//! Picking edges in proportion to their weights.
//! A draw is a binary search in running sums, which the file holds or which are added up here; where only a part of a list
//! may be picked and the sum before it is so large that differences lose the weights of the part, they are added up here
//! too. Without replacement, an edge drawn again is drawn anew, and when that happens too often a tree of the remaining
//! weights takes over. Both give the law of successive draws from what is left, so it does not matter when the one
//! becomes the other.

use super::picker::Picker;
use super::sum_tree::SumTree;
use crate::random::Stream;
use crate::room::make_room;
use crate::{Error, Result, Topology};
use std::ops::Range;

/// Up to so many distinct picks are drawn and compared with those before; more come from the tree at once.
const COMPARED: usize = 128;

impl Picker {
    /// Picks `count` candidates of a list; edges without weight are never picked, so there may be fewer.
    ///
    /// Distinct picks are drawn one after the other, each in proportion to its share of the weight that is left.
    pub(super) fn pick_by_weight<T: Topology + ?Sized>(
        &mut self,
        topology: &T,
        list: Range<usize>,
        count: usize,
        replace: bool,
        stream: &mut Stream,
    ) -> Result<()> {
        let weights = topology.weights(list.clone()).unwrap_or_default();
        let weight = |position: usize| checked(weights[position - list.start].into(), position);
        let population = self.candidates.len();
        if !replace && count == population {
            for number in 0..population {
                let position = self.candidates.position(number);
                if weight(position)? > 0.0 {
                    self.positions.push(position);
                }
            }
            return Ok(());
        }
        let stored = match (self.candidates.run(), topology.cumulative_weights(list.clone())) {
            (Some(run), Some(sums)) => {
                let (start, end) = (run.start - list.start, run.end - list.start);
                let base = if start == 0 { 0.0 } else { checked(sums[start - 1], run.start - 1)? };
                let total = checked(sums[end - 1], run.end - 1)?;
                is_exact(base, total, run.len()).then(|| (base, &sums[start..end]))
            }
            _ => None,
        };
        if stored.is_none() {
            self.sums.clear();
            make_room(&mut self.sums, population, &mut self.memory)?;
            let mut sum = 0.0;
            for number in 0..population {
                sum += weight(self.candidates.position(number))?;
                self.sums.push(sum);
            }
        }
        let (base, sums) = stored.unwrap_or((0.0, &self.sums));
        let end = checked(sums[population - 1], list.end - 1)?;
        if end <= base {
            return Ok(());
        }
        let draw = |stream: &mut Stream| {
            let target = base + stream.unit() * (end - base);
            let number = sums.partition_point(|&sum| sum <= target);
            // Rounding may lead past the end: then it is the last that has weight.
            if number < population { number } else { sums.partition_point(|&sum| sum < end) }
        };
        // A file may lie about its sums, but never lead out of the list.
        let position = |number: usize| self.candidates.position(number.min(population - 1));
        if replace {
            self.positions.extend((0..count).map(|_| position(draw(stream))));
            return Ok(());
        }
        let before = self.positions.len();
        let mut misses = if count > COMPARED { 0 } else { 2 * count + 16 };
        while self.positions.len() < before + count && misses > 0 {
            let drawn = position(draw(stream));
            if self.positions[before..].contains(&drawn) {
                misses -= 1;
            } else {
                self.positions.push(drawn);
            }
        }
        if self.positions.len() < before + count {
            return self.pick_the_rest(before, count, weight, stream);
        }
        Ok(())
    }

    /// Picks up to `count` in all, the ones from `before` on among them, by a tree of the weights that are left.
    fn pick_the_rest(
        &mut self,
        before: usize,
        count: usize,
        weight: impl Fn(usize) -> Result<f64>,
        stream: &mut Stream,
    ) -> Result<()> {
        let Picker { positions, candidates, tree, memory, .. } = self;
        let population = candidates.len();
        tree.storage().clear();
        make_room(tree.storage(), SumTree::length_for(population), memory)?;
        // Once more from the file: it may have changed since it was checked, and then it has no weight.
        for number in 0..population {
            weight(candidates.position(number))?;
        }
        let weights = (0..population).map(|number| weight(candidates.position(number)));
        tree.fill(population, weights.map(|weight| weight.unwrap_or(0.0)));
        for &picked in &positions[before..] {
            let number = candidates.number(picked);
            tree.remove(number);
        }
        while positions.len() < before + count {
            match tree.take(stream.unit()) {
                Some(number) => positions.push(candidates.position(number)),
                None => break,
            }
        }
        Ok(())
    }
}

/// Whether differences of running sums from `base` to `end` give the shares of `edges` weights to 2^-30.
///
/// Each of these sums was rounded by up to 2^-53 of itself, which weights that are small beside `base` do not survive:
/// such edges would never be picked. From 0 on the error is small beside what was added.
fn is_exact(base: f64, end: f64, edges: usize) -> bool {
    const ROUNDING: f64 = 1.0 / (1_u64 << (53 - 30)) as f64;
    base == 0.0 || edges as f64 * end * ROUNDING <= end - base
}

/// A weight or a sum of weights, if it is one.
#[inline]
fn checked(found: f64, position: usize) -> Result<f64> {
    if (0.0..f64::INFINITY).contains(&found) {
        Ok(found)
    } else {
        Err(Error::Weight { position, found })
    }
}
