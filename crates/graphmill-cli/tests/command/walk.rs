//! `graphmill walk`.

use crate::shell::{Shell, check};
use serde_json::Value;

#[test]
fn walks_are_counted_and_timed() {
    let shell = Shell::new();
    shell.prepare("generate sbm both.gl --nodes 1k --quiet");
    shell.prepare("generate sbm papers --nodes 1k --features 4 --quiet");
    check("walk", &shell.run("walk both.gl --walks 500 --threads 2"));
    check(
        "walk-node2vec",
        &shell.run("walk papers --walks 1k --length 5 --p 4 --q 0.5 --threads 1"),
    );
    check(
        "walk-json",
        &shell.run("walk both.gl --starts 5,6,7 --restart 0.5 --direction in --threads 2 --json"),
    );
    let said = shell.run("walk both.gl --walks 10 --quiet");
    assert_eq!((said.code, said.stdout.as_str(), said.stderr.as_str()), (0, "", ""));
}

#[test]
fn dead_ends_are_no_steps() {
    let shell = Shell::new();
    std::fs::write(shell.path("path.csv"), "src,dst\n0,1\n1,2\n").unwrap();
    shell.prepare("convert path.csv path.gl --quiet");
    let said = shell.run("walk path.gl --starts 0,1,2 --length 2 --json");
    let measured: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&measured["steps"], &measured["dead_ends"]), (&3.into(), &2.into()));
}

#[test]
fn what_cannot_be_walked_is_told_with_a_remedy() {
    let shell = Shell::new();
    shell.prepare("generate sbm in.gl --nodes 10 --direction in --quiet");
    shell.prepare("generate sbm out.gl --nodes 10 --direction out --quiet");
    for (name, arguments) in [
        ("nowhere", "nowhere.gl"),
        ("direction", "in.gl"),
        ("weights", "out.gl --weighted"),
        ("start", "out.gl --starts 3,10"),
        ("p", "out.gl --p 0"),
        ("restart", "out.gl --restart 2"),
        ("memory", "out.gl --length 1G --memory 1MiB"),
    ] {
        let said = shell.run(&format!("walk {arguments}"));
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{said}");
        check(&format!("walk-failure-{name}"), &said);
    }
}
