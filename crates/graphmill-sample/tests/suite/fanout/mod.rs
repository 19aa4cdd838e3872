//! Fan-outs: their laws, their order, their bytes, and that threads change none of it.

mod golden;
mod labor;
mod law;
mod links;
mod made_lists;
mod order;
mod threads;
mod trees;
mod weighted;
mod weighted_times;
