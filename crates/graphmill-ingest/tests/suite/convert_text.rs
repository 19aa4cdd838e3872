//! Files of ours become text that reads back to the same rows and the same lists.

use crate::read_back;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

use graphmill_disk::Budget;
use graphmill_format::{Direction, ElementType, ListOrder, TableShape};
use graphmill_ingest::source::{Column, EdgeInputOptions, TableInputOptions};
use graphmill_ingest::{
    ConvertOptions, Directions, GraphOptions, MemoryEdges, Progress, TargetFormat, TargetKind,
    convert, convert_files, write_graph, write_table,
};
use half::{bf16, f16};
use proptest::prelude::*;

fn options(budget: u64) -> ConvertOptions<'static> {
    ConvertOptions::new().budget(Budget::new(budget)).overwrite(true)
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

/// The neighbours of a list with the bits of their weights, and their times.
type Values = Vec<(u64, Option<u32>, Option<i64>)>;

/// Cells of any bits, with those among them that texts get wrong.
fn cells(element: ElementType, count: u64, seed: u64) -> Vec<u8> {
    let special = |at: u64| -> [f64; 11] {
        let tiny = [f64::from_bits(1 + at), f32::from_bits(1 + at as u32).into()];
        let halves = [f16::from_bits(1 + at as u16 % 512).into(), f16::MAX.into()];
        let wide = [f64::MAX, f32::MAX.into(), bf16::MIN.into()];
        let [a, b] = tiny;
        let [c, d] = halves;
        let [e, f, g] = wide;
        [a, b, c, d, e, f, g, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0]
    };
    let mut bytes = Vec::new();
    let mut state = seed | 1;
    for at in 0..count {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = (state ^ state >> 29).to_le_bytes();
        let number = special(at)[(state >> 33) as usize % 11];
        let is_special = state >> 60 < 6;
        match element {
            ElementType::Bool => bytes.push(bits[3] & 1),
            ElementType::F16 if is_special => bytes.extend(f16::from_f64(number).to_le_bytes()),
            ElementType::Bf16 if is_special => bytes.extend(bf16::from_f64(number).to_le_bytes()),
            ElementType::F32 if is_special => bytes.extend((number as f32).to_le_bytes()),
            ElementType::F64 if is_special => bytes.extend(number.to_le_bytes()),
            _ => bytes.extend(&bits[..element.width() as usize]),
        }
    }
    bytes
}

/// The bytes with every NaN as one and the same.
fn one_nan(element: ElementType, bytes: &[u8]) -> Vec<u8> {
    let width = element.width() as usize;
    let is_nan = |cell: &[u8]| match (element, cell) {
        (ElementType::F16, &[a, b]) => f16::from_le_bytes([a, b]).is_nan(),
        (ElementType::Bf16, &[a, b]) => bf16::from_le_bytes([a, b]).is_nan(),
        (ElementType::F32, cell) => f32::from_le_bytes(cell.try_into().unwrap()).is_nan(),
        (ElementType::F64, cell) => f64::from_le_bytes(cell.try_into().unwrap()).is_nan(),
        _ => false,
    };
    let same = |cell: &[u8]| if is_nan(cell) { vec![0xff; width] } else { cell.to_vec() };
    bytes.chunks(width).flat_map(same).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]
    #[test]
    fn tables_of_every_type_survive_text(
        element in proptest::sample::select(
            ElementType::ALL.into_iter().filter(|element| element.is_table_type()).collect::<Vec<_>>(),
        ),
        columns in prop_oneof![1_u64..5, 60_u64..70],
        rows in prop_oneof![1_u64..10, 1_u64..4000],
        vector: bool,
        aligned: bool,
        from_graphzero: bool,
        threads in 1_usize..4,
        budget in prop_oneof![Just(64_u64 << 10), Just(1 << 20), Just(32 << 20)],
        seed: u64,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let (mut source, lines, back) = (path("x.gd"), path("x.csv"), path("back.gd"));
        let columns = if vector { 1 } else { columns };
        let plain = match vector {
            true => TableShape::vector(rows, element).unwrap(),
            false => TableShape::matrix(rows, columns, element).unwrap(),
        };
        let stored = if aligned { plain.with_aligned_rows().unwrap() } else { plain };
        let data = cells(element, rows * columns, seed);
        write_table(&source, stored, [Ok(&data)], false).unwrap();
        let foreign = options(1 << 20).to(TargetFormat::GraphZero);
        if from_graphzero && convert(&source, &path("z.gd"), &foreign).is_ok() {
            source = path("z.gd");
        }
        let budget = Budget::new(budget);
        let wanted = ConvertOptions::new().budget(budget.clone());
        let pool = graphmill_disk::with_threads(Some(threads)).unwrap();
        let report = pool.install(|| convert(&source, &lines, &wanted)).unwrap();
        prop_assert!(budget.peak() <= budget.total() && budget.used() == 0);
        prop_assert_eq!((report.rows, report.target), (rows, TargetKind::Csv));
        let written = text(&lines);
        prop_assert_eq!(report.length, written.len() as u64);
        prop_assert_eq!(written.lines().count() as u64, rows);
        let regular = written.lines().all(|line| line.split(',').count() as u64 == columns);
        prop_assert!(regular);

        let typed = options(16 << 20).table(TableInputOptions::new().element(element));
        convert(&lines, &back, &typed).unwrap();
        let (shape, found) = read_back::table(&back);
        // Text of one column does not tell a vector from a matrix.
        let expected = match columns {
            1 => TableShape::vector(rows, element).unwrap(),
            _ => plain,
        };
        prop_assert_eq!(shape, expected);
        prop_assert!(one_nan(element, &found) == one_nan(element, &data));
    }
}

