//! Numbering as a whole, against slow and obvious answers.
//! Edges are pushed in any order by several threads, within budgets that force every window, run and
//! file; what comes out must be what a map in memory says.

mod faults;
mod heat;
mod locality;
mod log;
mod mapped;
mod named;
mod speed;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use graphmill_disk::{Budget, FileSystem, OutputFile, RealFileSystem};
use proptest::prelude::*;

use super::*;
use crate::edge_sort::workers::share_out;
use crate::edges::EdgeValues;

/// Edges with values, row by row.
#[derive(Clone, Debug, Default, PartialEq)]
struct Edges {
    sources: Vec<u64>,
    destinations: Vec<u64>,
    weights: Vec<f32>,
    times: Vec<i64>,
}

impl Edges {
    /// Edges between ids, with weights and times that belong to the row.
    fn new(pairs: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let (sources, destinations): (Vec<u64>, Vec<u64>) = pairs.into_iter().unzip();
        let rows = 0..sources.len() as i64;
        let weights = rows.clone().map(|row| row as f32 / 2.0).collect();
        Edges { sources, destinations, weights, times: rows.map(|row| 3 * row - 7).collect() }
    }

    fn rows(&self) -> usize {
        self.sources.len()
    }

    /// The same with every id replaced.
    fn renumbered(&self, numbers: &BTreeMap<u64, u64>) -> Self {
        let number = |ids: &[u64]| ids.iter().map(|id| numbers[id]).collect();
        let (sources, destinations) = (number(&self.sources), number(&self.destinations));
        Edges { sources, destinations, ..self.clone() }
    }

    /// How often every id below `limit` occurs at the ends that count.
    fn occurrences(&self, limit: u64, heat: Heat) -> Vec<u64> {
        let mut counts = vec![0; limit as usize];
        for (&source, &to) in self.sources.iter().zip(&self.destinations) {
            if heat.skip_self_loops && source == to {
                continue;
            }
            if heat.end != End::Destination {
                counts[source as usize] += 1;
            }
            if heat.end != End::Source {
                counts[to as usize] += 1;
            }
        }
        counts
    }

    /// How often a sampler is expected to meet every id below `limit` in three hops, rounded.
    fn visits(&self, limit: u64, heat: Heat) -> Vec<u64> {
        // From the owner of a list to a neighbour in it.
        let mut steps: Vec<(usize, usize)> = Vec::new();
        for (&source, &to) in self.sources.iter().zip(&self.destinations) {
            if heat.skip_self_loops && source == to {
                continue;
            }
            if heat.end != End::Destination {
                steps.push((to as usize, source as usize));
            }
            if heat.end != End::Source {
                steps.push((source as usize, to as usize));
            }
        }
        let mut lengths = vec![0.0; limit as usize];
        steps.iter().for_each(|&(owner, _)| lengths[owner] += 1.0);
        let mut here = vec![1_u64 << 20; limit as usize];
        let mut all = vec![0; limit as usize];
        for _ in 0..3 {
            let mut next = vec![0; limit as usize];
            for &(owner, neighbour) in steps.iter().filter(|(owner, other)| owner != other) {
                let picked = f64::min(10.0 / lengths[owner], 1.0);
                next[neighbour] += (here[owner] as f64 * picked) as f32 as u64;
            }
            all.iter_mut().zip(&next).for_each(|(all, met)| *all += met);
            here = next;
        }
        all.into_iter().map(|met| visits::rounded(met).into()).collect()
    }

    /// What an order sorts the ids below `limit` by.
    fn counts(&self, limit: u64, order: Order) -> Vec<u64> {
        match order {
            Order::Heat(heat) => self.occurrences(limit, heat),
            Order::Visits(heat) => self.visits(limit, heat),
            Order::Bfs | Order::Community(_) => panic!("{order:?} does not sort"),
        }
    }
}

/// The number of every id: most frequent first, then by id.
fn numbers_by_count(counts: &[u64]) -> BTreeMap<u64, u64> {
    let mut ids: Vec<u64> = (0..counts.len() as u64).collect();
    ids.sort_by_key(|&id| (std::cmp::Reverse(counts[id as usize]), id));
    ids.into_iter().zip(0..).collect()
}

