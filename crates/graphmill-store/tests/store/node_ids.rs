//! Ids of the source lead to the right nodes, and back.

use crate::renumbered::Plan;
use crate::sample_files::dataset;
use crate::verify::faults;
use graphmill_disk::Budget;
use graphmill_store::verify::verify;
use graphmill_store::{Dataset, Error, IdKind, inspect};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn shuffled(ids: BTreeSet<i64>) -> impl Strategy<Value = Vec<i64>> {
    Just(ids.into_iter().collect::<Vec<_>>()).prop_shuffle()
}

/// Numbers in any order, scattered integers in any order or ascending, names in any order or ascending.
fn plans() -> impl Strategy<Value = Plan> {
    let permuted = (2..300_i64).prop_flat_map(|count| shuffled((0..count).collect()));
    let few = prop::collection::btree_set(prop_oneof![0..400_i64, 0..i64::MAX], 2..300);
    let mapped =
        few.prop_flat_map(|ids| (shuffled(ids), any::<bool>())).prop_map(|(mut ids, sort)| {
            if sort {
                ids.sort();
            }
            ids
        });
    let names = prop::collection::btree_set("[a-c\u{e9}\u{1F600}]{0,4}", 2..100);
    let text = names.prop_flat_map(|names| {
        let count = names.len() as i64;
        (Just(names), shuffled((0..count).collect()), any::<bool>())
    });
    let text = text.prop_map(|(names, mut ids, sort)| {
        if sort {
            ids.sort();
        }
        Plan { originals: ids, names: Some(names.into_iter().collect()), wide: false }
    });
    let plain = prop_oneof![permuted, mapped].prop_map(|ids| Plan::of(&ids));
    (prop_oneof![plain, text], any::<bool>()).prop_map(|(plan, wide)| Plan { wide, ..plan })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn every_id_leads_to_its_node_and_back(plan in plans(), others in prop::collection::vec(any::<i64>(), 9)) {
        let folder = tempfile::tempdir().unwrap();
        let ds = plan.write(folder.path());
        let count = plan.originals.len() as i64;
        let numbers: Vec<i64> = (0..count).rev().collect();
        let expected: Vec<i64> = numbers.iter().map(|&n| plan.originals[n as usize]).collect();
        prop_assert_eq!(&ds.original_ids(&numbers).unwrap(), &expected);
        prop_assert_eq!(ds.node_ids(&expected).unwrap(), numbers.clone());
        prop_assert_eq!(ds.ids().in_order().unwrap().collect::<Vec<_>>(), plan.places());

        let known: BTreeMap<i64, i64> = plan.originals.iter().copied().zip(0..).collect();
        for id in others.into_iter().chain([-1, 0, 1, count - 1, count, i64::MIN, i64::MAX]) {
            match known.get(&id) {
                Some(&number) => prop_assert_eq!(ds.node_ids(&[id]).unwrap(), vec![number]),
                None => {
                    let error = ds.node_ids(&[expected[0], id]).unwrap_err();
                    let named = matches!(error, Error::UnknownId { position: 1, id: found, .. } if found == id);
                    prop_assert!(named, "{}", error);
                }
            }
        }
        if let Some(names) = &plan.names {
            let found = ds.node_names(&numbers).unwrap();
            let expected: Vec<_> = expected.iter().map(|&id| names[id as usize].clone()).collect();
            prop_assert_eq!(&found, &expected);
            prop_assert_eq!(ds.node_ids_of_names(&found).unwrap(), numbers);
            let error = ds.node_ids_of_names(&[names[0].as_str(), "d", "e"]).unwrap_err();
            prop_assert!(matches!(error, Error::UnknownNode { position: 1, .. }), "{}", error);
        }
        let report = verify(folder.path()).unwrap();
        prop_assert!(report.is_sound(), "{}", faults(&report));
    }
}

#[test]
fn the_kind_of_ids_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let kind = |plan: Plan| {
        let ds = plan.write(folder.path());
        assert!(ds.is_renumbered());
        let numbering = inspect::numbering(&ds).unwrap();
        assert_eq!(numbering.classes, BTreeMap::from([("y".to_owned(), 2)]));
        (numbering.order, numbering.ids)
    };
    let (none, hot) = ("none".to_owned(), "hot".to_owned());
    assert_eq!(kind(Plan::of(&[2, 0, 1])), (hot.clone(), IdKind::Reordered));
    assert_eq!(kind(Plan::of(&[2, 0, 7])), (hot.clone(), IdKind::Mapped));
    assert_eq!(kind(Plan::of(&[1, 2, 3])), (none.clone(), IdKind::Mapped));
    assert_eq!(kind(Plan::named(&[0, 1], &["a", "b"])), (none.clone(), IdKind::Text));
    assert_eq!(kind(Plan::named(&[1, 0], &["a", "b"])), (hot, IdKind::Text));
    dataset(folder.path(), 0);
    let ds = Dataset::open(folder.path(), Budget::new(0)).unwrap();
    assert!(!ds.is_renumbered());
    assert_eq!(inspect::numbering(&ds).unwrap().ids, IdKind::Same);
}

#[test]
fn without_renumbering_ids_are_numbers() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), 0);
    let ds = Dataset::open(folder.path(), Budget::new(0)).unwrap();
    assert_eq!(ds.original_ids(&[4, 0]).unwrap(), [4, 0]);
    assert_eq!(ds.node_ids(&[4, 0]).unwrap(), [4, 0]);
    assert!(matches!(ds.node_ids(&[0, 5]), Err(Error::UnknownId { position: 1, .. })));
    assert!(matches!(ds.original_ids(&[5]), Err(Error::OutOfRange { index: 5, count: 5, .. })));
    assert!(matches!(ds.original_ids(&[-1]), Err(Error::OutOfRange { index: -1, .. })));
    assert_eq!(ds.class_names("y"), None);
}

#[test]
fn classes_have_the_names_that_were_given() {
    let folder = tempfile::tempdir().unwrap();
    let ds = Plan::of(&[1, 0, 2]).write(folder.path());
    assert_eq!(ds.class_names("y").unwrap(), ["cat", "dog"]);
    assert_eq!(ds.class_names("x"), None);
}

#[test]
fn names_are_refused_where_ids_are_integers() {
    let folder = tempfile::tempdir().unwrap();
    let ds = Plan::of(&[1, 0]).write(folder.path());
    let text = ds.node_ids_of_names(&["a"]).unwrap_err().to_string();
    assert!(text.contains("are integers"), "{text}");
    assert!(ds.node_names(&[0]).is_err());
}

#[test]
fn of_many_unknown_ids_the_first_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let ds = Plan::of(&[40, 10, 30]).write(folder.path());
    let mut ids = vec![30; 200_000];
    assert!(ds.node_ids(&ids).unwrap().iter().all(|&number| number == 2));
    (70_001..200_000).for_each(|at| ids[at] = at as i64);
    let error = ds.node_ids(&ids).unwrap_err();
    assert!(matches!(error, Error::UnknownId { position: 70_001, id: 70_001, .. }), "{error}");
}
