//! Files of ids that lie: never a wrong node, never a crash, and verification names the lie.

use crate::renumbered::{Plan, publish_again};
use crate::sample_files::{budget, lie, put};
use crate::verify::faults;
use graphmill_format::{Header, SectionKind, TableShape};
use graphmill_ingest::write_table;
use graphmill_store::verify::verify;
use graphmill_store::{Dataset, Error};
use proptest::prelude::*;
use std::path::Path;

fn of_table(header: &Header) -> graphmill_format::Section {
    *header.table_section().unwrap()
}

/// Writes a dataset, changes one of its files behind right checksums, and verifies it.
fn caught(plan: &Plan, file: &str, change: impl FnOnce(&Header, &mut Vec<u8>)) -> String {
    let folder = tempfile::tempdir().unwrap();
    plan.write(folder.path());
    lie(&folder.path().join(file), change);
    publish_again(folder.path());
    let report = verify(folder.path()).unwrap();
    faults(&report)
}

const PLACES: &str = "id-places.1.gd";
const NAMES: &str = "id-names.1.gd";
const ENDS: &str = "id-ends.1.gd";
const GRAPH: &str = "graph.1.gl";

#[track_caller]
fn assert_caught(found: String, expected: &str) {
    assert!(found.contains(expected), "{expected:?} not in: {found}");
}

#[test]
fn verification_names_places_that_lead_astray() {
    let (hot, mapped) = (Plan::of(&[2, 0, 1]), Plan::of(&[20, 0, 10]));
    for (plan, twice, outside, negative) in [
        (&hot, "that place lists node 1", "that place lists node 3", "that place lists node -1"),
        (&mapped, "expected one above", "found node 3, expected", "found node -1, expected"),
    ] {
        for wide in [false, true] {
            let plan = Plan { wide, ..plan.clone() };
            let set = |place: usize, number: i64| {
                move |header: &Header, bytes: &mut Vec<u8>| {
                    let section = of_table(header);
                    let width = section.element.width() as usize;
                    put(bytes, &section, place, &number.to_le_bytes()[..width]);
                }
            };
            assert_caught(caught(&plan, PLACES, set(2, 1)), twice);
            assert_caught(caught(&plan, PLACES, set(2, 3)), outside);
            assert_caught(caught(&plan, PLACES, set(0, -1)), negative);
            assert_eq!(caught(&plan, PLACES, set(0, 1)), "");
        }
    }
}

#[test]
fn places_out_of_order_are_found_across_pieces() {
    // More places than one piece holds.
    let plan = Plan::of(&(0..70_000).rev().map(|id| id * 3).collect::<Vec<_>>());
    assert_eq!(caught(&plan, PLACES, |_, _| {}), "");
    for place in [65_535, 65_536, 65_537] {
        let found = caught(&plan, PLACES, |header, bytes| {
            let swapped = [70_000 - place, 69_999 - place].map(|number: i32| number.to_le_bytes());
            put(bytes, &of_table(header), place as usize - 1, &swapped[1]);
            put(bytes, &of_table(header), place as usize, &swapped[0]);
        });
        assert_caught(found, &format!("element {place} "));
    }
}

#[test]
fn verification_names_original_ids_that_do_not_ascend() {
    let set = |number: usize, id: i64| {
        move |header: &Header, bytes: &mut Vec<u8>| {
            let section = *header.section(SectionKind::OriginalIds, None).unwrap();
            put(bytes, &section, number, &id.to_le_bytes());
        }
    };
    let ascending = Plan::of(&[5, 10, 20]);
    for (number, id) in [(1, 5), (1, 20), (0, -1), (2, 7)] {
        let found = caught(&ascending, GRAPH, set(number, id));
        assert_caught(found, "original-ids element");
    }
    for plan in [Plan::of(&[2, 0, 1]), Plan::of(&[20, 0, 10])] {
        assert_caught(caught(&plan, GRAPH, set(0, 0)), "node");
        assert_caught(caught(&plan, GRAPH, set(0, -7)), "node");
    }
    let text = Plan::named(&[2, 0, 1], &["a", "b", "c"]);
    assert_caught(caught(&text, GRAPH, set(0, 3)), "found place 3 of a name");
}

