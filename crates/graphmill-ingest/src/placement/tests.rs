//! Placed tables hold what an obvious placement in memory gives.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use graphmill_disk::faults::{Fault, FaultyFileSystem};
use graphmill_disk::{Budget, FileDraft, FileSystem, RealFileSystem};
use graphmill_format::{ElementType, TableShape, graphzero};
use proptest::prelude::*;

use super::*;

#[expect(dead_code, reason = "the tests of the whole crate use the rest")]
#[path = "../../tests/read_back/mod.rs"]
pub(crate) mod read_back;

/// Consecutive rows of the source of one part.
#[derive(Clone, Debug)]
struct Chunk {
    part: usize,
    first_source_row: u64,
    targets: Vec<u64>,
    as_range: bool,
    bytes: Vec<u8>,
}

/// A table by hand: for every row and part, the source row and the bytes that stay.
#[derive(Default)]
struct Oracle {
    slots: BTreeMap<(u64, usize), (u64, Vec<u8>)>,
    duplicates: u64,
}

impl Oracle {
    fn of(plan: &TablePlan, chunks: &[Chunk]) -> Self {
        let mut oracle = Oracle::default();
        for chunk in chunks {
            let length = (plan.parts[chunk.part] * plan.element.width()) as usize;
            for (index, &target) in chunk.targets.iter().enumerate() {
                let source = chunk.first_source_row + index as u64;
                let row = chunk.bytes[index * length..(index + 1) * length].to_vec();
                let slot = (target, chunk.part);
                let stays = match oracle.slots.get(&slot) {
                    None => true,
                    Some((known, _)) => {
                        oracle.duplicates += 1;
                        (source < *known) == (plan.duplicates == Duplicates::KeepFirst)
                    }
                };
                if stays {
                    oracle.slots.insert(slot, (source, row));
                }
            }
        }
        oracle
    }

    /// The rows without padding, and how many were filled.
    fn rows(&self, plan: &TablePlan, rows: u64, recoded: bool) -> (Vec<u8>, u64) {
        let (mut bytes, mut filled) = (Vec::new(), 0);
        for row in 0..rows {
            let mut whole = true;
            for (part, columns) in plan.parts.iter().enumerate() {
                match self.slots.get(&(row, part)) {
                    Some((_, cells)) => {
                        bytes.extend(cells.iter().map(|&byte| if recoded { !byte } else { byte }));
                    }
                    None => {
                        let length = (columns * plan.element.width()) as usize;
                        bytes.extend(vec![plan.fill.byte(); length]);
                        whole = false;
                    }
                }
            }
            filled += u64::from(!whole);
        }
        (bytes, filled)
    }
}

/// Puts chunks from several threads at once.
fn put_all(placement: &Placement<'_>, chunks: &[Chunk], threads: usize) -> Result<()> {
    let put = |chunk: &Chunk| {
        let targets = match chunk.as_range {
            true => Targets::Range(chunk.targets[0]..chunk.targets[0] + chunk.targets.len() as u64),
            false => Targets::Each(&chunk.targets),
        };
        placement.put(chunk.part, chunk.first_source_row, targets, &chunk.bytes)
    };
    std::thread::scope(|scope| {
        let share = chunks.len().div_ceil(threads).max(1);
        let workers: Vec<_> = chunks
            .chunks(share)
            .map(|chunks| scope.spawn(move || chunks.iter().try_for_each(put)))
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap())
    })
}

fn read(path: &Path, layout: Layout) -> (TableShape, Vec<u8>) {
    if layout == Layout::Graphmill {
        return read_back::table(path);
    }
    let bytes = std::fs::read(path).unwrap();
    let (shape, section) = graphzero::parse_table(&bytes, bytes.len() as u64).unwrap();
    (shape, bytes[section.offset as usize..].to_vec())
}

fn bytes(length: usize, seed: u64, element: ElementType) -> Vec<u8> {
    let mask = if element == ElementType::Bool { 1 } else { 255 };
    (0..length as u64)
        .map(|at| ((at + seed).wrapping_mul(0x9E37_79B9) >> 13) as u8 & mask)
        .collect()
}

