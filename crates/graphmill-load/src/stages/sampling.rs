//! The thread that samples batches ahead, one after the other.
//! It goes as far ahead as the next window may need, and passes sampled batches on to be read. Which rows they want is
//! none of its business.

use super::Shared;
use crate::Result;
use crate::sampled_batch::SampledBatch;
use std::time::Instant;

pub(super) fn run(shared: &Shared) {
    let mut index = shared.course.next;
    // What the batch before took: one that runs short has to be sampled again from its beginning.
    let mut expected = 0;
    if let Err(error) = shared.loader.settle() {
        shared.change(|state| state.sampled.push_back(Err(error)));
        index = u64::MAX;
    }
    while index < shared.course.end {
        let has_room = shared.wait(|state| {
            let room = state.sampled.len() < state.ahead;
            (room && shared.is_time(state)).then_some(())
        });
        if has_room.is_none() {
            return;
        }
        shared.make_room(expected);
        let Some(mut sampled) = sample(shared, index) else { return };
        if let Ok(sampled) = &mut sampled {
            expected = sampled.memory.bytes();
            if shared.lock().narrow {
                sampled.narrow(shared.loader.wants_edge_ids());
            }
        }
        let failed = sampled.is_err();
        shared.change(|state| {
            state.sampled.push_back(sampled);
            state.under_way += 1;
        });
        if failed {
            break;
        }
        index = index.saturating_add(shared.course.step);
    }
    shared.change(|state| state.all_sampled = true);
}

/// One batch, when there is memory for it; the shortage if nobody will give any back; None if everything is to stop.
fn sample(shared: &Shared, index: u64) -> Option<Result<SampledBatch>> {
    let loader = &shared.loader;
    loop {
        let began = Instant::now();
        let outcome = loader.buffers.with_room(|| loader.sampled(shared.course.key, index));
        loader.sums.sampling(began.elapsed());
        match outcome {
            Err(error) if error.is_budget() => {
                if !shared.wait_for_memory(|state| state.under_way == 0)? {
                    return Some(Err(error));
                }
            }
            outcome => return Some(outcome),
        }
    }
}
