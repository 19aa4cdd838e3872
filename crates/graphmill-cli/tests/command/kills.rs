//! A build that is killed at any moment leaves the old dataset or none, and never a part of one.

use crate::shell::Shell;
use graphmill_rounds::{piece, rounds};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

const BUILD: &str =
    "build set --edges edges.csv --features x.csv --order hot --memory 8MiB --overwrite --quiet";
const NODES: usize = 1 << 12;

/// Moments from the first to the last of what is killed.
struct Moments(u64);

impl Moments {
    fn next(&mut self) -> f64 {
        let step = 1_442_695_040_888_963_407;
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(step);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Starts a build and kills it after a while; tells whether it was still at work, and how long it ran.
fn kill_after(shell: &Shell, patience: Duration) -> (bool, Duration) {
    let started = Instant::now();
    let mut child = shell.command(BUILD).spawn().unwrap();
    while started.elapsed() < patience && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(100));
    }
    // One that is over cannot be killed.
    let _ = child.kill();
    (child.wait().unwrap().signal() == Some(libc::SIGKILL), started.elapsed())
}

#[test]
fn a_killed_build_is_never_accepted() {
    let shell = Shell::new();
    shell.prepare("generate rmat edges.csv --scale 12 --edges 40k --quiet");
    let rows = (0..NODES).fold(String::new(), |mut rows, node| {
        writeln!(rows, "{node},{},{}", node * 2, node * 3).unwrap();
        rows
    });
    std::fs::write(shell.path("x.csv"), rows).unwrap();
    let mut moments = Moments(5 + piece());
    let mut whole = kill_after(&shell, Duration::MAX).1;
    let (asked, mut killed, mut attempts) = (rounds(50), 0, 0);
    let (mut left_the_old, mut left_nothing) = (0, 0);
    while killed < asked {
        attempts += 1;
        assert!(attempts < 4 * asked, "nearly every build was over before it was killed");
        let was_there = moments.next() < 0.5;
        if !was_there {
            std::fs::remove_dir_all(shell.path("set")).unwrap_or_default();
        } else if !shell.path("set/dataset.json").exists() {
            // Over what a killed one left.
            shell.prepare(BUILD);
        }
        let (was_killed, taken) = kill_after(&shell, whole.mul_f64(moments.next()));
        if !was_killed {
            // A machine that was busy is so no more.
            whole = whole.min(taken);
        }
        killed += usize::from(was_killed);
        let verified = shell.run("verify set --quiet");
        if was_there || shell.path("set/dataset.json").exists() {
            assert_eq!(verified.code, 0, "{verified}");
            left_the_old += 1;
        } else {
            assert_eq!(verified.code, 1, "{verified}");
            assert!(verified.stderr.contains("set"), "{verified}");
            left_nothing += 1;
        }
    }
    assert!(left_the_old > 0 && left_nothing > 0, "{left_the_old} and {left_nothing}");
    shell.prepare(BUILD);
    shell.prepare("verify set --quiet");
    let suffixes: BTreeSet<_> = shell
        .everything()
        .iter()
        .filter(|path| path.starts_with(shell.path("set/")) && path.is_file())
        .map(|path| path.extension().unwrap().to_os_string())
        .collect();
    // What the killed ones left is gone.
    assert_eq!(suffixes.into_iter().collect::<Vec<_>>(), ["gd", "gl", "json"]);
}