#[test]
fn numbers_are_written_as_people_write_them() {
    let folder = tempfile::tempdir().unwrap();
    let (source, lines) = (folder.path().join("x.gd"), folder.path().join("x.csv"));
    let written = |shape: TableShape, bytes: Vec<u8>| {
        write_table(&source, shape, [Ok(bytes)], true).unwrap();
        convert(&source, &lines, &options(1 << 20)).unwrap();
        text(&lines)
    };
    let floats = [0.1_f32, -2.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-45];
    let bytes = floats.iter().flat_map(|cell| cell.to_le_bytes()).collect();
    let shape = TableShape::matrix(2, 3, ElementType::F32).unwrap();
    assert_eq!(written(shape, bytes), "0.1,-2,nan\ninf,-inf,1e-45\n");
    let halves = [f16::from_f32(0.1), f16::NEG_ZERO];
    let bytes = halves.iter().flat_map(|cell| cell.to_le_bytes()).collect();
    let shape = TableShape::matrix(1, 2, ElementType::F16).unwrap();
    assert_eq!(written(shape, bytes), "0.099975586,-0\n");
    let bytes = [i64::MIN, -1, i64::MAX].iter().flat_map(|cell| cell.to_le_bytes()).collect();
    let shape = TableShape::vector(3, ElementType::I64).unwrap();
    assert_eq!(written(shape, bytes), "-9223372036854775808\n-1\n9223372036854775807\n");
    let shape = TableShape::matrix(2, 2, ElementType::Bool).unwrap();
    assert_eq!(written(shape, vec![0, 1, 1, 0]), "0,1\n1,0\n");
    let shape = TableShape::matrix(0, 5, ElementType::U8).unwrap();
    assert_eq!(written(shape, vec![]), "");
    let shape = TableShape::matrix(0, 0, ElementType::U8).unwrap();
    assert_eq!(written(shape, vec![]), "");
}

