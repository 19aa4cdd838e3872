//! An allocator that takes large blocks from the system, one mapping each, and everything else from the usual heap.
//! Programs name it as their global allocator, so that memory which is given back to a budget is given back to the
//! machine too. It must not know who allocates.
//!
//! Sampled lists are megabytes long, every one of another length, and live as long as their batches wait. On a heap they
//! leave holes that fit nobody: measured, an epoch within a budget of 2,270 MB held a quarter of a gigabyte more than it
//! had asked for, and was killed in a cgroup that had room for the budget. The C library does the same as this at first,
//! and stops doing it after the first large block that is freed.
//!
//! A few of the blocks that were freed last are kept: touching a new page takes a microsecond or two, which for the lists
//! of a batch is as long as sampling some of them. A list that grows takes one of those too, for the same reason: copying
//! its pages is cheaper than touching as many new ones.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;

/// Blocks from this size on are mapped.
const LARGE: usize = 512 << 10;
/// What a mapping is aligned to, at least.
const ALIGNMENT: usize = 4096;
/// Sizes between one power of two and the next; a block is longer than asked for by less than an eighth.
const STEPS: usize = 8;
/// Blocks that are kept, and their bytes in all. They belong to no budget, so they are few.
const MOST_KEPT: usize = 32;
const MOST_KEPT_BYTES: usize = 32 << 20;

/// The allocator, for Linux; others have the usual one.
#[derive(Clone, Copy, Debug)]
pub struct LargeBlocks;

/// Free blocks, the latest last. Only ever tried, never waited for: a fork may leave it locked for ever.
static KEPT: Mutex<Kept> = Mutex::new(Kept { blocks: [(0, 0); MOST_KEPT], count: 0, bytes: 0 });

struct Kept {
    /// Address and size.
    blocks: [(usize, usize); MOST_KEPT],
    count: usize,
    bytes: usize,
}

impl Kept {
    fn take(&mut self, size: usize) -> Option<*mut u8> {
        let place = self.blocks[..self.count].iter().rposition(|block| block.1 == size)?;
        Some(self.remove(place).0)
    }

    /// Keeps a block, and gives up the oldest for it if there are too many. Gives back what is to be unmapped.
    fn give(&mut self, block: *mut u8, size: usize) -> Option<(*mut u8, usize)> {
        if size > MOST_KEPT_BYTES / 4 {
            return Some((block, size));
        }
        let is_full = self.count == MOST_KEPT || self.bytes + size > MOST_KEPT_BYTES;
        let oldest = is_full.then(|| self.remove(0));
        if self.bytes + size > MOST_KEPT_BYTES {
            // The oldest was too short; it stays, and the new one goes.
            let (oldest, length) = oldest?;
            self.push(oldest, length);
            return Some((block, size));
        }
        self.push(block, size);
        oldest
    }

    fn push(&mut self, block: *mut u8, size: usize) {
        self.blocks[self.count] = (block.expose_provenance(), size);
        self.count += 1;
        self.bytes += size;
    }

    fn remove(&mut self, place: usize) -> (*mut u8, usize) {
        let (address, size) = self.blocks[place];
        self.blocks.copy_within(place + 1..self.count, place);
        self.count -= 1;
        self.bytes -= size;
        (std::ptr::with_exposed_provenance_mut(address), size)
    }
}

fn is_large(size: usize, align: usize) -> bool {
    size >= LARGE && align <= ALIGNMENT
}

/// The size of the mapping for a block: few different ones, so that a freed block fits the next list.
fn mapping_size(size: usize) -> usize {
    let step = (1_usize << size.ilog2()) / STEPS;
    size.checked_next_multiple_of(step).unwrap_or(size)
}

/// One of the blocks that were kept, if one has this size of mapping.
fn kept_block(size: usize) -> Option<*mut u8> {
    KEPT.try_lock().ok()?.take(size)
}

