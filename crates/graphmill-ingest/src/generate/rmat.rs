//! R-MAT: each edge descends a square of all pairs, quarter by quarter, with fixed odds.
//! The benchmark graph with skewed degrees and no node data; the defaults are those of Graph500.
//! Self loops and repeated edges are kept, as that benchmark keeps them. It does no I/O.

use super::counter::{Purpose, Words};
use super::error::{self, GenerateError, MAX_NODES};
use super::scramble::Scramble;
use super::{EdgeSource, WORDS_PER_EDGE};

/// A draw of 32 bits descends four levels, so a word serves eight.
const LEVELS_PER_DRAW: u32 = 4;
const LEVELS_PER_WORD: u32 = 2 * LEVELS_PER_DRAW;
/// The largest scale: [`MAX_NODES`] nodes, and no more words than an edge owns.
const MAX_SCALE: u32 = MAX_NODES.ilog2();
const _: () = assert!((MAX_SCALE.div_ceil(LEVELS_PER_WORD) as u64) <= WORDS_PER_EDGE);

/// An R-MAT graph with `2^scale` nodes.
#[derive(Clone, Debug)]
pub struct Rmat {
    scale: u32,
    edges: u64,
    words: Words,
    descents: Descents,
    ids: Option<Scramble>,
}

/// Collects the parameters of an [`Rmat`].
#[derive(Clone, Debug)]
pub struct RmatBuilder {
    scale: u32,
    edges: u64,
    seed: u64,
    quarters: [f64; 3],
    scrambled: bool,
}

impl Rmat {
    /// A graph of `2^scale` nodes and `edges` edges; everything else has a default.
    ///
    /// ```
    /// use graphmill_ingest::generate::{EdgeSource, Rmat};
    ///
    /// let graph = Rmat::builder(10, 16 << 10).seed(1).build()?;
    /// let (mut sources, mut destinations) = ([0; 100], [0; 100]);
    /// graph.fill(500, &mut sources, &mut destinations);
    /// assert!(sources.iter().chain(&destinations).all(|&node| node < graph.num_nodes()));
    /// # Ok::<(), graphmill_ingest::generate::GenerateError>(())
    /// ```
    pub fn builder(scale: u32, edges: u64) -> RmatBuilder {
        RmatBuilder { scale, edges, seed: 0, quarters: [0.57, 0.19, 0.19], scrambled: true }
    }

    #[inline(always)]
    fn ranks(&self, index: u64) -> (u64, u64) {
        let first = index.wrapping_mul(WORDS_PER_EDGE);
        let (mut source, mut destination) = (0, 0);
        let words = self.scale.div_ceil(LEVELS_PER_WORD);
        for position in 0..u64::from(words) {
            let word = self.words.at(first + position);
            for draw in [word as u32, (word >> 32) as u32] {
                let descent = self.descents.choose(draw);
                source = source << LEVELS_PER_DRAW | u64::from(descent >> LEVELS_PER_DRAW);
                destination = destination << LEVELS_PER_DRAW | u64::from(descent & 0xF);
            }
        }
        // The levels beyond the scale are the last ones drawn.
        let excess = words * LEVELS_PER_WORD - self.scale;
        (source >> excess, destination >> excess)
    }
}

impl RmatBuilder {
    /// Another seed gives another graph; 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Odds of the quarters (low, low), (low, high) and (high, low) of (source, destination); the
    /// rest falls to (high, high). 0.57, 0.19 and 0.19 by default.
    pub fn quarters(mut self, a: f64, b: f64, c: f64) -> Self {
        self.quarters = [a, b, c];
        self
    }

    /// Whether ids are permuted (the default); otherwise node 0 is the largest hub.
    pub fn scrambled(mut self, scrambled: bool) -> Self {
        self.scrambled = scrambled;
        self
    }

    /// Checks the parameters.
    pub fn build(self) -> Result<Rmat, GenerateError> {
        if self.scale > MAX_SCALE {
            return Err(GenerateError::Scale { scale: self.scale, limit: MAX_SCALE });
        }
        let [a, b, c] = self.quarters;
        error::shares(
            "the quarters a, b and c",
            [("quarter a", a), ("quarter b", b), ("quarter c", c)],
        )?;
        Ok(Rmat {
            scale: self.scale,
            edges: error::edges(self.edges)?,
            words: Words::new(self.seed, Purpose::Edges),
            descents: Descents::new([a, b, c, (1.0 - a - b - c).max(0.0)]),
            ids: self
                .scrambled
                .then(|| Scramble::new(1 << self.scale, Words::new(self.seed, Purpose::NodeIds))),
        })
    }
}

