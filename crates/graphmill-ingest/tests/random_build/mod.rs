//! Random cases, their files, and what is to come of them.

pub mod case;
pub mod oracle;
pub mod sources;
pub mod tables;