fn plans() -> impl Strategy<Value = TablePlan> {
    let elements =
        [ElementType::Bool, ElementType::I16, ElementType::F32, ElementType::I64, ElementType::U8];
    let parts = proptest::collection::vec(prop_oneof![0_u64..4, 0_u64..120], 1..4);
    (proptest::sample::select(elements.to_vec()), parts, any::<[bool; 5]>()).prop_map(
        |(element, parts, [vector, aligned, foreign, minus, first])| {
            let stored = [ElementType::I64, ElementType::F32].contains(&element);
            let parts = if vector { vec![1] } else { parts };
            TablePlan {
                element,
                columns: parts.iter().sum(),
                is_vector: vector && !foreign,
                align_rows: aligned,
                parts,
                layout: if foreign && stored { Layout::GraphZero } else { Layout::Graphmill },
                fill: if minus { Fill::MinusOne } else { Fill::Zero },
                duplicates: if first { Duplicates::KeepFirst } else { Duplicates::KeepLast },
                recoded: false,
            }
        },
    )
}

/// Chunks of every part, for targets below `rows`, shuffled.
fn chunks(plan: &TablePlan, rows: u64, seed: u64, dense: bool) -> Vec<Chunk> {
    let mut random = seed | 1;
    let mut next = move |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below.max(1)
    };
    let mut chunks = Vec::new();
    for (part, columns) in plan.parts.iter().enumerate() {
        let mut source = 0;
        while source < rows {
            let count = (1 + next(700)).min(rows - source);
            let as_range = next(2) == 0;
            let first = if dense { source } else { next(rows - count + 1) };
            let targets: Vec<u64> = match as_range || dense {
                true => (first..first + count).collect(),
                false => (0..count).map(|_| next(rows)).collect(),
            };
            let length = (count * columns * plan.element.width()) as usize;
            let bytes = bytes(length, next(1 << 20), plan.element);
            chunks.push(Chunk { part, first_source_row: source, targets, as_range, bytes });
            source += count;
        }
    }
    for index in (1..chunks.len()).rev() {
        chunks.swap(index, next(index as u64 + 1) as usize);
    }
    chunks
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]
    #[test]
    fn rows_in_any_order_lie_where_the_oracle_puts_them(
        plan in plans(),
        rows in 1_u64..4000,
        more in 0_u64..2000,
        seed: u64,
        dense: bool,
        refuse: bool,
        recoded: bool,
        threads in 1_usize..4,
        memory in prop_oneof![Just(256_u64 << 10), Just(1 << 20), Just(20 << 20)],
    ) {
        let recoded = recoded && plan.element != ElementType::Bool;
        // Then no row comes twice.
        let duplicates = if dense && refuse { Duplicates::Refuse } else { plan.duplicates };
        let plan = TablePlan { recoded, duplicates, ..plan };
        let chunks = chunks(&plan, rows, seed, dense);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.gd");
        let budget = Budget::new(memory + (64 << 10));
        let pool = graphmill_disk::with_threads(Some(threads)).unwrap();
        let report = pool.install(|| {
            let files: Arc<dyn FileSystem> = Arc::new(RealFileSystem);
            let draft = FileDraft::begin(files.clone(), &path, false)?;
            let scratch = folder.path().join(".x.rows");
            let placement =
                Placement::new(plan.clone(), &budget, files, &scratch, draft.file(), memory)?;
            put_all(&placement, &chunks, threads)?;
            let highest = chunks.iter().flat_map(|chunk| &chunk.targets).max().unwrap();
            assert_eq!(placement.rows(), highest + 1);
            let invert = |bytes: &mut [u8]| bytes.iter_mut().for_each(|byte| *byte = !*byte);
            let recode: Option<Recode<'_>> = if recoded { Some(&invert) } else { None };
            let (written, report) = placement.finish(rows + more, recode, None)?;
            draft.publish()?;
            assert_eq!(written.length, std::fs::metadata(&path).unwrap().len());
            Ok::<_, Error>(report)
        }).unwrap();
        prop_assert!(budget.peak() <= budget.total() && budget.used() == 0);
        let oracle = Oracle::of(&plan, &chunks);
        let (expected, filled) = oracle.rows(&plan, rows + more, recoded);
        prop_assert_eq!(report, PlacementReport { filled, duplicates: oracle.duplicates });
        let (shape, found) = read(&path, plan.layout);
        prop_assert_eq!(shape, plan.shape(rows + more, &path).unwrap());
        prop_assert!(found == expected);
        prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn rows_in_order_lie_where_the_oracle_puts_them(
        plan in plans(),
        rows in 1_u64..4000,
        more in 0_u64..2000,
        seed: u64,
        threads in 1_usize..4,
        memory in prop_oneof![Just(0_u64), Just(3 << 20), Just(20 << 20)],
    ) {
        let plan = TablePlan { parts: vec![plan.columns], ..plan };
        let mut chunks = chunks(&plan, rows, seed, true);
        chunks.iter_mut().for_each(|chunk| chunk.as_range = true);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.gd");
        let budget = Budget::new(memory + (1 << 20));
        let pool = graphmill_disk::with_threads(Some(threads)).unwrap();
        let report = pool.install(|| {
            let draft = FileDraft::begin(Arc::new(RealFileSystem), &path, false)?;
            let placement = Placement::in_order(plan.clone(), &budget, draft.file(), memory)?;
            put_all(&placement, &chunks, threads)?;
            let (_, report) = placement.finish(rows + more, None, None)?;
            draft.publish()?;
            Ok::<_, Error>(report)
        }).unwrap();
        prop_assert!(budget.peak() <= budget.total() && budget.used() == 0);
        prop_assert_eq!(report, PlacementReport { filled: more, duplicates: 0 });
        let (expected, _) = Oracle::of(&plan, &chunks).rows(&plan, rows + more, false);
        let (shape, found) = read(&path, plan.layout);
        prop_assert_eq!(shape, plan.shape(rows + more, &path).unwrap());
        prop_assert!(found == expected);
    }
}

