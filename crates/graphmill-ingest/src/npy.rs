//! `.npy` headers, read strictly and written plainly.
//! A header is a Python literal in front of raw numbers; only the literal forms that NumPy itself
//! writes are accepted, nothing is evaluated, and the numbers must fill the file to its last byte.
//! It must not know what the arrays mean.

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use graphmill_disk::{Backend, ReadAt};
use graphmill_format::ElementType;

use crate::{Error, Result};

mod array_type;
mod literal;

pub use array_type::ArrayType;
use literal::Literal;

/// The first bytes of every `.npy`.
pub const MAGIC: [u8; 6] = *b"\x93NUMPY";
/// No header that NumPy writes for plain arrays comes near this.
const LONGEST_HEADER: u64 = 64 << 10;
/// NumPy aligns the numbers to this.
const ALIGNMENT: usize = 64;

const TYPES: [(&str, ElementType); 9] = [
    ("i1", ElementType::I8),
    ("i2", ElementType::I16),
    ("i4", ElementType::I32),
    ("i8", ElementType::I64),
    ("u1", ElementType::U8),
    ("b1", ElementType::Bool),
    ("f2", ElementType::F16),
    ("f4", ElementType::F32),
    ("f8", ElementType::F64),
];

/// Unsigned types, which sources may have and tables have not.
const UNSIGNED: [(&str, ArrayType); 3] =
    [("u2", ArrayType::U16), ("u4", ArrayType::U32), ("u8", ArrayType::U64)];

/// What an array holds and where, as NumPy may have stored it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayHeader {
    /// The type of the numbers.
    pub numbers: ArrayType,
    /// The length of each dimension.
    pub shape: Vec<u64>,
    /// Whether columns come after columns, as Fortran stores them.
    pub fortran: bool,
    /// Where the numbers start.
    pub data_offset: u64,
}

impl ArrayHeader {
    /// Reads the header of a file that is `file_length` bytes long.
    ///
    /// `start` are its first bytes: [`NpyHeader::needed_bytes`] of them, or all there are.
    pub fn parse(start: &[u8], file_length: u64) -> Result<Self> {
        let (text_at, text_length) = frame(start)?;
        let data_offset = text_at as u64 + text_length;
        let text = start.get(text_at..data_offset as usize).ok_or_else(|| {
            let found = format!("a file of {file_length} bytes");
            wrong(8, found, format!("a header up to byte {data_offset}"), "copy it again")
        })?;
        let Literal { descr, fortran_order: fortran, shape } = literal::parse(text, text_at)?;
        let numbers = type_of(&descr)?;
        let count = shape.iter().try_fold(1_u64, |product, &side| product.checked_mul(side));
        let length = count
            .and_then(|count| count.checked_mul(numbers.width()))
            .and_then(|bytes| bytes.checked_add(data_offset));
        if length != Some(file_length) {
            let expected = length.map_or("a shape that a file can hold".to_owned(), |length| {
                format!("{length} bytes for shape {shape:?} of {numbers}")
            });
            let found = format!("a file of {file_length} bytes");
            return Err(wrong(text_at, found, expected, "save or copy the array again"));
        }
        Ok(ArrayHeader { numbers, shape, fortran, data_offset })
    }
}

/// What a `.npy` file in the order and of the types of our tables holds and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpyHeader {
    /// The type of the numbers.
    pub element: ElementType,
    /// The length of each dimension.
    pub shape: Vec<u64>,
    /// Where the numbers start.
    pub data_offset: u64,
}

impl NpyHeader {
    /// Reads the header of a file that is `file_length` bytes long.
    ///
    /// `start` are its first bytes: [`needed_bytes`](Self::needed_bytes) of them, or all there are.
    pub fn parse(start: &[u8], file_length: u64) -> Result<Self> {
        let ArrayHeader { numbers, shape, fortran, data_offset } =
            ArrayHeader::parse(start, file_length)?;
        if fortran {
            let remedy = "save numpy.ascontiguousarray(array)";
            return Err(wrong(10, "Fortran order", "C order", remedy));
        }
        match numbers {
            ArrayType::Element(element) => Ok(NpyHeader { element, shape, data_offset }),
            unsigned => {
                let remedy = "save array.astype('int64')";
                Err(wrong(10, format!("type {unsigned}"), "a type of tables", remedy))
            }
        }
    }

    /// How many of a file's first bytes [`parse`](Self::parse) may look at.
    pub fn needed_bytes(file_length: u64) -> usize {
        // The longest frame in front of the text has twelve bytes.
        file_length.min(LONGEST_HEADER + 12) as usize
    }

