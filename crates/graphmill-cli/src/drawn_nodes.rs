//! Nodes to begin at, drawn at random.
//! Verbs that measure take their seeds and starts from here. It must not know what begins at them.

use anyhow::bail;
use graphmill::sample::random::Stream;
use graphmill::store::Lists;

/// How often a node without neighbours is drawn again.
const DRAWS: usize = 100;

/// Replaces the nodes by so many new ones, with neighbours if such nodes can be found.
pub fn draw_nodes(
    lists: &Lists<'_>,
    count: u64,
    draw: &mut Stream,
    nodes: &mut Vec<i64>,
) -> anyhow::Result<()> {
    if lists.num_nodes() == 0 {
        bail!("the graph has no nodes: there is nowhere to begin");
    }
    nodes.clear();
    for _ in 0..count {
        let mut node = draw.below(lists.num_nodes());
        for _ in 0..DRAWS {
            if lists.degree(node)? > 0 {
                break;
            }
            node = draw.below(lists.num_nodes());
        }
        nodes.push(node as i64);
    }
    Ok(())
}
