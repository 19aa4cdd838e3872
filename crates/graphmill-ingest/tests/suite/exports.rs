//! What leaves a topology or a dataset comes back the same, or is named as left out.

use crate::read_back::{self, Graph, Stored};
use std::path::{Path, PathBuf};

use graphmill_disk::Budget;
use graphmill_format::{Direction, ElementType, ListOrder};
use graphmill_ingest::build::{
    BuildOptions, BuildSources, EdgeSource, NodeOrder, SourceIds, TableSource, build, reorder,
};
use graphmill_ingest::source::{Column, EdgeInputOptions};
use graphmill_ingest::{
    ConvertOptions, Directions, EdgeSortOptions, GraphOptions, MemoryEdges, TargetFormat, convert,
    write_graph,
};
use graphmill_rounds::rounds;
use proptest::prelude::*;

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

fn topology(dataset: &Path) -> PathBuf {
    let bytes = std::fs::read(dataset.join("dataset.json")).unwrap();
    let manifest = graphmill_format::Manifest::parse(&bytes).unwrap();
    dataset.join(&manifest.edge().graph.name)
}

/// The list of every node, by original ids.
type NamedLists = Vec<(i64, Vec<Stored>)>;

/// Everything that a topology says of its edges, between original ids: sets of lists do not depend
/// on the numbers of nodes, and lists in the order of ids do.
fn meaning(graph: &Graph, keeps_order: bool) -> Vec<(Direction, NamedLists)> {
    let id = |node: u64| match &graph.original_ids {
        Some(ids) => ids[node as usize],
        None => node as i64,
    };
    let mut all = Vec::new();
    for (direction, lists) in &graph.lists {
        let mut named: NamedLists = Vec::new();
        for (node, list) in lists.iter().enumerate() {
            let entry = |one: &Stored| Stored { neighbour: id(one.neighbour) as u64, ..*one };
            let mut list: Vec<Stored> = list.iter().map(entry).collect();
            if !keeps_order {
                list.sort_by_key(|one| {
                    let weight = one.weight.map(f32::to_bits);
                    (one.neighbour, one.row, one.time, weight)
                });
            }
            named.push((id(node as u64), list));
        }
        named.sort_by_key(|(node, _)| *node);
        all.push((*direction, named));
    }
    all
}

const DIRECTIONS: [Directions; 4] =
    [Directions::Out, Directions::In, Directions::OutAndIn, Directions::Undirected];
const ORDERS: [ListOrder; 3] = [ListOrder::Id, ListOrder::File, ListOrder::Time];

#[derive(Clone, Debug)]
struct Case {
    pairs: Vec<(u64, u64)>,
    directions: Directions,
    order: ListOrder,
    edge_ids: bool,
    weights: bool,
    times: bool,
    node_order: NodeOrder,
    ids: SourceIds,
}

fn case() -> impl Strategy<Value = Case> {
    let pairs = proptest::collection::vec((0_u64..25, 0_u64..25), 1..120);
    let node_order = prop_oneof![Just(NodeOrder::None), Just(NodeOrder::Hot), Just(NodeOrder::Bfs)];
    let ids =
        prop_oneof![Just(SourceIds::Numbers), Just(SourceIds::Integers), Just(SourceIds::Text),];
    (pairs, 0_usize..4, 0_usize..3, any::<[bool; 3]>(), node_order, ids).prop_map(
        |(pairs, directions, order, [edge_ids, weights, times], node_order, ids)| Case {
            pairs,
            directions: DIRECTIONS[directions],
            order: if ORDERS[order] == ListOrder::Time && !times {
                ListOrder::File
            } else {
                ORDERS[order]
            },
            edge_ids,
            weights,
            times,
            node_order,
            ids,
        },
    )
}

impl Case {
    /// What the source calls a node.
    fn name(&self, node: u64) -> String {
        match self.ids {
            SourceIds::Integers => (node * 1_000_003 + 17).to_string(),
            SourceIds::Text => format!("pa\"ge, {node}"),
            _ => node.to_string(),
        }
    }

