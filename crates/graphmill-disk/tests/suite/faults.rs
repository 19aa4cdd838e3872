//! Whatever breaks, at whichever operation: a target is its old content or its new one, complete,
//! and the next build that succeeds leaves nothing behind.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use graphmill_disk::faults::{Fault, FaultyFileSystem};
use graphmill_disk::{Error, FileDraft, FileSystem, FolderDraft, RealFileSystem, Result};

/// What is left to do of a build that is half done.
type Rest = Box<dyn FnOnce() -> Result<()> + Send>;

/// One thing that is built and what must hold of it whatever happened.
trait Build: Send + Sync {
    /// Prepares what was there before, if anything was.
    fn prepare(&self, root: &Path);
    /// Builds the next generation.
    fn build(&self, disk: Arc<dyn FileSystem>, root: &Path) -> Result<()>;
    /// Asserts that what is visible is complete, and tells its generation (0: nothing there).
    fn generation(&self, root: &Path) -> u64;
    /// The names below `root` after a build of this generation that went well.
    fn expected_names(&self, generation: u64) -> Vec<PathBuf>;
    /// Begins to write another state and returns how it ends.
    fn start(&self, disk: Arc<dyn FileSystem>, root: &Path, generation: u64) -> Result<Rest>;
    /// The name of the hidden file that is the lock.
    fn staging(&self) -> &'static str;
    /// The generation that `prepare` leaves.
    fn first(&self) -> u64;
}

fn content(name: &str, generation: u64) -> Vec<u8> {
    format!("{name} of generation {generation}; ").repeat(40).into_bytes()
}

fn write(file: &dyn graphmill_disk::OutputFile, bytes: &[u8]) -> Result<()> {
    file.set_len(bytes.len() as u64)?;
    for (index, chunk) in bytes.chunks(300).enumerate() {
        file.write_all_at(index as u64 * 300, chunk)?;
    }
    file.start_write_back(0..bytes.len() as u64)
}

struct LoneFile {
    first: u64,
}

impl Build for LoneFile {
    fn prepare(&self, root: &Path) {
        if self.first > 0 {
            std::fs::write(root.join("x"), content("x", self.first)).unwrap();
        }
    }

    fn build(&self, disk: Arc<dyn FileSystem>, root: &Path) -> Result<()> {
        let generation = self.generation(root) + 1;
        let draft = FileDraft::begin(disk, &root.join("x"), self.first > 0 || generation > 1)?;
        write(draft.file(), &content("x", generation))?;
        draft.publish()
    }

    fn generation(&self, root: &Path) -> u64 {
        let Ok(found) = std::fs::read(root.join("x")) else { return 0 };
        (1..20).find(|generation| content("x", *generation) == found).expect("x is incomplete")
    }

    fn start(&self, disk: Arc<dyn FileSystem>, root: &Path, generation: u64) -> Result<Rest> {
        let draft = FileDraft::begin(disk, &root.join("x"), true)?;
        draft.file().write_all_at(0, &content("x", generation)[..700])?;
        Ok(Box::new(move || {
            write(draft.file(), &content("x", generation))?;
            draft.publish()
        }))
    }

    fn expected_names(&self, generation: u64) -> Vec<PathBuf> {
        if generation == 0 { vec![] } else { vec!["x".into()] }
    }

    fn staging(&self) -> &'static str {
        ".x.partial"
    }

    fn first(&self) -> u64 {
        self.first
    }
}

const PARTS: [&str; 2] = ["a", "b"];

fn is_ours(name: &str) -> bool {
    PARTS.iter().any(|part| name.strip_prefix(part).is_some_and(|rest| rest.starts_with('.')))
}

/// Files of strangers, one of them with a name as ours have.
const FOREIGN: [&str; 2] = ["notes.txt", "a.7"];

struct Dataset {
    folder: &'static str,
    first: u64,
}

impl Dataset {
    fn names(generation: u64) -> Vec<String> {
        // Two states can have the same names of files and different contents.
        PARTS.iter().map(|part| format!("{part}.{}", generation % 8)).collect()
    }
}

