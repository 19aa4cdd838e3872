//! Conversions keep what both sides can hold, and refuse the rest with a remedy.

use crate::read_back;
use std::path::{Path, PathBuf};

use graphmill_disk::Budget;
use graphmill_format::{Direction, ElementType, Encoding, ListOrder, TableShape, graphzero};
use graphmill_ingest::npy::NpyHeader;
use graphmill_ingest::{
    ConvertOptions, Directions, Error, GraphFile, GraphOptions, MemoryEdges, SourceKind,
    TargetFormat, TargetKind, convert, write_graph, write_table,
};
use proptest::prelude::*;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn npy(&self, name: &str, element: ElementType, shape: &[u64], bytes: &[u8]) -> PathBuf {
        let mut file = NpyHeader::encode(element, shape).unwrap();
        file.extend(bytes);
        std::fs::write(self.path(name), file).unwrap();
        self.path(name)
    }
}

fn options() -> ConvertOptions<'static> {
    ConvertOptions::new().budget(Budget::new(1 << 20)).overwrite(true)
}

fn graphzero() -> ConvertOptions<'static> {
    options().to(TargetFormat::GraphZero)
}

fn npy_integers(path: &Path) -> (Vec<u64>, Vec<i64>) {
    let bytes = std::fs::read(path).unwrap();
    let header = NpyHeader::parse(&bytes, bytes.len() as u64).unwrap();
    assert_eq!(header.element, ElementType::I64);
    (header.shape, read_back::integers(&bytes[header.data_offset as usize..]))
}

fn bytes_of(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn topologies_survive_a_journey_through_every_format(
        pairs in proptest::collection::vec((0_i64..30, 0_i64..30), 0..200),
        directions in 0_usize..4,
        file_order: bool,
        weighted: bool,
        timed: bool,
    ) {
        let folder = Folder::new();
        let (sources, destinations): (Vec<i64>, Vec<i64>) = pairs.iter().copied().unzip();
        let weights: Vec<f32> = (0..pairs.len()).map(|row| row as f32 / 4.0).collect();
        let times: Vec<i64> = (0..pairs.len()).map(|row| row as i64 % 5 - 2).collect();
        let directions = [Directions::Out, Directions::In, Directions::OutAndIn, Directions::Undirected][directions];
        let order = if file_order { ListOrder::File } else { ListOrder::Id };
        let mut wanted = GraphOptions::new().directions(directions).order(order);
        if weighted {
            wanted = wanted.weights(&weights);
        }
        if timed {
            wanted = wanted.times(&times);
        }
        let edges = MemoryEdges::new(&sources, &destinations, Some(30)).unwrap();
        let first = folder.path("a.gl");
        write_graph(&first, &edges, &wanted, &Budget::new(1 << 20), false).unwrap();
        let original = read_back::graph(&first);

        // Ours to ours: everything stays.
        let copy = folder.path("b.gl");
        convert(&first, &copy, &options()).unwrap();
        prop_assert!(std::fs::read(&first).unwrap() == std::fs::read(&copy).unwrap());

        // Ours to GraphZero: the out-lists as they are stored, with weights.
        let foreign = folder.path("c.gl");
        convert(&first, &foreign, &graphzero()).unwrap();
        let foreign_graph = read_back::graphzero_graph(&foreign);
        if directions != Directions::In {
            let neighbours = |graph: &read_back::Graph| -> Vec<Vec<(u64, Option<f32>)>> {
                let lists = graph.lists[0].1.iter();
                lists.map(|list| list.iter().map(|s| (s.neighbour, s.weight)).collect()).collect()
            };
            prop_assert_eq!(neighbours(&foreign_graph), neighbours(&original));
        }
        prop_assert_eq!(foreign_graph.layout.num_edges, original.layout.num_edges);

        // GraphZero to ours and back: not a byte changes while the order is kept.
        let back = folder.path("d.gl");
        convert(&foreign, &back, &options().order(ListOrder::File)).unwrap();
        prop_assert_eq!(read_back::graph(&back).lists[0].0, Direction::Out);
        let again = folder.path("e.gl");
        convert(&back, &again, &graphzero()).unwrap();
        prop_assert!(std::fs::read(&foreign).unwrap() == std::fs::read(&again).unwrap());
        convert(&foreign, &back, &options()).unwrap();
        let by_id = read_back::graph(&back);
        prop_assert_eq!(by_id.layout.order, ListOrder::Id);
        let ascends = by_id.lists[0].1.iter().all(|list| list.is_sorted_by_key(|s| s.neighbour));
        prop_assert!(ascends);

        // Ours to edge_index: stored order, lists of the first direction.
        let array = folder.path("f.npy");
        convert(&first, &array, &options()).unwrap();
        let (shape, ids) = npy_integers(&array);
        let (direction, lists) = &original.lists[0];
        let mut expected = [Vec::new(), Vec::new()];
        for (node, list) in lists.iter().enumerate() {
            for stored in list {
                let ends = [node as i64, stored.neighbour as i64];
                let turned = *direction == Direction::In;
                expected[0].push(ends[usize::from(turned)]);
                expected[1].push(ends[usize::from(!turned)]);
            }
        }
        prop_assert_eq!(shape, vec![2, expected[0].len() as u64]);
        prop_assert_eq!(ids, expected.concat());
    }
}

