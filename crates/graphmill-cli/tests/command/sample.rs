//! `graphmill sample`.

use crate::shell::{Shell, check};
use serde_json::Value;

#[test]
fn a_dataset_and_a_lone_topology_are_measured() {
    let shell = Shell::new();
    shell.prepare("generate papers papers --nodes 1k --features 0 --quiet");
    shell.prepare("generate rmat graph.gl --scale 10 --quiet");
    check(
        "sample-dataset",
        &shell.run("sample papers --fanouts 4,3 --batch-size 64 --batches 3 --threads 2"),
    );
    check(
        "sample-topology",
        &shell.run(
            "sample graph.gl --fanouts 5,-1 --batch-size 10 --batches 2 --direction out --replace --threads 1",
        ),
    );
}

#[test]
fn what_is_sampled_depends_on_the_seed_alone() {
    let shell = Shell::new();
    shell.prepare("generate rmat graph.gl --scale 12 --quiet");
    let run = |more: &str| -> Value {
        let line =
            format!("sample graph.gl --fanouts 5,5 --batch-size 100 --batches 40 --json {more}");
        let said = shell.run(&line);
        assert_eq!(said.code, 0, "{said}");
        serde_json::from_str(&said.stdout).unwrap()
    };
    let counts =
        |facts: &Value| (facts["edges_per_batch"].clone(), facts["nodes_per_batch"].clone());
    let alone = run("--threads 1");
    assert_eq!(alone["batches"], 40);
    assert_eq!(alone["fanouts"], serde_json::json!([5, 5]));
    assert!(alone["edges_per_second"].as_f64().unwrap() > 0.0);
    assert_eq!(counts(&alone), counts(&run("--threads 4")));
    assert_ne!(counts(&alone), counts(&run("--threads 1 --seed 1")));
    for (more, residency) in
        [("--announce on", "mapped"), ("--announce off", "mapped"), ("--residency ram", "ram")]
    {
        let read_otherwise = run(&format!("--threads 2 {more}"));
        assert_eq!(counts(&alone), counts(&read_otherwise), "{more}");
        assert_eq!(read_otherwise["residency"], residency, "{more}");
    }
    for warm_up in [0, 70] {
        let warmed = run(&format!("--threads 2 --warm-up {warm_up}"));
        assert_eq!((&warmed["warm_up"], &warmed["batches"]), (&warm_up.into(), &40.into()));
        // Seeds are drawn for the batches before, too, so that others are timed.
        assert_ne!(counts(&alone), counts(&warmed));
    }
    let labor = run("--threads 1 --method labor");
    assert!(labor["nodes_per_batch"].as_f64() < alone["nodes_per_batch"].as_f64());
}

#[test]
fn what_cannot_be_sampled_is_named_with_a_remedy() {
    let shell = Shell::new();
    shell.prepare("generate rmat graph.gl --scale 4 --direction out --quiet");
    for (name, arguments) in [
        ("nowhere", "sample nowhere.gl --fanouts 5"),
        ("direction", "sample graph.gl --fanouts 5"),
        ("weights", "sample graph.gl --fanouts 5 --direction out --weighted"),
        ("fanout", "sample graph.gl --fanouts 5,-2 --direction out"),
        ("contradiction", "sample graph.gl --fanouts 5 --direction out --method labor --replace"),
        ("memory", "sample graph.gl --fanouts 5 --direction out --memory 1KiB"),
    ] {
        let said = shell.run(arguments);
        assert_eq!(said.code, 1, "{arguments}");
        check(&format!("sample-failure-{name}"), &said);
    }
    for (name, arguments) in [
        ("no-fanouts", "sample graph.gl"),
        ("no-batches", "sample graph.gl --fanouts 5 --batches 0"),
    ] {
        let said = shell.run(arguments);
        assert_eq!(said.code, 2, "{arguments}");
        check(&format!("usage-sample-{name}"), &said);
    }
}
