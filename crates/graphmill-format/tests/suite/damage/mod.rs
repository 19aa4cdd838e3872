//! Damaged, truncated and lying bytes: whatever is wrong with a file is seen when it is opened.
//!
//! `flips` changes bits and leaves the checksum alone, as a bad disk does. `lies` edits a header and makes its checksum
//! right again, as only a broken writer or an attacker does. `lengths` cuts and grows, `versions` comes from the future.

mod flips;
mod graphzero;
mod lengths;
mod lies;
mod manifests;
mod missing;
mod sample;
mod versions;
