//! Help, and what is said about a wrong command line.

use crate::shell::{Shell, check};
use std::io::Read;
use std::process::Stdio;

#[test]
fn every_verb_has_a_help_that_ends_in_an_example() {
    let shell = Shell::new();
    let verbs = [
        "", "build", "inspect", "estimate", "verify", "generate", "convert", "reorder", "sample",
        "walk", "bench",
    ];
    for verb in verbs {
        let said = shell.run(&format!("{verb} --help"));
        let name = if verb.is_empty() { "help".to_owned() } else { format!("help-{verb}") };
        check(&name, &said);
        assert_eq!(said.code, 0);
        let mut lines = said.stdout.trim_end().lines().rev();
        let last = lines.find(|line| !line.starts_with("  graphmill "));
        assert!(matches!(last, Some("Example:" | "Examples:")), "{verb}: {last:?}");
    }
}

#[test]
fn the_version_is_told() {
    check("version", &Shell::new().run("--version"));
}

#[test]
fn a_wrong_command_line_exits_with_2_and_says_how_it_goes() {
    let shell = Shell::new();
    for (name, arguments) in [
        ("no-verb", ""),
        ("unknown-verb", "mill graph.gl"),
        ("missing-path", "inspect"),
        ("unknown-flag", "verify graph.gl --disk"),
        ("bad-memory", "generate papers out --memory lots"),
        ("bad-count", "generate papers out --nodes 1.5"),
        ("edges-twice", "generate papers out --edges 5 --edges-per-node 5"),
        ("direction-of-undirected", "generate papers out --undirected --direction in"),
        ("rmat-nodes", "generate rmat out --nodes 100"),
        ("papers-scale", "generate papers out --scale 10"),
        ("sbm-communities", "generate sbm out --communities 10"),
        ("features-of-topology", "generate papers out.gl --features 8"),
        ("direction-of-text", "generate papers out.csv --undirected"),
        ("labels-of-nothing", "generate rmat out --classes 3"),
        ("dtype-of-nothing", "generate papers out --features 0 --dtype f16"),
        ("table-as-out", "generate papers out.gd"),
        ("no-nodes", "generate papers out --nodes 0"),
        ("no-classes", "generate sbm out --classes 0"),
        ("huge-scale", "generate rmat out --scale 60"),
        ("negative-degree", "generate sbm out --edges-per-node=-1"),
        ("no-threads", "generate sbm out --threads 0"),
        ("unknown-format", "convert a.gl b.gl --to feather"),
        ("weighted-and-uniform", "walk a.gl --weighted --uniform"),
        ("starts-and-walks", "walk a.gl --starts 1,2 --walks 5"),
    ] {
        let said = shell.run(arguments);
        assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{arguments}: {said}");
        check(&format!("usage-{name}"), &said);
    }
    assert!(shell.everything().is_empty());
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let shell = Shell::new();
    shell.prepare("generate sbm graph.gl --nodes 100 --quiet");
    for arguments in ["inspect graph.gl", "verify graph.gl", "--help"] {
        let mut child =
            shell.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""), "{arguments}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_written_is_a_failure() {
    let shell = Shell::new();
    shell.prepare("generate sbm graph.gl --nodes 100 --quiet");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = shell.command("inspect graph.gl").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.starts_with("error: cannot write to standard output: "), "{stderr}");
}