    fn topology(&self) -> EdgeSortOptions<'static> {
        let topology = EdgeSortOptions::new().directions(self.directions).order(self.order);
        let topology = topology.edge_ids(self.edge_ids);
        if self.ids == SourceIds::Numbers { topology.num_nodes(25) } else { topology }
    }

    fn build(&self, out: &Path, edges: &Path) {
        let name = |name: &str| Column::Name(name.to_owned());
        let mut input = EdgeInputOptions::new();
        if self.weights {
            input = input.weight_column(name("weight"));
        }
        if self.times {
            input = input.time_column(name("time"));
        }
        let sources = BuildSources::new(EdgeSource::Files(vec![edges.to_path_buf()]));
        let options = BuildOptions::new()
            .topology(self.topology())
            .input(input)
            .ids(self.ids)
            .order(self.node_order)
            .budget(Budget::new(1 << 30));
        build(out, &sources, &options).unwrap();
    }

    fn text(&self) -> String {
        let mut text = "source,destination,weight,time\n".to_owned();
        for (row, (source, to)) in self.pairs.iter().enumerate() {
            let quoted = |node: u64| format!("\"{}\"", self.name(node).replace('"', "\"\""));
            let id = |node: u64| match self.ids {
                SourceIds::Text => quoted(node),
                _ => self.name(node),
            };
            text += &format!("{},{},{},{}\n", id(*source), id(*to), row as f32 / 4.0, row % 7);
        }
        text
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(rounds(48) as u32))]

    /// Edge for edge with ids, weights, times and the order of lists, through text and Parquet.
    #[test]
    fn a_dataset_that_is_exported_and_built_again_is_the_same(case in case(), budget in 20_u32..23) {
        let folder = Folder::new();
        let edges = folder.path("edges.csv");
        std::fs::write(&edges, case.text()).unwrap();
        let first = folder.path("first");
        case.build(&first, &edges);
        let original = read_back::graph(&topology(&first));
        let has_ids = case.edge_ids || case.weights || case.times;
        // Positions of rows are their ids only if the rows come in the order of the source.
        let keeps_order = has_ids || case.order == ListOrder::Id;
        for target in ["again.csv", "again.parquet"] {
            let target = folder.path(target);
            let options = options().budget(Budget::new(1 << budget));
            let report = convert(&first, &target, &options).unwrap();
            prop_assert_eq!(report.rows, case.pairs.len() as u64);
            let undirected = case.directions == Directions::Undirected;
            let named = report.left_out.iter().any(|what| what == "the mark as undirected");
            prop_assert_eq!(named, undirected);
            let again = folder.path(&format!("{} built", target.display()));
            case.build(&again, &target);
            let found = read_back::graph(&topology(&again));
            prop_assert_eq!(found.layout.num_nodes, original.layout.num_nodes);
            prop_assert_eq!(found.layout.undirected, original.layout.undirected);
            let same_numbers = case.node_order == NodeOrder::None || keeps_order;
            prop_assert!(same_numbers || found.original_ids.is_some());
            let in_order = keeps_order && case.node_order == NodeOrder::None;
            prop_assert_eq!(meaning(&found, in_order), meaning(&original, in_order));
            if has_ids {
                let (a, b) = (std::fs::read(topology(&again)), std::fs::read(topology(&first)));
                prop_assert!(a.unwrap() == b.unwrap(), "the topologies differ");
            }
        }
    }

    /// A conversion, a reordering and a build from a topology keep its lists, with all that is stored.
    #[test]
    fn lists_made_of_lists_are_those_of_the_source(case in case()) {
        let case = Case { node_order: NodeOrder::None, ids: SourceIds::Numbers, ..case };
        let folder = Folder::new();
        let edges = folder.path("edges.csv");
        std::fs::write(&edges, case.text()).unwrap();
        let first = folder.path("first");
        case.build(&first, &edges);
        let source = topology(&first);
        let original = read_back::graph(&source);
        let bytes = std::fs::read(&source).unwrap();

        let copy = folder.path("copy.gl");
        let report = convert(&source, &copy, &options()).unwrap();
        prop_assert!(report.left_out.is_empty(), "{:?}", report.left_out);
        prop_assert!(std::fs::read(&copy).unwrap() == bytes, "a copy has other bytes");

        let out = folder.path("reordered");
        let hot = BuildOptions::new().order(NodeOrder::Hot).budget(Budget::new(16 << 20));
        reorder(&first, &out, &hot).unwrap();
        let keeps_order = case.order != ListOrder::Id;
        let found = read_back::graph(&topology(&out));
        prop_assert_eq!(meaning(&found, keeps_order), meaning(&original, keeps_order));

        // Every direction and order that can be made of it, as a build from the source makes it.
        let has_ids = case.edge_ids || case.weights || case.times;
        let undirected = case.directions == Directions::Undirected;
        for directions in DIRECTIONS {
            for order in ORDERS {
                if undirected != (directions == Directions::Undirected)
                    || (order == ListOrder::Time && !case.times)
                {
                    continue;
                }
                let wanted = options().directions(directions).order(order);
                let made = folder.path("made.gl");
                let outcome = convert(&source, &made, &wanted);
                let is_known = order != ListOrder::File || has_ids || {
                    let has = |one: &Direction| original.layout.directions.iter().any(|d| d.direction == *one);
                    case.order == ListOrder::File && match directions {
                        Directions::Out => has(&Direction::Out),
                        Directions::In => has(&Direction::In),
                        Directions::OutAndIn => has(&Direction::Out) && has(&Direction::In),
                        Directions::Undirected => true,
                    }
                };
                prop_assert_eq!(outcome.is_ok(), is_known, "{:?} {:?} {:?}", directions, order, outcome);
                if is_known {
                    let anew = folder.path(&format!("anew {directions:?} {order:?}"));
                    let case = Case { directions, order, ..case.clone() };
                    case.build(&anew, &edges);
                    let expected = std::fs::read(topology(&anew)).unwrap();
                    prop_assert!(std::fs::read(&made).unwrap() == expected, "{directions:?} {order:?}");
                }
            }
        }

        // Built from: the same edges, and the same ids where there are some.
        let again = folder.path("again");
        let topology_options = match case.directions {
            // An undirected topology says itself that it is one.
            Directions::Undirected => EdgeSortOptions::new().order(case.order),
            directions => EdgeSortOptions::new().order(case.order).directions(directions),
        };
        let options = BuildOptions::new().topology(topology_options).budget(Budget::new(16 << 20));
        let sources = BuildSources::new(EdgeSource::Files(vec![source.clone()]));
        let report = build(&again, &sources, &options).unwrap();
        prop_assert_eq!(report.manifest.edge().source_rows, case.pairs.len() as u64);
        let keeps_order = has_ids || case.order == ListOrder::Id;
        let found = read_back::graph(&topology(&again));
        prop_assert_eq!(meaning(&found, keeps_order), meaning(&original, keeps_order));
        if keeps_order {
            prop_assert!(std::fs::read(topology(&again)).unwrap() == bytes, "a build has other bytes");
        }
    }
}

