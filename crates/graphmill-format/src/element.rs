//! The types that an element of a section can have.

use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// The type of one element. The numbers are part of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
#[non_exhaustive]
pub enum ElementType {
    /// Signed, 8 bits.
    I8 = 1,
    /// Signed, 16 bits.
    I16 = 2,
    /// Signed, 32 bits.
    I32 = 3,
    /// Signed, 64 bits.
    I64 = 4,
    /// Unsigned, 8 bits.
    U8 = 5,
    /// One byte, 0 or 1.
    Bool = 6,
    /// IEEE half precision.
    F16 = 7,
    /// The upper half of an `f32`.
    Bf16 = 8,
    /// IEEE single precision.
    F32 = 9,
    /// IEEE double precision.
    F64 = 10,
    /// Unsigned, 64 bits: offsets and digests, never a table.
    U64 = 11,
}

use ElementType::{Bf16, Bool, F16, F32, F64, I8, I16, I32, I64, U8, U64};

impl ElementType {
    /// Every type, in the order of their numbers.
    pub const ALL: [ElementType; 11] = [I8, I16, I32, I64, U8, Bool, F16, Bf16, F32, F64, U64];

    /// Bytes of one element.
    pub fn width(self) -> u64 {
        match self {
            I8 | U8 | Bool => 1,
            I16 | F16 | Bf16 => 2,
            I32 | F32 => 4,
            I64 | F64 | U64 => 8,
        }
    }

    /// The name used in every interface, as NumPy and torch users know it.
    pub fn name(self) -> &'static str {
        match self {
            I8 => "int8",
            I16 => "int16",
            I32 => "int32",
            I64 => "int64",
            U8 => "uint8",
            Bool => "bool",
            F16 => "float16",
            Bf16 => "bfloat16",
            F32 => "float32",
            F64 => "float64",
            U64 => "uint64",
        }
    }

    /// Whether a `.gd` table may have this type.
    pub fn is_table_type(self) -> bool {
        self != U64
    }

    pub(crate) fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|&element| element as u32 == code)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for ElementType {
    type Err = Error;

    /// Accepts the full names and the short ones of the command line: `float16` and `f16`.
    fn from_str(text: &str) -> Result<Self> {
        let short = |element: ElementType| match element {
            Bf16 => "bf16",
            Bool => "bool",
            I8 => "i8",
            I16 => "i16",
            I32 => "i32",
            I64 => "i64",
            U8 => "u8",
            F16 => "f16",
            F32 => "f32",
            F64 => "f64",
            U64 => "u64",
        };
        Self::ALL
            .into_iter()
            .filter(|element| element.is_table_type())
            .find(|&element| element.name() == text || short(element) == text)
            .ok_or_else(|| {
                let names = "i8, i16, i32, i64, u8, bool, f16, bf16, f32, f64";
                Error::impossible("element type", format!("{text:?} is none of {names}"))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_codes_lead_back_to_the_type() {
        for element in ElementType::ALL {
            assert_eq!(ElementType::from_code(element as u32), Some(element));
            if element.is_table_type() {
                assert_eq!(element.name().parse(), Ok(element));
            }
        }
        assert_eq!("bf16".parse(), Ok(Bf16));
        assert_eq!(ElementType::from_code(0), None);
        assert!("uint64".parse::<ElementType>().is_err());
    }
}
