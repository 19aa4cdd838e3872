//! The pages of one column of one row group, checked before the library decodes them.
//!
//! The library believes what a page says of itself. So headers, sizes, counts and encodings are checked here: a page
//! is read and unpacked only when the budget has paid for it, holds no more values than its column has left, and
//! nothing that decoding takes memory for is larger than what was paid. Work per page is constant, but for texts that
//! share prefixes, whose lengths are added up.

use std::sync::Arc;

use bytes::Bytes;
use graphmill_disk::ReadAt;
use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result as LibraryResult};

use super::REMEDY;
use super::delta::{DeltaHeader, sum_of_lengths};
use super::page_charge::PageCharge;
use super::page_header::{PageHeader, PageKind};
use super::unpack::unpack;
use crate::{Error, Result};

/// Bytes in which most headers end.
const USUAL_HEADER: u64 = 256;
/// The longest header: there may be statistics in it, which hold two values.
const LONGEST_HEADER: u64 = 1 << 20;
/// What a value of a dictionary takes once it is decoded, at most: a number, or a view of a text.
const DECODED: u64 = 16;

/// What the footer says of a column of a row group.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    /// The place for messages: row group and column.
    pub(super) name: String,
    /// Which of the columns that are read.
    pub(super) column: usize,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) values: u64,
    pub(super) codec: Compression,
    pub(super) physical: Type,
    /// Bytes of a value of fixed length.
    pub(super) width: u32,
    /// Whether values may be missing, so that pages have definition levels.
    pub(super) is_optional: bool,
}

/// Reads the pages of one chunk in order.
pub(super) struct Pages {
    file: Arc<dyn ReadAt>,
    charge: Arc<PageCharge>,
    chunk: Chunk,
    at: u64,
    left: u64,
    has_dictionary: bool,
}

impl Pages {
    pub(super) fn new(file: Arc<dyn ReadAt>, charge: Arc<PageCharge>, chunk: Chunk) -> Self {
        let (at, left) = (chunk.start, chunk.values);
        Pages { file, charge, chunk, at, left, has_dictionary: false }
    }

    /// The sum of the values of all pages, by their headers alone.
    pub(super) fn count_values(mut self) -> Result<u64> {
        let mut sum = 0_u64;
        while self.at < self.chunk.end {
            let (header, length) = self.header()?;
            sum += u64::from(header.values().unwrap_or(0));
            self.at += length + u64::from(header.packed);
        }
        Ok(sum)
    }

    fn next_page(&mut self) -> Result<Option<Page>> {
        while self.at < self.chunk.end {
            let (header, length) = self.header()?;
            let start = self.at + length;
            let page = match header.kind {
                PageKind::Other => None,
                PageKind::Dictionary { values, encoding } => {
                    Some(self.dictionary(&header, start, values, encoding)?)
                }
                PageKind::Data { .. } | PageKind::DataV2 { .. } => Some(self.data(&header, start)?),
            };
            self.at = start + u64::from(header.packed);
            if page.is_some() {
                return Ok(page);
            }
        }
        if self.left > 0 {
            let (found, expected) = (
                self.chunk.values - self.left,
                format!("{} values in its pages", self.chunk.values),
            );
            return Err(self.fault(found, expected));
        }
        Ok(None)
    }

    /// The header at the current position and its length; the page behind it lies in the chunk.
    fn header(&self) -> Result<(PageHeader, u64)> {
        let room = self.chunk.end - self.at;
        let mut window = USUAL_HEADER;
        loop {
            let mut bytes = vec![0; window.min(room) as usize];
            self.file.read_exact_at(self.at, &mut bytes)?;
            if let Some((header, length)) = PageHeader::parse(&bytes) {
                let length = length as u64;
                if length + u64::from(header.packed) > room {
                    let found = format!("a page of {} bytes", header.packed);
                    let expected = format!("one that ends within the {room} bytes of its column");
                    return Err(self.fault(found, expected));
                }
                return Ok((header, length));
            }
            if window >= room.min(LONGEST_HEADER) {
                return Err(self.fault("other bytes", "the header of a page"));
            }
            window *= 16;
        }
    }