/// A number that depends on all bits of another.
fn mixed(number: u64) -> u64 {
    let mixed = (number ^ (number >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 3
}

/// Pushes edges in chunks, out of order and from several threads.
fn push_all(
    edges: &Edges,
    chunk: usize,
    columns: LogColumns,
    push: impl Fn(&EdgeChunk<'_>) -> Result<()> + Sync,
) -> Result<()> {
    let mut firsts: Vec<usize> = (0..edges.rows()).step_by(chunk).collect();
    firsts.sort_by_key(|&first| mixed(first as u64));
    share_out(
        4,
        firsts.len(),
        || (),
        |(), index| {
            let range = firsts[index]..edges.rows().min(firsts[index] + chunk);
            let row = range.start as u64;
            let (sources, to) = (&edges.sources[range.clone()], &edges.destinations[range.clone()]);
            let narrow = |ids: &[u64]| -> Option<Vec<u32>> {
                ids.iter().map(|&id| u32::try_from(id).ok()).collect()
            };
            let narrow = (narrow(sources), narrow(to));
            // Readers bring narrow ids both ways.
            let mut pushed = match &narrow {
                (Some(sources), Some(to)) if index % 2 == 0 => EdgeChunk::narrow(row, sources, to),
                _ => EdgeChunk::new(row, sources, to),
            };
            if columns.weights {
                pushed = pushed.weights(&edges.weights[range.clone()]);
            }
            if columns.times {
                pushed = pushed.times(&edges.times[range]);
            }
            push(&pushed)
        },
    )
}

/// What a replay hands over, by row.
fn replayed(
    columns: LogColumns,
    rows: u64,
    replay: impl FnOnce(&Mutex<Stage<'_>>, &(dyn Fn(EdgeChunk<'_>) -> Result<()> + Sync)) -> Result<()>,
) -> Result<Edges> {
    let seen = Mutex::new(BTreeMap::new());
    let stage = Mutex::new(Stage::new(None, "test", rows));
    replay(&stage, &|chunk: EdgeChunk<'_>| {
        let wide = |ids: &[u32]| ids.iter().map(|&id| id.into()).collect::<Vec<u64>>();
        let (sources, to) = match chunk.ids {
            crate::edge_sort::ChunkIds::Narrow(sources, to) => (wide(sources), wide(to)),
            crate::edge_sort::ChunkIds::Wide(sources, to) => (sources.to_vec(), to.to_vec()),
        };
        assert_eq!(chunk.weights.map(<[f32]>::len), columns.weights.then_some(sources.len()));
        assert_eq!(chunk.times.map(<[i64]>::len), columns.times.then_some(sources.len()));
        let mut seen = seen.lock().unwrap();
        for at in 0..sources.len() {
            let row = chunk.first_row + at as u64;
            let weight = chunk.weights.map_or(row as f32 / 2.0, |weights| weights[at]);
            let time = chunk.times.map_or(3 * row as i64 - 7, |times| times[at]);
            assert!(seen.insert(row, (sources[at], to[at], weight, time)).is_none());
        }
        Ok(())
    })?;
    let seen = seen.into_inner().unwrap();
    assert!(seen.keys().copied().eq(0..rows));
    let mut edges = Edges::new(seen.values().map(|&(source, to, ..)| (source, to)));
    edges.weights = seen.values().map(|edge| edge.2).collect();
    edges.times = seen.values().map(|edge| edge.3).collect();
    Ok(edges)
}

/// A place to work, and the budget of it.
struct Bench {
    folder: tempfile::TempDir,
    budget: Budget,
    workspace: Workspace,
}

impl Bench {
    fn new(memory: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let budget = Budget::new(memory);
        let target = folder.path().join("x.gl");
        let workspace = Workspace::new(&budget, Arc::new(RealFileSystem), &target);
        Bench { folder, budget, workspace }
    }

    fn file(&self, name: &str) -> Box<dyn OutputFile> {
        RealFileSystem.create(&self.folder.path().join(name)).unwrap()
    }

    /// The rows of a vector that was written under a name.
    fn rows(&self, name: &str, bytes: u64) -> Vec<u8> {
        let file = std::fs::read(self.folder.path().join(name)).unwrap();
        file[4096..4096 + bytes as usize].to_vec()
    }

    /// Ends a test: the budget was kept, everything is given back and no file is left.
    fn close(self, files: &[&str]) {
        assert!(self.budget.peak() <= self.budget.total());
        let mut names: Vec<String> = std::fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, files);
        drop(self.workspace);
        assert_eq!(self.budget.used(), 0);
    }
}

/// All original ids of a numbering.
fn originals(numbering: &Numbering, num_nodes: u64) -> Option<Vec<i64>> {
    let ids = numbering.original_ids(num_nodes).unwrap()?;
    assert_eq!(ids.count(), num_nodes);
    let mut all = vec![0; num_nodes as usize];
    for (index, piece) in all.chunks_mut(1000).enumerate() {
        ids.read(index as u64 * 1000, piece).unwrap();
    }
    Some(all)
}

/// The numbers that are written in the order of original ids.
fn places(bench: &Bench, numbering: &Numbering, num_nodes: u64) -> Option<Vec<u64>> {
    let file = bench.file("places.gd");
    numbering.write_places(&*file, num_nodes).unwrap()?;
    let bytes = bench.rows("places.gd", num_nodes * 4);
    Some(bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word).into()).collect())
}

fn any_end() -> impl Strategy<Value = Heat> {
    let end = prop_oneof![Just(End::Source), Just(End::Destination), Just(End::Both)];
    (end, any::<bool>()).prop_map(|(end, skip_self_loops)| Heat { end, skip_self_loops })
}

/// Orders that sort by a count.
fn any_sort() -> impl Strategy<Value = Order> {
    (any_end(), any::<bool>())
        .prop_map(|(heat, visits)| if visits { Order::Visits(heat) } else { Order::Heat(heat) })
}

fn any_columns() -> impl Strategy<Value = LogColumns> {
    (any::<bool>(), any::<bool>()).prop_map(|(weights, times)| LogColumns {
        weights,
        times,
        rows: false,
    })
}

/// Runs a test on so many threads.
fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    graphmill_disk::with_threads(Some(threads)).unwrap().install(work)
}
