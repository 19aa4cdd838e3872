//! Reading and writing files, when all goes well and when something breaks.
//! One program, because linking takes longer than most of its tests; a test that forks, looks at the
//! whole process or breaks all its reads has a program of its own.

mod announce;
mod conformance;
mod faults;
mod folder_draft;
mod many_reads;
mod one_writer;
