//! The log gives back what was pushed.

use super::*;

fn logged(bench: &Bench, edges: &Edges, chunk: usize, columns: LogColumns, memory: u64) -> EdgeLog {
    let writer = EdgeLogWriter::new(&bench.workspace, columns, memory).unwrap();
    push_all(edges, chunk, columns, |chunk| writer.push(chunk)).unwrap();
    writer.finish().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn edges_come_back_with_their_rows_and_values(
        rows in 0_usize..60_000,
        chunk in prop_oneof![1_usize..8, 500_usize..40_000],
        columns in any_columns(),
        wide_every in prop_oneof![Just(0_u64), Just(1), 2_u64..5000],
        memory in prop_oneof![Just(0_u64), Just(1_u64 << 20), Just(32 << 20)],
        threads in 1_usize..5,
    ) {
        let id = |row: u64, salt: u64| {
            let id = mixed(row ^ salt << 40);
            let is_wide = wide_every > 0 && row.is_multiple_of(wide_every);
            if is_wide { id | 1 << 62 } else { id & 0xFFFF_FFFF }
        };
        let rows = if chunk < 8 { rows / 16 } else { rows };
        let edges = Edges::new((0..rows as u64).map(|row| (id(row, 1), id(row, 2))));
        on_threads(threads, || {
            let bench = Bench::new(48 << 20);
            let log = logged(&bench, &edges, chunk, columns, memory);
            assert_eq!(log.rows(), rows as u64);
            let largest = edges.sources.iter().chain(&edges.destinations).max();
            assert_eq!(log.id_limit(), largest.map_or(0, |&id| id + 1));
            assert!(memory < 32 << 20 || log.bytes() == 0);
            for _ in 0..2 {
                let again =
                    replayed(columns, log.rows(), |stage, take| log.replay(stage, take)).unwrap();
                assert_eq!(again, edges);
            }
            drop(log);
            bench.close(&[]);
        });
    }
}

#[test]
fn more_edges_than_memory_holds_go_to_the_file_in_large_pieces() {
    let bench = Bench::new(2 << 20);
    let edges = Edges::new((0..300_000).map(|row| (mixed(row) % 5000, row)));
    let log = logged(&bench, &edges, 20_000, LogColumns::default(), 1 << 20);
    assert!(log.bytes() >= 300_000 * 8 - (1 << 20), "{}", log.bytes());
    assert!(log.bytes() < 300_000 * 9);
    let columns = LogColumns::default();
    let again = replayed(columns, log.rows(), |stage, take| log.replay(stage, take)).unwrap();
    assert_eq!(again, edges);
    drop(log);
    bench.close(&[]);
}

#[test]
fn columns_that_are_missing_and_memory_that_is_not_there_are_refused() {
    let bench = Bench::new(1 << 20);
    let columns = LogColumns { weights: true, times: false, rows: false };
    let writer = EdgeLogWriter::new(&bench.workspace, columns, 0).unwrap();
    let error = writer.push(&EdgeChunk::new(5, &[1, 2], &[3, 4]).weights(&[0.5])).unwrap_err();
    assert!(error.to_string().contains("from row 5: found 1 weights, expected 2"), "{error}");
    assert!(writer.push(&EdgeChunk::new(0, &[1], &[])).is_err());
    assert!(writer.push(&EdgeChunk::new(u64::MAX, &[1], &[2]).weights(&[0.5])).is_err());
    assert_eq!(writer.finish().unwrap().rows(), 0);
    let tight = Bench::new(EdgeLogWriter::LEAST_MEMORY - 1);
    let error = EdgeLogWriter::new(&tight.workspace, columns, 0).unwrap_err();
    assert!(error.to_string().contains("the log of edges"), "{error}");
}

#[test]
fn a_replay_can_be_cancelled() {
    let bench = Bench::new(4 << 20);
    let edges = Edges::new((0..200_000).map(|row| (row, row)));
    let log = logged(&bench, &edges, 5000, LogColumns::default(), 0);
    let observer = |progress: crate::Progress| progress.done < 50_000;
    let stage = Mutex::new(Stage::new(Some(&observer), "test", log.rows()));
    assert!(matches!(log.replay(&stage, &|_| Ok(())), Err(Error::Cancelled)));
}
