//! Thrift's compact protocol, as far as Parquet's footers and page headers need it.
//!
//! The reader is stricter than the protocol: fields ascend, numbers fit their types, collections are no longer than
//! the bytes that are left, and nesting is bounded. So walking any bytes takes time in proportion to their number and
//! no memory. `None` means that the bytes break one of these rules, or end early.

/// Types of fields and elements.
pub(super) const I32: u8 = 5;
pub(super) const I64: u8 = 6;
pub(super) const LIST: u8 = 9;
pub(super) const STRUCT: u8 = 12;
const TRUE: u8 = 1;
const FALSE: u8 = 2;

/// Structs and collections within each other; the library allows 64.
const DEEPEST: u32 = 48;

/// A field of a struct: its number and its type, which for a boolean is its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) id: i16,
    pub(super) kind: u8,
}

impl Field {
    /// The value of a boolean field.
    pub(super) fn boolean(self) -> Option<bool> {
        match self.kind {
            TRUE => Some(true),
            FALSE => Some(false),
            _ => None,
        }
    }
}

/// Bytes that are read from the front.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thrift<'a> {
    rest: &'a [u8],
}

impl<'a> Thrift<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Thrift { rest: bytes }
    }

    /// Bytes that are left.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    fn advance(&mut self, length: usize) -> Option<()> {
        self.rest = self.rest.get(length..)?;
        Some(())
    }

    /// An unsigned number of 7 bits a byte.
    pub(super) fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            if shift == 63 && bits > 1 {
                return None;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// A signed number, its sign in the lowest bit.
    pub(super) fn signed(&mut self) -> Option<i64> {
        let value = self.unsigned()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// The value of an i32 field.
    pub(super) fn i32(&mut self, field: Field) -> Option<i32> {
        if field.kind != I32 {
            return None;
        }
        i32::try_from(self.signed()?).ok()
    }

    /// A count, a length or a size: an i32 field that is not negative.
    pub(super) fn size(&mut self, field: Field) -> Option<u32> {
        u32::try_from(self.i32(field)?).ok()
    }

    /// The next field of a struct, `Some(None)` at its end; `last` is the number of the field before, 0 at first.
    pub(super) fn field(&mut self, last: &mut i16) -> Option<Option<Field>> {
        let head = self.byte()?;
        let kind = head & 0xF;
        if kind == 0 {
            return (head == 0).then_some(None);
        }
        let id = match i16::from(head >> 4) {
            0 => i16::try_from(self.signed()?).ok()?,
            step => last.checked_add(step)?,
        };
        if id <= *last || kind > 13 {
            return None;
        }
        *last = id;
        Some(Some(Field { id, kind }))
    }

    /// The type and number of the elements of a list, each of which takes at least one byte.
    pub(super) fn list(&mut self) -> Option<(u8, usize)> {
        let head = self.byte()?;
        let count = match usize::from(head >> 4) {
            15 => usize::try_from(self.unsigned()?).ok()?,
            count => count,
        };
        let kind = head & 0xF;
        // Readers disagree on how long a boolean in a list is, and Parquet's footers have none.
        let is_known = (3..=13).contains(&kind) || (count == 0 && kind <= 13);
        (is_known && count <= self.left()).then_some((kind, count))
    }

    /// Passes over the value of a field.
    pub(super) fn skip(&mut self, kind: u8) -> Option<()> {
        self.skip_within(kind, DEEPEST)
    }

    fn skip_within(&mut self, kind: u8, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            TRUE | FALSE => {}
            3 => self.advance(1)?,
            4..=6 => drop(self.unsigned()?),
            7 => self.advance(8)?,
            8 => {
                let length = self.unsigned()?;
                self.advance(usize::try_from(length).ok()?)?;
            }
            LIST | 10 => {
                let (kind, count) = self.list()?;
                (0..count).try_for_each(|_| self.skip_within(kind, depth))?;
            }
            11 => {
                let count = usize::try_from(self.unsigned()?).ok()?;
                if count > 0 {
                    let kinds = self.byte()?;
                    let (key, value) = (kinds >> 4, kinds & 0xF);
                    if count > self.left() || key < 3 || value < 3 {
                        return None;
                    }
                    for _ in 0..count {
                        self.skip_within(key, depth)?;
                        self.skip_within(value, depth)?;
                    }
                }
            }
            STRUCT => {
                let mut last = 0;
                while let Some(field) = self.field(&mut last)? {
                    self.skip_within(field.kind, depth)?;
                }
            }
            13 => self.advance(16)?,
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn skipped(kind: u8, bytes: &[u8]) -> Option<usize> {
        let mut thrift = Thrift::new(bytes);
        thrift.skip(kind).map(|()| bytes.len() - thrift.left())
    }

    #[test]
    fn values_are_passed_over() {
        assert_eq!(skipped(I64, &[0x80, 1, 7]), Some(2));
        assert_eq!(skipped(8, &[2, b'a', b'b', b'c']), Some(3));
        // A list of two i32, and a struct of a true boolean, an i32 and the end.
        assert_eq!(skipped(LIST, &[0x25, 1, 2]), Some(3));
        assert_eq!(skipped(STRUCT, &[0x11, 0x15, 4, 0]), Some(4));
    }

    #[test]
    fn what_claims_too_much_is_refused() {
        for (kind, bytes) in [
            // A list of 2^31 booleans, a long list, a long text, a map of more than there is.
            (LIST, &[0xF1, 0xFF, 0xFF, 0xFF, 0xFF, 7][..]),
            (LIST, &[0xFC, 0xFF, 0x7F, 0]),
            (8, &[5, b'a']),
            (11, &[9, 0x55, 1, 1]),
            // A number of 11 bytes, fields that do not ascend, an unknown type.
            (I64, &[0xFF; 11]),
            (STRUCT, &[0x15, 2, 0x05, 2, 2, 0]),
            (STRUCT, &[0x1E, 0]),
        ] {
            assert_eq!(skipped(kind, bytes), None, "{bytes:?}");
        }
        // Lists within lists, one byte each.
        assert_eq!(skipped(LIST, &[0x19; 10_000]), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_walked_within_their_length(
            kind in 0_u8..16, bytes in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            if let Some(length) = skipped(kind, &bytes) {
                prop_assert!(length <= bytes.len());
            }
        }
    }
}
