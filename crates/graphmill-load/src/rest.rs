//! What a loader gives back when nobody trains from it.
//! Epochs say here when they begin and end. Between them a loader keeps nothing but hot rows, and those only until somebody else
//! needs their memory. It does not know how an epoch is made.

use crate::NeighborLoader;
use crate::hot_rows::HotRows;
use crate::with_unlocked::with_unlocked;
use graphmill_disk::Keeper;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

impl NeighborLoader {
    /// Notes that an epoch begins, which [`end_epoch`](Self::end_epoch) has to follow.
    pub(crate) fn begin_epoch(&self) {
        self.running.fetch_add(1, Ordering::Relaxed);
        self.buffers.wake();
    }

    /// Gives memory back when no other epoch is under way: what the next one is quick to make again at once, and hot rows
    /// when somebody else needs their memory, since reading them again takes long.
    pub(crate) fn end_epoch(self: &Arc<Self>) {
        if self.running.fetch_sub(1, Ordering::Relaxed) > 1 {
            return;
        }
        self.buffers.rest();
        with_unlocked(&self.idle, Vec::clear);
        with_unlocked(&self.latest, Option::take);
        let keeper: Weak<Self> = Arc::downgrade(self);
        self.dataset().budget().register(keeper);
    }

    /// Asks for the memory that loaders at rest keep, unless the hot rows of one of them serve this one too.
    pub(crate) fn make_way(&self) {
        if HotRows::shared(&self.columns, self.options().direction).is_none() {
            self.dataset().budget().reclaim();
        }
    }
}

impl Keeper for NeighborLoader {
    fn give_up(&self) {
        if self.running.load(Ordering::Relaxed) == 0 {
            let hot = with_unlocked(&self.hot, |hot| hot.take_if(|hot| hot.is_some()));
            drop(hot);
        }
    }
}