/// A block with any content, or a null pointer; and whether it is new, so that its content is zero.
fn mapped(size: usize) -> (*mut u8, bool) {
    let size = mapping_size(size);
    if let Some(block) = kept_block(size) {
        return (block, false);
    }
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping touches none that exists.
    let block = unsafe { libc::mmap(std::ptr::null_mut(), size, access, kind, -1, 0) };
    (if block == libc::MAP_FAILED { std::ptr::null_mut() } else { block.cast() }, true)
}

/// Gives a block back.
///
/// # Safety
/// It must be one that [`mapped`] gave for this size, and nobody may use it any more.
unsafe fn unmap(block: *mut u8, size: usize) {
    let unwanted = match KEPT.try_lock() {
        Ok(mut kept) => kept.give(block, mapping_size(size)),
        Err(_) => Some((block, mapping_size(size))),
    };
    if let Some((block, size)) = unwanted {
        // SAFETY: a whole mapping of this size; what was kept is nobody's. It cannot fail.
        unsafe { libc::munmap(block.cast(), size) };
    }
}

// SAFETY: size and alignment, which are the same for a block from beginning to end, say who has it; mappings are
// aligned to pages and at least as long as asked for. Nothing here unwinds, and nothing allocates.
unsafe impl GlobalAlloc for LargeBlocks {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_large(layout.size(), layout.align()) {
            return mapped(layout.size()).0;
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_large(layout.size(), layout.align()) {
            let (block, is_new) = mapped(layout.size());
            if !is_new {
                // SAFETY: the block has at least this many bytes and is ours.
                unsafe { block.write_bytes(0, layout.size()) };
            }
            return block;
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if is_large(layout.size(), layout.align()) {
            // SAFETY: the block has this layout, as the caller promises, and is used no more.
            unsafe { unmap(block, layout.size()) };
            return;
        }
        // SAFETY: the caller's promise, for a block of the heap.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let fresh = match (is_large(layout.size(), layout.align()), is_large(size, layout.align()))
        {
            // SAFETY: the caller's promise, for a block of the heap that stays one.
            (false, false) => return unsafe { System.realloc(block, layout, size) },
            (true, true) => {
                let (before, after) = (mapping_size(layout.size()), mapping_size(size));
                if before == after {
                    return block;
                }
                let Some(kept) = kept_block(after) else {
                    // SAFETY: the block is a whole mapping of this size; pages move, so nothing is copied.
                    let moved =
                        unsafe { libc::mremap(block.cast(), before, after, libc::MREMAP_MAYMOVE) };
                    return if moved == libc::MAP_FAILED {
                        std::ptr::null_mut()
                    } else {
                        moved.cast()
                    };
                };
                kept
            }
            _ => {
                // SAFETY: the caller promises that the new size, rounded up to the alignment, does not overflow.
                let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
                // SAFETY: the size is not zero, as the caller promises.
                unsafe { self.alloc(new) }
            }
        };
        if !fresh.is_null() {
            // SAFETY: both are as long as the smaller of the two, and a block that was nobody's overlaps no other.
            unsafe { fresh.copy_from_nonoverlapping(block, layout.size().min(size)) };
            // SAFETY: the caller's promise; its content is in the new block.
            unsafe { self.dealloc(block, layout) };
        }
        fresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Grows and shrinks a block across the border both ways, and looks whether its content stays.
    #[test]
    fn blocks_keep_their_content_whoever_has_them() {
        for align in [1, 8, 4096, 8192] {
            let sizes = [100, LARGE - 1, LARGE, 3 * LARGE + 5, 40 * LARGE, LARGE, LARGE - 1, 100];
            let layout = |size| Layout::from_size_align(size, align).unwrap();
            // SAFETY: sizes are not zero.
            let mut block = unsafe { LargeBlocks.alloc_zeroed(layout(sizes[0])) };
            for pair in sizes.windows(2) {
                // SAFETY: both places are within the block.
                unsafe {
                    block.add(99).write(7);
                    block.add(pair[0] - 1).write(7);
                }
                // SAFETY: the block has this layout, and the new size is not zero.
                block = unsafe { LargeBlocks.realloc(block, layout(pair[0]), pair[1]) };
                assert!(!block.is_null() && (block as usize).is_multiple_of(align));
                let last = if pair[0] < pair[1] { pair[0] - 1 } else { 99 };
                // SAFETY: both places are within the block and were set before.
                let kept = unsafe { (*block.add(99), *block.add(last)) };
                assert_eq!(kept, (7, 7), "{align} {pair:?}");
            }
            // SAFETY: the last layout of the block.
            unsafe { LargeBlocks.dealloc(block, layout(100)) };
        }
    }

    #[test]
    fn a_large_block_is_zero_and_goes_back_to_the_machine() {
        let size = 64 << 20;
        let layout = Layout::from_size_align(size, 8).unwrap();
        let before = crate::anonymous_memory().unwrap();
        for _ in 0..4 {
            // SAFETY: the size is not zero.
            let block = unsafe { LargeBlocks.alloc_zeroed(layout) };
            // SAFETY: the block has this many bytes, all of them zero.
            let bytes = unsafe { std::slice::from_raw_parts_mut(block, size) };
            assert!(bytes.iter().all(|&byte| byte == 0));
            bytes.fill(1);
            // SAFETY: the block has this layout.
            unsafe { LargeBlocks.dealloc(block, layout) };
        }
        let after = crate::anonymous_memory().unwrap();
        // Other tests allocate meanwhile.
        assert!(after < before + 3 * size as u64, "{before} {after}");
    }

    #[test]
    fn a_block_is_zero_if_asked_even_where_it_was_used_before() {
        let size = 7 * LARGE;
        let layout = Layout::from_size_align(size, 8).unwrap();
        for _ in 0..3 {
            // SAFETY: the size is not zero, all places are within the block, and it is freed with its layout.
            unsafe {
                let block = LargeBlocks.alloc_zeroed(layout);
                assert!((0..size).all(|place| *block.add(place) == 0));
                block.write_bytes(9, size);
                LargeBlocks.dealloc(block, layout);
            }
        }
    }

    #[test]
    fn a_block_that_grows_or_shrinks_takes_one_that_was_kept() {
        let layout = |size| Layout::from_size_align(size, 8).unwrap();
        for (before, after) in [(3 * LARGE, 13 * LARGE), (13 * LARGE, 3 * LARGE)] {
            // Another test may take the kept block first, or hold the lock; not every time.
            let is_taken = (0..100).any(|_| {
                // SAFETY: sizes are not zero, places are within the blocks, and each is freed with its last layout.
                unsafe {
                    let block = LargeBlocks.alloc(layout(before));
                    let kept = LargeBlocks.alloc(layout(after));
                    kept.write_bytes(9, after);
                    block.write_bytes(7, before);
                    LargeBlocks.dealloc(kept, layout(after));
                    let moved = LargeBlocks.realloc(block, layout(before), after);
                    assert!((0..before.min(after)).all(|place| *moved.add(place) == 7));
                    LargeBlocks.dealloc(moved, layout(after));
                    moved == kept
                }
            });
            assert!(is_taken, "{before} {after}");
        }
    }

    #[test]
    fn few_blocks_are_kept_and_the_oldest_go_first() {
        let mut kept = Kept { blocks: [(0, 0); MOST_KEPT], count: 0, bytes: 0 };
        let block = |number: usize| std::ptr::with_exposed_provenance_mut(number * 4096);
        assert_eq!(kept.give(block(1), MOST_KEPT_BYTES), Some((block(1), MOST_KEPT_BYTES)));
        for number in 1..=100 {
            let size = LARGE + number % 3 * ALIGNMENT;
            let given_up = kept.give(block(number), size);
            assert!(kept.count <= MOST_KEPT && kept.bytes <= MOST_KEPT_BYTES);
            assert_eq!(given_up.is_some(), number > MOST_KEPT, "{number}");
        }
        assert_eq!(kept.take(LARGE - 1), None);
        assert_eq!(kept.take(LARGE), Some(block(99)));
        assert_eq!(kept.take(LARGE), Some(block(96)));
        let sizes: usize = kept.blocks[..kept.count].iter().map(|block| block.1).sum();
        assert_eq!((kept.count, kept.bytes), (MOST_KEPT - 2, sizes));
    }
}
