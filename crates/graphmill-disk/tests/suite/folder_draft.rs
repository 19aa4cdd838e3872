//! What a folder draft promises when nothing breaks.

use std::path::Path;
use std::sync::Arc;

use graphmill_disk::{Error, FolderDraft, RealFileSystem, Result};

fn is_ours(name: &str) -> bool {
    name.starts_with("part") || name == "commit" || name == ".commit.partial"
}

fn begin(folder: &Path, overwrite: bool) -> Result<FolderDraft> {
    FolderDraft::begin(Arc::new(RealFileSystem), folder, "commit", overwrite, is_ours)
}

fn amend(folder: &Path) -> Result<FolderDraft> {
    FolderDraft::amend(Arc::new(RealFileSystem), folder, "commit", is_ours)
}

fn add(draft: &FolderDraft, name: &str) {
    let file = draft.create(name).unwrap();
    file.write_all_at(0, name.as_bytes()).unwrap();
    file.sync().unwrap();
}

fn keep(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_state_is_valid_from_its_commit_on_and_replaces_the_one_before() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("new/deeper");
    let draft = begin(&folder, false).unwrap();
    assert_eq!(draft.previous_commit(), None);
    assert_eq!(draft.folder(), folder);
    add(&draft, "part.1");
    assert!(!folder.join("commit").exists());
    draft.publish(b"one", &keep(&["part.1"]), &[]).unwrap();
    assert_eq!(names(&folder), ["commit", "part.1"]);

    std::fs::write(folder.join("notes.txt"), b"mine").unwrap();
    let draft = begin(&folder, true).unwrap();
    assert_eq!(draft.previous_commit().unwrap(), b"one");
    add(&draft, "part.2");
    assert_eq!(std::fs::read(folder.join("commit")).unwrap(), b"one");
    draft.publish(b"two", &keep(&["part.2"]), &keep(&["part.1", "notes.txt"])).unwrap();
    assert_eq!(names(&folder), ["commit", "notes.txt", "part.2"]);
    assert_eq!(std::fs::read(folder.join("commit")).unwrap(), b"two");
}

#[test]
fn amending_keeps_the_files_that_are_still_named() {
    let root = tempfile::tempdir().unwrap();
    assert!(matches!(amend(root.path()), Err(Error::Io { action: "open", .. })));
    assert!(amend(&root.path().join("missing")).is_err());
    assert_eq!(names(root.path()), [""; 0]);
    let draft = begin(root.path(), false).unwrap();
    add(&draft, "part.1");
    draft.publish(b"one", &keep(&["part.1"]), &[]).unwrap();

    let draft = amend(root.path()).unwrap();
    add(&draft, "part.2");
    let both = keep(&["part.1", "part.2"]);
    draft.publish(b"both", &both, &keep(&["part.1"])).unwrap();
    assert_eq!(names(root.path()), ["commit", "part.1", "part.2"]);
}

#[test]
fn a_committed_state_is_kept_unless_overwriting_was_asked() {
    let root = tempfile::tempdir().unwrap();
    begin(root.path(), false).unwrap().publish(b"one", &[], &[]).unwrap();
    match begin(root.path(), false) {
        Err(Error::Exists { path }) => assert_eq!(path, root.path()),
        other => panic!("{other:?}"),
    }
    assert_eq!(names(root.path()), ["commit"]);
}

#[test]
fn a_second_draft_is_told_that_the_folder_is_busy() {
    let root = tempfile::tempdir().unwrap();
    begin(root.path(), false).unwrap().publish(b"one", &[], &[]).unwrap();
    let first = begin(root.path(), true).unwrap();
    for second in [begin(root.path(), true), begin(root.path(), false), amend(root.path())] {
        match second {
            Err(Error::Busy { path }) => assert_eq!(path, root.path()),
            other => panic!("{other:?}"),
        }
    }
    drop(first);
    assert!(amend(root.path()).is_ok());
}

