//! One of the two entries that an undirected topology stores for every edge.
//! An edge between two nodes is taken from the list of the smaller one. The two entries of a self
//! loop stand side by side in one list, and the second of them counts; one that is left over was
//! added by a build, which adds one entry and not an edge. It must not know what is done with the
//! edges.

use crate::Result;
use crate::edges::EdgeStream;
use crate::graph_file::GraphFile;

/// Entries read while the start of a row of self loops is sought.
const BACKWARDS: u64 = 64;
const MOST_BACKWARDS: u64 = 1 << 13;

/// Chooses the entries at `first..` that stand for an edge; gives the number of self loops that
/// stand alone and end among them.
pub(crate) fn choose(
    graph: &GraphFile,
    first: u64,
    sources: &[u64],
    destinations: &[u64],
    chosen: &mut Vec<u32>,
) -> Result<u64> {
    chosen.clear();
    let mut alone = 0;
    // Entries of the same node's self loops directly before the one looked at.
    let mut run = match (sources.first(), destinations.first()) {
        (Some(source), Some(to)) if source == to => loops_before(graph, first, *source)?,
        _ => 0,
    };
    for (at, (&source, &to)) in sources.iter().zip(destinations).enumerate() {
        if source != to {
            if source < to {
                chosen.push(at as u32);
            }
            run = 0;
            continue;
        }
        run += 1;
        if run % 2 == 0 {
            chosen.push(at as u32);
        }
        let next = match sources.get(at + 1) {
            Some(&next) => next == source && destinations[at + 1] == source,
            None => loops_at(graph, first + at as u64 + 1, 1, source)? == 1,
        };
        if !next {
            alone += run % 2;
            run = 0;
        }
    }
    Ok(alone)
}

fn loops_before(graph: &GraphFile, first: u64, node: u64) -> Result<u64> {
    let mut count = 0;
    let mut step = BACKWARDS;
    while count < first {
        let some = step.min(first - count);
        let found = loops_at(graph, first - count - some, some, node)?;
        count += found;
        if found < some {
            break;
        }
        step = (step * 2).min(MOST_BACKWARDS);
    }
    Ok(count)
}

/// How many of the last of `count` entries from `first` on are self loops of a node.
fn loops_at(graph: &GraphFile, first: u64, count: u64, node: u64) -> Result<u64> {
    if first + count > graph.edge_count() {
        return Ok(0);
    }
    let (mut sources, mut destinations) = (vec![0; count as usize], vec![0; count as usize]);
    graph.read(first, &mut sources, &mut destinations)?;
    let pairs = sources.iter().zip(&destinations).rev();
    Ok(pairs.take_while(|&(&source, &to)| source == node && to == node).count() as u64)
}
