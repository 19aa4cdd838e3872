//! The headers of pages.
//! Each is read by the strict rules of [`Thrift`], so that what is checked here is what is used. Statistics and other
//! fields that reading does not need are passed over.

use super::thrift::{Field, STRUCT, Thrift};

/// What stands before a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageHeader {
    /// Bytes of the page once it is unpacked.
    pub(super) unpacked: u32,
    /// Bytes of the page in the file.
    pub(super) packed: u32,
    /// The CRC-32 of the bytes in the file.
    pub(super) checksum: Option<u32>,
    pub(super) kind: PageKind,
}

/// What a page holds; encodings are numbers of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageKind {
    Data {
        values: u32,
        encoding: i32,
        levels: i32,
    },
    DataV2 {
        values: u32,
        nulls: u32,
        rows: u32,
        encoding: i32,
        levels: u32,
        is_compressed: bool,
    },
    Dictionary {
        values: u32,
        encoding: i32,
    },
    /// An index, which no reader needs.
    Other,
}

impl PageHeader {
    /// Reads a header; gives its length too. None if it is damaged or longer than the bytes.
    pub(super) fn parse(bytes: &[u8]) -> Option<(Self, usize)> {
        let mut thrift = Thrift::new(bytes);
        let (mut kind, mut unpacked, mut packed, mut checksum) = (None, None, None, None);
        let (mut data, mut dictionary, mut data_v2) = (None, None, None);
        let mut last = 0;
        while let Some(field) = thrift.field(&mut last)? {
            match field.id {
                1 => kind = Some(thrift.i32(field)?),
                2 => unpacked = Some(thrift.size(field)?),
                3 => packed = Some(thrift.size(field)?),
                4 => checksum = Some(thrift.i32(field)? as u32),
                5 => data = Some(data_page(&mut thrift, field)?),
                7 => dictionary = Some(dictionary_page(&mut thrift, field)?),
                8 => data_v2 = Some(data_page_v2(&mut thrift, field)?),
                _ => thrift.skip(field.kind)?,
            }
        }
        let kind = match kind? {
            0 => data?,
            1 => PageKind::Other,
            2 => dictionary?,
            3 => data_v2?,
            _ => return None,
        };
        let header = PageHeader { unpacked: unpacked?, packed: packed?, checksum, kind };
        Some((header, bytes.len() - thrift.left()))
    }

    /// Values of a page of data.
    pub(super) fn values(&self) -> Option<u32> {
        match self.kind {
            PageKind::Data { values, .. } | PageKind::DataV2 { values, .. } => Some(values),
            PageKind::Dictionary { .. } | PageKind::Other => None,
        }
    }
}

fn data_page(thrift: &mut Thrift<'_>, field: Field) -> Option<PageKind> {
    let (mut values, mut encoding, mut levels) = (None, None, None);
    each_field(thrift, field, |thrift, field| {
        match field.id {
            1 => values = Some(thrift.size(field)?),
            2 => encoding = Some(thrift.i32(field)?),
            3 => levels = Some(thrift.i32(field)?),
            _ => thrift.skip(field.kind)?,
        }
        Some(())
    })?;
    Some(PageKind::Data { values: values?, encoding: encoding?, levels: levels? })
}

fn dictionary_page(thrift: &mut Thrift<'_>, field: Field) -> Option<PageKind> {
    let (mut values, mut encoding) = (None, None);
    each_field(thrift, field, |thrift, field| {
        match field.id {
            1 => values = Some(thrift.size(field)?),
            2 => encoding = Some(thrift.i32(field)?),
            _ => thrift.skip(field.kind)?,
        }
        Some(())
    })?;
    Some(PageKind::Dictionary { values: values?, encoding: encoding? })
}

fn data_page_v2(thrift: &mut Thrift<'_>, field: Field) -> Option<PageKind> {
    let (mut sizes, mut encoding, mut is_compressed) = ([None; 5], None, true);
    each_field(thrift, field, |thrift, field| {
        match field.id {
            // Values, nulls, rows, and the lengths of both kinds of levels.
            1..=3 => sizes[field.id as usize - 1] = Some(thrift.size(field)?),
            4 => encoding = Some(thrift.i32(field)?),
            5 | 6 => sizes[field.id as usize - 2] = Some(thrift.size(field)?),
            7 => is_compressed = field.boolean()?,
            _ => thrift.skip(field.kind)?,
        }
        Some(())
    })?;
    let [values, nulls, rows, definition, repetition] = sizes;
    // Columns that are read have no lists, and so no levels of repetition.
    let levels = definition.filter(|_| repetition == Some(0))?;
    let (values, nulls, rows) = (values?, nulls?, rows?);
    Some(PageKind::DataV2 { values, nulls, rows, encoding: encoding?, levels, is_compressed })
}

fn each_field(
    thrift: &mut Thrift<'_>,
    of: Field,
    mut take: impl FnMut(&mut Thrift<'_>, Field) -> Option<()>,
) -> Option<()> {
    if of.kind != STRUCT {
        return None;
    }
    let mut last = 0;
    while let Some(field) = thrift.field(&mut last)? {
        take(thrift, field)?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_each_kind_are_read() {
        // A page of 3 values in 40 bytes packed into 20, with an unknown struct behind.
        let data = [0x15, 0, 0x15, 80, 0x15, 40, 0x2C, 0x15, 6, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0, 9];
        let (header, length) = PageHeader::parse(&data).unwrap();
        assert_eq!((header.unpacked, header.packed, header.checksum), (40, 20, None));
        assert_eq!(header.kind, PageKind::Data { values: 3, encoding: 0, levels: 3 });
        assert_eq!(length, data.len() - 1);
        let dictionary = [0x15, 4, 0x15, 2, 0x15, 2, 0x15, 1, 0x3C, 0x15, 2, 0x15, 0, 0, 0];
        let (header, _) = PageHeader::parse(&dictionary).unwrap();
        assert_eq!(header.kind, PageKind::Dictionary { values: 1, encoding: 0 });
        assert_eq!(header.checksum, Some(-1_i32 as u32));
        let version_2 = [
            0x15, 6, 0x15, 2, 0x15, 2, 0x5C, 0x15, 8, 0x15, 2, 0x15, 8, 0x15, 0, 0x15, 4, 0x15, 0,
            0x12, 0, 0,
        ];
        let (header, _) = PageHeader::parse(&version_2).unwrap();
        let expected = PageKind::DataV2 {
            values: 4,
            nulls: 1,
            rows: 4,
            encoding: 0,
            levels: 2,
            is_compressed: false,
        };
        assert_eq!(header.kind, expected);
        assert_eq!(header.values(), Some(4));
    }

    #[test]
    fn damaged_headers_are_none() {
        let negative = [0x15, 0, 0x15, 1, 0x15, 40, 0x2C, 0x15, 6, 0x15, 0, 0x15, 6, 0, 0];
        let without_values = [0x15, 0, 0x15, 2, 0x15, 2, 0x2C, 0x25, 0, 0x15, 6, 0, 0];
        let too_large = [0x15, 0, 0x15, 0xFE, 0xFF, 0xFF, 0xFF, 0x1F, 0];
        for bytes in [&[][..], &[0], &negative, &without_values, &too_large] {
            assert_eq!(PageHeader::parse(bytes), None, "{bytes:?}");
        }
    }
}
