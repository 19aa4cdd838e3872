//! The bytes of graphmill files, and nothing but the bytes.
//!
//! This is the first room of the house: it says what a `.gl` (topology) and a `.gd` (table) file look like, which
//! sections they may hold, how a dataset's manifest is written, and how GraphZero 0.2 laid out its files. Everything
//! works on `&[u8]`; this crate knows no files, no threads and no Python. `DESIGN.md` draws the layouts byte by byte.
//!
//! Nothing read from a header is believed before it has been checked against the length of the file, and all
//! arithmetic on such numbers is checked.
//!
//! ```
//! use graphmill_format::{ElementType, Header, TableShape};
//!
//! let shape = TableShape::matrix(1000, 128, ElementType::F32)?;
//! let header = Header::for_table(&shape)?;
//! let bytes = header.encode();
//! let back = Header::parse(&bytes, header.file_length())?;
//! assert_eq!(back.table_shape()?, shape);
//! # Ok::<(), graphmill_format::Error>(())
//! ```
#![forbid(unsafe_code)]

mod bytes;
pub mod content;
pub mod digest;
mod element;
mod error;
pub mod feature_bits;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod graph;
pub mod graphzero;
mod header;
pub mod manifest;
pub mod packed;
mod section;
mod table;

pub use element::ElementType;
pub use error::{Error, ErrorKind, Result};
pub use graph::{DirectionSections, Encoding, GraphLayout, GraphShape, ListOrder, PackedLengths};
pub use header::{FileKind, HEADER_LENGTH, Header, MAJOR, MINOR};
pub use manifest::Manifest;
pub use section::{Direction, SECTION_ALIGNMENT, Section, SectionKind};
pub use table::TableShape;
