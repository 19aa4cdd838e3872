//! Ctrl-C: what is being written vanishes, and the process with it.

use crate::shell::Shell;
use std::io::Read;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

fn send(child: &Child, signal: libc::c_int) {
    // SAFETY: kill takes no pointers, and the child has not been waited for, so its id is still its own.
    assert_eq!(unsafe { libc::kill(child.id() as libc::pid_t, signal) }, 0);
}

/// Starts a command that would run for minutes and waits until it writes.
fn start(shell: &Shell, arguments: &str) -> Child {
    let before = shell.everything();
    let mut command = shell.command(arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let patience = Instant::now();
    while shell.everything() == before {
        assert!(patience.elapsed() < Duration::from_secs(60), "nothing is being written");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

fn finish(mut child: Child) -> (Option<i32>, String) {
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    (child.wait().unwrap().code(), stderr)
}

#[test]
fn an_interrupted_generation_leaves_nothing_behind() {
    for (out, signal) in [
        ("papers", libc::SIGINT),
        ("new/folders/papers", libc::SIGTERM),
        ("graph.gl", libc::SIGINT),
        ("edges.csv", libc::SIGTERM),
    ] {
        let shell = Shell::new();
        let child = start(&shell, &format!("generate papers {out} --nodes 200M --memory 256MiB"));
        // Moments from the very first to well inside the work.
        std::thread::sleep(Duration::from_millis(if signal == libc::SIGINT { 300 } else { 0 }));
        send(&child, signal);
        let (code, stderr) = finish(child);
        assert_eq!((code, stderr.as_str()), (Some(1), "error: cancelled; nothing was written\n"));
        assert!(shell.everything().is_empty(), "{out}: {:?}", shell.everything());
    }
}

#[test]
fn an_interrupted_replacement_leaves_the_old_dataset_as_it_was() {
    let shell = Shell::new();
    shell.prepare("generate sbm set --nodes 1k --features 8 --quiet");
    let before: Vec<_> = shell.everything();
    let child = start(&shell, "generate sbm set --nodes 200M --overwrite --memory 256MiB");
    send(&child, libc::SIGINT);
    assert_eq!(finish(child).0, Some(1));
    assert_eq!(shell.everything(), before);
    shell.prepare("verify set --quiet");
}

#[test]
fn an_interrupted_conversion_leaves_nothing_behind() {
    let shell = Shell::new();
    shell.prepare("generate sbm graph.gl --nodes 1M --edges 16M --direction out --quiet");
    let before = shell.everything();
    let child = start(&shell, "convert graph.gl edges.csv");
    send(&child, libc::SIGINT);
    let (code, stderr) = finish(child);
    assert_eq!((code, stderr.as_str()), (Some(1), "error: cancelled; nothing was written\n"));
    assert_eq!(shell.everything(), before);
}

#[test]
fn an_interrupted_benchmark_leaves_no_unfinished_input_behind() {
    let shell = Shell::new();
    std::fs::create_dir(shell.path("work")).unwrap();
    let child = start(&shell, "bench walks --size medium --work work");
    send(&child, libc::SIGINT);
    let (code, stderr) = finish(child);
    let expected = "error: cancelled; finished inputs stay in the folder of --work, nothing else\n";
    assert_eq!((code, stderr.as_str()), (Some(1), expected));
    assert_eq!(shell.everything(), [shell.path("work")]);
}
