//! One cell of text into the bytes of an element type.
//! Nothing is rounded into an integer and nothing overflows silently: what does not fit is said
//! to be unfit. It must not know rows.

use graphmill_format::ElementType;
use half::{bf16, f16};

use super::text::{Unfit, numbers};

/// What the cells of a table become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cells {
    /// Numbers of one type; an empty or NaN cell may stand for a value.
    Numbers { element: ElementType, missing: Option<i64> },
    /// Words, as they are.
    Text,
}

impl Cells {
    pub(crate) fn element(&self) -> Option<ElementType> {
        match self {
            Cells::Numbers { element, .. } => Some(*element),
            Cells::Text => None,
        }
    }

    /// What a message says a cell may be.
    pub(crate) fn wanted(&self) -> &'static str {
        match self {
            Cells::Text => "text in UTF-8",
            Cells::Numbers { element, .. } => match element {
                ElementType::I8 => "a whole number from -128 to 127 (int8)",
                ElementType::I16 => "a whole number from -32768 to 32767 (int16)",
                ElementType::I32 => "a whole number from -2^31 to 2^31 - 1 (int32)",
                ElementType::I64 | ElementType::U64 => {
                    "a whole number from -2^63 to 2^63 - 1 (int64)"
                }
                ElementType::U8 => "a whole number from 0 to 255 (uint8)",
                ElementType::Bool => "0, 1, true or false (bool)",
                ElementType::F16 => "a number that float16 can hold, to 65504",
                ElementType::Bf16 => "a number that bfloat16 can hold",
                ElementType::F64 => "a number that float64 can hold",
                _ => "a number that float32 can hold",
            },
        }
    }
}

/// Adds the bytes of one cell.
pub(crate) fn encode(
    element: ElementType,
    missing: Option<i64>,
    text: &[u8],
    into: &mut Vec<u8>,
) -> Result<(), Unfit> {
    if let Some(missing) = missing
        && (numbers::is_gap(text) || numbers::float(text).is_ok_and(f64::is_nan))
    {
        return push_signed(element, missing, into);
    }
    match element {
        ElementType::F32 => {
            let value = single(text)?;
            into.extend_from_slice(&value.to_le_bytes());
        }
        ElementType::F64 => into.extend_from_slice(&numbers::float(text)?.to_le_bytes()),
        ElementType::F16 | ElementType::Bf16 => push_float(element, numbers::float(text)?, into)?,
        ElementType::Bool => match numbers::boolean(text) {
            Some(value) => into.push(value.into()),
            None => push_signed(element, numbers::signed(text)?, into)?,
        },
        _ => push_signed(element, numbers::signed(text)?, into)?,
    }
    Ok(())
}

/// A float32; infinities only where the text says so.
fn single(text: &[u8]) -> Result<f32, Unfit> {
    if text.is_empty() {
        return Err(Unfit::Empty);
    }
    let value = fast_float2::parse::<f32, _>(text).map_err(|_| Unfit::NotANumber)?;
    if value.is_infinite() && text.iter().any(u8::is_ascii_digit) {
        return Err(if value < 0.0 { Unfit::TooSmall } else { Unfit::TooLarge });
    }
    Ok(value)
}

/// A number that is whole, as whatever the element is.
pub(crate) fn push_signed(
    element: ElementType,
    value: i64,
    into: &mut Vec<u8>,
) -> Result<(), Unfit> {
    let too_far = if value < 0 { Unfit::TooSmall } else { Unfit::TooLarge };
    match element {
        ElementType::I8 => into.extend(i8::try_from(value).map_err(|_| too_far)?.to_le_bytes()),
        ElementType::I16 => into.extend(i16::try_from(value).map_err(|_| too_far)?.to_le_bytes()),
        ElementType::I32 => into.extend(i32::try_from(value).map_err(|_| too_far)?.to_le_bytes()),
        ElementType::U8 => into.push(u8::try_from(value).map_err(|_| too_far)?),
        ElementType::Bool => match value {
            0 | 1 => into.push(value as u8),
            _ => return Err(too_far),
        },
        ElementType::F32 => into.extend((value as f32).to_le_bytes()),
        ElementType::F64 => into.extend((value as f64).to_le_bytes()),
        ElementType::F16 | ElementType::Bf16 => return push_float(element, value as f64, into),
        _ => into.extend(value.to_le_bytes()),
    }
    Ok(())
}

