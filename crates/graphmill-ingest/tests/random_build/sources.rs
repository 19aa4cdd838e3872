//! The files of a case: edges in one of many formats, tables in others.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Float32Array, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    UInt32Array, UInt64Array,
};
use flate2::write::GzEncoder;
use graphmill_disk::Budget;
use graphmill_format::{Direction, ElementType};
use graphmill_ingest::build::{BuildSources, EdgeSource, SourceIds, TableSource};
use graphmill_ingest::npy::NpyHeader;
use graphmill_ingest::source::{
    Column, EdgeArrays, EdgeInputOptions, IdArray, TableArray, TextCells,
};
use graphmill_ingest::{
    ConvertOptions, Directions, GraphOptions, MemoryEdges, TargetFormat, convert, write_graph,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::{WriterProperties, WriterVersion};

use super::case::{Case, Edge, Id};
use super::tables::{self, Rows};
use crate::numbers::Numbers;
use crate::read_back;

/// Everything that the build is given; arrays in memory are owned here.
#[derive(Debug)]
pub struct Files {
    /// What was written, for messages.
    pub edge_format: String,
    edges: Option<PathBuf>,
    memory: Memory,
    columns: EdgeInputOptions,
    pub tables: Vec<(Role, Rows)>,
}

#[derive(Debug, Default)]
struct Memory {
    numbers: (Vec<i64>, Vec<u64>),
    words: (TextCells, TextCells),
    weights: Option<Vec<f32>>,
    times: Option<Vec<i64>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Features,
    Labels,
    Split,
    EdgeFeatures,
}

impl Files {
    pub fn sources(&self) -> BuildSources<'_> {
        let edges = match &self.edges {
            Some(path) => EdgeSource::Files(vec![path.clone()]),
            None => EdgeSource::Memory(self.memory.arrays()),
        };
        let mut sources = BuildSources::new(edges);
        for (role, rows) in &self.tables {
            let table = match &rows.path {
                Some(path) => TableSource::Files(vec![path.clone()]),
                None => TableSource::Memory(rows.array()),
            };
            sources = match role {
                Role::Features => sources.features(table),
                Role::Labels => sources.labels(table),
                Role::Split => sources.split("train", table),
                Role::EdgeFeatures => sources.edge_features(table),
            };
        }
        sources
    }

    pub fn input(&self) -> EdgeInputOptions {
        self.columns.clone()
    }
}

impl Memory {
    fn arrays(&self) -> EdgeArrays<'_> {
        let mut arrays = if self.words.0.is_empty() {
            EdgeArrays::new(&self.numbers.0[..], &self.numbers.1[..])
        } else {
            EdgeArrays::new(IdArray::Text(&self.words.0), IdArray::Text(&self.words.1))
        };
        if let Some(weights) = &self.weights {
            arrays = arrays.weights(weights);
        }
        if let Some(times) = &self.times {
            arrays = arrays.times(times);
        }
        arrays
    }
}

/// Writes the files of a case. Compiled graphs hold edges in the order of their lists, which becomes that of the case.
pub fn write(case: &mut Case, folder: &Path, random: &mut Numbers) -> Files {
    let mut files = Files {
        edge_format: String::new(),
        edges: None,
        memory: Memory::default(),
        columns: EdgeInputOptions::new(),
        tables: Vec::new(),
    };
    let is_plain = !case.weighted && !case.timed;
    let formats: &[&str] = match case.kind {
        SourceIds::Text => &["text", "parquet", "memory"],
        SourceIds::Numbers if is_plain => {
            &["text", "parquet", "memory", "npy", "npz", "graphmill", "graphzero"]
        }
        SourceIds::Numbers => &["text", "parquet", "memory", "graphmill"],
        _ if is_plain => &["text", "parquet", "memory", "npy", "npz"],
        _ => &["text", "parquet", "memory"],
    };
    let format = formats[random.below(formats.len())];
    files.edge_format = format.to_owned();
    match format {
        "text" => text_edges(case, folder, &mut files, random),
        "parquet" => parquet_edges(case, folder, &mut files, random),
        "npy" => {
            let (bytes, _) = array_edges(case, random);
            files.edges = Some(put(folder, "edges.npy", &bytes));
        }
        "npz" => {
            let (bytes, _) = array_edges(case, random);
            files.edges = Some(put(folder, "edges.npz", &archive("edge_index.npy", &bytes)));
        }
        "graphmill" => compiled_edges(case, folder, &mut files),
        "graphzero" => graphzero_edges(case, folder, &mut files),
        _ => memory_edges(case, &mut files),
    }
    files.tables = tables::write(case, folder, random);
    files
}