#[test]
fn verification_names_wrong_names() {
    let plan = Plan::named(&[1, 0, 2], &["ab", "b", "cd"]);
    let text = |at: usize, byte: u8| {
        move |header: &Header, bytes: &mut Vec<u8>| put(bytes, &of_table(header), at, &[byte])
    };
    let end = |at: usize, end: i64| {
        move |header: &Header, bytes: &mut Vec<u8>| {
            put(bytes, &of_table(header), at, &end.to_le_bytes());
        }
    };
    assert_caught(caught(&plan, NAMES, text(0, b'c')), "found the name \"b\", expected one above");
    assert_caught(caught(&plan, NAMES, text(4, 0xFF)), "no UTF-8");
    assert_caught(caught(&plan, ENDS, end(0, 4)), "found the end 3 after 4");
    assert_caught(caught(&plan, ENDS, end(0, -1)), "found the end -1");
    assert_caught(caught(&plan, ENDS, end(2, 6)), "found the end 6");
    assert_caught(caught(&plan, ENDS, end(2, i64::MAX)), "found the end");
    assert_caught(caught(&plan, ENDS, end(2, 4)), "found the last end 4, expected 5");
    let labels = |header: &Header, bytes: &mut Vec<u8>| {
        put(bytes, &of_table(header), 1, &2_i64.to_le_bytes());
    };
    assert_caught(caught(&plan, "y.1.gd", labels), "found class 2, expected -1 to 2 - 1");
}

#[test]
fn a_name_out_of_order_is_found_across_pieces() {
    // More ends than one piece holds, and names that reach into several reads of text.
    let names: Vec<String> = (0..70_000).map(|at| format!("{at:0>40}")).collect();
    let originals: Vec<i64> = (0..70_000).collect();
    let plan = Plan { originals, names: Some(names), wide: false };
    assert_eq!(caught(&plan, NAMES, |_, _| {}), "");
    for place in [32_768, 32_767, 26_214, 26_215, 69_999] {
        let found = caught(&plan, NAMES, |header, bytes| {
            put(bytes, &of_table(header), place * 40, b"!");
        });
        assert_caught(found, &format!("element {place}"));
    }
}

#[test]
fn files_of_the_wrong_shape_are_refused_on_opening() {
    let plan = Plan::named(&[1, 0, 2], &["ab", "b", "cd"]);
    for (file, element, rows) in [
        (PLACES, graphmill_format::ElementType::F32, 3),
        (PLACES, graphmill_format::ElementType::I32, 2),
        (ENDS, graphmill_format::ElementType::I32, 3),
        (ENDS, graphmill_format::ElementType::I64, 4),
        (NAMES, graphmill_format::ElementType::I8, 5),
    ] {
        let folder = tempfile::tempdir().unwrap();
        plan.write(folder.path());
        let shape = TableShape::vector(rows, element).unwrap();
        let bytes = vec![0; shape.length() as usize];
        write_table(&folder.path().join(file), shape, [Ok(bytes)], true).unwrap();
        publish_again(folder.path());
        let error = Dataset::open(folder.path(), budget()).unwrap_err();
        assert!(error.to_string().contains(file), "{error}");
        assert!(!verify(folder.path()).unwrap().is_sound(), "{file}");
    }
}

/// What a dataset says about its nodes: every answer is right or an error.
fn interrogate(folder: &Path, plan: &Plan) {
    let Ok(ds) = Dataset::open(folder, budget()) else { return };
    let count = plan.originals.len() as i64;
    let _ = ds.ids().kind();
    for number in -1..=count {
        let original = ds.original_ids(&[number]);
        // What was found by its id has that id, whatever the files say it is.
        if let Ok(original) = original
            && let Ok(found) = ds.node_ids(&original)
        {
            assert_eq!(ds.original_ids(&found).unwrap(), original);
        }
        if let Ok(names) = ds.node_names(&[number])
            && let Ok(found) = ds.node_ids_of_names(&names)
        {
            assert_eq!(ds.node_names(&found).unwrap(), names);
        }
        match ds.node_ids(&[number]) {
            Ok(found) => assert!((0..count).contains(&found[0])),
            Err(Error::UnknownId { .. } | Error::Corrupt { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn any_bytes_in_files_of_ids_give_errors_or_right_answers(
        which in 0..3_usize, file in prop::sample::select(vec![PLACES, NAMES, ENDS, GRAPH]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let plan = [
            Plan::of(&[3, 1, 0, 2]),
            Plan::of(&[30, 10, 7, 20]),
            Plan::named(&[2, 0, 3, 1], &["a", "bc", "bd", "z"]),
        ][which].clone();
        let folder = tempfile::tempdir().unwrap();
        plan.write(folder.path());
        let path = folder.path().join(file);
        if path.exists() {
            let mut bytes = std::fs::read(&path).unwrap();
            let header = Header::parse(&bytes[..4096], bytes.len() as u64).unwrap();
            let section = match file {
                GRAPH => *header.section(SectionKind::OriginalIds, None).unwrap(),
                _ => of_table(&header),
            };
            let before = bytes.clone();
            for (at, byte) in changes {
                bytes[section.offset as usize + at.index(section.length() as usize)] = byte;
            }
            std::fs::write(&path, &bytes).unwrap();
            interrogate(folder.path(), &plan);
            prop_assert_eq!(verify(folder.path()).unwrap().is_sound(), bytes == before);
        }
    }
}
