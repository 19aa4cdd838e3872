//! The bias of node2vec, arranged for drawing and rejecting.
//! A step draws an edge as a first-order walk would and keeps it with a probability that depends on where the edge
//! leads; whether a step keeps it often, and what it must look up, follows from the numbers here.

/// Returning is drawn apart when its bias exceeds the others by this factor; below that, rejecting is cheaper.
const FOLDED_ABOVE: f64 = 2.0;

/// Factors of the three kinds of neighbours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bias {
    /// Of the node that the walk came from: 1/p.
    pub(super) back: f64,
    /// Of a node that no edge leads to from where the walk came from: 1/q.
    pub(super) far: f64,
    /// The least of 1 and `far`: below it no look-up is needed.
    pub(super) low: f64,
    /// The greatest of 1 and `far`: from it on, neither.
    pub(super) high: f64,
    /// What an accepted level is below: the greatest factor, except for `back` when that is folded.
    pub(super) bound: f64,
    /// Whether the part of `back` above `bound` is drawn apart. Otherwise a tiny p would reject nearly everything else.
    pub(super) folded: bool,
}

impl Bias {
    /// The bias of p and q that have been checked; None if it changes nothing.
    pub(super) fn of(p: f64, q: f64) -> Option<Self> {
        if p == 1.0 && q == 1.0 {
            return None;
        }
        let (back, far) = (1.0 / p, 1.0 / q);
        let (low, high) = (far.min(1.0), far.max(1.0));
        let folded = back > FOLDED_ABOVE * high;
        let bound = if folded { high } else { high.max(back) };
        Some(Bias { back, far, low, high, bound, folded })
    }

    /// The factor of a neighbour that is not where the walk came from.
    #[inline]
    pub(super) fn onward(&self, is_common: bool) -> f64 {
        if is_common { 1.0 } else { self.far }
    }
}