/// Chooses four levels at once, in time that does not depend on the odds (an alias table: each of
/// 256 equal columns is shared by its own descent and one other).
///
/// A descent is a byte: four bits of the source above four bits of the destination.
#[derive(Clone, Debug)]
struct Descents {
    /// Height of the column's own part (24 bits) above the other descent (8 bits).
    columns: [u32; 256],
}

impl Descents {
    /// `quarters` are the odds of the bits (source, destination) = 00, 01, 10 and 11.
    fn new(quarters: [f64; 4]) -> Self {
        const COLUMN: u64 = 1 << 24;
        let mut weights = [0; 256];
        for (descent, weight) in weights.iter_mut().enumerate() {
            let odds = (0..LEVELS_PER_DRAW).map(|level| {
                quarters[(descent >> (level + LEVELS_PER_DRAW) & 1) << 1 | descent >> level & 1]
            });
            *weight = (odds.product::<f64>() * (256 * COLUMN) as f64 + 0.5) as u64;
        }
        // What rounding left over goes to the likeliest, where it matters least.
        let likeliest = (0..256).max_by_key(|&descent| weights[descent]).unwrap_or(0);
        let others: u64 = weights.iter().sum::<u64>() - weights[likeliest];
        weights[likeliest] = (256 * COLUMN).saturating_sub(others);

        let (mut short, mut tall): (Vec<usize>, Vec<usize>) =
            (0..256).partition(|&descent| weights[descent] < COLUMN);
        // A column left unpaired is full: both its parts are the descent itself.
        let mut columns = std::array::from_fn(|descent| descent as u32);
        while let (Some(&low), Some(&high)) = (short.last(), tall.last()) {
            short.pop();
            columns[low] = (weights[low] as u32) << 8 | high as u32;
            weights[high] -= COLUMN - weights[low];
            if weights[high] < COLUMN {
                tall.pop();
                short.push(high);
            }
        }
        Self { columns }
    }

    #[inline(always)]
    fn choose(&self, draw: u32) -> u8 {
        let own = draw as u8;
        let column = self.columns[usize::from(own)];
        // By mask: the outcome cannot be foreseen, and a branch guessed wrong costs more.
        let other = column as u8;
        own ^ ((own ^ other) & u8::from(draw >> 8 >= column >> 8).wrapping_neg())
    }
}

impl EdgeSource for Rmat {
    fn num_nodes(&self) -> u64 {
        1 << self.scale
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_descent_has_the_odds_of_its_four_quarters() {
        let odds: [[f64; 4]; 4] = [
            [0.57, 0.19, 0.19, 0.05],
            [0.25, 0.25, 0.25, 0.25],
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 0.5, 0.0, 0.5],
        ];
        for quarters in odds {
            let descents = Descents::new(quarters);
            let mut found = [0.0; 256];
            for own in 0..256 {
                let column = descents.columns[own];
                let share = f64::from(column >> 8) / f64::from(1 << 24);
                found[own] += share / 256.0;
                found[column as usize & 0xFF] += (1.0 - share) / 256.0;
            }
            for (descent, found) in found.into_iter().enumerate() {
                let quarter =
                    |level: usize| (descent >> (level + 4) & 1) * 2 + (descent >> level & 1);
                let expected: f64 = (0..4).map(|level| quarters[quarter(level)]).product();
                assert!((found - expected).abs() < 1e-7, "{descent:08b}: {found} {expected}");
            }
        }
    }

    #[test]
    fn the_columns_drawn_are_those_of_the_table() {
        let descents = Descents::new([0.57, 0.19, 0.19, 0.05]);
        let counts =
            (0..1 << 20).map(|i: u64| descents.choose(super::super::counter::mix(i) as u32));
        let zeros = counts.filter(|&descent| descent == 0).count() as f64 / f64::from(1 << 20);
        assert!((zeros - 0.57f64.powi(4)).abs() < 0.002, "{zeros}");
    }
}
