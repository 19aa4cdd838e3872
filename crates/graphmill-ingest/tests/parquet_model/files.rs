//! Files of every kind that writers make: codecs, versions of pages, encodings, dictionaries, types, missing values.

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder};
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;

/// How a file is written.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub codec: Compression,
    pub is_version_2: bool,
    pub has_dictionaries: bool,
    /// Encodings of numbers and of text, where there are no dictionaries.
    pub numbers: Encoding,
    pub text: Encoding,
    pub has_gaps: bool,
}

/// Every codec, in both versions, with the encodings in turn.
pub fn shapes() -> Vec<Shape> {
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::ZSTD(Default::default()),
        Compression::LZ4_RAW,
        Compression::LZ4,
    ];
    let encodings = [
        (Encoding::PLAIN, Encoding::PLAIN),
        (Encoding::DELTA_BINARY_PACKED, Encoding::DELTA_LENGTH_BYTE_ARRAY),
        (Encoding::BYTE_STREAM_SPLIT, Encoding::DELTA_BYTE_ARRAY),
    ];
    let mut shapes = Vec::new();
    for (index, codec) in codecs.into_iter().enumerate() {
        for (turn, is_version_2) in [false, true].into_iter().enumerate() {
            let (numbers, text) = encodings[(index + turn) % 3];
            let has_gaps = (index + turn) % 2 == 0;
            let shape =
                Shape { codec, is_version_2, has_dictionaries: false, numbers, text, has_gaps };
            shapes.push(shape);
            shapes.push(Shape { has_dictionaries: true, ..shape });
        }
    }
    shapes
}

impl Shape {
    /// A file of two ids, a weight, a time, two names, a flag and a list, in row groups of 70 rows and pages of 30.
    pub fn write(&self) -> Vec<u8> {
        let count = 150_i64;
        let mut lists = ListBuilder::new(Int32Builder::new());
        (0..count as i32).for_each(|row| lists.append_value((0..row % 4).map(Some)));
        let gap = |row: i64| !(self.has_gaps && row % 7 == 3);
        let weights = (0..count).map(|row| gap(row).then_some(row as f64 / 4.0));
        let flags = (0..count).map(|row| gap(row).then_some(row % 3 == 0));
        let name = |row: i64| {
            format!("{}-{}", "abcdefghijklmnopqrstuvwxyz".repeat(1 + row as usize % 3), row % 40)
        };
        let columns: [(&str, ArrayRef); 8] = [
            ("src", Arc::new(Int64Array::from_iter_values((0..count).map(|row| row * row % 97)))),
            ("dst", Arc::new(Int32Array::from_iter_values((0..count as i32).map(|row| row / 3)))),
            (
                "weight",
                Arc::new(Float64Array::from_iter_values(weights.clone().map(|w| w.unwrap_or(1.0)))),
            ),
            (
                "time",
                Arc::new(Int64Array::from_iter_values((0..count).map(|row| 1_700_000_000 + row))),
            ),
            ("from", Arc::new(StringArray::from_iter_values((0..count).map(name)))),
            (
                "to",
                Arc::new(StringArray::from_iter_values((0..count).map(|row| name(row * 5 % 150)))),
            ),
            ("flag", Arc::new(BooleanArray::from_iter(flags))),
            ("list", Arc::new(lists.finish())),
        ];
        let batch = RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, array)| (name, array, self.has_gaps)),
        )
        .unwrap_or_else(|_| panic!("columns of one length"));
        let version =
            if self.is_version_2 { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 };
        let mut properties = WriterProperties::builder()
            .set_compression(self.codec)
            .set_writer_version(version)
            .set_dictionary_enabled(self.has_dictionaries)
            .set_max_row_group_row_count(Some(70))
            .set_data_page_row_count_limit(30)
            .set_write_batch_size(30)
            .set_statistics_enabled(EnabledStatistics::Page);
        if !self.has_dictionaries {
            for column in ["src", "dst", "time"] {
                properties = properties.set_column_encoding(ColumnPath::from(column), self.numbers);
            }
            for column in ["from", "to"] {
                properties = properties.set_column_encoding(ColumnPath::from(column), self.text);
            }
        }
        let mut file = Vec::new();
        let mut writer =
            ArrowWriter::try_new(&mut file, batch.schema(), Some(properties.build())).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        file
    }
}
