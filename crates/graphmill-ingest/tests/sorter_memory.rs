//! What a sorter held is the machine's again when its lists are written: the next phase takes memory of another kind.
//! Alone in its process, because it asks how much memory the process has.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use graphmill_disk::{Budget, FileDraft, RealFileSystem, anonymous_memory};
use graphmill_format::ElementType;
use graphmill_ingest::build::{BuildOptions, BuildSources, EdgeSource, NodeOrder, build};
use graphmill_ingest::npy::NpyHeader;
use graphmill_ingest::{Directions, EdgeChunk, EdgeSortOptions, EdgeSorter};

const THREADS: u64 = 3;
const CHUNKS: u64 = 60;
const CHUNK: u64 = 40_000;

#[test]
fn a_sorter_leaves_no_memory_behind_and_reports_what_it_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gl");
    let draft = FileDraft::begin(Arc::new(RealFileSystem), &path, false).unwrap();
    let budget = Budget::new(96 << 20);
    let options = EdgeSortOptions::new().directions(Directions::Undirected);
    let pool = graphmill_disk::with_threads(Some(2)).unwrap();
    let sorter =
        pool.install(|| EdgeSorter::new(options, &budget, Arc::new(RealFileSystem), &path));
    let sorter = sorter.unwrap();
    assert!(budget.used() > 90 << 20 && budget.peak() < 1 << 20, "reserved, but not in use");
    let before = anonymous_memory().unwrap();
    // Each thread has a heap of its own, and keeps small things between the blocks of the sorter.
    let kept = std::thread::scope(|scope| {
        let push = |thread: u64| {
            let mut kept = Vec::new();
            for chunk in (thread..CHUNKS * THREADS).step_by(THREADS as usize) {
                let first = chunk * CHUNK;
                let id = |row: u64, salt: u64| {
                    (row.wrapping_add(salt).wrapping_mul(0x9E37_79B9_7F4A_7C15)) >> 44
                };
                let sources: Vec<u64> = (first..first + CHUNK).map(|row| id(row, 1)).collect();
                let destinations: Vec<u64> =
                    (first..first + CHUNK).map(|row| id(row, 1 << 40)).collect();
                sorter.push(&EdgeChunk::new(first, &sources, &destinations)).unwrap();
                kept.extend((0..40).map(|_| Box::new([thread; 16])));
            }
            kept
        };
        let threads: Vec<_> =
            (0..THREADS).map(|thread| scope.spawn(move || push(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let full = anonymous_memory().unwrap();
    assert!(full > before + (40 << 20), "{before} -> {full}: the sorter was to be full");
    assert!(budget.peak() > 40 << 20);
    pool.install(|| sorter.finish(draft.file(), &path, None)).unwrap();
    let after = anonymous_memory().unwrap();
    assert_eq!(budget.used(), 0);
    assert!(after < before + (16 << 20), "{before} -> {full} -> {after}");
    assert_eq!(kept.len() as u64, 40 * CHUNKS * THREADS);
}

/// Orders by neighbourhood take 8 and 12 bytes a node once the neighbour lists are sorted.
#[test]
#[ignore = "a measurement"]
fn orders_by_neighbourhood_of_20_million_nodes_stay_within_their_budget() {
    const NODES: u64 = 20_000_000;
    const EDGES: u64 = 40_000_000;
    const BUDGET: u64 = 384 << 20;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.npy");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    file.write_all(&NpyHeader::encode(ElementType::I32, &[EDGES, 2]).unwrap()).unwrap();
    for end in 0..2 * EDGES {
        let id = (end.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) % NODES;
        file.write_all(&(id as i32).to_le_bytes()).unwrap();
    }
    drop(file);
    let before = anonymous_memory().unwrap();
    for order in [NodeOrder::Bfs, NodeOrder::Community] {
        let (most, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    most.fetch_max(anonymous_memory().unwrap(), Ordering::Relaxed);
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
            });
            let sources = BuildSources::new(EdgeSource::Files(vec![path.clone()]));
            let options = BuildOptions::new().order(order).overwrite(true);
            let options = options.budget(Budget::new(BUDGET));
            build(&folder.path().join("dataset"), &sources, &options).unwrap();
            is_over.store(true, Ordering::Relaxed);
        });
        let most = most.into_inner() - before;
        assert!(most < BUDGET / 10 * 11 + (32 << 20), "{order:?}: {} MiB", most >> 20);
        std::io::stderr().write_all(format!("{order:?}: {} MiB\n", most >> 20).as_bytes()).unwrap();
    }
}