/// A number as float16, bfloat16, float32 or float64; finite ones stay finite.
pub(crate) fn push_float(
    element: ElementType,
    value: f64,
    into: &mut Vec<u8>,
) -> Result<(), Unfit> {
    let (stays, bytes) = match element {
        ElementType::F16 => {
            let half = f16::from_f64(value);
            (half.is_finite(), half.to_bits())
        }
        ElementType::Bf16 => {
            let half = bf16::from_f64(value);
            (half.is_finite(), half.to_bits())
        }
        ElementType::F32 if value.is_finite() && !(value as f32).is_finite() => (false, 0),
        ElementType::F32 => {
            into.extend((value as f32).to_le_bytes());
            return Ok(());
        }
        _ => {
            into.extend(value.to_le_bytes());
            return Ok(());
        }
    };
    if value.is_finite() && !stays {
        return Err(if value < 0.0 { Unfit::TooSmall } else { Unfit::TooLarge });
    }
    into.extend(bytes.to_le_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(element: ElementType, text: &str) -> Result<Vec<u8>, Unfit> {
        let mut bytes = Vec::new();
        encode(element, None, text.as_bytes(), &mut bytes).map(|()| bytes)
    }

    #[test]
    fn cells_that_fit_become_their_bytes() {
        assert_eq!(cell(ElementType::I8, "-128"), Ok(vec![0x80]));
        assert_eq!(cell(ElementType::U8, "255.0"), Ok(vec![255]));
        for (text, value) in [("true", 1), ("TRUE", 1), ("tRUe", 1), ("1", 1), ("False", 0)] {
            assert_eq!(cell(ElementType::Bool, text), Ok(vec![value]));
        }
        assert_eq!(cell(ElementType::F32, "-0.5"), Ok((-0.5_f32).to_le_bytes().to_vec()));
        assert_eq!(cell(ElementType::F16, "1"), Ok(vec![0, 0x3C]));
        assert_eq!(cell(ElementType::F16, "inf"), Ok(vec![0, 0x7C]));
        assert_eq!(cell(ElementType::I64, "1e3"), Ok(1000_i64.to_le_bytes().to_vec()));
    }

    #[test]
    fn cells_that_do_not_fit_are_refused() {
        for (element, text, why) in [
            (ElementType::I8, "128", Unfit::TooLarge),
            (ElementType::U8, "-1", Unfit::TooSmall),
            (ElementType::I32, "1.5", Unfit::Fraction),
            (ElementType::I64, "cat", Unfit::NotANumber),
            (ElementType::I64, "nan", Unfit::NotANumber),
            (ElementType::Bool, "2", Unfit::TooLarge),
            (ElementType::F16, "65520", Unfit::TooLarge),
            (ElementType::F32, "1e39", Unfit::TooLarge),
            (ElementType::F32, "-1e39", Unfit::TooSmall),
            (ElementType::F64, "1e309", Unfit::TooLarge),
            (ElementType::F32, "", Unfit::Empty),
            (ElementType::F32, "0.5x", Unfit::NotANumber),
        ] {
            assert_eq!(cell(element, text), Err(why), "{element} {text:?}");
        }
    }

    #[test]
    fn gaps_become_the_value_for_missing_ones() {
        for text in ["", "nan", "NaN", "NA", "null", "?", "-"] {
            let mut bytes = Vec::new();
            encode(ElementType::I64, Some(-1), text.as_bytes(), &mut bytes).unwrap();
            assert_eq!(bytes, (-1_i64).to_le_bytes());
        }
    }
}