    fn dictionary(
        &mut self,
        header: &PageHeader,
        start: u64,
        values: u32,
        encoding: i32,
    ) -> Result<Page> {
        if self.has_dictionary || self.left < self.chunk.values {
            return Err(self.fault("a further dictionary", "one, before all values"));
        }
        if !matches!(encoding, 0 | 2) {
            return Err(self.fault(format!("a dictionary in encoding {encoding}"), "a plain one"));
        }
        self.has_dictionary = true;
        let (unpacked, packed) = (u64::from(header.unpacked), u64::from(header.packed));
        let least = match self.chunk.physical {
            Type::BOOLEAN => return Err(self.fault("a dictionary", "none for booleans")),
            Type::INT32 | Type::FLOAT | Type::BYTE_ARRAY => 4,
            Type::INT64 | Type::DOUBLE => 8,
            Type::INT96 => 12,
            Type::FIXED_LEN_BYTE_ARRAY => u64::from(self.chunk.width.max(1)),
        };
        let count = u64::from(values);
        let held = unpacked.max(packed);
        if count * least > held {
            let found = format!("a dictionary of {values} values in {held} bytes");
            return Err(self.fault(found, format!("at least {least} bytes for each")));
        }
        let decoded = count * DECODED.max(u64::from(self.chunk.width) + DECODED);
        let column = self.chunk.column;
        self.charge.dictionary(column, packed + unpacked + decoded)?;
        let buf = self.body(header, start, 0, true)?;
        self.charge.dictionary(column, held + decoded)?;
        let encoding = Encoding::PLAIN;
        Ok(Page::DictionaryPage { buf, num_values: values, encoding, is_sorted: false })
    }

    fn data(&mut self, header: &PageHeader, start: u64) -> Result<Page> {
        let values = header.values().unwrap_or(0);
        if u64::from(values) > self.left {
            let expected = format!("the {} that its column has left", self.left);
            return Err(self.fault(format!("a page of {values} values"), expected));
        }
        let (raw_encoding, levels, is_compressed) = match header.kind {
            PageKind::DataV2 { encoding, levels, is_compressed, nulls, rows, .. } => {
                if nulls > values || rows != values {
                    let found = format!("{values} values in {rows} rows, {nulls} of them missing");
                    return Err(self.fault(found, "a value or none for every row"));
                }
                if levels > header.packed.min(header.unpacked) {
                    return Err(self.fault("levels longer than their page", "shorter ones"));
                }
                (encoding, levels as usize, is_compressed)
            }
            PageKind::Data { encoding, levels, .. } => {
                if self.chunk.is_optional && !matches!(levels, 3 | 4) {
                    return Err(self.fault(format!("levels in encoding {levels}"), "RLE"));
                }
                (encoding, 0, true)
            }
            PageKind::Dictionary { .. } | PageKind::Other => unreachable!("these hold no values"),
        };
        let encoding = self.encoding(raw_encoding)?;
        let (unpacked, packed) = (u64::from(header.unpacked), u64::from(header.packed));
        // Old writers put lengths before values of fixed length, which are copied then.
        let copied = match self.chunk.physical {
            Type::FIXED_LEN_BYTE_ARRAY => u64::from(self.chunk.width) * u64::from(values),
            _ => 0,
        };
        let column = self.chunk.column;
        self.charge.page(column, packed + unpacked + copied)?;
        let buf = self.body(header, start, levels, is_compressed)?;
        self.pay_for_decoding(&buf, header, encoding, (levels, copied))?;
        self.left -= u64::from(values);
        Ok(match header.kind {
            PageKind::DataV2 { nulls, rows, .. } => Page::DataPageV2 {
                buf,
                num_values: values,
                encoding,
                num_nulls: nulls,
                num_rows: rows,
                def_levels_byte_len: levels as u32,
                rep_levels_byte_len: 0,
                is_compressed,
                statistics: None,
            },
            _ => Page::DataPage {
                buf,
                num_values: values,
                encoding,
                def_level_encoding: level_encoding(header),
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            },
        })
    }

    /// The bytes of a page, unpacked behind its levels, which are never packed.
    fn body(
        &self,
        header: &PageHeader,
        start: u64,
        levels: usize,
        is_compressed: bool,
    ) -> Result<Bytes> {
        let mut bytes = vec![0; header.packed as usize];
        self.file.read_exact_at(start, &mut bytes)?;
        if let Some(expected) = header.checksum {
            let mut found = flate2::Crc::new();
            found.update(&bytes);
            if found.sum() != expected {
                let found = format!("a page with checksum {:08x}", found.sum());
                return Err(self.fault(found, format!("{expected:08x}, as its header says")));
            }
        }
        if !is_compressed || self.chunk.codec == Compression::UNCOMPRESSED {
            return Ok(bytes.into());
        }
        let length = header.unpacked as usize;
        // Taken once, with room for all.
        let mut unpacked = Vec::with_capacity(length);
        unpacked.extend_from_slice(&bytes[..levels]);
        let unpacked = unpack(self.chunk.codec, &bytes[levels..], unpacked, length);
        Ok(unpacked.map_err(|found| self.fault(found, format!("a page of {length} bytes")))?.into())
    }