impl Build for Dataset {
    fn prepare(&self, root: &Path) {
        if self.first == 0 {
            return;
        }
        let folder = root.join(self.folder);
        std::fs::create_dir_all(&folder).unwrap();
        for name in Self::names(self.first) {
            std::fs::write(folder.join(&name), content(&name, self.first)).unwrap();
        }
        std::fs::write(folder.join("commit"), content("commit", self.first)).unwrap();
        // A crashed build and a stranger were here before.
        let leftover = format!("a.{}", self.first + 1);
        std::fs::write(folder.join(&leftover), b"leftover").unwrap();
        let journal = format!("graphmill draft 1\n{leftover}\nnotes.txt\n../x\na.7");
        std::fs::write(folder.join(".commit.partial"), journal).unwrap();
        for name in FOREIGN {
            std::fs::write(folder.join(name), b"mine").unwrap();
        }
    }

    fn build(&self, disk: Arc<dyn FileSystem>, root: &Path) -> Result<()> {
        let folder = root.join(self.folder);
        let draft = FolderDraft::begin(disk, &folder, "commit", true, is_ours)?;
        let current = draft.previous_commit().map_or(0, |_| self.generation(root));
        draft.clear_leftovers(&Self::names(current))?;
        let names = Self::names(current + 1);
        for name in &names {
            let file = draft.create(name)?;
            write(&*file, &content(name, current + 1))?;
            file.sync()?;
            file.drop_pages()?;
        }
        draft.publish(&content("commit", current + 1), &names, &Self::names(current))
    }

    fn generation(&self, root: &Path) -> u64 {
        let folder = root.join(self.folder);
        if self.first > 0 {
            for name in FOREIGN {
                assert_eq!(std::fs::read(folder.join(name)).unwrap(), b"mine");
            }
        }
        let Ok(commit) = std::fs::read(folder.join("commit")) else { return 0 };
        let generation = (1..20)
            .find(|generation| content("commit", *generation) == commit)
            .expect("the commit is incomplete");
        for name in Self::names(generation) {
            let found = std::fs::read(folder.join(&name)).unwrap_or_default();
            assert!(found == content(&name, generation), "{name} is missing or incomplete");
        }
        generation
    }

    fn start(&self, disk: Arc<dyn FileSystem>, root: &Path, generation: u64) -> Result<Rest> {
        let draft = FolderDraft::begin(disk, &root.join(self.folder), "commit", true, is_ours)?;
        let names = Self::names(generation);
        let first = draft.create(&names[0])?;
        first.write_all_at(0, &content(&names[0], generation)[..700])?;
        Ok(Box::new(move || {
            write(&*first, &content(&names[0], generation))?;
            write(&*draft.create(&names[1])?, &content(&names[1], generation))?;
            draft.publish(&content("commit", generation), &names, &[])
        }))
    }

    fn expected_names(&self, generation: u64) -> Vec<PathBuf> {
        let mut expected: Vec<PathBuf> = if generation == 0 {
            vec![]
        } else {
            let folders = Path::new(self.folder).ancestors().filter(|path| *path != Path::new(""));
            let inside = Self::names(generation).into_iter().chain(["commit".to_owned()]);
            let foreign = FOREIGN.map(str::to_owned).into_iter().filter(|_| self.first > 0);
            folders
                .map(Path::to_path_buf)
                .chain(inside.chain(foreign).map(|name| Path::new(self.folder).join(name)))
                .collect()
        };
        expected.sort();
        expected
    }

    fn staging(&self) -> &'static str {
        ".commit.partial"
    }

    fn first(&self) -> u64 {
        self.first
    }
}

fn builds() -> Vec<Arc<dyn Build>> {
    vec![
        Arc::new(LoneFile { first: 0 }),
        Arc::new(LoneFile { first: 1 }),
        Arc::new(Dataset { folder: "new/deeper", first: 0 }),
        Arc::new(Dataset { folder: "", first: 1 }),
        Arc::new(Dataset { folder: "old", first: 1 }),
    ]
}

fn names_below(root: &Path) -> Vec<PathBuf> {
    let mut names = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            names.push(path.strip_prefix(root).unwrap().to_path_buf());
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    names.sort();
    names
}

/// A prepared folder on a disk that works so far.
fn prepared(build: &dyn Build) -> (tempfile::TempDir, FaultyFileSystem) {
    let root = tempfile::tempdir().unwrap();
    build.prepare(root.path());
    let disk = FaultyFileSystem::over(root.path()).unwrap();
    (root, disk)
}

