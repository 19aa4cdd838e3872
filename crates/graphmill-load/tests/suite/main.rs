//! Batches and rows, from datasets that were made for the purpose.
//! One program, because linking takes longer than most of its tests; a test that counts threads or
//! reads of the whole process has a program of its own.

#[path = "../made_dataset/mod.rs"]
mod made_dataset;

mod batches;
mod epoch_batches;
mod epoch_order;
mod gather;
mod loader_refusals;
mod renumbered;
mod sampling_options;
