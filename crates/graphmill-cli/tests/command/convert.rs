//! `graphmill convert`.

use crate::shell::{Shell, check};
use serde_json::Value;

#[test]
fn a_topology_goes_to_graphzero_and_to_arrays_and_back() {
    let shell = Shell::new();
    shell.prepare("generate sbm graph.gl --nodes 100 --edges 500 --direction out --quiet");
    check(
        "convert-graphzero",
        &shell.run("convert graph.gl zero.gl --to graphzero --memory 64MiB"),
    );
    check("convert-npy", &shell.run("convert graph.gl edges.npy --memory 64MiB"));
    check("convert-csv", &shell.run("convert graph.gl edges.csv --memory 64MiB"));
    check("convert-gl", &shell.run("convert edges.npy back.gl --memory 64MiB"));
    shell.prepare("convert zero.gl again.gl --quiet");
    let graph = shell.read("graph.gl");
    assert!(graph == shell.read("back.gl"), "through .npy");
    assert!(graph == shell.read("again.gl"), "through GraphZero's layout");
    let lines = String::from_utf8(shell.read("edges.csv")).unwrap();
    assert_eq!((lines.lines().next(), lines.lines().count()), (Some("src,dst"), 501));
}

#[test]
fn a_table_goes_to_graphzero_and_to_arrays_and_back() {
    let shell = Shell::new();
    shell.prepare("generate sbm set --nodes 100 --features 6 --quiet");
    check("convert-table-npy", &shell.run("convert set/x.1.gd x.npy --memory 64MiB"));
    shell.prepare("convert x.npy x.gd --quiet");
    shell.prepare("convert x.gd zero.gd --to graphzero --quiet");
    shell.prepare("convert zero.gd y.gd --quiet");
    check("convert-table-csv", &shell.run("convert x.gd x.csv --memory 64MiB"));
    shell.prepare("convert x.csv from-text.gd --quiet");
    let table = shell.read("set/x.1.gd");
    assert!(table == shell.read("x.gd"), "through .npy");
    assert!(table == shell.read("y.gd"), "through GraphZero's layout");
    assert!(table == shell.read("from-text.gd"), "through text");
}

#[test]
fn weights_and_times_go_to_text_and_back() {
    let shell = Shell::new();
    let lines = "source,destination,weight,time\n0,1,0.25,-7\n1,0,3,5\n1,2,1e-45,9\n";
    std::fs::write(shell.path("edges.csv"), lines).unwrap();
    let columns = "--weight-column weight --time-column time --quiet";
    shell.prepare(&format!("convert edges.csv graph.gl {columns}"));
    shell.prepare("convert graph.gl again.csv --quiet");
    assert_eq!(String::from_utf8(shell.read("again.csv")).unwrap(), lines);
    shell.prepare(&format!("convert again.csv again.gl {columns}"));
    assert!(shell.read("graph.gl") == shell.read("again.gl"));
    check("convert-left-out", &shell.run("convert graph.gl edges.npy --memory 64MiB"));
    let quiet = shell.run("convert graph.gl zero.gl --to graphzero --quiet");
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
}

#[test]
fn flags_reach_the_target() {
    let shell = Shell::new();
    shell.prepare("generate sbm graph.gl --nodes 100 --edges 500 --direction out --quiet");
    shell.prepare("convert graph.gl edges.csv --quiet");
    shell.prepare(
        "convert edges.csv t.gl --undirected --neighbor-order file --encoding i64 --quiet",
    );
    let facts: Value = serde_json::from_str(&shell.run("inspect t.gl --json").stdout).unwrap();
    assert_eq!(facts["undirected"], true);
    assert_eq!(facts["num_edges"], 1000);
    assert_eq!(facts["neighbor_order"], "file");
    assert_eq!(facts["index_dtype"], "int64");
    shell.prepare("verify t.gl --quiet");
}

#[test]
fn what_cannot_be_converted_is_named_with_a_remedy() {
    let shell = Shell::new();
    std::fs::write(shell.path("notes.txt"), "hello\n").unwrap();
    shell.prepare("generate sbm set --nodes 10 --features 2 --direction both --quiet");
    shell.prepare("generate sbm graph.gl --nodes 10 --quiet");
    for (name, arguments) in [
        ("nowhere", "convert nowhere.gl out.gl"),
        ("dataset-to-table", "convert set out.gd"),
        ("table-of-a-file", "convert graph.gl out.csv --table x"),
        ("order", "convert graph.gl out.gl --neighbor-order file"),
        ("map-ids", "convert notes.txt out.gl --map-ids"),
        ("text", "convert notes.txt out.gl"),
        ("table-to-topology", "convert set/x.1.gd out.gl"),
        ("topology-to-table", "convert graph.gl out.gd"),
        ("no-extension", "convert graph.gl out"),
        ("itself", "convert graph.gl graph.gl --overwrite"),
        ("no-folder", "convert graph.gl nowhere/out.gl"),
        ("exists", "convert graph.gl set/graph.1.gl"),
        ("time", "convert graph.gl out.gl --neighbor-order time"),
    ] {
        let before = shell.everything();
        let said = shell.run(arguments);
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{arguments}: {said}");
        check(&format!("convert-failure-{name}"), &said);
        assert_eq!(shell.everything(), before, "{arguments}");
    }
}

#[test]
fn a_dataset_leaves_as_text_and_parquet_with_its_own_ids() {
    let shell = Shell::new();
    std::fs::write(shell.path("e.csv"), "src,dst\nb,a\nc,b\na,c\nc,a\n").unwrap();
    std::fs::write(shell.path("y.csv"), "id,y\na,1\nb,2\nc,3\n").unwrap();
    shell.prepare(
        "build set --edges e.csv --string-ids --table year=y.csv --order hot --edge-ids --quiet",
    );
    check("convert-dataset", &shell.run("convert set back.csv --memory 64MiB"));
    let text = String::from_utf8(shell.read("back.csv")).unwrap();
    assert_eq!(text, "source,destination\n\"b\",\"a\"\n\"c\",\"b\"\n\"a\",\"c\"\n\"c\",\"a\"\n");
    check("convert-dataset-table", &shell.run("convert set year.csv --table year --memory 64MiB"));
    let text = String::from_utf8(shell.read("year.csv")).unwrap();
    assert!(text.starts_with("id,year\n") && text.contains("\"b\",2\n"), "{text}");
    for source in ["back.csv", "back.parquet"] {
        shell.prepare(&format!("convert set {source} --quiet --overwrite"));
        shell.prepare(&format!(
            "build again --edges {source} --string-ids --table year=year.csv --order hot --edge-ids --quiet --overwrite"
        ));
        assert!(shell.read("set/graph.1.gl") == shell.read(&newest(&shell)), "{source}");
    }
    let refused = shell.run("convert set back.npy");
    assert!(refused.stderr.contains("--internal-ids"), "{refused}");
    shell.prepare("convert set back.npy --internal-ids --quiet");
}

/// The topology of the dataset that was built last.
fn newest(shell: &Shell) -> String {
    let text = String::from_utf8(shell.read("again/dataset.json")).unwrap();
    let at = text.find("graph.").unwrap();
    let name: String = text[at..].chars().take_while(|letter| *letter != '"').collect();
    format!("again/{name}")
}