pub fn put(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn ends(case: &Case) -> (Vec<Id>, Vec<Id>) {
    let id = |node: usize| case.ids[node].clone();
    case.edges.iter().map(|edge| (id(edge.from), id(edge.to))).unzip()
}

/// A field of a text, in quotes where it must be and sometimes where it need not.
pub fn field(text: &str, delimiter: char, random: &mut Numbers) -> String {
    let must = text.contains([delimiter, '"', '\n']);
    if must || random.below(40) == 0 {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Packs a text in one of the ways that are read.
pub fn packed(text: &[u8], random: &mut Numbers) -> (Vec<u8>, &'static str) {
    match random.below(4) {
        0 => {
            let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(text).unwrap();
            (gzip.finish().unwrap(), ".gz")
        }
        1 => {
            let half = text.len() / 2;
            let frames =
                [&text[..half], &text[half..]].map(|part| zstd::bulk::compress(part, 1).unwrap());
            (frames.concat(), ".zst")
        }
        _ => (text.to_vec(), ""),
    }
}

fn text_edges(case: &Case, folder: &Path, files: &mut Files, random: &mut Numbers) {
    let delimiter = [',', '\t', ';', ' '][random.below(4)];
    let has_header = case.kind == SourceIds::Text || random.below(2) == 0;
    let end = ["\n", "\r\n"][random.below(2)];
    let mut names = vec!["src", "dst"];
    names.extend(case.weighted.then_some("weight"));
    names.extend(case.timed.then_some("time"));
    let mut text = String::new();
    if has_header {
        text += &names.join(&delimiter.to_string());
        text += end;
    }
    for edge in &case.edges {
        if random.below(100) == 0 {
            text += ["# a comment", "% another", ""][random.below(3)];
            text += end;
        }
        let mut fields = [edge.from, edge.to]
            .map(|node| field(&case.ids[node].text(), delimiter, random))
            .to_vec();
        fields.extend(case.weighted.then(|| edge.weight.to_string()));
        fields.extend(case.timed.then(|| edge.time.to_string()));
        text += &fields.join(&delimiter.to_string());
        text += end;
    }
    if random.below(4) == 0 {
        text.truncate(text.len() - end.len());
    }
    let mut columns = EdgeInputOptions::new();
    let column = |name: &str| {
        let index = names.iter().position(|known| *known == name).unwrap();
        if has_header { Column::Name(name.to_owned()) } else { Column::Index(index) }
    };
    if case.weighted {
        columns = columns.weight_column(column("weight"));
    }
    if case.timed {
        columns = columns.time_column(column("time"));
    }
    let (bytes, packing) = packed(text.as_bytes(), random);
    files.edge_format = format!("text, {delimiter:?}{packing}, header {has_header}");
    files.edges = Some(put(folder, &format!("edges.csv{packing}"), &bytes));
    files.columns = columns;
}

/// Ids as a column of a type that holds them.
pub fn id_column(ids: &[Id], random: &mut Numbers) -> ArrayRef {
    if ids.iter().any(|id| matches!(id, Id::Word(_))) {
        return Arc::new(StringArray::from_iter_values(ids.iter().map(Id::text)));
    }
    let numbers = ids.iter().map(Id::number);
    let largest = numbers.clone().max().unwrap_or(0);
    match random.below(4) {
        0 if largest <= i32::MAX as u64 => {
            Arc::new(Int32Array::from_iter_values(numbers.map(|id| id as i32)))
        }
        1 if largest <= u32::MAX.into() => {
            Arc::new(UInt32Array::from_iter_values(numbers.map(|id| id as u32)))
        }
        2 => Arc::new(UInt64Array::from_iter_values(numbers)),
        _ => Arc::new(Int64Array::from_iter_values(numbers.map(|id| id as i64))),
    }
}

/// Columns as a Parquet file of any shape.
pub fn parquet(columns: Vec<(String, ArrayRef)>, random: &mut Numbers) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::ZSTD(Default::default()),
        Compression::LZ4_RAW,
    ];
    let versions = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];
    let properties = WriterProperties::builder()
        .set_compression(codecs[random.below(5)])
        .set_writer_version(versions[random.below(2)])
        .set_dictionary_enabled(random.below(2) == 0)
        .set_max_row_group_row_count(Some(1 + random.below(5000)))
        .set_data_page_row_count_limit(1 + random.below(2000))
        .set_write_batch_size(1 + random.below(1000));
    let mut bytes = Vec::new();
    let mut writer =
        ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build())).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn parquet_edges(case: &Case, folder: &Path, files: &mut Files, random: &mut Numbers) {
    let (from, to) = ends(case);
    let mut columns = vec![
        ("src".to_owned(), id_column(&from, random)),
        ("dst".to_owned(), id_column(&to, random)),
    ];
    if case.weighted {
        let weights = case.edges.iter().map(|edge| edge.weight);
        let weights: ArrayRef = match random.below(2) {
            0 => Arc::new(Float32Array::from_iter_values(weights)),
            _ => Arc::new(Float64Array::from_iter_values(weights.map(f64::from))),
        };
        columns.push(("weight".to_owned(), weights));
        files.columns = files.columns.clone().weight_column(Column::Name("weight".to_owned()));
    }
    if case.timed {
        let times = case.edges.iter().map(|edge| edge.time);
        let times: ArrayRef = match random.below(2) {
            0 => Arc::new(Int64Array::from_iter_values(times)),
            _ => Arc::new(Float64Array::from_iter_values(times.map(|time| time as f64))),
        };
        columns.push(("time".to_owned(), times));
        files.columns = files.columns.clone().time_column(Column::Name("time".to_owned()));
    }
    files.edges = Some(put(folder, "edges.parquet", &parquet(columns, random)));
}

