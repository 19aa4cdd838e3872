//! Scattered ids and their ranks.

use std::collections::BTreeSet;

use super::*;

/// The rank of every id.
fn ranks(ids: impl IntoIterator<Item = u64>) -> BTreeMap<u64, u64> {
    let distinct: BTreeSet<u64> = ids.into_iter().collect();
    distinct.into_iter().zip(0..).collect()
}

fn collected(bench: &Bench, edges: &Edges, more: &[u64], memory: u64) -> (DistinctIds, EdgeLog) {
    let columns = LogColumns { weights: true, times: false, rows: false };
    let collector = IdCollector::new(&bench.workspace, memory).unwrap();
    let writer = EdgeLogWriter::new(&bench.workspace, columns, 0).unwrap();
    push_all(edges, 3000, columns, |chunk| {
        match chunk.ids {
            crate::edge_sort::ChunkIds::Narrow(sources, to) => {
                let ids: Vec<u64> = sources.iter().chain(to).map(|&id| id.into()).collect();
                collector.push(&ids)?;
            }
            crate::edge_sort::ChunkIds::Wide(sources, to) => {
                collector.push(sources)?;
                collector.push(to)?;
            }
        }
        writer.push(chunk)
    })
    .unwrap();
    collector.push(more).unwrap();
    (collector.finish(None).unwrap(), writer.finish().unwrap())
}

fn check_unknown(numbering: &Numbering, ranks: &BTreeMap<u64, u64>) {
    let mut known: Vec<u64> = ranks.keys().copied().take(5000).collect();
    for unknown in [0, 1 << 40, (1 << 63) - 3, u64::MAX] {
        if ranks.contains_key(&unknown) {
            continue;
        }
        for place in [0, known.len() / 2, known.len()] {
            let mut asked = known.clone();
            asked.insert(place, unknown);
            asked.push(unknown);
            assert_eq!(numbering.of_ids(&mut asked).unwrap(), Err(place), "{unknown}");
        }
    }
    let expected: Vec<u64> = known.iter().map(|id| ranks[id]).collect();
    assert_eq!(numbering.of_ids(&mut known).unwrap(), Ok(()));
    if numbering.order.is_none() {
        assert_eq!(known, expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn ids_become_their_places_in_ascending_order(
        rows in 0_u64..30_000,
        nodes in prop_oneof![1_u64..50, 1000_u64..120_000],
        shift in prop_oneof![Just(0_u32), Just(20), Just(2)],
        more in proptest::collection::vec(0_u64..(1 << 63) - 1, 0..50),
        order in proptest::option::of(any_sort()),
        memory in prop_oneof![Just(1_u64 << 20), Just(2 << 20), Just(64 << 20)],
        threads in 1_usize..5,
    ) {
        // Ids near 2^63, all over the range, or small ones.
        let id = |row: u64, salt: u64| ((1 << 63) - 2 - mixed(mixed(row + salt) % nodes)) >> shift;
        let edges = Edges::new((0..rows).map(|row| (id(row, 5), id(row, 1 << 40))));
        let all = edges.sources.iter().chain(&edges.destinations).chain(&more).copied();
        let ranks = ranks(all);
        let count = ranks.len() as u64;
        let columns = LogColumns { weights: true, times: false, rows: false };
        on_threads(threads, || {
            let bench = Bench::new(memory);
            let (ids, log) = collected(&bench, &edges, &more, memory / 3);
            assert_eq!(ids.count(), count);
            let numbering = Numbering::mapped(&bench.workspace, ids).unwrap();
            let replay = |numbering: &Numbering, log: &EdgeLog| {
                replayed(columns, log.rows(), |stage, take| numbering.replay(log, stage, take))
            };
            assert_eq!(replay(&numbering, &log).unwrap(), edges.renumbered(&ranks));
            check_unknown(&numbering, &ranks);
            assert!(places(&bench, &numbering, count).is_none());
            let keys = originals(&numbering, count).unwrap();
            assert!(keys.iter().copied().eq(ranks.keys().map(|&id| id as i64)));
            assert!(numbering.original_ids(count + 1).is_err());
            let Some(order) = order else { return };
            let (numbering, log) = numbering.ordered(log, order, None).unwrap();
            let ranked = edges.renumbered(&ranks);
            let numbers = numbers_by_count(&ranked.counts(count, order));
            let numbers: BTreeMap<u64, u64> =
                ranks.iter().map(|(&id, rank)| (id, numbers[rank])).collect();
            assert_eq!(replay(&numbering, &log).unwrap(), edges.renumbered(&numbers));
            check_unknown(&numbering, &ranks);
            let places = places(&bench, &numbering, count).unwrap();
            assert!(places.iter().eq(numbers.values()));
            let originals = originals(&numbering, count).unwrap();
            for (&id, &number) in &numbers {
                assert_eq!(originals[number as usize], id as i64);
            }
        });
    }
}

#[test]
fn keys_that_memory_cannot_hold_are_found_in_the_file() {
    let bench = Bench::new(1 << 20);
    let edges = Edges::new((0..120_000).map(|row| (mixed(row), mixed(row / 2))));
    let (ids, log) = collected(&bench, &edges, &[], 0);
    let numbering = Numbering::mapped(&bench.workspace, ids).unwrap();
    assert!(numbering.batches.is_some());
    let ranks = ranks(edges.sources.iter().chain(&edges.destinations).copied());
    let columns = LogColumns { weights: true, times: false, rows: false };
    let again = replayed(columns, log.rows(), |stage, take| numbering.replay(&log, stage, take));
    assert_eq!(again.unwrap(), edges.renumbered(&ranks));
    check_unknown(&numbering, &ranks);
    drop((numbering, log));
    bench.close(&[]);
}

#[test]
fn ids_too_large_for_a_file_and_names_are_refused() {
    let bench = Bench::new(4 << 20);
    let collector = IdCollector::new(&bench.workspace, 0).unwrap();
    let error = collector.push(&[4, u64::MAX]).unwrap_err().to_string();
    assert!(error.contains("id 1: found -1"), "{error}");
    let collector = IdCollector::new(&bench.workspace, 0).unwrap();
    collector.push(&[4, 0, 4]).unwrap();
    let ids = collector.finish(None).unwrap();
    let numbering = Numbering::mapped(&bench.workspace, ids).unwrap();
    assert!(numbering.of_names(&TextCells::default(), &mut Vec::new()).is_err());
    assert!(numbering.write_names(&*bench.file("a"), &*bench.file("b")).is_err());
    let tight = Bench::new(IdCollector::LEAST_MEMORY - 1);
    let error = IdCollector::new(&tight.workspace, 0).unwrap_err().to_string();
    assert!(error.contains("collecting the ids"), "{error}");
}

#[test]
fn an_edge_whose_id_was_not_collected_is_named() {
    let bench = Bench::new(4 << 20);
    let collector = IdCollector::new(&bench.workspace, 0).unwrap();
    collector.push(&[7, 9]).unwrap();
    let numbering = Numbering::mapped(&bench.workspace, collector.finish(None).unwrap()).unwrap();
    let writer = EdgeLogWriter::new(&bench.workspace, LogColumns::default(), 0).unwrap();
    writer.push(&EdgeChunk::new(40, &[7, 9, 7], &[9, 9, 8])).unwrap();
    let log = writer.finish().unwrap();
    let stage = Mutex::new(Stage::new(None, "test", 3));
    let error = numbering.replay(&log, &stage, &|_| Ok(())).unwrap_err().to_string();
    assert!(error.contains("edge 42, destination: found 8"), "{error}");
}
