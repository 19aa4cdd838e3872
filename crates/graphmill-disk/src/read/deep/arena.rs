//! Room for the ranges of one thread that are on their way from the disk.
//! A ring reads into it; its size bounds what is in flight, whatever the mixture of short and long ranges. It must not
//! know what the bytes are for.

use crate::page_buffer::PageBuffer;

const PAGE: usize = 4096;

/// Page-aligned memory that is given out in whole pages, first fit.
///
/// It is reached by raw pointers only, because the kernel writes into parts of it while others are read.
#[derive(Debug)]
pub(crate) struct Arena {
    /// Of the first byte. Taken once: afterwards nothing else touches the buffer.
    memory: *mut u8,
    buffer: PageBuffer,
    /// What is free: disjoint, ascending, never adjacent.
    free: Vec<Extent>,
}

/// Some bytes of an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) start: usize,
    pub(crate) length: usize,
}

impl Arena {
    /// At least `bytes` bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        let mut buffer = PageBuffer::with_huge_pages(bytes.next_multiple_of(PAGE));
        let free = vec![Extent { start: 0, length: buffer.len() }];
        Self { memory: buffer.as_mut_ptr(), buffer, free }
    }

    /// All its bytes.
    pub(crate) fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Takes `length` bytes, which begin on a page; None if no gap is large enough now.
    pub(crate) fn take(&mut self, length: usize) -> Option<Extent> {
        let length = length.next_multiple_of(PAGE);
        let place = self.free.iter().position(|gap| gap.length >= length)?;
        let gap = &mut self.free[place];
        let taken = Extent { start: gap.start, length };
        gap.start += length;
        gap.length -= length;
        if gap.length == 0 {
            self.free.remove(place);
        }
        Some(taken)
    }

    /// Gives back what was taken.
    pub(crate) fn give_back(&mut self, extent: Extent) {
        if extent.length == 0 {
            return;
        }
        let place = self.free.partition_point(|gap| gap.start < extent.start);
        let joins_next =
            self.free.get(place).is_some_and(|gap| extent.start + extent.length == gap.start);
        let joins_last = place > 0 && {
            let last = self.free[place - 1];
            last.start + last.length == extent.start
        };
        match (joins_last, joins_next) {
            (true, true) => {
                let next = self.free.remove(place);
                self.free[place - 1].length += extent.length + next.length;
            }
            (true, false) => self.free[place - 1].length += extent.length,
            (false, true) => {
                self.free[place].start = extent.start;
                self.free[place].length += extent.length;
            }
            (false, false) => self.free.insert(place, extent),
        }
    }

    /// The first byte of an extent; valid for reads and writes of its length while the arena lives.
    pub(crate) fn pointer(&self, extent: Extent) -> *mut u8 {
        assert!(extent.start + extent.length <= self.len(), "extents come from this arena");
        // SAFETY: inside the memory, as just checked.
        unsafe { self.memory.add(extent.start) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_taken_begins_on_a_page_and_all_of_it_can_be_used() {
        let mut arena = Arena::new(10_000);
        assert_eq!(arena.len(), 12_288);
        let first = arena.take(1).unwrap();
        let second = arena.take(8_192).unwrap();
        assert_eq!(arena.take(1), None);
        assert_eq!((first.length, second.start, second.length), (4096, 4096, 8192));
        assert_eq!(arena.pointer(second) as usize % PAGE, 0);
    }

    proptest! {
        #[test]
        fn extents_never_overlap_and_come_back_as_one(steps in prop::collection::vec((any::<bool>(), 1usize..40_000), 0..200)) {
            let mut arena = Arena::new(1 << 18);
            let mut taken: Vec<Extent> = Vec::new();
            for (takes, number) in steps {
                if takes {
                    if let Some(new) = arena.take(number) {
                        let apart = |old: &Extent| old.start + old.length <= new.start || new.start + new.length <= old.start;
                        prop_assert!(new.length >= number && taken.iter().all(apart));
                        taken.push(new);
                    }
                } else if !taken.is_empty() {
                    arena.give_back(taken.swap_remove(number % taken.len()));
                }
            }
            taken.into_iter().for_each(|extent| arena.give_back(extent));
            prop_assert_eq!(&arena.free, &[Extent { start: 0, length: 1 << 18 }]);
        }
    }
}
