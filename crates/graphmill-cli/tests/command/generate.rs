//! `graphmill generate`.

use crate::shell::{Shell, check};
use serde_json::Value;
use std::path::Path;

/// Names and bytes of all files of a folder.
fn content(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn the_same_seed_gives_the_same_bytes_for_any_memory_and_threads() {
    let shell = Shell::new();
    for (kind, size) in
        [("papers", "--nodes 20k"), ("sbm", "--nodes 20k"), ("rmat", "--scale 14 --features 4")]
    {
        shell.prepare(&format!("generate {kind} {kind}-1 {size} --seed 7 --quiet"));
        shell.prepare(&format!(
            "generate {kind} {kind}-2 {size} --seed 7 --quiet --memory 2MiB --threads 1"
        ));
        shell.prepare(&format!("generate {kind} {kind}-3 {size} --seed 8 --quiet"));
        let [first, second, third] =
            [1, 2, 3].map(|number| content(&shell.path(&format!("{kind}-{number}"))));
        assert!(first == second, "{kind}");
        assert!(first != third, "{kind}");
    }
}

#[test]
fn a_dataset_ends_with_a_report_and_is_sound() {
    let shell = Shell::new();
    check(
        "generate-papers",
        &shell.run("generate papers papers/ --nodes 2k --features 16 --classes 4 --memory 64MiB"),
    );
    check(
        "generate-sbm",
        &shell.run("generate sbm sbm --nodes 2k --edges 5k --undirected --memory 64MiB"),
    );
    check("generate-rmat", &shell.run("generate rmat rmat --scale 10 --memory 64MiB"));
    for name in ["papers", "sbm", "rmat"] {
        shell.prepare(&format!("verify {name} --quiet"));
    }
    assert!(!shell.path("rmat/x.1.gd").exists());
}

#[test]
fn flags_reach_the_graph() {
    let shell = Shell::new();
    shell.prepare("generate rmat r --scale 8 --edges 1k --features 12 --classes 3 --dtype f16 --direction in -q");
    let facts: Value = serde_json::from_str(&shell.run("inspect r --json").stdout).unwrap();
    assert_eq!((&facts["num_nodes"], &facts["num_edges"]), (&256.into(), &1000.into()));
    assert_eq!(facts["graph"]["directions"], serde_json::json!(["in"]));
    assert_eq!(facts["tables"]["x"]["shape"], serde_json::json!([256, 12]));
    assert_eq!(facts["tables"]["x"]["dtype"], "float16");
    assert_eq!(facts["tables"]["y"]["dtype"], "int64");

    shell.prepare("generate sbm s --nodes 300 --edges-per-node 2.5 --features 0 --undirected -q");
    let facts: Value = serde_json::from_str(&shell.run("inspect s --json").stdout).unwrap();
    assert_eq!((&facts["num_edges"], &facts["source_rows"]), (&1500.into(), &750.into()));
    assert_eq!(facts["tables"], serde_json::json!({}));
}

#[test]
fn out_decides_what_is_written() {
    let shell = Shell::new();
    check(
        "generate-csv",
        &shell.run("generate sbm edges.csv --nodes 100 --edges 5 --memory 64MiB"),
    );
    let text = String::from_utf8(shell.read("edges.csv")).unwrap();
    assert_eq!((text.lines().next(), text.lines().count()), (Some("src,dst"), 6));
    check("generate-gl", &shell.run("generate sbm graph.gl --nodes 100 --edges 5 --memory 64MiB"));
    shell.prepare("verify graph.gl --quiet");
}

#[test]
fn a_target_that_exists_is_replaced_only_on_request() {
    let shell = Shell::new();
    for (name, out) in [("dataset", "set"), ("topology", "graph.gl"), ("text", "edges.csv")] {
        shell.prepare(&format!("generate sbm {out} --nodes 10 --seed 1 --quiet"));
        check(
            &format!("generate-exists-{name}"),
            &shell.run(&format!("generate sbm {out} --nodes 20")),
        );
        shell.prepare(&format!("generate sbm {out} --nodes 20 --overwrite --quiet"));
    }
    assert!(shell.run("inspect set").stdout.contains("generation     2"));
    assert!(shell.run("inspect graph.gl --json").stdout.contains("\"num_nodes\": 20"));
}

#[test]
fn a_budget_that_is_too_small_is_named_and_nothing_stays() {
    let shell = Shell::new();
    let said = shell.run("generate papers papers --nodes 1k --memory 64B");
    assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{said}");
    assert!(said.stderr.contains("--memory SIZE"), "{said}");
    assert!(shell.everything().is_empty(), "{:?}", shell.everything());
}

/// The promise is about what the process really takes, so the kernel is asked while it works.
#[cfg(target_os = "linux")]
#[test]
fn memory_stays_within_the_budget_when_the_data_does_not() {
    const MEBIBYTE: u64 = 1 << 20;
    let shell = Shell::new();
    let mut child = shell
        .command("generate papers papers --nodes 400k --memory 16MiB --quiet")
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        most = most.max(kibibytes.unwrap_or(0) * 1024);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(child.wait().unwrap().success());
    let written: u64 =
        content(&shell.path("papers")).iter().map(|(_, bytes)| bytes.len() as u64).sum();
    assert!(written > 128 * MEBIBYTE, "{written}");
    assert!(most > 0 && most <= 16 * MEBIBYTE * 11 / 10 + 64 * MEBIBYTE, "{most}");
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let shell = Shell::new();
    std::fs::write(shell.path("file"), "").unwrap();
    for (name, out) in [
        ("no-folder", "nowhere/graph.gl"),
        ("file-as-folder", "file/edges.csv"),
        ("file-as-dataset", "file"),
    ] {
        let said = shell.run(&format!("generate sbm {out} --nodes 10"));
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{said}");
        check(&format!("generate-{name}"), &said);
    }
}