#[test]
fn an_undirected_topology_is_taken_once_whatever_it_is_stored_as() {
    let folder = Folder::new();
    let edges = MemoryEdges::new(&[0_i64, 1, 2, 2, 4], &[1, 2, 2, 0, 4], Some(7)).unwrap();
    let ours = folder.path("ours.gl");
    let wanted = GraphOptions::new().directions(Directions::Undirected);
    write_graph(&ours, &edges, &wanted, &Budget::new(1 << 20), false).unwrap();
    let theirs = folder.path("theirs.gl");
    convert(&ours, &theirs, &options().to(TargetFormat::GraphZero)).unwrap();
    let expected = read_back::graph(&ours);
    let undirected = EdgeSortOptions::new().directions(Directions::Undirected);
    let cases = [
        (&ours, EdgeSortOptions::new(), true),
        (&ours, undirected, true),
        (&theirs, undirected, true),
        // GraphZero's layout says nothing, so that nothing is taken over from it.
        (&theirs, EdgeSortOptions::new(), false),
        (&ours, EdgeSortOptions::new().directions(Directions::OutAndIn), false),
    ];
    for (number, (source, topology_options, once)) in cases.into_iter().enumerate() {
        let out = folder.path(&format!("dataset {number}"));
        let sources = BuildSources::new(EdgeSource::Files(vec![source.clone()]));
        let options = BuildOptions::new().topology(topology_options).budget(Budget::new(16 << 20));
        let edge = build(&out, &sources, &options).unwrap().manifest.edge().clone();
        assert_eq!((edge.undirected, edge.count), (once, 10), "{number}");
        assert_eq!(edge.source_rows, if once { 5 } else { 10 }, "{number}");
        let found = read_back::graph(&topology(&out));
        assert_eq!(found.lists[0].1, expected.lists[0].1, "{number}");
    }
    // The same of a conversion.
    let converted = folder.path("converted.gl");
    let to_undirected = options().directions(Directions::Undirected);
    convert(&theirs, &converted, &to_undirected).unwrap();
    assert_eq!(read_back::graph(&converted).lists[0].1, expected.lists[0].1);
    // A directed file of GraphZero's is not mistaken for one.
    let directed = folder.path("directed.gl");
    let one_way = GraphOptions::new().directions(Directions::Out);
    write_graph(&directed, &edges, &one_way, &Budget::new(1 << 20), false).unwrap();
    convert(&directed, &theirs, &options().to(TargetFormat::GraphZero)).unwrap();
    let report = convert(&theirs, &converted, &to_undirected).unwrap();
    assert_eq!(report.rows, 10);
}

