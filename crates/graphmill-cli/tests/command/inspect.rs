//! `graphmill inspect`.

use crate::shell::{Shell, check};
use serde_json::Value;

#[test]
fn a_dataset_is_described_with_its_tables_and_splits() {
    let shell = Shell::new();
    shell.prepare("generate papers papers --nodes 1k --features 8 --dtype f16 --quiet");
    check("inspect-dataset", &shell.run("inspect papers"));
    check("inspect-dataset-json", &shell.run("inspect papers --json"));
}

#[test]
fn a_topology_is_described_with_its_degrees_and_sections() {
    let shell = Shell::new();
    shell.prepare("generate sbm both.gl --nodes 1k --quiet");
    shell.prepare("generate sbm in.gl --nodes 1k --direction in --quiet");
    shell.prepare("generate sbm undirected.gl --nodes 1k --undirected --quiet");
    check("inspect-topology", &shell.run("inspect both.gl"));
    check("inspect-topology-in", &shell.run("inspect in.gl"));
    check("inspect-topology-undirected", &shell.run("inspect undirected.gl"));
    check("inspect-topology-json", &shell.run("inspect undirected.gl --json"));
}

#[test]
fn a_table_and_the_files_of_graphzero_are_described() {
    let shell = Shell::new();
    shell.prepare("generate sbm set --nodes 100 --features 4 --quiet");
    shell.prepare("convert set/x.1.gd x.gd --to graphzero --quiet");
    shell.prepare("convert set/graph.1.gl graph.gl --to graphzero --direction out --quiet");
    check("inspect-table", &shell.run("inspect set/x.1.gd"));
    check("inspect-table-json", &shell.run("inspect set/y.1.gd --json"));
    check("inspect-graphzero-table", &shell.run("inspect x.gd"));
    check("inspect-graphzero-topology", &shell.run("inspect graph.gl"));
}

#[test]
fn a_graph_without_edges_has_no_bits_per_edge() {
    let shell = Shell::new();
    shell.prepare("generate sbm empty.gl --nodes 10 --edges 0 --quiet");
    let said = shell.run("inspect empty.gl --json");
    let facts: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(facts["bits_per_edge"], Value::Null);
    assert_eq!(facts["degrees"]["out"]["isolated"], 1.0);
}

#[test]
fn quiet_tells_by_the_exit_code_alone() {
    let shell = Shell::new();
    shell.prepare("generate sbm graph.gl --nodes 10 --quiet");
    let said = shell.run("inspect graph.gl --quiet");
    assert_eq!((said.code, said.stdout.as_str(), said.stderr.as_str()), (0, "", ""));
    assert!(shell.run("inspect graph.gl --quiet --json").stdout.contains("\"num_nodes\": 10"));
}

#[test]
fn what_cannot_be_opened_is_named_with_a_remedy() {
    let shell = Shell::new();
    std::fs::create_dir(shell.path("folder")).unwrap();
    std::fs::write(shell.path("empty.gl"), "").unwrap();
    std::fs::write(shell.path("edges.csv"), "0,1\n1,2\n0,2\n").unwrap();
    shell.prepare("generate sbm cut.gl --nodes 10 --quiet");
    let whole = shell.read("cut.gl");
    std::fs::write(shell.path("cut.gl"), &whole[..whole.len() - 1]).unwrap();
    shell.prepare("generate sbm torn --nodes 10 --quiet");
    std::fs::remove_file(shell.path("torn/x.1.gd")).unwrap();
    for name in ["nowhere.gl", "folder", "empty.gl", "edges.csv", "cut.gl", "torn"] {
        let said = shell.run(&format!("inspect {name}"));
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{said}");
        check(&format!("inspect-failure-{}", name.replace('.', "-")), &said);
    }
}

#[test]
fn a_disk_is_measured_beside_what_is_on_it_or_alone() {
    let shell = Shell::new();
    shell.prepare("generate sbm set --nodes 100 --features 4 --quiet");
    let facts = |line: &str| -> Value {
        let said = shell.run(line);
        assert_eq!(said.code, 0, "{said}");
        serde_json::from_str(&said.stdout).unwrap()
    };
    let both = facts("inspect set --disk --json");
    assert_eq!(both["kind"], "dataset");
    assert!(both["disk"]["random_4k_per_second"].as_f64().unwrap() > 0.0);
    let alone = facts("inspect . --disk --json");
    assert!(alone.get("kind").is_none());
    assert!(alone["disk"]["bytes_per_second"].as_f64().unwrap() > 0.0);
    assert_eq!(shell.run("inspect .").code, 1);
    let said = shell.run("inspect set --disk").stdout;
    assert!(said.contains("reads/s") && said.contains("dataset"), "{said}");
}
