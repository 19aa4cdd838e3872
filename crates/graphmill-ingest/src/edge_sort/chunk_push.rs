//! A chunk of edges, checked and turned into records.
//! Ids of both widths, both directions and all kinds of records meet here, in one loop that is
//! compiled for each of them. It must not know what becomes of the records.

use graphmill_format::{Direction, content};

use super::list_sort::ListSort;
use super::options::{ChunkIds, EdgeChunk, EdgeSortOptions};
use super::record::{ListEntry, Record};
use crate::edges::bad_id;
use crate::{Error, Result};

/// Edges added at a time, so that parts can be chosen in between.
const PIECE: usize = 1 << 15;

/// Refuses chunks whose columns do not belong together.
pub(super) fn check(chunk: &EdgeChunk<'_>, options: &EdgeSortOptions<'_>) -> Result<()> {
    let (sources, destinations) = match chunk.ids {
        ChunkIds::Narrow(sources, destinations) => (sources.len(), destinations.len()),
        ChunkIds::Wide(sources, destinations) => (sources.len(), destinations.len()),
    };
    let columns = [
        ("destinations", Some(destinations), true),
        ("rows", chunk.rows.map(<[u64]>::len), chunk.rows.is_some()),
        ("weights", chunk.weights.map(<[f32]>::len), options.weights),
        ("times", chunk.times.map(<[i64]>::len), options.times),
    ];
    for (what, count, wanted) in columns {
        if count.unwrap_or(0) != sources && wanted {
            let place = format!("chunk of edges from row {}", chunk.first_row);
            let found = format!("{} {what}", count.unwrap_or(0));
            let expected = format!("{sources}, one for each edge");
            return Err(Error::source(place, found, expected, "give one value for every edge"));
        }
    }
    if options.weights
        && let Some(weights) = chunk.weights
        && let Some(at) = content::first_bad_weight(weights)
    {
        let place = format!("weight of edge {}", chunk.first_row + at as u64);
        let remedy = "correct the weight or leave the edge out";
        return Err(Error::source(place, weights[at], "a finite number of at least 0", remedy));
    }
    Ok(())
}

/// The number of edges of a chunk and the number of nodes that its ids demand.
pub(super) fn extent(chunk: &EdgeChunk<'_>) -> Result<(u64, u64)> {
    match chunk.ids {
        ChunkIds::Narrow(sources, destinations) => {
            let largest = sources.iter().chain(destinations).max();
            Ok((sources.len() as u64, largest.map_or(0, |&id| u64::from(id) + 1)))
        }
        ChunkIds::Wide(sources, destinations) => {
            let mut nodes = 0;
            for (end, ids) in [("source", sources), ("destination", destinations)] {
                let largest = ids.iter().fold(0, |largest, &id| largest.max(id));
                // An index is an i64, and so is the number of nodes.
                if largest >= i64::MAX as u64 {
                    let at = ids.iter().position(|&id| id == largest).unwrap_or(0);
                    return Err(bad_id(chunk.first_row + at as u64, end, largest as i64, None));
                }
                nodes = nodes.max(if ids.is_empty() { 0 } else { largest + 1 });
            }
            Ok((sources.len() as u64, nodes))
        }
    }
}

/// One more than the largest row of a chunk.
pub(super) fn row_limit(chunk: &EdgeChunk<'_>, edges: u64) -> u64 {
    let largest = chunk.rows.map(|rows| rows.iter().max().copied());
    let limit = largest.map(|largest| largest.map_or(0, |row| row.saturating_add(1)));
    limit.unwrap_or(chunk.first_row.saturating_add(edges))
}

/// Edges from a node to itself.
pub(super) fn self_loops(chunk: &EdgeChunk<'_>) -> u64 {
    fn equal<T: PartialEq>(sources: &[T], destinations: &[T]) -> u64 {
        sources.iter().zip(destinations).filter(|(source, to)| source == to).count() as u64
    }
    match chunk.ids {
        ChunkIds::Narrow(sources, destinations) => equal(sources, destinations),
        ChunkIds::Wide(sources, destinations) => equal(sources, destinations),
    }
}

/// Adds the edges of a chunk, seen from one of their ends or from both.
pub(super) fn push<R: Record>(
    chunk: &EdgeChunk<'_>,
    sort: &ListSort<R>,
    direction: Direction,
    drop_self_loops: bool,
) -> Result<()> {
    match chunk.ids {
        ChunkIds::Narrow(sources, destinations) => {
            push_ids(chunk, sources, destinations, sort, direction, drop_self_loops)
        }
        ChunkIds::Wide(sources, destinations) => {
            push_ids(chunk, sources, destinations, sort, direction, drop_self_loops)
        }
    }
}

fn push_ids<T: Copy + Into<u64>, R: Record>(
    chunk: &EdgeChunk<'_>,
    sources: &[T],
    destinations: &[T],
    sort: &ListSort<R>,
    direction: Direction,
    drop_self_loops: bool,
) -> Result<()> {
    let piece = PIECE.min(sort.store.sizing.sampled.max(1));
    let pieces = sources.chunks(piece).zip(destinations.chunks(piece)).enumerate();
    for (index, (sources, destinations)) in pieces {
        let first = index * piece;
        sort.fill(|filler| {
            for (offset, (&source, &to)) in sources.iter().zip(destinations).enumerate() {
                let (source, to) = (source.into(), to.into());
                if drop_self_loops && source == to {
                    continue;
                }
                let at = first + offset;
                let record = |major: u64, minor: u64| {
                    R::new(ListEntry {
                        major,
                        minor,
                        row: chunk.rows.map_or(chunk.first_row + at as u64, |rows| rows[at]),
                        time: chunk.times.map_or(0, |times| times[at]),
                        weight: chunk.weights.map_or(0.0, |weights| weights[at]),
                    })
                };
                if direction != Direction::In {
                    filler.add(source, record(source, to))?;
                }
                if direction != Direction::Out {
                    filler.add(to, record(to, source))?;
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}
