//! Names and their ranks.

use super::name_set::NameHash;
use super::*;
use crate::numbering::name_collector::HashCollision;

const COLUMNS: LogColumns = LogColumns { weights: false, times: true, rows: false };

/// The name of a number: short and long, some with common beginnings, some beyond ASCII.
fn name(number: u64) -> String {
    match mixed(number) % 7 {
        0 => format!("{number}"),
        1 => format!("https://example.org/entity/{}", mixed(number)),
        2 => format!("Ω{number:x}"),
        3 => format!("{}{number}", "a".repeat((mixed(number + 1) % 300) as usize)),
        _ => format!("node{number:08}"),
    }
}

fn cells<'a>(names: impl IntoIterator<Item = &'a str>) -> TextCells {
    let mut cells = TextCells::default();
    names.into_iter().for_each(|name| cells.push(name));
    cells
}

/// Pushes names of the edges `pairs`, and more; edges are logged by hashes.
fn collected(
    bench: &Bench,
    pairs: &Edges,
    names: &dyn Fn(u64) -> String,
    more: &[String],
    hash: NameHash,
) -> Result<(std::result::Result<DistinctNames, HashCollision>, EdgeLog)> {
    let collector = NameCollector::with_hash(&bench.workspace, hash, 0)?;
    let writer = EdgeLogWriter::new(&bench.workspace, COLUMNS, 0)?;
    for first in (0..pairs.rows()).step_by(1000) {
        let range = first..pairs.rows().min(first + 1000);
        let hashes = |ids: &[u64]| -> Result<Vec<u64>> {
            let texts: Vec<String> = ids.iter().map(|&id| names(id)).collect();
            let mut hashes = Vec::new();
            collector.push(&cells(texts.iter().map(String::as_str)), &mut hashes)?;
            Ok(hashes)
        };
        let sources = hashes(&pairs.sources[range.clone()])?;
        let destinations = hashes(&pairs.destinations[range.clone()])?;
        let chunk = EdgeChunk::new(first as u64, &sources, &destinations);
        writer.push(&chunk.times(&pairs.times[range]))?;
    }
    collector.push(&cells(more.iter().map(String::as_str)), &mut Vec::new())?;
    Ok((collector.finish(None)?, writer.finish()?))
}

