//! `graphmill bench`.

use crate::shell::{Shell, check};
use serde_json::Value;

const SECTIONS: [&str; 6] = ["ingest", "topology", "sampling", "walks", "features", "training"];

fn facts(shell: &Shell, arguments: &str) -> Value {
    let said = shell.run(&format!("bench {arguments} --size tiny --json"));
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said}");
    serde_json::from_str(&said.stdout).unwrap()
}

fn names(told: &Value) -> Vec<&str> {
    let sections = told["sections"].as_array().unwrap();
    sections.iter().map(|section| section["name"].as_str().unwrap()).collect()
}

fn figures<'a>(told: &'a Value, section: &str) -> &'a Vec<Value> {
    let sections = told["sections"].as_array().unwrap();
    let found = sections.iter().find(|found| found["name"] == section).unwrap();
    found["figures"].as_array().unwrap()
}

#[test]
fn every_section_tells_figures_that_make_sense() {
    let shell = Shell::new();
    std::fs::create_dir(shell.path("work")).unwrap();
    let told = facts(&shell, "--work work --threads 2 --repeats 2 --memory 256MiB");
    assert_eq!(names(&told), SECTIONS);
    assert_eq!((&told["num_nodes"], &told["num_edges"]), (&4096.into(), &40_000.into()));
    assert_eq!((&told["threads"], &told["repeats"]), (&2.into(), &2.into()));
    assert_eq!(told["memory"], 256 << 20);
    assert!(told["machine"]["cores"].as_u64().unwrap() > 0);
    for section in SECTIONS {
        for figure in figures(&told, section) {
            let number = |key: &str| figure[key].as_f64().unwrap();
            assert!(number("lowest") <= number("median"), "{figure}");
            assert!(number("median") <= number("highest"), "{figure}");
            // What is all in memory takes no reads.
            assert!(number("lowest") > 0.0 || figure["name"] == "rows read for them", "{figure}");
            let repeats = if section == "topology" { 1 } else { 2 };
            assert_eq!(figure["repeats"], repeats, "{figure}");
            if let Some(limit) = figure["limit"].as_object() {
                let share = number("median") / limit["value"].as_f64().unwrap();
                assert!((limit["share"].as_f64().unwrap() - share).abs() < 1e-9, "{figure}");
            }
        }
    }
    let [plain, packed] = &figures(&told, "topology")[..] else { panic!("{told}") };
    assert!((32.0..64.0).contains(&plain["median"].as_f64().unwrap()));
    assert!(packed["median"].as_f64() < plain["median"].as_f64());
    let ways: Vec<_> = figures(&told, "sampling")
        .iter()
        .map(|figure| (figure["name"].as_str().unwrap(), figure["threads"].as_u64().unwrap()))
        .collect();
    assert_eq!(ways, [("i32", 1), ("i32", 2), ("packed", 1), ("packed", 2)]);
    assert_eq!(figures(&told, "walks").len(), 4);
}

#[test]
fn files_are_warm_or_cold_and_a_cold_figure_that_is_missing_has_a_reason() {
    let shell = Shell::new();
    std::fs::create_dir(shell.path("work")).unwrap();
    let told = facts(&shell, "features training --work work --repeats 1");
    for (number, (section, warm)) in [("features", 2), ("training", 1)].into_iter().enumerate() {
        let figures = figures(&told, section);
        assert!(figures[..warm].iter().all(|figure| figure["state"] == "warm"), "{told}");
        let cold = &figures[warm..];
        assert!(cold.iter().all(|figure| figure["state"] != "warm"), "{told}");
        let missing = told["sections"][number]["missing"].as_array().unwrap();
        assert_eq!(cold.is_empty(), missing.len() == 1, "{told}");
        assert!(missing.iter().all(|missing| missing["reason"].as_str().unwrap().len() > 10));
    }
}

#[test]
fn the_report_tells_machine_graph_and_figures() {
    let shell = Shell::new();
    std::fs::create_dir(shell.path("temporary")).unwrap();
    let mut command = shell.command("bench walks topology --size tiny --repeats 2 --threads 1");
    let output = command.env("TMPDIR", shell.path("temporary")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("graphmill ") && lines[0].contains(" on "), "{text}");
    assert_eq!(lines[1], "tiny: R-MAT of 4,096 nodes and 40,000 edges, 16 features, seed 0");
    assert!(lines[2].starts_with("1 thread, ") && lines[2].ends_with("medians of 2 repeats"));
    // In the order of the sections, whatever the order asked for.
    assert_eq!((lines[3], lines[6]), ("topology", "walks"), "{text}");
    assert!(lines[4].starts_with("  i32 lists") && lines[4].contains(" bits/edge"), "{text}");
    assert!(lines[7].contains(" steps/s") && lines[7].ends_with("1 thread, warm"), "{text}");
    assert_eq!(lines.len(), 9, "{text}");
    let left = std::fs::read_dir(shell.path("temporary")).unwrap().count();
    assert_eq!(left, 0, "the temporary folder stays");
}