#[test]
fn arrays_of_edges_become_out_lists_whatever_their_layout_and_type() {
    let folder = Folder::new();
    let target = folder.path("x.gl");
    let by_end = bytes_of(&[0, 3, 1, 2, 2, 0]);
    let by_pair: Vec<u8> = [0_i32, 2, 3, 2, 1, 0].iter().flat_map(|id| id.to_le_bytes()).collect();
    for source in [
        folder.npy("a.npy", ElementType::I64, &[2, 3], &by_end),
        folder.npy("b.npy", ElementType::I32, &[3, 2], &by_pair),
        folder.npy("c.npy", ElementType::U8, &[2, 3], &[0, 3, 1, 2, 2, 0]),
    ] {
        let report = convert(&source, &target, &options()).unwrap();
        assert_eq!((report.source, report.target), (SourceKind::Npy, TargetKind::Graph));
        let graph = read_back::graph(&target);
        assert_eq!((graph.layout.num_nodes, report.rows, graph.lists.len()), (4, 3, 1));
        let neighbours: Vec<Vec<u64>> = graph.lists[0]
            .1
            .iter()
            .map(|list| list.iter().map(|stored| stored.neighbour).collect())
            .collect();
        assert_eq!(neighbours, [vec![2], vec![0], vec![], vec![2]]);
    }
    let square = folder.npy("d.npy", ElementType::U8, &[2, 2], &[0, 0, 1, 2]);
    convert(&square, &folder.path("x.csv"), &options()).unwrap();
    assert_eq!(std::fs::read_to_string(folder.path("x.csv")).unwrap(), "0,1\n0,2\n");
    let undirected = options().directions(Directions::Undirected).num_nodes(9).edge_ids(true);
    convert(&square, &target, &undirected).unwrap();
    let layout = read_back::graph(&target).layout;
    assert!(layout.undirected && layout.num_edges == 4 && layout.num_nodes == 9);
    let wide = options().encoding(Encoding::I64);
    convert(&square, &target, &wide).unwrap();
    let element = read_back::graph(&target).layout.directions[0].neighbours.element;
    assert_eq!(element, ElementType::I64);
}

#[test]
fn edges_that_are_no_edges_are_refused_with_file_and_place() {
    let folder = Folder::new();
    let target = folder.path("x.gl");
    let text = |source: &Path, options: &ConvertOptions<'_>| {
        convert(source, &target, options).unwrap_err().to_string()
    };
    let negative = folder.npy("a.npy", ElementType::I8, &[2, 2], &[0, 1, 2, 0xFD]);
    let found = text(&negative, &options());
    assert!(found.contains("a.npy`, edge 1, destination: found -3"), "{found}");
    let found = text(&negative, &options().num_nodes(3));
    assert!(found.contains("a.npy`, edge 1, destination: found -3"), "{found}");
    let real = folder.npy("c.npy", ElementType::F32, &[2, 1], &[0; 8]);
    assert!(text(&real, &options()).contains("float32"));
    let cube = folder.npy("d.npy", ElementType::U8, &[2, 2, 2], &[0; 8]);
    assert!(text(&cube, &options()).contains("[2, 2, 2]"));
    assert!(!target.exists());
}