fn count_operations(build: &dyn Build) -> usize {
    let (root, disk) = prepared(build);
    build.build(Arc::new(disk.clone()), root.path()).unwrap();
    assert_eq!(build.generation(root.path()), build.first() + 1);
    assert_eq!(names_below(root.path()), build.expected_names(build.first() + 1));
    disk.performed()
}

fn assert_next_build_leaves_nothing(build: &dyn Build, root: &Path) {
    let before = build.generation(root);
    build.build(Arc::new(FaultyFileSystem::over(root).unwrap()), root).unwrap();
    assert_eq!(build.generation(root), before + 1);
    assert_eq!(names_below(root), build.expected_names(before + 1));
}

#[test]
fn a_failure_at_any_operation_leaves_the_old_or_the_new_state() {
    for build in builds() {
        let build = &*build;
        let operations = count_operations(build);
        for fault in [Fault::Error, Fault::FalseAlarm] {
            for number in 0..operations {
                let (root, disk) = prepared(build);
                disk.plan(number, fault);
                let outcome = build.build(Arc::new(disk.clone()), root.path());
                let generation = build.generation(root.path());
                assert!([build.first(), build.first() + 1].contains(&generation));
                if outcome.is_ok() {
                    assert_eq!(generation, build.first() + 1, "operation {number}");
                }
                assert_next_build_leaves_nothing(build, root.path());
            }
        }
    }
}

#[test]
fn a_failed_build_cleans_up_after_itself() {
    for build in builds() {
        let build = &*build;
        let mut without_lock = 0;
        for number in 0..count_operations(build) {
            let (root, disk) = prepared(build);
            let before = names_below(root.path());
            disk.plan(number, Fault::Error);
            if build.build(Arc::new(disk.clone()), root.path()).is_ok() {
                continue;
            }
            // What was there before may be cleared away (leftovers), but nothing may be added,
            // unless the new state was committed and only its durability is in doubt.
            if build.generation(root.path()) != build.first() {
                continue;
            }
            let mut added = names_below(root.path());
            added.retain(|name| !before.contains(name));
            // A lock that could not be asked for may be another's: its file stays, empty.
            if let Some(last) = added.last().filter(|name| name.ends_with(build.staging())) {
                assert_eq!(std::fs::metadata(root.path().join(last)).unwrap().len(), 0);
                without_lock += 1;
                continue;
            }
            assert!(added.is_empty(), "operation {number} left {added:?}");
        }
        // To take the lock, to look whether the name is still that of the locked file, and to read what it holds.
        assert!(without_lock <= 4, "{without_lock} failures left the staging file");
    }
}

#[test]
fn a_power_loss_at_any_operation_leaves_the_old_or_the_new_state() {
    for build in builds() {
        let build = &*build;
        let operations = count_operations(build);
        // One past the last: the power fails when all is done, and nothing may be lost any more.
        for number in 0..=operations {
            let (root, disk) = prepared(build);
            disk.plan(number, Fault::PowerLoss);
            let outcome = build.build(Arc::new(disk.clone()), root.path());
            for image in disk.crash_images() {
                image.restore().unwrap();
                let generation = build.generation(root.path());
                assert!([build.first(), build.first() + 1].contains(&generation));
                if outcome.is_ok() {
                    assert_eq!(generation, build.first() + 1, "operation {number}");
                }
                assert_next_build_leaves_nothing(build, root.path());
            }
        }
    }
}

/// The lock may be won on a file that has lost its name in the meantime.
#[test]
fn another_writer_between_any_two_operations_harms_nothing() {
    for build in builds() {
        let mut outcomes = [0, 0];
        for number in 0..count_operations(&*build) {
            let (root, disk) = prepared(&*build);
            let (visitor, path) = (build.clone(), root.path().to_path_buf());
            let (sender, receiver) = std::sync::mpsc::channel();
            disk.visit(number, move || {
                let before = visitor.generation(&path);
                let outcome = visitor.build(Arc::new(RealFileSystem), &path);
                if outcome.is_ok() {
                    assert_eq!(visitor.generation(&path), before + 1);
                }
                sender.send(outcome).unwrap();
            });
            let ours = build.build(Arc::new(disk), root.path());
            let theirs = receiver.recv().unwrap();
            for outcome in [&ours, &theirs] {
                let told = matches!(outcome, Err(Error::Busy { .. } | Error::Exists { .. }));
                assert!(outcome.is_ok() || told, "operation {number}: {outcome:?}");
            }
            assert!(ours.is_ok() || theirs.is_ok());
            assert!(build.generation(root.path()) > build.first());
            assert_next_build_leaves_nothing(&*build, root.path());
            outcomes[usize::from(theirs.is_ok())] += 1;
        }
        assert!(outcomes[0] > 0 && outcomes[1] > 0, "busy and free: {outcomes:?}");
    }
}

