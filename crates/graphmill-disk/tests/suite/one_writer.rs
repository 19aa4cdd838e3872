//! Of two builds that race for one name, exactly one wins and the other is told.

use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Arc, Barrier};

use graphmill_disk::{Error, FileDraft, FolderDraft, RealFileSystem, Result};
use graphmill_rounds::rounds;

const WON: i32 = 40;
const TOLD: i32 = 41;

#[derive(Clone, Copy, Debug)]
enum Kind {
    File,
    Folder,
}

const KINDS: [Kind; 2] = [Kind::File, Kind::Folder];

fn is_ours(name: &str) -> bool {
    name.starts_with("part")
}

/// A build that refuses to overwrite.
fn build(kind: Kind, target: &Path, content: &str) -> Result<()> {
    let disk = Arc::new(RealFileSystem);
    match kind {
        Kind::File => {
            let draft = FileDraft::begin(disk, target, false)?;
            draft.file().write_all_at(0, content.as_bytes())?;
            draft.publish()
        }
        Kind::Folder => {
            let draft = FolderDraft::begin(disk, target, "commit", false, is_ours)?;
            let file = draft.create("part")?;
            file.write_all_at(0, content.as_bytes())?;
            file.sync()?;
            draft.publish(content.as_bytes(), &["part".to_owned()], &[])
        }
    }
}

fn outcome(result: Result<()>) -> i32 {
    match result {
        Ok(()) => WON,
        Err(Error::Busy { .. } | Error::Exists { .. }) => TOLD,
        Err(other) => panic!("{other}"),
    }
}

fn check(kind: Kind, root: &Path, mut codes: Vec<i32>, contents: &[&str]) {
    codes.sort_unstable();
    assert_eq!(codes, [WON, TOLD]);
    let names = |folder: &Path| {
        let mut names: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let target = root.join("target");
    let written = match kind {
        Kind::File => vec![std::fs::read_to_string(&target).unwrap()],
        Kind::Folder => {
            assert_eq!(names(&target), ["commit", "part"]);
            ["commit", "part"]
                .map(|name| std::fs::read_to_string(target.join(name)).unwrap())
                .into()
        }
    };
    assert!(written.iter().all(|text| contents.contains(&text.as_str()) && *text == written[0]));
    assert_eq!(names(root).iter().filter(|name| name.contains("partial")).count(), 0);
}

#[test]
fn of_two_threads_one_wins() {
    for kind in KINDS {
        for _ in 0..rounds(10) {
            let root = tempfile::tempdir().unwrap();
            let target = root.path().join("target");
            let start = Barrier::new(2);
            let codes = std::thread::scope(|scope| {
                let racers = ["one", "two"].map(|content| {
                    let (target, start) = (&target, &start);
                    scope.spawn(move || {
                        start.wait();
                        outcome(build(kind, target, content))
                    })
                });
                racers.map(|racer| racer.join().unwrap())
            });
            check(kind, root.path(), codes.into(), &["one", "two"]);
        }
    }
}

#[test]
fn of_two_processes_one_wins() {
    if let Some(root) = std::env::var_os("GRAPHMILL_RACE_ROOT") {
        race(Path::new(&root));
    }
    for (index, kind) in KINDS.into_iter().enumerate() {
        for _ in 0..rounds(10) {
            let root = tempfile::tempdir().unwrap();
            let start = |content: &str| -> Child {
                Command::new(std::env::current_exe().unwrap())
                    .args(["--exact", "one_writer::of_two_processes_one_wins"])
                    .env("GRAPHMILL_RACE_ROOT", root.path())
                    .env("GRAPHMILL_RACE_KIND", index.to_string())
                    .env("GRAPHMILL_RACE_CONTENT", content)
                    .stdout(std::process::Stdio::null())
                    .spawn()
                    .unwrap()
            };
            let mut racers = ["one", "two"].map(start);
            while !["one", "two"].iter().all(|name| root.path().join(name).exists()) {
                std::thread::yield_now();
            }
            std::fs::write(root.path().join("go"), b"").unwrap();
            let codes = racers.each_mut().map(|racer| racer.wait().unwrap().code().unwrap());
            check(kind, root.path(), codes.into(), &["one", "two"]);
        }
    }
}

/// What a child of the test above does: says that it is there, waits for the start, and builds.
fn race(root: &Path) -> ! {
    let content = std::env::var("GRAPHMILL_RACE_CONTENT").unwrap();
    let kind = KINDS[std::env::var("GRAPHMILL_RACE_KIND").unwrap().parse::<usize>().unwrap()];
    std::fs::write(root.join(&content), b"ready").unwrap();
    while !root.join("go").exists() {
        std::hint::spin_loop();
    }
    std::process::exit(outcome(build(kind, &root.join("target"), &content)));
}

/// A clearing of old generations that went by an outdated list would take files from under the next writer.
#[test]
fn writers_that_take_turns_never_remove_each_others_files() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("dataset");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut published = 0;
                while published < 50 {
                    match next_generation(&folder) {
                        Ok(()) => published += 1,
                        Err(Error::Busy { .. }) => std::thread::yield_now(),
                        Err(other) => panic!("{other}"),
                    }
                }
            });
        }
    });
    assert_eq!(std::fs::read_to_string(folder.join("commit")).unwrap(), "part.200");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
    assert_eq!(std::fs::read_to_string(folder.join("part.200")).unwrap(), "part.200");
}

fn next_generation(folder: &Path) -> Result<()> {
    let draft = FolderDraft::begin(Arc::new(RealFileSystem), folder, "commit", true, is_ours)?;
    let mut generation = 1;
    let mut in_use = Vec::new();
    if let Some(commit) = draft.previous_commit() {
        let current = String::from_utf8(commit).unwrap();
        // The state in force must be whole whenever a writer has the lock.
        assert_eq!(std::fs::read_to_string(folder.join(&current)).unwrap(), current);
        generation = current.strip_prefix("part.").unwrap().parse::<u64>().unwrap() + 1;
        in_use.push(current);
    }
    draft.clear_leftovers(&in_use)?;
    let name = format!("part.{generation}");
    let file = draft.create(&name)?;
    file.write_all_at(0, name.as_bytes())?;
    file.sync()?;
    draft.publish(name.as_bytes(), std::slice::from_ref(&name), &in_use)
}
