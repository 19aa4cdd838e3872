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
        ("friends.csv", "user,friend\nada,bob\nbob,cy\n"),
        ("rated.csv", "rating,user,movie,weight\n5,0,1,2\n4,1,2,3\n"),
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
fn endpoints_are_columns_by_name_by_flag_or_by_order() {
    let shell = shell();
    std::fs::write(shell.path("named.csv"), "weight,src,dst\n0.5,0,1\n2,1,2\n").unwrap();
    std::fs::write(shell.path("plain.csv"), "0.5,0,1\n2,1,2\n").unwrap();
    for (target, arguments) in [
        ("a.csv", "named.csv a.gl --weight-column weight"),
        ("b.csv", "plain.csv b.gl --weight-column 0"),
        ("c.csv", "rated.csv c.gl --src-column user --dst-column 2 --weight-column WEIGHT"),
    ] {
        shell.prepare(&format!("convert {arguments} --quiet"));
        let topology = target.replace("csv", "gl");
        shell.prepare(&format!("convert {topology} {target} --quiet"));
    }
    let expected = "source,destination,weight\n0,1,0.5\n1,2,2\n";
    assert_eq!(shell.read("a.csv"), expected.as_bytes());
    assert_eq!(shell.read("b.csv"), expected.as_bytes());
    assert_eq!(shell.read("c.csv"), b"source,destination,weight\n0,1,2\n1,2,3\n");
}

#[test]
fn what_stands_in_the_way_is_named() {
    let shell = shell();
    check("build-bad-row", &shell.run("build set --edges edges.csv --memory 64MiB"));
    check("build-missing", &shell.run("build set --edges nowhere.csv --memory 64MiB"));
    check("build-no-edges", &shell.run("build set"));
    check("build-on-a-file", &shell.run("build edges.csv --edges edges.csv"));
    check("build-words-as-numbers", &shell.run("build set --edges words.csv --memory 64MiB"));
    check("build-doubtful-header", &shell.run("build set --edges friends.csv --string-ids"));
    check("build-doubtful-columns", &shell.run("build set --edges rated.csv --memory 64MiB"));
    check("build-swallowed-out", &shell.run("build --edges edges.csv set"));
    check("build-bad-split", &shell.run("build set --edges far.csv --split train"));
}