#[test]
fn self_loops_that_a_build_added_are_no_edges_of_its_source() {
    let folder = Folder::new();
    let csv = folder.path("edges.csv");
    std::fs::write(&csv, "0,1\n1,1\n2,0\n").unwrap();
    let with_loops = EdgeSortOptions::new()
        .directions(Directions::Undirected)
        .add_self_loops(true)
        .edge_ids(true);
    let dataset = |name: &str, source: &Path, wanted: EdgeSortOptions<'static>| {
        let sources = BuildSources::new(EdgeSource::Files(vec![source.to_path_buf()]));
        let options = BuildOptions::new().topology(wanted).budget(Budget::new(16 << 20));
        build(&folder.path(name), &sources, &options).map(|_| topology(&folder.path(name)))
    };
    let first = dataset("first", &csv, with_loops).unwrap();
    let again = dataset("again", &first, with_loops).unwrap();
    assert!(std::fs::read(&first).unwrap() == std::fs::read(&again).unwrap());
    let error = dataset("without", &first, EdgeSortOptions::new()).unwrap_err().to_string();
    assert!(
        error.contains("3 self loops that a build added") && error.contains("--add-self-loops")
    );
    let text = folder.path("back.csv");
    let report = convert(&first, &text, &options().csv_header(false)).unwrap();
    assert!(report.left_out.contains(&"3 self loops that a build added".to_owned()));
    assert_eq!(std::fs::read_to_string(&text).unwrap(), "0,1\n1,1\n0,2\n");
}

