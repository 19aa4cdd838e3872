//! `graphmill estimate`.

use crate::shell::Shell;
use serde_json::Value;

#[test]
fn what_a_batch_costs_and_whether_it_fits_is_told() {
    let shell = Shell::new();
    shell.prepare("generate papers papers --nodes 200k --features 64 --quiet");
    let run =
        |more: &str| shell.run(&format!("estimate papers --fanouts 5,3 --batch-size 100 {more}"));
    let facts = |more: &str| -> Value {
        let said = run(&format!("--json {more}"));
        assert_eq!(said.code, 0, "{said}");
        serde_json::from_str(&said.stdout).unwrap()
    };
    let everything = facts("--memory 1GiB");
    assert_eq!(everything["disk_batches_per_second"], Value::Null);
    assert_eq!(everything["requests_per_batch"], 0.0);
    let roomy = facts("--memory 64MiB");
    assert_eq!(roomy["fits"], true);
    assert_eq!(roomy["batches"], 2000);
    for positive in ["nodes_per_batch", "requests_per_batch"] {
        assert!(roomy[positive].as_f64().unwrap() > 0.0, "{positive}");
    }
    let limit = roomy["limit"].as_str().unwrap();
    let rate = |of: &str| roomy[format!("{of}_batches_per_second")].as_f64().unwrap();
    assert!(["disk", "sampling", "processor"].into_iter().all(|other| rate(other) >= rate(limit)));
    let together = roomy["batches_per_second"].as_f64().unwrap();
    assert!(together > 0.0 && together <= rate(limit));
    let alone = facts("--memory 64MiB --window 1");
    assert_eq!(alone["window"], 1);
    assert!(alone["requests_per_batch"].as_f64() >= roomy["requests_per_batch"].as_f64());
    assert_eq!(roomy["residency"], "auto");
    assert_eq!(facts("--memory 64MiB --residency ram")["residency"], "ram");
    let in_order = facts("--memory 64MiB --in-order");
    assert_eq!(in_order["batches"], roomy["batches"]);
    assert_ne!(in_order["nodes_per_batch"], roomy["nodes_per_batch"]);
    let split = facts("--split train --memory 64MiB");
    assert!(split["batches"].as_u64() < roomy["batches"].as_u64());
    let said = run("--memory 64MiB").stdout;
    assert!(said.contains("fits: one batch needs") && said.contains("is the limit"), "{said}");
}

#[test]
fn mistakes_are_named() {
    let shell = Shell::new();
    shell.prepare("generate papers papers --nodes 1k --features 8 --quiet");
    assert_eq!(shell.run("estimate papers --fanouts 5 --batch-size 0").code, 2);
    let said = shell.run("estimate papers --fanouts 5 --split nowhere");
    assert!(said.code == 1 && said.stderr.contains("nowhere"), "{said}");
    assert_eq!(shell.run("estimate absent --fanouts 5").code, 1);
    let said = shell.run("estimate papers --fanouts 5 --memory 1KiB");
    assert!(said.code == 1 && said.stderr.contains("memory"), "{said}");
}
