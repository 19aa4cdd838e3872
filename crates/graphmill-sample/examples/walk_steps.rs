//! Walks through a graph: `walk_steps GRAPH.gl WALKS [Q]` prints how many steps that were, as one line of JSON.
//!
//! What `graphmill walk` does with a graph that is in memory, so that its instructions can be counted: whether pages have to
//! be announced is not asked, because programs that count cannot tell. It does not know who counts.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use graphmill_disk::{Budget, with_threads};
use graphmill_format::Direction;
use graphmill_sample::{WalkOptions, walk};
use graphmill_store::{Announce, Graph, Placement};

/// Steps of a walk.
const LENGTH: usize = 20;
/// From one start to the next: odd, so that as many nodes as a power of two all have their turn.
const STRIDE: u64 = 40_503;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which graph?")?;
    let count: usize = arguments.next().ok_or("how many walks?")?.parse()?;
    let q: f64 = arguments.next().map_or(Ok(1.0), |text| text.parse())?;
    let budget = Budget::unlimited();
    let graph = Graph::open(path)?.announced(Announce::Never).placed(Placement::Mapped, &budget)?;
    let lists = graph.lists(Direction::Out)?;
    let nodes = (0..lists.num_nodes()).map(|number| number * STRIDE % lists.num_nodes());
    let mut starts = Vec::new();
    for node in nodes {
        if lists.degree(node)? > 0 {
            starts.push(node as i64);
        }
    }
    let starts = starts.get(..count).ok_or("so many nodes have no edges")?;
    let options = WalkOptions::new(LENGTH).node2vec(1.0, q).seed(1);
    let mut walks = vec![0; count * (LENGTH + 1)];
    with_threads(Some(1))?.install(|| walk(&lists, starts, &options, &budget, &mut walks))?;
    // Dead ends are filled up with -1.
    let steps = walks.iter().filter(|&&node| node >= 0).count() - count;
    println!("{{\"steps\": {steps}}}");
    Ok(())
}