/// Checks a numbering of names, whose ranks are as in `ranks`, with these numbers for ranks.
fn check(
    bench: &Bench,
    numbering: &Numbering,
    ranks: &BTreeMap<String, u64>,
    number: &dyn Fn(u64) -> u64,
) {
    let names: Vec<&String> = ranks.keys().rev().collect();
    let mut found = vec![99];
    let asked = cells(names.iter().map(|name| name.as_str()));
    assert_eq!(numbering.of_names(&asked, &mut found).unwrap(), Ok(()));
    assert_eq!(found[0], 99);
    assert!(found[1..].iter().copied().eq(names.iter().map(|&name| number(ranks[name]))));
    for place in [0, names.len() / 2, names.len()] {
        let mut names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
        names.insert(place, "nobody has this name");
        let mut found = vec![7];
        assert_eq!(numbering.of_names(&cells(names), &mut found).unwrap(), Err(place));
        assert_eq!(found, [7]);
    }
    let written = (bench.file("text.gd"), bench.file("ends.gd"));
    numbering.write_names(&*written.0, &*written.1).unwrap();
    let text: String = ranks.keys().map(String::as_str).collect();
    assert!(bench.rows("text.gd", text.len() as u64) == text.as_bytes());
    let bytes = bench.rows("ends.gd", 8 * ranks.len() as u64);
    let mut end = 0;
    for (name, &word) in ranks.keys().zip(bytes.as_chunks().0) {
        end += name.len() as i64;
        assert_eq!(i64::from_le_bytes(word), end);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn names_become_their_places_by_bytes(
        rows in 0_u64..12_000,
        nodes in prop_oneof![1_u64..50, 1000_u64..60_000],
        order in proptest::option::of(any_sort()),
        memory in prop_oneof![Just(2_u64 << 20), Just(64 << 20)],
        long in proptest::option::of(0_usize..65_537),
        threads in 1_usize..5,
    ) {
        let pairs = Edges::new((0..rows).map(|row| (mixed(row) % nodes, mixed(row + 9) % nodes)));
        let more: Vec<String> = long.map(|length| "é".repeat(length / 2)).into_iter().collect();
        let ids = pairs.sources.iter().chain(&pairs.destinations);
        let distinct: std::collections::BTreeSet<String> =
            ids.map(|&id| name(id)).chain(more.iter().cloned()).collect();
        let ranks: BTreeMap<String, u64> = distinct.into_iter().zip(0..).collect();
        let by_id = |id: u64| ranks[&name(id)];
        let count = ranks.len() as u64;
        on_threads(threads, || {
            let bench = Bench::new(memory);
            let (names, log) =
                collected(&bench, &pairs, &name, &more, NameHash::new(rows)).unwrap();
            let names = names.unwrap();
            assert_eq!(names.count(), count);
            let numbering = Numbering::named(&bench.workspace, names).unwrap();
            check(&bench, &numbering, &ranks, &|rank| rank);
            assert!(numbering.original_ids(count).unwrap().is_none());
            assert!(numbering.of_ids(&mut [1]).is_err());
            let ranked = Edges {
                sources: pairs.sources.iter().map(|&id| by_id(id)).collect(),
                destinations: pairs.destinations.iter().map(|&id| by_id(id)).collect(),
                ..pairs.clone()
            };
            let replay = |numbering: &Numbering, log: &EdgeLog| {
                replayed(COLUMNS, log.rows(), |stage, take| numbering.replay(log, stage, take))
            };
            assert_eq!(replay(&numbering, &log).unwrap(), ranked);
            let Some(order) = order else { return };
            let (numbering, log) = numbering.ordered(log, order, None).unwrap();
            let all = numbers_by_count(&ranked.counts(count, order));
            check(&bench, &numbering, &ranks, &|rank| all[&rank]);
            assert_eq!(replay(&numbering, &log).unwrap(), ranked.renumbered(&all));
            let places = places(&bench, &numbering, count).unwrap();
            assert!(places.iter().eq(all.values()));
            let originals = originals(&numbering, count).unwrap();
            for (rank, number) in all {
                assert_eq!(originals[number as usize], rank as i64);
            }
            drop((numbering, log));
            bench.close(&["ends.gd", "places.gd", "text.gd"]);
        });
    }
}

#[test]
fn names_that_share_a_hash_are_told_and_never_mixed() {
    let pairs = Edges::new((0..300).map(|row| (row, row + 1)));
    let attempt = |nodes: &Edges, bits: u32, seed: u64| {
        let bench = Bench::new(4 << 20);
        let hash = NameHash::narrow(seed, bits);
        let (names, log) = collected(&bench, nodes, &name, &[], hash).unwrap();
        let Ok(names) = names else { return false };
        let numbering = Numbering::named(&bench.workspace, names).unwrap();
        let mut ranks: Vec<String> = (0..=nodes.rows() as u64).map(name).collect();
        ranks.sort();
        let again =
            replayed(COLUMNS, log.rows(), |stage, take| numbering.replay(&log, stage, take));
        for (row, &rank) in again.unwrap().sources.iter().enumerate() {
            assert_eq!(ranks[rank as usize], name(row as u64));
        }
        true
    };
    assert!(!attempt(&pairs, 8, 1));
    // Five dozen names in 12 bits: some seeds separate them, others do not.
    let few = Edges::new((0..60).map(|row| (row, row + 1)));
    let outcomes: Vec<bool> = (0..40).map(|seed| attempt(&few, 12, seed)).collect();
    assert!(outcomes.contains(&true) && outcomes.contains(&false));
}

#[test]
fn a_collision_between_two_runs_is_told_too() {
    // One thread and so many names that runs are written: most pairs never meet in memory.
    on_threads(1, || {
        let bench = Bench::new(4 << 20);
        let pairs = Edges::new((0..20_000).map(|row| (row, row)));
        let hash = NameHash::narrow(3, 27);
        let (names, _log) = collected(&bench, &pairs, &name, &[], hash).unwrap();
        assert_eq!(names.unwrap_err(), HashCollision);
    });
}

#[test]
fn a_stranger_with_the_hash_of_a_name_is_not_taken_for_it() {
    let bench = Bench::new(4 << 20);
    let hash = NameHash::narrow(0, 10);
    let pairs = Edges::new([(0, 1)]);
    let (names, _log) = collected(&bench, &pairs, &name, &[], hash).unwrap();
    let numbering = Numbering::named(&bench.workspace, names.unwrap()).unwrap();
    let known = [name(0), name(1)];
    let strangers: Vec<String> = (2..5000)
        .map(name)
        .filter(|other| {
            known.iter().any(|one| hash.of(one.as_bytes()) == hash.of(other.as_bytes()))
        })
        .collect();
    assert!(!strangers.is_empty());
    for stranger in &strangers {
        let asked = cells([known[0].as_str(), known[1].as_str(), stranger, "unheard of"]);
        assert_eq!(numbering.of_names(&asked, &mut Vec::new()).unwrap(), Err(2));
    }
}

#[test]
fn names_that_are_too_long_are_refused_by_place() {
    let bench = Bench::new(4 << 20);
    let collector = NameCollector::new(&bench.workspace, 0, 0).unwrap();
    let (fits, too_long) = ("x".repeat(65_536), "x".repeat(65_537));
    let error = collector.push(&cells([fits.as_str(), &too_long]), &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("name 1: found 65537 bytes"), "{error}");
    let tight = Bench::new(NameCollector::LEAST_MEMORY - 1);
    let error = NameCollector::new(&tight.workspace, 0, 0).unwrap_err().to_string();
    assert!(error.contains("collecting the names"), "{error}");
}
