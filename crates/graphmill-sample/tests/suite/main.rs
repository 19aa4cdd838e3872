//! Sampling and walking, in lists that were made for the purpose and in stored graphs.
//! One program, because linking takes longer than most of its tests.

mod cold;
mod fanout;
mod stored_graphs;
mod walks;
