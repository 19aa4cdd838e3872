//! How often a test repeats what it tries: quickly in `make test`, for long in `make torture`.
//!
//! A test of a promise names the number that everybody can wait for, and asks here; `make torture` asks for more by the
//! environment, piece by piece, and gives each piece a number so that none repeats another. Only tests use this crate.
//! `tests/rounds.py` is the same for Python. [`corpus`] is what the fuzzers found worth keeping.

#![forbid(unsafe_code)]

pub mod corpus;

use std::env::{VarError, var};

/// The number of rounds that `GRAPHMILL_ROUNDS` asks for, or `quick`.
pub fn rounds(quick: usize) -> usize {
    asked("GRAPHMILL_ROUNDS", var("GRAPHMILL_ROUNDS")).map_or(quick, |rounds| rounds as usize)
}

/// The number of this piece of a long run, 0 in a quick one: part of every seed.
pub fn piece() -> u64 {
    asked("GRAPHMILL_PIECE", var("GRAPHMILL_PIECE")).unwrap_or(0)
}

/// A typing mistake would make a long run a quick one, and nobody would notice.
fn asked(name: &str, value: Result<String, VarError>) -> Option<u64> {
    match value {
        Ok(text) => Some(text.parse().unwrap_or_else(|_| panic!("{name}={text:?} is no number"))),
        Err(VarError::NotPresent) => None,
        Err(other) => panic!("{name}: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_asked_for_is_left_to_the_test() {
        assert_eq!(asked("X", Err(VarError::NotPresent)), None);
        assert_eq!(asked("X", Ok("5000".to_owned())), Some(5000));
    }

    #[test]
    #[should_panic(expected = "X=\"5k\" is no number")]
    fn a_number_that_is_none_is_no_quick_run() {
        asked("X", Ok("5k".to_owned()));
    }
}