#[test]
fn tables_survive_a_journey_through_every_format() {
    let folder = Folder::new();
    let (ours, array, foreign) = (folder.path("a.gd"), folder.path("a.npy"), folder.path("z.gd"));
    let back = folder.path("b.gd");
    for element in ElementType::ALL.into_iter().filter(|element| element.is_table_type()) {
        for (columns, aligned) in [(1, false), (3, false), (3, true), (700, true)] {
            let shape = TableShape::matrix(50, columns, element).unwrap();
            let stored = if aligned { shape.with_aligned_rows().unwrap() } else { shape };
            let rows: Vec<u8> = (0..shape.length()).map(|at| (at % 2) as u8).collect();
            write_table(&ours, stored, [Ok(&rows)], true).unwrap();
            if element != ElementType::Bf16 {
                convert(&ours, &array, &options()).unwrap();
                convert(&array, &back, &options().align_rows(aligned)).unwrap();
                assert!(std::fs::read(&ours).unwrap() == std::fs::read(&back).unwrap());
            }
            let to_foreign = convert(&ours, &foreign, &graphzero());
            let four = [ElementType::I32, ElementType::I64, ElementType::F32, ElementType::F64];
            assert_eq!(to_foreign.is_ok(), four.contains(&element), "{element}");
            if to_foreign.is_ok() {
                convert(&foreign, &back, &options()).unwrap();
                assert_eq!(read_back::table(&back), (shape, rows.clone()));
                convert(&foreign, &array, &options()).unwrap();
                convert(&array, &back, &graphzero()).unwrap();
                assert!(std::fs::read(&foreign).unwrap() == std::fs::read(&back).unwrap());
            }
        }
    }
    let vector = folder.npy("y.npy", ElementType::I64, &[3], &bytes_of(&[5, -1, 7]));
    convert(&vector, &back, &options()).unwrap();
    assert!(read_back::table(&back).0.is_vector());
    convert(&back, &array, &options()).unwrap();
    assert_eq!(npy_integers(&array), (vec![3], vec![5, -1, 7]));
}

#[test]
fn nonsense_is_refused_with_a_remedy() {
    let folder = Folder::new();
    let table = folder.path("x.gd");
    let shape = TableShape::vector(2, ElementType::Bf16).unwrap();
    write_table(&table, shape, [Ok([0; 4])], false).unwrap();
    let graph = folder.path("x.gl");
    let edges = MemoryEdges::new(&[0_i64], &[1], None).unwrap();
    write_graph(&graph, &edges, &GraphOptions::new(), &Budget::new(1 << 16), false).unwrap();
    let array = folder.npy("x.npy", ElementType::U8, &[2, 1], &[0, 1]);
    let text = |source: &Path, target: &str, options: ConvertOptions<'_>| {
        let error = convert(source, &folder.path(target), &options).unwrap_err().to_string();
        assert!(!folder.path(target).exists() || target.starts_with('x'));
        error
    };
    assert!(text(&table, "y.gl", options()).contains("name a .gd, .npy, .csv or .parquet"));
    assert!(text(&table, "y.npy", options()).contains("no bfloat16"));
    assert!(text(&graph, "y.gd", options()).contains("name a .gl"));
    assert!(text(&array, "y.npy", options()).contains("cannot become"));
    assert!(text(&graph, "y", options()).contains("extension"));
    assert!(text(&graph, "y.txt", graphzero()).contains("extension"));
    let both = graphzero().directions(Directions::OutAndIn);
    assert!(text(&graph, "y.gl", both).contains("out-edges alone"));
    assert!(text(&graph, "x.gl", options()).contains("source and target"));
    assert!(convert(&graph, &table, &ConvertOptions::new()).is_err());
    for nothing in ["", "source,target\n", "# no edges\n"] {
        std::fs::write(folder.path("z"), nothing).unwrap();
        let error = text(&folder.path("z"), "y.gl", options());
        assert!(error.contains("found no edge, expected"), "{nothing:?}: {error}");
    }
    std::fs::write(folder.path("z"), "hello").unwrap();
    assert!(text(&folder.path("z"), "y.gl", options()).contains("hello"));
    let exists = convert(&array, &graph, &ConvertOptions::new()).unwrap_err();
    assert!(matches!(exists, Error::Disk(graphmill_disk::Error::Exists { .. })));
}

