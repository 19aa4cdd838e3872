//! `graphmill verify`.

use crate::shell::{Shell, check};
use serde_json::Value;

/// Changes one byte of a file.
fn damage(shell: &Shell, name: &str, byte: usize) {
    let mut bytes = shell.read(name);
    bytes[byte] ^= 0x10;
    std::fs::write(shell.path(name), bytes).unwrap();
}

#[test]
fn sound_files_are_called_sound() {
    let shell = Shell::new();
    shell.prepare("generate papers papers --nodes 1k --features 8 --quiet");
    shell.prepare("convert papers/x.1.gd x.gd --to graphzero --quiet");
    check("verify-sound", &shell.run("verify papers"));
    check("verify-sound-json", &shell.run("verify papers --json"));
    check("verify-graphzero", &shell.run("verify x.gd"));
    let quiet = shell.run("verify papers --quiet");
    assert_eq!((quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()), (0, "", ""));
}

#[test]
fn a_damaged_block_is_named() {
    let shell = Shell::new();
    // Rows of 3 MiB: the damage is in the third block of the table, which starts after the header.
    shell.prepare("generate papers papers --nodes 6k --features 128 --quiet");
    let byte = 4096 + (2 << 20) + 1000;
    damage(&shell, "papers/x.1.gd", byte);
    check("verify-damaged", &shell.run("verify papers"));
    let quiet = shell.run("verify papers --quiet");
    assert_eq!((quiet.code, quiet.stdout.lines().count()), (1, 1), "{quiet}");

    let said = shell.run("verify papers/x.1.gd --json");
    assert_eq!(said.code, 1);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(report["sound"], false);
    let fault = &report["faults"][0];
    assert_eq!(fault["place"], "table block 2");
    let bytes = fault["first_byte"].as_u64().unwrap()..=fault["last_byte"].as_u64().unwrap();
    assert!(bytes.contains(&(byte as u64)));
}

#[test]
fn a_damaged_header_a_missing_file_and_a_changed_manifest_are_faults() {
    let shell = Shell::new();
    for name in ["header", "missing", "manifest"] {
        shell.prepare(&format!("generate sbm {name} --nodes 100 --features 4 --quiet"));
    }
    damage(&shell, "header/graph.1.gl", 70);
    std::fs::remove_file(shell.path("missing/y.1.gd")).unwrap();
    let text = String::from_utf8(shell.read("manifest/dataset.json")).unwrap();
    let changed = text.replace("\"count\": 100", "\"count\": 101");
    assert_ne!(text, changed);
    std::fs::write(shell.path("manifest/dataset.json"), changed).unwrap();
    for name in ["header", "missing", "manifest"] {
        let said = shell.run(&format!("verify {name}"));
        assert_eq!(said.code, 1, "{said}");
        check(&format!("verify-{name}"), &said);
    }
}

#[test]
fn what_is_not_there_cannot_be_verified() {
    let shell = Shell::new();
    std::fs::create_dir(shell.path("folder")).unwrap();
    for name in ["nowhere.gd", "folder"] {
        let said = shell.run(&format!("verify {name}"));
        assert_eq!((said.code, said.stdout.as_str()), (1, ""));
        check(&format!("verify-failure-{}", name.replace('.', "-")), &said);
    }
}