/// Both rows of an array, or both columns of one that stands.
fn array_edges(case: &Case, random: &mut Numbers) -> (Vec<u8>, ElementType) {
    let (from, to) = ends(case);
    let both = || from.iter().chain(&to).map(Id::number);
    let narrow = both().max().unwrap_or(0) <= i32::MAX as u64 && random.below(2) == 0;
    let element = if narrow { ElementType::I32 } else { ElementType::I64 };
    let rows = case.edges.len() as u64;
    let stands = random.below(2) == 0;
    let shape = if stands { [rows, 2] } else { [2, rows] };
    let numbers: Vec<u64> = match stands {
        true => from.iter().zip(&to).flat_map(|(a, b)| [a.number(), b.number()]).collect(),
        false => both().collect(),
    };
    let mut bytes = NpyHeader::encode(element, &shape).unwrap();
    for number in numbers {
        bytes.extend_from_slice(&number.to_le_bytes()[..element.width() as usize]);
    }
    (bytes, element)
}

/// An archive with one stored member.
pub fn archive(name: &str, data: &[u8]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options: zip::write::SimpleFileOptions = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated);
    writer.start_file(name, options).unwrap();
    writer.write_all(data).unwrap();
    writer.finish().unwrap().into_inner()
}

fn compiled_edges(case: &mut Case, folder: &Path, files: &mut Files) {
    let (from, to) = ends(case);
    let numbers = |ids: &[Id]| ids.iter().map(|id| id.number() as i64).collect::<Vec<_>>();
    let (from, to) = (numbers(&from), numbers(&to));
    let weights: Vec<f32> = case.edges.iter().map(|edge| edge.weight).collect();
    let times: Vec<i64> = case.edges.iter().map(|edge| edge.time).collect();
    let mut options = GraphOptions::new().directions(Directions::Out);
    if case.weighted {
        options = options.weights(&weights);
    }
    if case.timed {
        options = options.times(&times);
    }
    let path = folder.join("edges.gl");
    let edges = MemoryEdges::new(&from, &to, None).unwrap();
    write_graph(&path, &edges, &options, &Budget::new(16 << 20), true).unwrap();
    // Weights and times bring edge ids, which say where each edge stood before it was sorted into lists.
    if !(case.weighted || case.timed) {
        case.edges = listed(read_back::graph(&path));
    }
    files.edges = Some(path);
}

fn graphzero_edges(case: &mut Case, folder: &Path, files: &mut Files) {
    let lines = case
        .edges
        .iter()
        .map(|edge| format!("{},{}\n", case.ids[edge.from].text(), case.ids[edge.to].text()));
    let csv = put(folder, "zero.csv", lines.collect::<String>().as_bytes());
    let path = folder.join("zero.gl");
    let options = ConvertOptions::new().to(TargetFormat::GraphZero).overwrite(true);
    convert(&csv, &path, &options).unwrap();
    case.edges = listed(read_back::graphzero_graph(&path));
    files.edges = Some(path);
}

/// The edges of a graph in the order of its out-lists.
fn listed(graph: read_back::Graph) -> Vec<Edge> {
    let (_, lists) = graph.lists.into_iter().find(|(way, _)| *way == Direction::Out).unwrap();
    let edges = lists.into_iter().enumerate().flat_map(|(from, list)| {
        list.into_iter().map(move |stored| Edge {
            from,
            to: stored.neighbour as usize,
            weight: stored.weight.unwrap_or(0.0),
            time: stored.time.unwrap_or(0),
        })
    });
    edges.collect()
}

fn memory_edges(case: &Case, files: &mut Files) {
    let (from, to) = ends(case);
    if case.kind == SourceIds::Text {
        from.iter().for_each(|id| files.memory.words.0.push(&id.text()));
        to.iter().for_each(|id| files.memory.words.1.push(&id.text()));
    } else {
        files.memory.numbers.0 = from.iter().map(|id| id.number() as i64).collect();
        files.memory.numbers.1 = to.iter().map(Id::number).collect();
    }
    let weights = || case.edges.iter().map(|edge| edge.weight).collect();
    files.memory.weights = case.weighted.then(weights);
    files.memory.times = case.timed.then(|| case.edges.iter().map(|edge| edge.time).collect());
}

impl Rows {
    /// The table in memory.
    pub fn array(&self) -> TableArray<'_> {
        let rows = self.rows as u64;
        let array = match (&self.words, self.columns) {
            (Some(words), _) => TableArray::texts(words),
            (None, None) => TableArray::vector(&self.bytes, self.element, rows),
            (None, Some(columns)) => {
                TableArray::matrix(&self.bytes, self.element, rows, columns as u64)
            }
        };
        match (&self.ids, &self.names) {
            (Some(ids), _) => array.ids(&ids[..]),
            (_, Some(names)) => array.ids(IdArray::Text(names)),
            _ => array,
        }
    }
}
