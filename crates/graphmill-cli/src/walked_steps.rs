//! How far walks went.
//! A walk is a row of nodes, its start first; what follows a dead end is negative. It must not know how walks are made.

/// The steps of all walks together, and the number of walks that met a dead end; each walk has `width` places.
pub fn count_steps(walks: &[i64], width: usize) -> (u64, u64) {
    let (mut steps, mut dead_ends) = (0, 0);
    for walk in walks.chunks(width) {
        let length = walk.iter().position(|&node| node < 0).unwrap_or(width);
        steps += length as u64 - 1;
        dead_ends += u64::from(length < width);
    }
    (steps, dead_ends)
}
