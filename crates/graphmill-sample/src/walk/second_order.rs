//! Walks whose steps depend on where they came from too: node2vec.
//! A step draws an edge by the first-order law and keeps or rejects it by its bias, which is exact and mostly takes one
//! or two draws; the membership it must know is searched in lists ordered by id. Walks in flight take turns, and each
//! goes on until it has to wait for memory.

use super::Job;
use super::bias::Bias;
use super::exact::{self, Crossing, SortedList};
use crate::announcements::Announcements;
use crate::membership::{Search, is_at, scan};
use crate::random::{Key, Stream};
use crate::{Result, Topology, by_weight};
use graphmill_disk::Budget;
use graphmill_format::ListOrder;

/// A step rejects at least so often before it reads both lists, and once more for each 64 neighbours in them: then
/// drawing has cost about as much as reading will.
const REJECTIONS: usize = 32;
const NEIGHBOURS_PER_REJECTION: usize = 64;

/// No node: the walk has just begun, or begun again.
const NONE: u64 = u64::MAX;

/// What a walk waits for.
#[derive(Clone, Copy)]
enum Stage {
    /// The list of its node.
    List,
    /// The next look for the edges that lead back.
    Return(Search),
    /// The edge drawn.
    Edge,
    /// The next look for the node drawn among the neighbours of the node before.
    Common(Search),
}

struct Walker {
    row: usize,
    step: usize,
    node: u64,
    start: u64,
    key: Key,
    stream: Stream,
    crossing: Crossing,
    stage: Stage,
    /// The weight of the edges that lead back, if that is drawn apart, and of all edges of the list.
    return_weight: f64,
    list_weight: f64,
    /// The position drawn, the node there, and the level that its factor must exceed.
    position: usize,
    drawn: u64,
    level: f64,
    rejections: usize,
}

/// What a turn came to.
enum Turn {
    Waits,
    Ended,
}

/// Walks all rows of a job.
pub(super) fn run<T: Topology + ?Sized>(
    job: &mut Job<'_, T>,
    bias: Bias,
    budget: &Budget,
) -> Result<()> {
    let sorted = SortedList::within(budget.reserve(0, "a sorted list of neighbours")?);
    let is_sorted = job.topology.order() == ListOrder::Id;
    let announcements = Announcements::default();
    let in_flight = job.in_flight;
    let mut steps = Steps { job, bias, is_sorted, sorted, announcements };
    let mut walkers: Vec<Walker> = Vec::with_capacity(in_flight.min(steps.job.starts.len()));
    while walkers.len() < in_flight
        && let Some(walker) = steps.begin()
    {
        walkers.push(walker);
    }
    while !walkers.is_empty() {
        if let Some(ahead) = &mut steps.job.ahead {
            for walker in &walkers {
                match &walker.stage {
                    Stage::List => ahead.list(walker.node),
                    Stage::Edge => ahead.edge(walker.position),
                    Stage::Return(search) | Stage::Common(search) => {
                        search.next_looks().for_each(|position| ahead.edge(position));
                    }
                }
            }
            ahead.issue_to_disk(steps.job.topology);
        }
        let mut at = 0;
        while at < walkers.len() {
            if let Turn::Ended = steps.turn(&mut walkers[at])? {
                match steps.begin() {
                    Some(walker) => walkers[at] = walker,
                    None => {
                        walkers.swap_remove(at);
                        continue;
                    }
                }
            }
            at += 1;
        }
        steps.announcements.issue(steps.job.topology);
    }
    Ok(())
}

struct Steps<'a, 'b, T: ?Sized> {
    job: &'a mut Job<'b, T>,
    bias: Bias,
    is_sorted: bool,
    sorted: SortedList,
    announcements: Announcements,
}

impl<T: Topology + ?Sized> Steps<'_, '_, T> {
    fn begin(&mut self) -> Option<Walker> {
        let (row, start, key) = self.job.begin()?;
        self.announcements.list(start);
        Some(Walker {
            row,
            step: 0,
            node: start,
            start,
            key,
            stream: key.stream(),
            crossing: Crossing { list: 0..0, previous: NONE, previous_list: 0..0 },
            stage: Stage::List,
            return_weight: 0.0,
            list_weight: 0.0,
            position: 0,
            drawn: 0,
            level: 0.0,
            rejections: 0,
        })
    }

    /// Goes on with what was announced, until the next announcement.
    #[inline]
    fn turn(&mut self, walker: &mut Walker) -> Result<Turn> {
        let topology = self.job.topology;
        match &mut walker.stage {
            Stage::List => self.arrive(walker),
            Stage::Return(search) => {
                let Some(mut place) = search.look(topology)? else {
                    search.announce(&mut self.announcements);
                    return Ok(Turn::Waits);
                };
                let (list, first) = (&walker.crossing.list, place);
                while is_at(topology, list, place, walker.crossing.previous)? {
                    place += 1;
                }
                walker.return_weight = self.weight(first..place)?;
                self.draw(walker)
            }
            Stage::Edge => self.judge(walker),
            Stage::Common(search) => {
                let Some(place) = search.look(topology)? else {
                    search.announce(&mut self.announcements);
                    return Ok(Turn::Waits);
                };
                let list = &walker.crossing.previous_list;
                let is_common = is_at(topology, list, place, walker.drawn)?;
                self.keep_or_reject(walker, is_common)
            }
        }
    }