    /// The header of an array of this type and shape; what follows are its numbers.
    pub fn encode(element: ElementType, shape: &[u64]) -> Result<Vec<u8>> {
        let Some((name, _)) = TYPES.iter().find(|(_, known)| *known == element) else {
            let problem = format!("NumPy has no {element}; convert the table to float32 first");
            return Err(Error::request("npy", problem));
        };
        let order = if element.width() == 1 { '|' } else { '<' };
        let sides: Vec<String> = shape.iter().map(u64::to_string).collect();
        let comma = if sides.len() == 1 { "," } else { "" };
        let text = format!(
            "{{'descr': '{order}{name}', 'fortran_order': False, 'shape': ({}{comma}), }}",
            sides.join(", ")
        );
        let frame = MAGIC.len() + 4;
        let length = (frame + text.len() + 1).next_multiple_of(ALIGNMENT) - frame;
        let short = u16::try_from(length)
            .map_err(|_| Error::request("npy", format!("a shape of {} sides", shape.len())))?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend(short.to_le_bytes());
        bytes.extend(text.bytes());
        bytes.resize(frame + length - 1, b' ');
        bytes.push(b'\n');
        Ok(bytes)
    }
}

/// An open `.npy` file.
#[derive(Clone, Debug)]
pub(crate) struct NpyFile {
    pub(crate) file: Arc<dyn ReadAt>,
    pub(crate) header: NpyHeader,
}

impl NpyFile {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = graphmill_disk::open(path, Backend::Pread)?;
        let mut start = vec![0; NpyHeader::needed_bytes(file.len())];
        file.read_exact_at(0, &mut start)?;
        let header = NpyHeader::parse(&start, file.len()).map_err(|error| error.in_file(path))?;
        Ok(NpyFile { file, header })
    }
}

/// Where the text of the header starts and how long it is.
fn frame(start: &[u8]) -> Result<(usize, u64)> {
    if !start.starts_with(&MAGIC) {
        let found = start[..start.len().min(6)].escape_ascii().to_string();
        return Err(wrong(0, found, "\\x93NUMPY", "is this a .npy file?"));
    }
    let (text_at, length) = match start.get(6..12) {
        Some(&[1, 0, low, high, ..]) => (10, u64::from(u16::from_le_bytes([low, high]))),
        Some(&[2 | 3, 0, a, b, c, d]) => (12, u64::from(u32::from_le_bytes([a, b, c, d]))),
        Some(&[major, minor, ..]) => {
            let found = format!("version {major}.{minor}");
            return Err(wrong(6, found, "version 1.0, 2.0 or 3.0", "save it with NumPy"));
        }
        _ => return Err(wrong(6, "the end of the file", "a header", "copy the file again")),
    };
    if length > LONGEST_HEADER {
        let found = format!("a header of {length} bytes");
        let expected = format!("at most {LONGEST_HEADER}");
        return Err(wrong(8, found, expected, "save a plain array of numbers"));
    }
    Ok((text_at, length))
}

fn type_of(descr: &str) -> Result<ArrayType> {
    let (order, name) = descr.split_at_checked(1).unwrap_or(("", ""));
    let elements = TYPES.iter().map(|(name, element)| (*name, ArrayType::Element(*element)));
    let known = elements.chain(UNSIGNED).find(|(known, _)| *known == name).map(|(_, found)| found);
    let expected = "little-endian i1 i2 i4 i8 u1 u2 u4 u8 b1 f2 f4 or f8";
    let found = |why: &str| format!("type {descr:?}{why}");
    match (order, known) {
        ("<", Some(numbers)) => Ok(numbers),
        ("|", Some(numbers)) if numbers.width() == 1 => Ok(numbers),
        (">", _) => {
            let remedy = "save array.astype(array.dtype.newbyteorder('<'))";
            Err(wrong(10, found(", big-endian"), expected, remedy))
        }
        _ if name.starts_with('O') => {
            let remedy = "pickled objects are never loaded; save a plain array of numbers";
            Err(wrong(10, found(", Python objects"), expected, remedy))
        }
        _ => Err(wrong(10, found(""), expected, "save array.astype('int64') or ('float32')")),
    }
}

/// A fault at a byte of the header.
fn wrong(at: usize, found: impl Display, expected: impl Display, remedy: &'static str) -> Error {
    Error::source(format!("byte {at}"), found, expected, remedy)
}
