//! `graphmill build`.

use crate::shell::{Shell, check};

fn shell() -> Shell {
    let shell = Shell::new();
    for (name, text) in [
        ("edges.csv", "src,dst\n0,1\n1,2\n2,2\n0,1\n3,x\n"),
        ("x.csv", "node_id,a,b\n2,0.5,1\n0,1.5,2\n"),
        ("y.csv", "kind\npaper\nbook\npaper\n"),
        ("train.csv", "2\n0\n"),
        ("words.csv", "anna,berta\nberta,carla\nanna,carla\n"),
        ("far.csv", "0,1000\n1,7\n"),
    ] {
        std::fs::write(shell.path(name), text).unwrap();
    }
    shell
}

#[test]
fn a_build_reports_what_it_read_left_out_and_filled() {
    let shell = shell();
    check(
        "build",
        &shell.run(
            "build set --edges edges.csv --features x.csv --labels y.csv --split train=train.csv \
             --dedup --drop-self-loops --on-bad-row skip --memory 64MiB",
        ),
    );
    check("build-inspect", &shell.run("inspect set"));
    shell.prepare("verify set --quiet");
}

#[test]
fn words_and_scattered_numbers_are_numbered_on_request() {
    let shell = shell();
    check("build-scattered", &shell.run("build far --edges far.csv --memory 64MiB"));
    check("build-mapped", &shell.run("build far --edges far.csv --map-ids --memory 64MiB"));
    check(
        "build-words",
        &shell.run("build words --edges words.csv --string-ids --order hot --memory 64MiB"),
    );
    check("build-words-inspect", &shell.run("inspect words"));
    shell.prepare("verify words --quiet");
}

#[test]
fn what_stands_in_the_way_is_named() {
    let shell = shell();
    check("build-bad-row", &shell.run("build set --edges edges.csv --memory 64MiB"));
    check("build-missing", &shell.run("build set --edges nowhere.csv --memory 64MiB"));
    check("build-no-edges", &shell.run("build set"));
    check("build-on-a-file", &shell.run("build edges.csv --edges edges.csv"));
    check("build-bad-split", &shell.run("build set --edges far.csv --split train"));
}
