//! What a section found.
//! Sections make figures of their timings, the report shows them; the names of the fields are keys of the JSON. It must
//! not know what was timed.

use serde::Serialize;

/// All figures of a section.
#[derive(Debug, Serialize)]
pub struct Section {
    pub name: &'static str,
    pub figures: Vec<Figure>,
    pub missing: Vec<Missing>,
}

/// One measured number.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    pub name: String,
    pub unit: &'static str,
    pub median: f64,
    pub lowest: f64,
    pub highest: f64,
    pub repeats: usize,
    /// None where threads make no difference.
    pub threads: Option<usize>,
    /// None where nothing is read.
    pub state: Option<State>,
    pub limit: Option<Limit>,
    pub note: Option<String>,
}

/// What could not be measured, and why.
#[derive(Clone, Debug, Serialize)]
pub struct Missing {
    pub name: String,
    pub reason: String,
}

/// Whether files were in the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Warm,
    Cold,
    /// The system was told to forget the files, and cannot tell whether it did.
    Unconfirmed,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            State::Warm => "warm",
            State::Cold => "cold",
            State::Unconfirmed => "unconfirmed",
        }
    }
}

/// What the machine allows, in the unit of the figure, and the share of it that was reached.
#[derive(Clone, Debug, Serialize)]
pub struct Limit {
    pub name: &'static str,
    pub value: f64,
    pub share: f64,
}

impl Figure {
    /// A number that is the same in every run.
    pub fn fixed(name: impl Into<String>, unit: &'static str, value: f64) -> Self {
        Self::of(name, unit, vec![value])
    }

    /// So much in each of these numbers of seconds.
    pub fn rate(name: impl Into<String>, unit: &'static str, amount: f64, seconds: &[f64]) -> Self {
        Self::of(name, unit, seconds.iter().map(|seconds| amount / seconds).collect())
    }

    /// From the value of every repeat, of which there is at least one.
    pub fn of(name: impl Into<String>, unit: &'static str, mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let (lower, upper) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
        Figure {
            name: name.into(),
            unit,
            median: (lower + upper) / 2.0,
            lowest: values[0],
            highest: values[values.len() - 1],
            repeats: values.len(),
            threads: None,
            state: None,
            limit: None,
            note: None,
        }
    }

    pub fn threads(self, threads: usize) -> Self {
        Figure { threads: Some(threads), ..self }
    }

    pub fn state(self, state: State) -> Self {
        Figure { state: Some(state), ..self }
    }

    /// Sets what the machine allows, if that is known.
    pub fn limit(self, name: &'static str, value: Option<f64>) -> Self {
        let limit = value.map(|value| Limit { name, value, share: self.median / value });
        Figure { limit, ..self }
    }

    pub fn note(self, note: impl Into<String>) -> Self {
        Figure { note: Some(note.into()), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_stands_between_the_extremes() {
        let odd = Figure::rate("x", "rows/s", 60.0, &[1.0, 6.0, 2.0]);
        assert_eq!((odd.lowest, odd.median, odd.highest), (10.0, 30.0, 60.0));
        let even = Figure::of("x", "rows/s", vec![4.0, 1.0, 3.0, 2.0]);
        assert_eq!((even.lowest, even.median, even.highest, even.repeats), (1.0, 2.5, 4.0, 4));
        let alone = Figure::fixed("x", "bits", 7.0);
        assert_eq!((alone.lowest, alone.median, alone.highest), (7.0, 7.0, 7.0));
    }

    #[test]
    fn a_share_is_that_of_the_median() {
        let figure = Figure::of("x", "rows/s", vec![10.0, 30.0, 20.0]);
        assert_eq!(figure.clone().limit("the disk", Some(80.0)).limit.unwrap().share, 0.25);
        assert!(figure.limit("the disk", None).limit.is_none());
    }
}
