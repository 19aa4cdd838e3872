//! Reads whole in-lists one by one: `read_lists GRAPH.gl LISTS` prints how many edges they had, as one line of JSON.
//!
//! What a program does that asks for neighbours, and nothing else, so that its instructions can be counted. It does not
//! know who counts them; how long lists take is told by the example `list_speed` of the crate that samples.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use graphmill_disk::Budget;
use graphmill_format::Direction;
use graphmill_store::{Graph, Placement};
use std::hint::black_box;

/// From one node to the next: odd, so that as many nodes as a power of two all have their turn.
const STRIDE: u64 = 40_503;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which graph?")?;
    let count: u64 = arguments.next().ok_or("how many lists?")?.parse()?;
    let graph = Graph::open(path)?.placed(Placement::Mapped, &Budget::unlimited())?;
    let lists = graph.lists(Direction::In)?;
    let (mut ids, mut edges) = (Vec::new(), 0);
    for number in 0..count {
        let range = lists.range(number * STRIDE % lists.num_nodes())?;
        if ids.len() < range.len() {
            ids.resize(range.len(), 0);
        }
        lists.neighbours().read_list(range.start, &mut ids[..range.len()]);
        edges += black_box(&ids[..range.len()]).len();
    }
    println!("{{\"edges\": {edges}}}");
    Ok(())
}