/// Places rows on a file system of any kind, with a budget of its own.
fn place(
    files: Arc<dyn FileSystem>,
    path: &Path,
    plan: &TablePlan,
    chunks: &[Chunk],
    rows: u64,
    memory: u64,
) -> Result<PlacementReport> {
    let budget = Budget::new(memory + (64 << 10));
    let draft = FileDraft::begin(files.clone(), path, true)?;
    let scratch = path.with_file_name(".x.rows");
    let placement = Placement::new(plan.clone(), &budget, files, &scratch, draft.file(), memory)?;
    put_all(&placement, chunks, 2)?;
    let (_, report) = placement.finish(rows, None, None)?;
    draft.publish()?;
    assert!(budget.peak() <= budget.total());
    Ok(report)
}

fn last_wins(columns: u64, element: ElementType) -> TablePlan {
    TablePlan { duplicates: Duplicates::KeepLast, ..TablePlan::matrix(columns, element) }
}

#[test]
fn a_table_a_hundred_times_the_memory_is_placed_within_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    let plan = last_wins(100, ElementType::F32);
    let rows = 80_000_u64;
    let chunks: Vec<Chunk> = (0..rows / 500)
        .map(|chunk| {
            let first = chunk * 500;
            // A permutation of all rows, since the factor and their number have no divisor in common.
            let targets = (first..first + 500).map(|row| row * 7919 % rows).collect();
            let bytes = bytes(500 * 400, first, ElementType::F32);
            Chunk { part: 0, first_source_row: first, targets, as_range: false, bytes }
        })
        .collect();
    let report = place(Arc::new(RealFileSystem), &path, &plan, &chunks, rows, 320 << 10).unwrap();
    assert_eq!(report, PlacementReport::default());
    let (expected, _) = Oracle::of(&plan, &chunks).rows(&plan, rows, false);
    assert!(read_back::table(&path).1 == expected);
}

/// Chunks of 500 rows of 400 bytes, as they lie in the file.
fn chunks_in_order(rows: u64) -> Vec<Chunk> {
    (0..rows / 500)
        .map(|chunk| {
            let first = chunk * 500;
            let bytes = bytes(500 * 400, first, ElementType::F32);
            let targets = (first..first + 500).collect();
            Chunk { part: 0, first_source_row: first, targets, as_range: false, bytes }
        })
        .collect()
}

#[test]
fn a_table_in_order_takes_no_scratch_file_however_large_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    let plan = TablePlan::matrix(100, ElementType::F32);
    let chunks = chunks_in_order(80_000);
    let files: Arc<dyn FileSystem> = Arc::new(RealFileSystem);
    // Nothing can be written there.
    let scratch = folder.path().join("missing").join(".x.rows");
    let with = |plan: &TablePlan| {
        let budget = Budget::new(2 << 20);
        let draft = FileDraft::begin(files.clone(), &path, true)?;
        let placement =
            Placement::new(plan.clone(), &budget, files.clone(), &scratch, draft.file(), 1 << 20)?;
        put_all(&placement, &chunks, 2)?;
        // One row more, which is in no window that is complete.
        let row = bytes(400, 0, ElementType::F32);
        placement.put(0, 80_000, Targets::Each(&[80_000]), &row)?;
        let (_, report) = placement.finish(80_001, None, None)?;
        draft.publish()?;
        Ok::<_, Error>(report)
    };
    assert_eq!(with(&plan).unwrap(), PlacementReport::default());
    let (mut expected, _) = Oracle::of(&plan, &chunks).rows(&plan, 80_000, false);
    expected.extend(bytes(400, 0, ElementType::F32));
    assert!(read_back::table(&path).1 == expected);
    // What may change until the end has to wait for it.
    assert!(with(&last_wins(100, ElementType::F32)).is_err());
    assert!(with(&TablePlan { recoded: true, ..plan }).is_err());
}