#[test]
fn a_work_folder_keeps_inputs_and_nothing_else_and_they_serve_again() {
    let shell = Shell::new();
    std::fs::create_dir(shell.path("work")).unwrap();
    shell.prepare("bench ingest topology --size tiny --repeats 1 --work work --quiet");
    let left = shell.everything();
    let names: Vec<_> = std::fs::read_dir(shell.path("work/tiny-seed-0"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 4, "{names:?}");
    assert_eq!(std::fs::read_dir(shell.path("work")).unwrap().count(), 1);
    let written = |name: &str| shell.path(name).metadata().unwrap().modified().unwrap();
    let before = written("work/tiny-seed-0/edges.csv");
    shell.prepare("bench --size tiny --repeats 1 --work work --quiet");
    assert_eq!(shell.everything(), left);
    assert_eq!(written("work/tiny-seed-0/edges.csv"), before);
}

#[test]
fn what_is_timed_is_checked_and_a_wrong_result_is_an_error() {
    let shell = Shell::new();
    std::fs::create_dir(shell.path("work")).unwrap();
    let bench = "bench --size tiny --repeats 1 --work work";
    shell.prepare(&format!("{bench} --quiet"));
    let inputs = shell.path("work/tiny-seed-0");
    // Inputs of another graph, each under the name of ours.
    shell.prepare("generate rmat other --scale 12 --edges 40k --features 16 --seed 1 --quiet");
    shell.prepare("convert other/graph.1.gl packed.gl --encoding packed --quiet");
    shell.prepare("generate rmat edges.csv --scale 12 --edges 40k --seed 1 --quiet");
    shell.prepare("convert other/x.1.gd x.npy --quiet");
    for (section, name, words) in [
        ("topology", "packed.gl", "packed lists and plain ones differ"),
        ("sampling", "packed.gl", "samples of packed lists by 1 thread and"),
        ("ingest", "edges.csv", "the graph built from text and the generated one differ"),
        ("ingest", "x.npy", "the table made of an array and the generated one differ"),
        ("features", "dataset/x.1.gd", "rows fetched by mapped and those"),
        ("training", "dataset/x.1.gd", "in a batch and the generated one differ"),
    ] {
        let ours = inputs.join(name);
        let kept = std::fs::read(&ours).unwrap();
        match name {
            "dataset/x.1.gd" => {
                // The last byte of every row, which no header covers.
                let mut bytes = kept.clone();
                bytes[4096..4096 + 4096 * 64].chunks_mut(64).for_each(|row| row[63] ^= 1);
                std::fs::write(&ours, bytes).unwrap();
            }
            other => std::fs::write(&ours, shell.read(other)).unwrap(),
        }
        let said = shell.run(&format!("{bench} {section}"));
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{section} of {name}: {said}");
        assert!(said.stderr.contains(words), "{section} of {name}: {said}");
        assert_eq!(std::fs::read_dir(shell.path("work")).unwrap().count(), 1);
        std::fs::write(&ours, kept).unwrap();
    }
    shell.prepare(&format!("{bench} --quiet"));
}

#[test]
fn what_cannot_be_measured_is_named_with_a_remedy() {
    let shell = Shell::new();
    for (name, arguments, code) in [
        ("unknown-section", "bench sampling milling", 2),
        ("no-repeats", "bench --repeats 0", 2),
        ("unknown-size", "bench --size huge", 2),
        ("nowhere", "bench --work nowhere", 1),
    ] {
        let said = shell.run(arguments);
        assert_eq!((said.code, said.stdout.as_str()), (code, ""), "{arguments}: {said}");
        let kind = if code == 2 { "usage-bench" } else { "bench-failure" };
        check(&format!("{kind}-{name}"), &said);
    }
    let said = shell.run("bench walks --size tiny --memory 1KiB");
    assert!(said.code == 1 && said.stderr.contains("tip: --memory SIZE"), "{said}");
    assert!(shell.everything().is_empty());
}