    fn encoding(&self, number: i32) -> Result<Encoding> {
        use Type::{BOOLEAN, BYTE_ARRAY, DOUBLE, FIXED_LEN_BYTE_ARRAY, FLOAT, INT32, INT64, INT96};
        let physical = self.chunk.physical;
        let (encoding, types): (_, &[Type]) = match number {
            0 => return Ok(Encoding::PLAIN),
            2 | 8 if !self.has_dictionary => {
                return Err(self.fault("values of a dictionary", "the dictionary before them"));
            }
            2 | 8 => (
                Encoding::RLE_DICTIONARY,
                &[INT32, INT64, INT96, FLOAT, DOUBLE, BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY],
            ),
            3 => (Encoding::RLE, &[BOOLEAN]),
            5 => (Encoding::DELTA_BINARY_PACKED, &[INT32, INT64]),
            6 => (Encoding::DELTA_LENGTH_BYTE_ARRAY, &[BYTE_ARRAY]),
            7 => (Encoding::DELTA_BYTE_ARRAY, &[BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY]),
            9 => {
                (Encoding::BYTE_STREAM_SPLIT, &[INT32, INT64, FLOAT, DOUBLE, FIXED_LEN_BYTE_ARRAY])
            }
            _ => return Err(self.fault(format!("encoding {number}"), "one that is read")),
        };
        if !types.contains(&physical) {
            let found = format!("encoding {encoding} of {physical} values");
            return Err(self.fault(found, "one that fits them"));
        }
        Ok(encoding)
    }

    /// Pays for a page and for what decoding makes of it: lists of lengths, which are as long as the page says, and
    /// texts that share prefixes.
    fn pay_for_decoding(
        &self,
        buf: &Bytes,
        header: &PageHeader,
        encoding: Encoding,
        (levels, copied): (usize, u64),
    ) -> Result<()> {
        let column = self.chunk.column;
        let held = buf.len() as u64 + copied;
        self.charge.resize_page(column, held)?;
        let lists = match encoding {
            Encoding::DELTA_BINARY_PACKED => 0,
            Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
            Encoding::DELTA_BYTE_ARRAY => 2,
            _ => return Ok(()),
        };
        let damaged = || self.fault("a damaged stream of differences", "one for the page's values");
        let data = self.values_in(buf, header, levels).ok_or_else(damaged)?;
        if data.is_empty() {
            // All values are missing.
            return Ok(());
        }
        let values = u64::from(header.values().unwrap_or(0));
        let stream = DeltaHeader::parse(data).filter(|stream| stream.values <= values);
        let stream = stream.ok_or_else(damaged)?;
        let held = held + lists * 4 * stream.values;
        self.charge.resize_page(column, held)?;
        if encoding == Encoding::DELTA_BYTE_ARRAY {
            // Every text is built anew from the prefix that it shares with the one before.
            let prefixes = sum_of_lengths(data, stream).ok_or_else(damaged)?;
            let whole = prefixes.saturating_add(data.len() as u64).saturating_add(held);
            self.charge.resize_page(column, whole)?;
        }
        Ok(())
    }

    /// The bytes of a page behind its levels.
    fn values_in<'b>(
        &self,
        buf: &'b Bytes,
        header: &PageHeader,
        levels: usize,
    ) -> Option<&'b [u8]> {
        let start = match header.kind {
            PageKind::Data { .. } if !self.chunk.is_optional => 0,
            PageKind::Data { values, levels: 4, .. } => values.div_ceil(8) as usize,
            PageKind::Data { .. } => {
                let length = u32::from_le_bytes(*buf.first_chunk()?);
                4 + length as usize
            }
            _ => levels,
        };
        buf.get(start..)
    }

    fn fault(&self, found: impl ToString, expected: impl ToString) -> Error {
        let place = format!("{}, page at byte {}", self.chunk.name, self.at);
        Error::source(place, found, expected, REMEDY).in_file(self.file.path())
    }
}

fn level_encoding(header: &PageHeader) -> Encoding {
    match header.kind {
        #[expect(deprecated, reason = "old files have it")]
        PageKind::Data { levels: 4, .. } => Encoding::BIT_PACKED,
        _ => Encoding::RLE,
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> LibraryResult<Option<Page>> {
        self.next_page().map_err(|error| {
            let said = ParquetError::General(error.to_string());
            self.charge.refuse(error);
            said
        })
    }

    fn peek_next_page(&mut self) -> LibraryResult<Option<PageMetadata>> {
        Err(ParquetError::NYI("columns are read from front to back".to_owned()))
    }

    fn skip_next_page(&mut self) -> LibraryResult<()> {
        Err(ParquetError::NYI("no page is passed over".to_owned()))
    }
}

impl Iterator for Pages {
    type Item = LibraryResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

/// The pages of one chunk as the library asks for them.
pub(super) struct OneChunk(pub(super) Option<Pages>);

impl Iterator for OneChunk {
    type Item = LibraryResult<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(|pages| Ok(Box::new(pages) as Box<dyn PageReader>))
    }
}

impl PageIterator for OneChunk {}