#[test]
fn a_row_that_comes_again_when_its_window_was_written_is_refused_with_both_source_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    let plan = TablePlan::matrix(100, ElementType::F32);
    let budget = Budget::new(2 << 20);
    let files: Arc<dyn FileSystem> = Arc::new(RealFileSystem);
    let draft = FileDraft::begin(files.clone(), &path, true).unwrap();
    let scratch = folder.path().join(".x.rows");
    let placement = Placement::new(plan, &budget, files, &scratch, draft.file(), 1 << 20).unwrap();
    put_all(&placement, &chunks_in_order(20_000), 1).unwrap();
    let row = bytes(400, 0, ElementType::F32);
    let error = placement.put(0, 20_000, Targets::Each(&[777]), &row).unwrap_err().to_string();
    assert!(error.contains("row 777 of the table"), "{error}");
    assert!(error.contains("rows 777 and 20000 of the source"), "{error}");
}

#[test]
fn rows_of_a_mebibyte_are_placed_with_eight() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    let plan = last_wins(1 << 18, ElementType::F32);
    let chunks: Vec<Chunk> = [9, 2, 5, 2, 0, 11, 7]
        .iter()
        .enumerate()
        .map(|(source, &target)| Chunk {
            part: 0,
            first_source_row: source as u64,
            targets: vec![target],
            as_range: false,
            bytes: bytes(1 << 20, source as u64 * 77, ElementType::F32),
        })
        .collect();
    let report = place(Arc::new(RealFileSystem), &path, &plan, &chunks, 12, 8 << 20).unwrap();
    assert_eq!(report, PlacementReport { filled: 6, duplicates: 1 });
    let (expected, _) = Oracle::of(&plan, &chunks).rows(&plan, 12, false);
    assert!(read_back::table(&path).1 == expected);
    let error = place(Arc::new(RealFileSystem), &path, &plan, &chunks, 12, 2 << 20).unwrap_err();
    assert!(matches!(error, Error::Disk(graphmill_disk::Error::Budget { .. })), "{error}");
}

#[test]
fn targets_beyond_reason_are_refused_and_not_allocated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    for row in [1 << 40, 1 << 52, 1 << 60, u64::MAX - 1, u64::MAX] {
        for plan in [last_wins(1, ElementType::U8), last_wins(128, ElementType::F32)] {
            let bytes =
                bytes(plan.columns as usize * plan.element.width() as usize, 0, plan.element);
            for total in [1 << 20, u64::MAX] {
                let budget = Budget::new(total);
                let draft = FileDraft::begin(Arc::new(RealFileSystem), &path, true).unwrap();
                let (files, scratch) = (Arc::new(RealFileSystem), folder.path().join(".x"));
                let placement =
                    Placement::new(plan.clone(), &budget, files, &scratch, draft.file(), 512 << 10)
                        .unwrap();
                assert!(placement.put(0, 0, Targets::Each(&[row]), &bytes).is_err(), "{row}");
                let placement =
                    Placement::in_order(plan.clone(), &budget, draft.file(), 512 << 10).unwrap();
                let range = Targets::Range(row - 1..row);
                assert!(placement.put(0, 0, range, &bytes).is_err(), "{row}");
            }
        }
    }
}

#[test]
fn a_row_given_twice_is_named_with_both_rows_of_the_source() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    let plan = TablePlan::matrix(1, ElementType::U8);
    let chunk = |first, targets: &[u64]| Chunk {
        part: 0,
        first_source_row: first,
        targets: targets.to_vec(),
        as_range: false,
        bytes: vec![7; targets.len()],
    };
    let chunks = [chunk(10, &[3, 4]), chunk(0, &[0, 4, 2])];
    let error = place(Arc::new(RealFileSystem), &path, &plan, &chunks, 5, 256 << 10).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("row 4 of the table: found rows 1 and 11 of the source"), "{text}");
    assert!(!path.exists());
}

