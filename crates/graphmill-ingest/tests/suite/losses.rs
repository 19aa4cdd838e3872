//! What a target cannot hold is named, whatever source it comes from; and nothing is lost by there
//! being nothing.

use crate::read_back;
use std::path::PathBuf;

use graphmill_disk::Budget;
use graphmill_format::{ElementType, Encoding, TableShape};
use graphmill_ingest::build::{BuildOptions, BuildSources, EdgeSource, NodeOrder, build, reorder};
use graphmill_ingest::source::TableInputOptions;
use graphmill_ingest::{
    ConvertOptions, Directions, EdgeSortOptions, GraphOptions, MemoryEdges, TargetFormat, convert,
    write_graph, write_table,
};

const DIRECTIONS: [Directions; 4] =
    [Directions::Out, Directions::In, Directions::OutAndIn, Directions::Undirected];

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

fn options() -> ConvertOptions<'static> {
    ConvertOptions::new().budget(Budget::new(4 << 20)).overwrite(true)
}

/// Of every kind with every optional section into every kind: what is kept is there, and what is
/// not is named.
#[test]
fn whatever_a_target_cannot_hold_is_named() {
    let folder = Folder::new();
    let count = 40_i64;
    let sources: Vec<i64> = (0..count).map(|edge| edge * 7 % 11).collect();
    let destinations: Vec<i64> = (0..count).map(|edge| edge * 5 % 10).collect();
    let weights: Vec<f32> = (0..count).map(|edge| edge as f32 / 8.0).collect();
    let times: Vec<i64> = (0..count).rev().collect();
    let original: Vec<i64> = (0..12).map(|node| (node * 5 + 3) % 12).collect();
    let memory = MemoryEdges::new(&sources, &destinations, Some(12)).unwrap();
    let mut made = 0;
    for bits in 0..16_u32 {
        for encoding in [Encoding::I32, Encoding::I64, Encoding::Packed] {
            for directions in [Directions::OutAndIn, Directions::Undirected] {
                let [ids, weighted, timed, renumbered] = [1, 2, 4, 8].map(|bit| bits & bit != 0);
                let mut wanted =
                    GraphOptions::new().directions(directions).edge_ids(ids).encoding(encoding);
                if weighted {
                    wanted = wanted.weights(&weights);
                }
                if timed {
                    wanted = wanted.times(&times);
                }
                if renumbered {
                    wanted = wanted.original_ids(&original);
                }
                let source = folder.path("source.gl");
                write_graph(&source, &memory, &wanted, &Budget::new(1 << 20), true).unwrap();
                let undirected = directions == Directions::Undirected;
                let ids = ids || weighted || timed;
                let lost = |what: &[(&'static str, bool)]| -> Vec<&'static str> {
                    what.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect()
                };
                let mark = ("the mark as undirected", undirected);
                // Node 11 has no edge; renumbered, another id is the one that is missing.
                let largest = ("1 nodes without edges", !renumbered);
                let expected = [
                    ("t.gl", None, vec![]),
                    (
                        "t.gl",
                        Some(TargetFormat::GraphZero),
                        lost(&[
                            ("times", timed),
                            ("edge ids", ids),
                            ("original ids", renumbered),
                            mark,
                        ]),
                    ),
                    (
                        "t.npy",
                        None,
                        lost(&[
                            ("weights", weighted),
                            ("times", timed),
                            ("edge ids", ids),
                            mark,
                            largest,
                        ]),
                    ),
                    ("t.csv", None, lost(&[mark, largest])),
                    ("t.parquet", None, lost(&[mark, largest])),
                ];
                for (target, format, expected) in expected {
                    let mut options = options();
                    if let Some(format) = format {
                        options = options.to(format);
                    }
                    let target = folder.path(target);
                    let report = convert(&source, &target, &options).unwrap();
                    assert_eq!(
                        report.left_out,
                        expected,
                        "{bits} {encoding:?} {}",
                        target.display()
                    );
                    let warning = report.warning().unwrap_or_default();
                    assert!(expected.iter().all(|what| warning.contains(what)), "{warning}");
                    made += 1;
                    // Neighbours of 64 bits become as narrow as they can be.
                    if target.ends_with("t.gl") && format.is_none() && encoding != Encoding::I64 {
                        assert!(std::fs::read(&target).unwrap() == std::fs::read(&source).unwrap());
                    }
                }
                assert!(convert(&source, &folder.path("t.gd"), &options()).is_err());
            }
        }
    }
    assert_eq!(made, 16 * 3 * 2 * 5);
    for element in ElementType::ALL.into_iter().filter(|element| element.is_table_type()) {
        let source = folder.path("x.gd");
        let shape = TableShape::matrix(9, 2, element).unwrap();
        let bytes = vec![1_u8; shape.length() as usize];
        write_table(&source, shape, [Ok(&bytes)], true).unwrap();
        for target in ["y.gd", "y.csv", "y.parquet"] {
            let report = convert(&source, &folder.path(target), &options()).unwrap();
            assert!(report.left_out.is_empty(), "{element} {target}");
            if target == "y.gd" {
                continue;
            }
            let table = TableInputOptions::new().element(element);
            let back = folder.path("back.gd");
            convert(
                &folder.path(target),
                &back,
                &options().budget(Budget::new(16 << 20)).table(table),
            )
            .unwrap();
            assert_eq!(read_back::table(&back), (shape, bytes.clone()), "{element} {target}");
        }
        assert!(convert(&source, &folder.path("y.gl"), &options()).is_err());
    }
}

#[test]
fn graphs_without_edges_go_everywhere() {
    let folder = Folder::new();
    for num_nodes in [0_u64, 5] {
        let empty = MemoryEdges::<i64>::new(&[], &[], Some(num_nodes)).unwrap();
        for directions in DIRECTIONS {
            let source = folder.path("source.gl");
            let wanted = GraphOptions::new().directions(directions);
            write_graph(&source, &empty, &wanted, &Budget::new(1 << 20), true).unwrap();
            for target in ["t.gl", "t.npy", "t.csv", "t.parquet", "packed.gl"] {
                let packed = target == "packed.gl";
                let encoding = if packed { Encoding::Packed } else { Encoding::Auto };
                let target = folder.path(target);
                convert(&source, &target, &options().encoding(encoding)).unwrap();
                let sources = BuildSources::new(EdgeSource::Files(vec![target.clone()]));
                let sizes = EdgeSortOptions::new().num_nodes(num_nodes);
                for order in [NodeOrder::None, NodeOrder::Hot, NodeOrder::Bfs, NodeOrder::Community]
                {
                    let options = BuildOptions::new()
                        .topology(sizes)
                        .order(order)
                        .overwrite(true)
                        .budget(Budget::new(1 << 30));
                    let out = folder.path("dataset");
                    let is_text = target.extension().is_some_and(|extension| extension == "csv");
                    let built = build(&out, &sources, &options);
                    if is_text && num_nodes == 0 {
                        // Of a text nobody said that it is empty on purpose.
                        let error = built.unwrap_err().to_string();
                        assert!(error.contains("--num-nodes"), "{error}");
                        continue;
                    }
                    let report =
                        built.unwrap_or_else(|error| panic!("{}: {error}", target.display()));
                    let manifest = report.manifest;
                    assert_eq!((manifest.node().count, manifest.edge().count), (num_nodes, 0));
                    let out2 = folder.path("reordered");
                    let hot = options.clone().order(NodeOrder::Hot);
                    let done = reorder(&out, &out2, &hot).unwrap().manifest;
                    assert_eq!((done.node().count, done.edge().count), (num_nodes, 0));
                    convert(&out2, &folder.path("u.csv"), &self::options()).unwrap();
                }
            }
        }
    }
}
