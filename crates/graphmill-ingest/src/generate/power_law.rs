//! Draws ranks whose weights fall as `(rank + shift)^(-10/11)`.
//! Weights of that shape give degrees with a power law of exponent `1 + 11/10 = 2.1`, the one of
//! citation graphs, and their cumulative sum turns round into an integer power: no table and no
//! function whose last bit depends on the platform. It knows nothing of nodes or communities.

/// The law over `[0, count)`.
#[derive(Clone, Debug)]
pub(super) struct PowerLaw {
    low: f64,
    span: f64,
    shift: f64,
}

impl PowerLaw {
    /// `shift` flattens the first ranks: about that many hubs share the largest degree.
    pub(super) fn new(count: u64, shift: f64) -> Self {
        let low = eleventh_root(shift);
        Self { low, span: eleventh_root(count as f64 + shift) - low, shift }
    }

    /// The continuous position in `[0, count]` below which a share `unit` of the weight lies.
    #[inline(always)]
    pub(super) fn position(&self, unit: f64) -> f64 {
        eleventh_power(self.low + unit * self.span) - self.shift
    }
}

#[inline(always)]
fn eleventh_power(base: f64) -> f64 {
    let square = base * base;
    let fourth = square * square;
    fourth * fourth * square * base
}

/// By bisection down to neighbouring numbers: only products and comparisons, hence the same bits
/// everywhere. `value` is positive and finite.
fn eleventh_root(value: f64) -> f64 {
    let (mut low, mut high) = (0.0, value.max(1.0));
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return low;
        }
        if eleventh_power(middle) <= value { low = middle } else { high = middle }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_right_to_the_last_digits() {
        for value in [1e-6, 0.5, 1.0, 2.0, 19.8, 1e5, 1e8, 2.8e14] {
            let root = eleventh_root(value);
            assert!((eleventh_power(root) / value - 1.0).abs() < 1e-13, "{value}");
            assert!((root / f64::powf(value, 1.0 / 11.0) - 1.0).abs() < 1e-13, "{value}");
        }
    }

    #[test]
    fn positions_cover_the_whole_range_in_order() {
        let law = PowerLaw::new(1_000_000, 62.5);
        let positions: Vec<f64> = (0..=1000).map(|i| law.position(f64::from(i) / 1e3)).collect();
        assert!(positions[0].abs() < 1e-6);
        assert!((positions[1000] - 1e6).abs() < 1e-3);
        assert!(positions.is_sorted());
    }
}
