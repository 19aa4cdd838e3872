//! What the numbers of an array are.
//! NumPy has unsigned types that no table of ours has; sources may hold them, and they become the
//! next wider signed type. It sits between the headers of arrays and the readers of their numbers,
//! and must not know either.

use std::str::FromStr;

use graphmill_format::ElementType;

use crate::Error;

/// The type of an array's numbers: one that tables have, or an unsigned one that becomes wider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArrayType {
    /// A type that tables have.
    Element(ElementType),
    /// Unsigned, 16 bits: int32 in a table.
    U16,
    /// Unsigned, 32 bits: int64 in a table.
    U32,
    /// Unsigned, 64 bits: int64 in a table, if the numbers are below 2^63.
    U64,
}

impl ArrayType {
    /// Bytes of one number.
    pub fn width(self) -> u64 {
        match self {
            ArrayType::Element(element) => element.width(),
            ArrayType::U16 => 2,
            ArrayType::U32 => 4,
            ArrayType::U64 => 8,
        }
    }

    /// The type that a table of these numbers has unless another is asked for.
    pub fn table_element(self) -> ElementType {
        match self {
            ArrayType::Element(element) => element,
            ArrayType::U16 => ElementType::I32,
            ArrayType::U32 | ArrayType::U64 => ElementType::I64,
        }
    }

    /// As NumPy calls it.
    pub fn name(self) -> &'static str {
        match self {
            ArrayType::Element(element) => element.name(),
            ArrayType::U16 => "uint16",
            ArrayType::U32 => "uint32",
            ArrayType::U64 => "uint64",
        }
    }

    /// Whether the numbers are whole; booleans are no numbers.
    pub(crate) fn is_integer(self) -> bool {
        use ElementType::{I8, I16, I32, I64, U8};
        match self {
            ArrayType::Element(element) => matches!(element, I8 | I16 | I32 | I64 | U8),
            _ => true,
        }
    }
}

impl From<ElementType> for ArrayType {
    fn from(element: ElementType) -> Self {
        match element {
            ElementType::U64 => ArrayType::U64,
            element => ArrayType::Element(element),
        }
    }
}

impl FromStr for ArrayType {
    type Err = Error;

    /// Accepts the names of NumPy, such as `uint16`, and the short ones of element types.
    fn from_str(text: &str) -> Result<Self, Error> {
        let unsigned = [ArrayType::U16, ArrayType::U32, ArrayType::U64];
        match unsigned.into_iter().find(|numbers| numbers.name() == text) {
            Some(numbers) => Ok(numbers),
            None => text
                .parse::<ElementType>()
                .map(ArrayType::Element)
                .map_err(|error| Error::request("array", error.to_string())),
        }
    }
}

impl std::fmt::Display for ArrayType {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name())
    }
}