#[test]
fn a_dropped_draft_leaves_what_was_there_and_nothing_else() {
    let root = tempfile::tempdir().unwrap();
    let new = root.path().join("new/deeper");
    let draft = begin(&new, false).unwrap();
    add(&draft, "part.1");
    drop(draft);
    assert_eq!(names(root.path()), [""; 0]);

    // A folder that somebody else put something into meanwhile stays.
    let draft = begin(&new, false).unwrap();
    std::fs::write(new.join("notes.txt"), b"mine").unwrap();
    drop(draft);
    assert_eq!(names(&new), ["notes.txt"]);

    begin(&new, false).unwrap().publish(b"one", &[], &[]).unwrap();
    let draft = begin(&new, true).unwrap();
    add(&draft, "part.1");
    drop(draft);
    assert_eq!(names(&new), ["commit", "notes.txt"]);
    assert_eq!(std::fs::read(new.join("commit")).unwrap(), b"one");
}

#[test]
fn clearing_takes_what_drafts_recorded_and_nothing_else() {
    let root = tempfile::tempdir().unwrap();
    for name in
        ["part.old", "part.kept", "part.torn", "foreign", ".hidden", ".x.0123456789abcdef.partial"]
    {
        std::fs::write(root.path().join(name), b"").unwrap();
    }
    let recorded = "part.old\npart.kept\nforeign\n.hidden\n.x.0123456789abcdef.partial\n../x\ncommit\npart.torn";
    std::fs::write(root.path().join(".commit.partial"), format!("graphmill draft 1\n{recorded}"))
        .unwrap();
    // One that gives up at once leaves the journal to those who clear.
    drop(begin(root.path(), false).unwrap());
    let draft = begin(root.path(), true).unwrap();
    add(&draft, "part.new");
    draft.clear_leftovers(&keep(&["part.kept"])).unwrap();
    let left = ["foreign", "part.kept", "part.new", "part.torn"];
    assert_eq!(names(root.path()), [&[".commit.partial", ".hidden"], &left[..]].concat());
    draft.publish(b"two", &keep(&["part.new"]), &keep(&["part.kept", "foreign"])).unwrap();
    assert_eq!(names(root.path()), [".hidden", "commit", "foreign", "part.new", "part.torn"]);
}

#[test]
fn a_file_that_only_looks_like_ours_is_neither_removed_nor_overwritten() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("part.1"), b"precious").unwrap();
    let draft = begin(root.path(), false).unwrap();
    draft.clear_leftovers(&[]).unwrap();
    assert!(matches!(draft.create("part.1"), Err(Error::Exists { .. })));
    draft.publish(b"one", &[], &[]).unwrap();
    assert_eq!(std::fs::read(root.path().join("part.1")).unwrap(), b"precious");
    assert_eq!(names(root.path()), ["commit", "part.1"]);
}

#[test]
fn only_files_of_this_draft_can_be_removed_by_name() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("part.old"), b"").unwrap();
    let draft = begin(root.path(), false).unwrap();
    add(&draft, "part.spill");
    draft.remove("part.spill").unwrap();
    draft.remove("part.old").unwrap();
    draft.remove("../outside").unwrap();
    assert_eq!(names(root.path()), [".commit.partial", "part.old"]);
    add(&draft, "part.spill");
}

#[test]
fn names_that_could_leave_the_folder_or_hide_in_it_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("inside");
    let draft = begin(&folder, false).unwrap();
    for name in [
        "",
        ".",
        "..",
        "../part",
        "part/x",
        "/part",
        "part\\x",
        "part\0",
        "part\nx",
        "commit",
        ".commit.partial",
    ] {
        match draft.create(name) {
            Err(Error::NotAPlainName { name: refused }) => assert_eq!(refused, name),
            other => panic!("{name:?}: {other:?}"),
        }
    }
    assert!(matches!(draft.create("stray"), Err(Error::NotOurs { .. })));
    add(&draft, "part");
    assert!(matches!(draft.create("part"), Err(Error::Exists { .. })));
    drop(draft);
    assert_eq!(names(root.path()), [""; 0]);
    let outcome =
        FolderDraft::begin(Arc::new(RealFileSystem), &folder, "../commit", false, is_ours);
    assert!(matches!(outcome, Err(Error::NotAPlainName { .. })));
}

#[test]
fn a_file_where_the_folder_should_be_is_an_error_and_stays() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("file");
    std::fs::write(&path, b"precious").unwrap();
    assert!(matches!(begin(&path, true), Err(Error::Io { .. })));
    assert!(matches!(begin(&path.join("below"), true), Err(Error::Io { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
}