/// `rm -rf` and a second build, while the first one runs: the names are the same, the files are not.
#[test]
fn a_build_whose_files_are_removed_under_it_publishes_nothing_of_another_one() {
    for build in builds() {
        let (ours, theirs) = (build.first() + 1, build.first() + 9);
        let operations = count_operations(&*build);
        let mut displaced = 0;
        for number in 0..operations {
            let (root, disk) = prepared(&*build);
            let (visitor, path) = (build.clone(), root.path().to_path_buf());
            let (sender, receiver) = std::sync::mpsc::channel();
            disk.visit(number, move || {
                remove_all(&path);
                sender.send(visitor.start(Arc::new(RealFileSystem), &path, theirs)).unwrap();
            });
            let outcome = build.build(Arc::new(disk), root.path());
            let rest = receiver.recv().unwrap();
            // Whatever is visible is complete.
            let seen = build.generation(root.path());
            assert!([0, ours].contains(&seen), "operation {number}: {seen}");
            match &outcome {
                // Only what happens after the last look can take from us what we published.
                Ok(()) => assert!(seen == ours || number + 6 >= operations, "operation {number}"),
                Err(Error::Displaced { .. } | Error::Exists { .. } | Error::Busy { .. }) => {}
                Err(Error::Io { source, .. }) => {
                    assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
                }
                Err(other) => panic!("operation {number}: {other}"),
            }
            displaced += usize::from(matches!(outcome, Err(Error::Displaced { .. })));
            match rest.and_then(|rest| rest()) {
                Ok(()) => assert_eq!(build.generation(root.path()), theirs),
                // We had looked whose lock it was, and then removed theirs.
                Err(Error::Displaced { .. }) => assert_eq!(build.generation(root.path()), seen),
                Err(other) => panic!("operation {number}: {other}"),
            }
        }
        assert!(displaced > 4, "{displaced}");
    }
}

fn remove_all(root: &Path) {
    for name in names_below(root).iter().rev() {
        let path = root.join(name);
        if path.is_dir() {
            // A folder with a stranger's file stays.
            let _ = std::fs::remove_dir(path);
        } else if !FOREIGN.iter().any(|foreign| name.ends_with(foreign)) {
            std::fs::remove_file(path).unwrap();
        }
    }
}

/// The first process dies between its rename and the sync that makes it last; the second one sees
/// the new commit and clears the files of the old; then the power fails and the old commit is back.
#[test]
fn a_power_loss_in_the_build_after_a_killed_one_leaves_a_complete_state() {
    let build = Dataset { folder: "", first: 1 };
    let mut kills = 0;
    for killed_at in 0..count_operations(&build) {
        for number in 0.. {
            let (root, disk) = prepared(&build);
            disk.plan(killed_at, Fault::PowerLoss);
            let killed = build.build(Arc::new(disk.clone()), root.path());
            disk.revive();
            let seen = build.generation(root.path());
            // Killed before the rename, it left what any build finds that fails.
            if seen == build.first {
                break;
            }
            kills += usize::from(number == 0);
            let lost_at = disk.performed() + number;
            disk.plan(lost_at, Fault::PowerLoss);
            let outcome = build.build(Arc::new(disk.clone()), root.path());
            for image in disk.crash_images() {
                image.restore().unwrap();
                let generation = build.generation(root.path());
                assert!((1..=seen + 1).contains(&generation));
                if outcome.is_ok() {
                    assert_eq!(generation, seen + 1);
                } else if killed.is_ok() {
                    assert!(generation >= 2);
                }
            }
            if disk.performed() <= lost_at {
                break;
            }
        }
    }
    assert!(kills > 0, "no kill came after the rename");
}