#[test]
fn tables_that_text_cannot_hold_leave_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let (source, lines) = (folder.path().join("x.gd"), folder.path().join("x.csv"));
    let failure = |sources: &[PathBuf], options: &ConvertOptions<'_>| {
        let error = convert_files(sources, &lines, options).unwrap_err().to_string();
        assert_eq!(files(folder.path()), 1, "{error}");
        error
    };
    let empty = TableShape::matrix(3, 0, ElementType::F32).unwrap();
    write_table(&source, empty, [Ok([])], false).unwrap();
    let error = failure(from_ref(&source), &options(1 << 20));
    assert!(error.contains("x.gd`, shape: found 3 rows without columns"), "{error}");

    let shape = TableShape::matrix(100_000, 4, ElementType::Bool).unwrap();
    write_table(&source, shape, [Ok(vec![1; 400_000])], true).unwrap();
    let two = [source.clone(), source.clone()];
    let error = failure(&two, &options(1 << 20));
    assert!(error.contains("several files") && error.contains("name a .gd"), "{error}");
    let stop = |progress: Progress| {
        assert_eq!((progress.stage, progress.total), ("writing lines", 100_000));
        progress.done < 50_000
    };
    failure(from_ref(&source), &options(1 << 20).observer(&stop));
    let mut bytes = std::fs::read(&source).unwrap();
    let start = graphmill_format::Header::parse(&bytes, bytes.len() as u64).unwrap();
    let start = start.table_section().unwrap().offset as usize;
    bytes[start + 4 * 77_777 + 2] = 9;
    std::fs::write(&source, bytes).unwrap();
    let error = failure(from_ref(&source), &options(1 << 20));
    assert!(error.contains("x.gd`, row 77777: found 9, expected 0 or 1"), "{error}");
    let error = failure(from_ref(&source), &options(10));
    assert!(error.contains("rows and their text"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn weights_and_times_survive_text(
        edges in proptest::collection::vec((0_i64..30, 0_i64..30, 0_u32..0x7f80_0000, any::<i64>()), 1..200),
        directions in 0_usize..4,
        order in 0_usize..3,
        weighted: bool,
        timed: bool,
        header: bool,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let (source, lines, back) = (path("x.gl"), path("x.csv"), path("back.gl"));
        let sources: Vec<i64> = edges.iter().map(|edge| edge.0).collect();
        let destinations: Vec<i64> = edges.iter().map(|edge| edge.1).collect();
        // Any that is finite, but no sum of them is not.
        let weights: Vec<f32> = edges.iter().map(|edge| f32::from_bits(edge.2) / 1e4).collect();
        let times: Vec<i64> = edges.iter().map(|edge| edge.3).collect();
        let directions = [
            Directions::Out, Directions::In, Directions::OutAndIn, Directions::Undirected,
        ][directions];
        let order = [ListOrder::Id, ListOrder::File, ListOrder::Time][if timed { order } else { order % 2 }];
        let mut wanted = GraphOptions::new().directions(directions).order(order).edge_ids(true);
        if weighted {
            wanted = wanted.weights(&weights);
        }
        if timed {
            wanted = wanted.times(&times);
        }
        let stream = MemoryEdges::new(&sources, &destinations, Some(30)).unwrap();
        write_graph(&source, &stream, &wanted, &Budget::new(1 << 20), false).unwrap();
        let original = read_back::graph(&source);

        let report = convert(&source, &lines, &options(1 << 20).csv_header(header)).unwrap();
        prop_assert_eq!(report.rows, edges.len() as u64);
        let written = text(&lines);
        let first = written.lines().next().unwrap();
        match (weighted, timed) {
            (true, true) => prop_assert_eq!(first, "source,destination,weight,time"),
            (true, false) => prop_assert_eq!(first, "source,destination,weight"),
            (false, true) => prop_assert_eq!(first, "source,destination,time"),
            (false, false) => prop_assert_eq!(first == "src,dst", header),
        }

        let name = |name: &str| Column::Name(name.to_owned());
        let mut input = EdgeInputOptions::new();
        if weighted {
            input = input.weight_column(name("weight"));
        }
        if timed {
            input = input.time_column(name("time"));
        }
        let again = match original.lists[0].0 {
            Direction::In => Directions::In,
            Direction::Both => Directions::Undirected,
            Direction::Out => Directions::Out,
        };
        let reading = options(16 << 20).input(input).num_nodes(30).directions(again).order(order);
        convert(&lines, &back, &reading).unwrap();
        let found = read_back::graph(&back);
        let values = |graph: &read_back::Graph| -> Vec<Values> {
            let lists = graph.lists[0].1.iter();
            let value = |stored: &read_back::Stored| {
                (stored.neighbour, stored.weight.map(f32::to_bits), stored.time)
            };
            lists.map(|list| list.iter().map(value).collect()).collect()
        };
        prop_assert_eq!(values(&found), values(&original));
    }
}

#[test]
fn what_a_target_cannot_hold_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let edges = MemoryEdges::new(&[0_i64, 1], &[1, 0], None).unwrap();
    let plain = GraphOptions::new();
    let weighted = GraphOptions::new().weights(&[0.5, 1.5]);
    let timed = GraphOptions::new().times(&[3, -4]);
    let both = GraphOptions::new().weights(&[0.5, 1.5]).times(&[3, -4]);
    let graphzero = options(1 << 20).to(TargetFormat::GraphZero);
    for (wanted, in_array, in_graphzero) in [
        (plain, vec![], vec![]),
        (weighted, vec!["weights", "edge ids"], vec!["edge ids"]),
        (timed, vec!["times", "edge ids"], vec!["times", "edge ids"]),
        (both, vec!["weights", "times", "edge ids"], vec!["times", "edge ids"]),
    ] {
        write_graph(&path("x.gl"), &edges, &wanted, &Budget::new(1 << 20), true).unwrap();
        let left_out = |target: &str, options: &ConvertOptions<'_>| {
            convert(&path("x.gl"), &path(target), options).unwrap().left_out
        };
        assert_eq!(left_out("x.npy", &options(1 << 20)), in_array);
        assert_eq!(left_out("z.gl", &graphzero), in_graphzero);
        assert_eq!(left_out("x.csv", &options(1 << 20)), [""; 0]);
        assert_eq!(left_out("y.gl", &options(1 << 20)), [""; 0]);
    }
    assert_eq!(text(&path("x.csv")), "source,destination,weight,time\n0,1,0.5,3\n1,0,1.5,-4\n");
    let name = |name: &str| Column::Name(name.to_owned());
    let input = EdgeInputOptions::new().time_column(name("time"));
    let graphzero = options(16 << 20).to(TargetFormat::GraphZero).input(input);
    let report = convert(&path("x.csv"), &path("z.gl"), &graphzero).unwrap();
    assert_eq!(report.left_out, ["times"]);
}