#[test]
fn edge_tables_follow_the_stored_ids_of_a_topology() {
    let folder = Folder::new();
    let csv = folder.path("edges.csv");
    // Rows 0 and 3 are dropped, and lists bring the others into another order.
    std::fs::write(&csv, "5,5\n3,0\n1,2\n1,1\n0,4\n").unwrap();
    let features = folder.path("e.csv");
    std::fs::write(&features, "10\n11\n12\n13\n14\n").unwrap();
    let topology_options = EdgeSortOptions::new().edge_ids(true).drop_self_loops(true);
    let options_of =
        |topology| BuildOptions::new().topology(topology).budget(Budget::new(16 << 20));
    let from = |edges: &Path| {
        BuildSources::new(EdgeSource::Files(vec![edges.to_path_buf()]))
            .edge_table("e", TableSource::Files(vec![features.clone()]))
    };
    let first = folder.path("first");
    build(&first, &from(&csv), &options_of(topology_options)).unwrap();
    let again = folder.path("again");
    let report =
        build(&again, &from(&topology(&first)), &options_of(EdgeSortOptions::new())).unwrap();
    assert_eq!(report.manifest.edge().source_rows, 5);
    assert!(std::fs::read(topology(&first)).unwrap() == std::fs::read(topology(&again)).unwrap());
    std::fs::write(&features, "10\n11\n12\n13\n").unwrap();
    let error =
        build(&folder.path("short"), &from(&topology(&first)), &options_of(EdgeSortOptions::new()));
    assert!(error.unwrap_err().to_string().contains("found 4 rows"));
    // Ids with gaps become a column, in their order.
    let text = folder.path("back.csv");
    convert(&first, &text, &options()).unwrap();
    assert_eq!(
        std::fs::read_to_string(&text).unwrap(),
        "source,destination,edge_id\n3,0,1\n1,2,2\n0,4,4\n"
    );
}

#[test]
fn tables_of_a_dataset_leave_with_the_ids_of_its_nodes() {
    let folder = Folder::new();
    let csv = folder.path("edges.csv");
    std::fs::write(&csv, "9000,70\n70,500\n500,9000\n70,9000\n").unwrap();
    let year = folder.path("year.csv");
    std::fs::write(&year, "id,year\n70,1970\n500,2005\n9000,1990\n12,1812\n").unwrap();
    let sources = BuildSources::new(EdgeSource::Files(vec![csv]))
        .table("year", TableSource::Files(vec![year]));
    let options_of = || {
        BuildOptions::new()
            .ids(SourceIds::Integers)
            .order(NodeOrder::Hot)
            .features(ElementType::I64)
            .budget(Budget::new(1 << 30))
    };
    let first = folder.path("first");
    build(&first, &sources, &options_of()).unwrap();
    let (edges, table) = (folder.path("e.parquet"), folder.path("year.parquet"));
    let report = convert(&first, &edges, &options()).unwrap();
    assert_eq!(report.left_out, ["1 nodes without edges", "tables"]);
    convert(&first, &table, &options().exported_table("year")).unwrap();
    let sources = BuildSources::new(EdgeSource::Files(vec![edges]))
        .table("year", TableSource::Files(vec![table]));
    let again = folder.path("again");
    build(&again, &sources, &options_of()).unwrap();
    let (a, b) = (read_back::graph(&topology(&first)), read_back::graph(&topology(&again)));
    assert_eq!(meaning(&a, false), meaning(&b, false));
    let text = folder.path("year again.csv");
    convert(&first, &text, &options().exported_table("year")).unwrap();
    let mut lines: Vec<String> =
        std::fs::read_to_string(&text).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(lines.remove(0), "id,year");
    lines.sort();
    assert_eq!(lines, ["12,1812", "500,2005", "70,1970", "9000,1990"]);
    let error =
        convert(&first, &text, &options().exported_table("nothing")).unwrap_err().to_string();
    assert!(error.contains("no table \"nothing\"") && error.contains("year"), "{error}");
    let report = convert(&first, &text, &options().internal_ids(true)).unwrap();
    assert!(report.left_out.contains(&"original ids".to_owned()));
    assert!(std::fs::read_to_string(&text).unwrap().lines().all(|line| line.len() == 3));
}
