//! The section `topology`: what an edge takes on disk.
//! Both encodings of the same graph are laid beside each other, and every list is compared. Nothing is timed, and how
//! lists are encoded is unknown here.

use super::bench_run::BenchRun;
use super::figure::{Figure, Section};
use super::same_lists::same_lists;
use graphmill::store::{Graph, inspect};

pub fn measure(run: &BenchRun<'_>) -> anyhow::Result<Section> {
    let plain = run.dataset()?.graph().clone();
    let packed = Graph::open(run.place.packed())?;
    if !same_lists(&plain, &packed)? {
        return Err(run.mismatch("packed lists", "plain ones"));
    }
    let bits = |graph: &Graph| inspect::bits_per_edge(graph).unwrap_or_default();
    let share = bits(&packed) / bits(&plain) * 100.0;
    let figures = vec![
        Figure::fixed("i32 lists, offsets included", "bits/edge", bits(&plain)),
        Figure::fixed("packed lists, offsets included", "bits/edge", bits(&packed))
            .note(format!("{share:.0}% of i32")),
    ];
    Ok(Section { name: "topology", figures, missing: Vec::new() })
}
