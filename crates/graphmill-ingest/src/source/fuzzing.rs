//! What the fuzzers call: one function per target, each taking any bytes and returning nothing.
//!
//! They live in the library so that plain tests replay the corpus through the same code.

use std::path::{Path, PathBuf};

use graphmill_disk::Budget;
#[cfg(feature = "parquet")]
use graphmill_format::ElementType;

use super::array::ArrayFile;
use super::chunk::EdgeChunk;
use super::options::{Column, EdgeInputOptions, OnBadRow, TableInputOptions};
use super::text::{Delimiter, EdgeColumns, EdgeLines, Parsed};
use super::{EdgeInput, SourceFormat, TableInput};
use crate::npy::{ArrayHeader, NpyHeader};

/// Lines of edges: the first byte chooses delimiter, columns and whether ids are words; the fast
/// way and the careful way must agree.
pub fn csv(data: &[u8]) {
    let Some((choice, text)) = data.split_first() else { return };
    let columns = EdgeColumns {
        source: 0,
        destination: 1,
        weight: (choice & 4 != 0).then_some(2),
        time: (choice & 8 != 0).then_some(3),
    };
    let on_bad_row = if choice & 16 == 0 { OnBadRow::Skip } else { OnBadRow::Stop };
    let delimiter = Delimiter::ALL[usize::from(choice & 3)];
    let mut padded = text.to_vec();
    if !padded.is_empty() && !padded.ends_with(b"\n") {
        padded.push(b'\n');
    }
    let end = padded.len();
    padded.extend([b'7'; 64]);
    let names = choice & 32 != 0;
    let read = |fast| {
        let lines = EdgeLines { delimiter, columns, on_bad_row, fast, names };
        let (mut chunk, mut parsed) = (EdgeChunk::default(), Parsed::default());
        lines.parse(&padded, end, &mut chunk, &mut parsed);
        (chunk, parsed)
    };
    assert_eq!(read(true), read(false), "both ways give the same edges and faults");
}

/// A whole file of edges, plain or compressed: sniffing, cutting and reading.
pub fn edge_file(data: &[u8]) {
    with_file(data, |path| {
        let options = EdgeInputOptions::new().on_bad_row(OnBadRow::Skip).format(SourceFormat::Text);
        let weighted = options.clone().weight_column(Column::Index(2));
        for options in [options, weighted] {
            if let Ok(input) = EdgeInput::open(&[path.to_path_buf()], &options) {
                let _ = input.read(&Budget::new(256 << 20), &|_| Ok(()), None);
            }
        }
        let options =
            TableInputOptions::new().format(SourceFormat::Text).on_bad_row(OnBadRow::Skip);
        if let Ok(input) = TableInput::open(&[path.to_path_buf()], &options) {
            let _ = input.read(&Budget::new(256 << 20), &|_| Ok(()), None);
        }
    });
}

/// The header of a `.npy`; the first eight bytes are the length of the file.
pub fn npy(data: &[u8]) {
    let Some((length, bytes)) = data.split_first_chunk::<8>() else { return };
    let length = u64::from_le_bytes(*length);
    if let Ok(header) = NpyHeader::parse(bytes, length) {
        let again = NpyHeader::encode(header.element, &header.shape);
        let again = again.expect("a type that was read can be written");
        let numbers = length - header.data_offset;
        let parsed = NpyHeader::parse(&again, again.len() as u64 + numbers);
        let parsed = parsed.expect("what is written can be read");
        assert_eq!((parsed.element, parsed.shape), (header.element, header.shape));
    }
    let _ = ArrayHeader::parse(bytes, length);
}

/// An archive of arrays: its directory, every array that is not too long, and its edges.
pub fn npz(data: &[u8]) {
    with_file(data, |path| {
        let Ok(names) = super::array::npz_names(path) else { return };
        for name in names.iter().take(8) {
            let Ok(array) = ArrayFile::npz(path, Some(name), &[]) else { continue };
            let Ok(mut stream) = array.stream() else { continue };
            let _ = stream.skip(stream.left().min(1 << 20));
        }
        let options = EdgeInputOptions::new().on_bad_row(OnBadRow::Skip).format(SourceFormat::Npz);
        if let Ok(input) = EdgeInput::open(&[path.to_path_buf()], &options)
            && input.rows().is_some_and(|rows| rows < 1 << 16)
        {
            let _ = input.read(&Budget::new(16 << 20), &|_| Ok(()), None);
        }
    });
}

/// A Parquet file, whose columns are taken for edges of numbers and of words, with weights and times, for rows of
/// numbers and of words with and without ids, and for ids alone.
#[cfg(feature = "parquet")]
pub fn parquet(data: &[u8]) {
    parquet_readings(data);
}

/// Does the same, and returns how many of these readings came to the end.
#[cfg(feature = "parquet")]
pub fn parquet_readings(data: &[u8]) -> usize {
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Rows after which a reading is given up: few bytes may repeat a value very often.
    const MOST_ROWS: usize = 1 << 18;

    let column = Column::Index;
    let edges = EdgeInputOptions::new().format(SourceFormat::Parquet);
    let names = edges.clone().text_ids(true).source_column(column(4)).destination_column(column(5));
    let edges = edges.source_column(column(0)).destination_column(column(1));
    let edges = [
        edges.clone().weight_column(column(2)).time_column(column(3)),
        names,
        edges.on_bad_row(OnBadRow::Skip),
    ];
    let table = TableInputOptions::new().format(SourceFormat::Parquet);
    let numbers = (0..4).chain([6]).map(column).collect::<Vec<_>>();
    let tables = [
        table.clone().columns(numbers).missing(-1),
        table.clone().columns(vec![column(2), column(6)]).id_column(column(0)).missing(0),
        table.clone().columns(vec![column(4)]).text(true).text_ids(true).id_column(column(5)),
        table.clone().ids_only(true).id_column(column(1)),
        table.clone().columns(vec![column(0)]).element(ElementType::I64).ordered(true),
        table,
    ];
    let mut whole = 0;
    with_file(data, |path| {
        let paths = [path.to_path_buf()];
        let rows = AtomicUsize::new(0);
        let count = |more: usize| match rows.fetch_add(more, Ordering::Relaxed) {
            before if before < MOST_ROWS => Ok(()),
            _ => Err(crate::Error::Cancelled),
        };
        for options in &edges {
            rows.store(0, Ordering::Relaxed);
            let read = EdgeInput::open(&paths, options).and_then(|input| {
                input.read(&Budget::new(16 << 20), &|chunk| count(chunk.len()), None)
            });
            whole += usize::from(read.is_ok());
        }
        for options in &tables {
            rows.store(0, Ordering::Relaxed);
            let read = TableInput::open(&paths, options).and_then(|input| {
                input.read(&Budget::new(16 << 20), &|chunk| count(chunk.rows), None)
            });
            whole += usize::from(read.is_ok());
        }
    });
    whole
}

/// Readers take paths, so the bytes become a file for a moment.
fn with_file(data: &[u8], run: impl FnOnce(&Path)) {
    let name =
        format!("graphmill-fuzzing-{}-{:?}", std::process::id(), std::thread::current().id());
    let path: PathBuf = std::env::temp_dir().join(name);
    if std::fs::write(&path, data).is_ok() {
        run(&path);
    }
    let _ = std::fs::remove_file(&path);
}
