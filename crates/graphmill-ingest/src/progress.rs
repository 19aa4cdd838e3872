//! How long work says how far it is, and how it is told to stop.
//! Writers report once per batch, so an answer of false ends a build within one batch; what was
//! written by then vanishes with its draft. It must not know who listens.

use crate::{Error, Result};

/// How far a stage of a build has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done: "counting edges", "filling lists", "writing x" ...
    pub stage: &'static str,
    /// Edges or rows done.
    pub done: u64,
    /// Edges or rows of the stage.
    pub total: u64,
}

/// Hears about progress; false cancels the work with [`Error::Cancelled`].
pub type Observer<'a> = &'a (dyn Fn(Progress) -> bool + Sync);

/// One stage on its way to its total.
pub(crate) struct Stage<'a> {
    observer: Option<Observer<'a>>,
    progress: Progress,
}

impl<'a> Stage<'a> {
    pub(crate) fn new(observer: Option<Observer<'a>>, stage: &'static str, total: u64) -> Self {
        Stage { observer, progress: Progress { stage, done: 0, total } }
    }

    /// Reports `more` done, and fails if that is to be all.
    pub(crate) fn advance(&mut self, more: u64) -> Result<()> {
        self.progress.done += more;
        match self.observer {
            Some(observer) if !observer(self.progress) => Err(Error::Cancelled),
            _ => Ok(()),
        }
    }
}