#[test]
fn a_topology_that_lies_is_an_error_that_names_the_byte() {
    let folder = Folder::new();
    let path = folder.path("x.gl");
    let (layout, length) = graphzero::graph_layout(3, 4, true).unwrap();
    let lists = &layout.directions[0];
    let mut honest = vec![0; length as usize];
    honest[..64].copy_from_slice(&graphzero::encode_graph_header(&layout));
    let put = |bytes: &mut Vec<u8>, at: u64, value: u64| {
        bytes[at as usize..at as usize + 8].copy_from_slice(&value.to_le_bytes());
    };
    for (node, offset) in [0, 1, 3, 4].into_iter().enumerate() {
        put(&mut honest, lists.offsets.offset + 8 * node as u64, offset);
    }
    std::fs::write(&path, &honest).unwrap();
    convert(&path, &folder.path("y.gl"), &options()).unwrap();

    let (offsets, neighbours) = (lists.offsets.offset, lists.neighbours.offset);
    for (at, value, expected) in [
        (offsets, 1, "offset is 1, expected 0"),
        (offsets + 8, 9, "offset is 9, expected 0 to 4"),
        (offsets + 16, 0, "offset is 0, expected 1 to 4"),
        (offsets + 24, 3, "last offset is 3, expected 4"),
        (neighbours + 16, 3, "neighbour is 3, expected an id of 3 nodes"),
        (neighbours + 8, u64::MAX, "neighbour is -1, expected an id of 3 nodes"),
    ] {
        let mut lying = honest.clone();
        put(&mut lying, at, value);
        std::fs::write(&path, &lying).unwrap();
        for target in ["z.gl", "z.npy", "z.csv"] {
            let error = convert(&path, &folder.path(target), &options()).unwrap_err().to_string();
            let place = format!("byte {at}: {expected}");
            assert!(error.contains("x.gl") && error.contains(&place), "{place}: {error}");
            assert!(!folder.path(target).exists());
        }
    }
    let mut lying = honest;
    let weight = lists.weights.unwrap().offset as usize + 4;
    lying[weight..weight + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    std::fs::write(&path, &lying).unwrap();
    let error = convert(&path, &folder.path("z.gl"), &options()).unwrap_err().to_string();
    assert!(error.contains("x.gl`, weight of edge 1: found NaN"), "{error}");
}

#[test]
fn a_graph_file_is_a_stream_from_any_place() {
    use graphmill_ingest::EdgeStream;
    let folder = Folder::new();
    let path = folder.path("x.gl");
    let graph = graphmill_ingest::generate::Rmat::builder(12, 40_000).build().unwrap();
    for directions in [Directions::Out, Directions::In] {
        let wanted = GraphOptions::new().directions(directions);
        write_graph(&path, &graph, &wanted, &Budget::new(4 << 20), true).unwrap();
        let file = GraphFile::open(&path).unwrap();
        let (mut sources, mut destinations) = (vec![0; 40_000], vec![0; 40_000]);
        file.read(0, &mut sources, &mut destinations).unwrap();
        for (first, length) in [(0, 1), (39_999, 1), (123, 20_000), (20_000, 20_000), (77, 0)] {
            let (mut some_sources, mut some_destinations) = (vec![0; length], vec![0; length]);
            file.read(first as u64, &mut some_sources, &mut some_destinations).unwrap();
            assert_eq!(some_sources, sources[first..first + length]);
            assert_eq!(some_destinations, destinations[first..first + length]);
        }
    }
}
