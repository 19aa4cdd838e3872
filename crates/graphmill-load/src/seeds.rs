//! The nodes that a loader starts from, as users name them.
//! A loader turns them into numbers of nodes once, in the order given. Splits and [`Seeds::Numbers`] are numbers
//! already; everything else may have to be looked up. What is sampled around them is unknown here.

use crate::{Error, Result};
use graphmill_disk::Reservation;
use graphmill_sample::check_seeds;
use graphmill_store::Dataset;
use std::sync::Arc;

/// Which nodes to start from, and in which order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seeds {
    /// All nodes, in ascending order of their ids in the source.
    All,
    /// The nodes of a split.
    Split(String),
    /// Nodes by their ids in the source.
    Original(Vec<i64>),
    /// Nodes by their names, if the ids in the source are text.
    Names(Vec<String>),
    /// Nodes by their numbers.
    Numbers(Vec<i64>),
}

/// Numbers of nodes and the memory that they take.
pub(crate) type SeedNumbers = (Arc<[i64]>, Reservation);

impl Seeds {
    /// The numbers of the nodes, every one checked.
    pub(crate) fn numbers(self, dataset: &Dataset) -> Result<SeedNumbers> {
        let num_nodes = dataset.graph().num_nodes();
        let count = match &self {
            Seeds::All => num_nodes,
            Seeds::Split(name) => dataset.split(name)?.shape().rows(),
            Seeds::Original(ids) | Seeds::Numbers(ids) => ids.len() as u64,
            Seeds::Names(names) => names.len() as u64,
        };
        let what = format!("the list of {count} seeds");
        let memory = dataset.budget().reserve(count.saturating_mul(8), &what)?;
        let numbers: Arc<[i64]> = match self {
            Seeds::All => dataset.ids().in_order()?.collect(),
            Seeds::Split(name) => dataset.split(&name)?.as_i64()?.into(),
            Seeds::Original(mut ids) => {
                // Where ids are numbers, the check below says the same in the words of sampling.
                if dataset.is_renumbered() {
                    dataset.ids().make_numbers(&mut ids)?;
                }
                ids.into()
            }
            Seeds::Names(names) => dataset.node_ids_of_names(&names)?.into(),
            Seeds::Numbers(numbers) => numbers.into(),
        };
        check_seeds(&numbers, num_nodes).map_err(Error::from)?;
        Ok((numbers, memory))
    }
}