#[test]
fn chunks_that_are_no_rows_of_the_plan_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let draft =
        FileDraft::begin(Arc::new(RealFileSystem), &folder.path().join("x.gd"), false).unwrap();
    let budget = Budget::new(1 << 20);
    let start = |plan| Placement::in_order(plan, &budget, draft.file(), 0);
    let plan = TablePlan::matrix(2, ElementType::Bool);
    let placement = start(plan.clone()).unwrap();
    assert!(placement.put(0, 0, Targets::Range(0..2), &[0; 3]).is_err());
    assert!(placement.put(1, 0, Targets::Range(0..2), &[0; 4]).is_err());
    assert!(placement.put(0, 0, Targets::Each(&[1, 0]), &[0; 4]).is_err());
    let text = placement.put(0, 7, Targets::Range(0..2), &[0, 1, 1, 2]).unwrap_err().to_string();
    assert!(text.contains("row 8: found 2, expected 0 or 1"), "{text}");
    assert!(start(TablePlan { parts: vec![], ..plan.clone() }).is_err());
    assert!(start(TablePlan { parts: vec![1, 1], ..plan.clone() }).is_err());
    assert!(start(TablePlan { parts: vec![3], ..plan.clone() }).is_err());
    assert!(start(TablePlan { layout: Layout::GraphZero, ..plan.clone() }).is_err());
    // A hole in the order of the file, rows beyond the end, and mapping what is written already.
    let placement = start(plan.clone()).unwrap();
    placement.put(0, 0, Targets::Range(1..2), &[0; 2]).unwrap();
    assert!(placement.finish(2, None, None).is_err());
    let placement = start(plan.clone()).unwrap();
    placement.put(0, 0, Targets::Range(0..2), &[0; 4]).unwrap();
    assert!(placement.finish(1, None, None).is_err());
    assert!(start(plan).unwrap().finish(1, Some(&|_| {}), None).is_err());
}

#[test]
fn a_fault_at_any_operation_keeps_the_old_file_and_leaves_no_other() {
    let plan = last_wins(40, ElementType::I64);
    let chunks = chunks(&plan, 3000, 5, false);
    let run = |disk: &FaultyFileSystem, path: &Path| {
        place(Arc::new(disk.clone()), path, &plan, &chunks, 3100, 256 << 10)
    };
    let counted = tempfile::tempdir().unwrap();
    let disk = FaultyFileSystem::over(counted.path()).unwrap();
    let target = counted.path().join("x.gd");
    run(&disk, &target).unwrap();
    let expected = std::fs::read(&target).unwrap();
    let operations = disk.performed();
    assert!(operations > 60, "{operations} operations, so nothing went to a scratch file");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    for operation in (0..operations + 3).step_by(1 + operations / 150) {
        for fault in [Fault::Error, Fault::FalseAlarm] {
            std::fs::write(&path, b"old").unwrap();
            let disk = FaultyFileSystem::over(folder.path()).unwrap();
            disk.plan(operation, fault);
            let outcome = run(&disk, &path);
            let content = std::fs::read(&path).unwrap();
            let fits = content == expected || (outcome.is_err() && content == b"old");
            assert!(fits, "{operation} {fault:?} {outcome:?}");
            let names = RealFileSystem.list(folder.path()).unwrap();
            // The draft's own hidden files may stay when their removal is what fails.
            for name in names.iter().filter(|name| *name != "x.gd") {
                let is_ours = name.to_string_lossy().starts_with(".x.gd.");
                assert!(is_ours, "{operation} {names:?}");
                std::fs::remove_file(folder.path().join(name)).unwrap();
            }
        }
    }
}

#[test]
fn an_observer_hears_of_every_row_and_can_stop() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    let plan = last_wins(4, ElementType::F32);
    for stops in [false, true] {
        let draft = FileDraft::begin(Arc::new(RealFileSystem), &path, true).unwrap();
        let (budget, files) = (Budget::new(1 << 20), Arc::new(RealFileSystem));
        let scratch = folder.path().join(".x");
        let placement =
            Placement::new(plan.clone(), &budget, files, &scratch, draft.file(), 512 << 10)
                .unwrap();
        put_all(&placement, &chunks(&plan, 30_000, 3, true), 2).unwrap();
        let heard = AtomicU64::new(0);
        let listen = |progress: crate::Progress| {
            assert!(progress.done <= progress.total && progress.total == 30_000);
            heard.fetch_max(progress.done, Ordering::Relaxed);
            !stops
        };
        let outcome = placement.finish(30_000, None, Some(&listen));
        assert_eq!(outcome.is_err(), stops);
        assert_eq!(heard.load(Ordering::Relaxed) == 30_000, !stops);
    }
}
