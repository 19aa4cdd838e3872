//! Files as bytes: sound ones, damaged ones, and what fuzzers kept.
//! One program, because linking takes longer than most of its tests.

mod damage;
mod golden;
mod replay;
