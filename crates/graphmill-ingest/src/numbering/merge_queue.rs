//! Which of several sorted sources is next.
//! Merging keeps the head of every source and asks here for the smallest; sources are numbers, and
//! whoever merges says which of two heads is smaller. It must not know what the heads are.

/// A heap of sources that are not exhausted.
#[derive(Debug)]
pub(super) struct MergeQueue {
    heap: Vec<usize>,
}

impl MergeQueue {
    /// A queue of the sources `0 .. count`.
    pub(super) fn new(count: usize, less: impl Fn(usize, usize) -> bool) -> Self {
        let mut queue = MergeQueue { heap: (0..count).collect() };
        for place in (0..count / 2).rev() {
            queue.sink(place, &less);
        }
        queue
    }

    /// The source with the smallest head.
    #[inline]
    pub(super) fn first(&self) -> Option<usize> {
        self.heap.first().copied()
    }

    /// The first source has another head.
    #[inline]
    pub(super) fn advanced(&mut self, less: impl Fn(usize, usize) -> bool) {
        self.sink(0, &less);
    }

    /// The first source has come to its end.
    pub(super) fn ended(&mut self, less: impl Fn(usize, usize) -> bool) {
        self.heap.swap_remove(0);
        self.sink(0, &less);
    }

    #[inline]
    fn sink(&mut self, mut place: usize, less: &impl Fn(usize, usize) -> bool) {
        let heap = &mut self.heap;
        loop {
            let mut child = 2 * place + 1;
            if child >= heap.len() {
                return;
            }
            if child + 1 < heap.len() && less(heap[child + 1], heap[child]) {
                child += 1;
            }
            if !less(heap[child], heap[place]) {
                return;
            }
            heap.swap(child, place);
            place = child;
        }
    }
}