    /// Begins a step at the walk's node.
    fn arrive(&mut self, walker: &mut Walker) -> Result<Turn> {
        let topology = self.job.topology;
        walker.stream = walker.key.with(walker.step as u64).stream();
        walker.rejections = 0;
        walker.return_weight = 0.0;
        if self.job.plan.restart > 0.0 && walker.stream.unit() < self.job.plan.restart {
            return self.go(walker, walker.start, NONE);
        }
        let list = topology.list(walker.node)?;
        walker.crossing.list = list.clone();
        if walker.crossing.previous != NONE && self.bias.folded {
            walker.list_weight = match self.job.plan.weighted {
                true => by_weight::total(topology, list.clone())?,
                false => list.len() as f64,
            };
            if self.is_sorted {
                let search = Search::new(&list, walker.crossing.previous);
                search.announce(&mut self.announcements);
                walker.stage = Stage::Return(search);
                return Ok(Turn::Waits);
            }
            for position in list {
                if topology.neighbour(position)? == walker.crossing.previous {
                    walker.return_weight += self.weight(position..position + 1)?;
                }
            }
        }
        self.draw(walker)
    }

    /// Draws an edge by the first-order law.
    fn draw(&mut self, walker: &mut Walker) -> Result<Turn> {
        let Walker { crossing, stream, .. } = walker;
        if walker.return_weight > 0.0 {
            let apart = walker.return_weight * (self.bias.back - self.bias.bound);
            let all = walker.list_weight * self.bias.bound + apart;
            if stream.unit() * all < apart {
                return self.go(walker, walker.crossing.previous, walker.node);
            }
        }
        let list = crossing.list.clone();
        let position = if list.is_empty() {
            None
        } else if self.job.plan.weighted {
            by_weight::draw(self.job.topology, list, stream)?
        } else {
            Some(list.start + stream.below(list.len() as u64) as usize)
        };
        let Some(position) = position else {
            self.job.end(walker.row, walker.step, walker.node);
            return Ok(Turn::Ended);
        };
        self.announcements.edge(position);
        walker.position = position;
        walker.stage = Stage::Edge;
        Ok(Turn::Waits)
    }

    /// Reads the edge drawn and keeps it, rejects it, or looks for it among the neighbours of the node before.
    fn judge(&mut self, walker: &mut Walker) -> Result<Turn> {
        let Bias { back, low, high, bound, .. } = self.bias;
        let topology = self.job.topology;
        let drawn = topology.neighbour(walker.position)?;
        // A first step has no bias, and the only edge of a node is taken whatever its bias.
        if walker.crossing.previous == NONE || walker.crossing.list.len() == 1 {
            return self.go(walker, drawn, walker.node);
        }
        walker.drawn = drawn;
        walker.level = walker.stream.unit() * bound;
        let threshold = if drawn == walker.crossing.previous { back } else { low };
        if walker.level < threshold {
            return self.go(walker, drawn, walker.node);
        }
        if drawn == walker.crossing.previous || walker.level >= high {
            return self.reject(walker);
        }
        let list = walker.crossing.previous_list.clone();
        if self.is_sorted {
            let search = Search::new(&list, drawn);
            search.announce(&mut self.announcements);
            walker.stage = Stage::Common(search);
            return Ok(Turn::Waits);
        }
        let mut is_common = None;
        if topology.is_symmetric() {
            let other = topology.list(drawn)?;
            if other.len() < list.len() {
                is_common = Some(scan(topology, other, walker.crossing.previous)?);
            }
        }
        let is_common = match is_common {
            Some(is_common) => is_common,
            None => scan(topology, list, drawn)?,
        };
        self.keep_or_reject(walker, is_common)
    }

    #[inline]
    fn keep_or_reject(&mut self, walker: &mut Walker, is_common: bool) -> Result<Turn> {
        if walker.level < self.bias.onward(is_common) {
            return self.go(walker, walker.drawn, walker.node);
        }
        self.reject(walker)
    }

    /// Draws anew, or by the law of this step when that happens too often.
    fn reject(&mut self, walker: &mut Walker) -> Result<Turn> {
        walker.rejections += 1;
        let Crossing { list, previous_list, .. } = &walker.crossing;
        let neighbours = list.len() + previous_list.len();
        if walker.rejections <= REJECTIONS + neighbours / NEIGHBOURS_PER_REJECTION {
            return self.draw(walker);
        }
        let (topology, weighted) = (self.job.topology, self.job.plan.weighted);
        let Walker { crossing, stream, .. } = walker;
        let position =
            exact::draw(topology, crossing, self.bias, weighted, stream, &mut self.sorted)?;
        match position {
            Some(position) => {
                let node = topology.neighbour(position)?;
                self.go(walker, node, walker.node)
            }
            None => {
                self.job.end(walker.row, walker.step, walker.node);
                Ok(Turn::Ended)
            }
        }
    }

    /// Goes to a node; `previous` is where the next step will have come from.
    #[inline]
    fn go(&mut self, walker: &mut Walker, node: u64, previous: u64) -> Result<Turn> {
        self.job.write(walker.row, walker.step, node);
        walker.step += 1;
        if walker.step == self.job.plan.length {
            return Ok(Turn::Ended);
        }
        self.announcements.list(node);
        walker.crossing.previous = previous;
        walker.crossing.previous_list = walker.crossing.list.clone();
        walker.node = node;
        walker.stage = Stage::List;
        Ok(Turn::Waits)
    }

    /// The weight of some edges of a list.
    fn weight(&self, edges: std::ops::Range<usize>) -> Result<f64> {
        if self.job.plan.weighted {
            by_weight::sum(self.job.topology, edges)
        } else {
            Ok(edges.len() as f64)
        }
    }
}
