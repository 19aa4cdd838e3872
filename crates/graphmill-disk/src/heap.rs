//! The heap of the C library, which keeps what was freed.
//!
//! [`LargeBlocks`](crate::LargeBlocks) unmaps large blocks at once. Thousands of smaller ones, such as a sorter's, stay
//! pages of the process until they are asked for again; where the next phase takes memory of another kind, both would
//! count.

/// Gives the free pages of the heap back to the system. Worth its time when a phase has freed a budget of small blocks.
///
/// Does nothing but where the C library is glibc: others give back by themselves or cannot.
pub fn release_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: takes no memory of ours, may be called by any thread at any time.
    let _was_any = unsafe { libc::malloc_trim(0) };
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;
    use crate::anonymous_memory;

    #[test]
    fn what_small_blocks_took_is_given_back() {
        let blocks: Vec<Vec<u8>> = (0..4096).map(|_| vec![1; 32 << 10]).collect();
        // The last one keeps the heap from shrinking by itself.
        let last = vec![1_u8; 1 << 10];
        let full = anonymous_memory().unwrap();
        drop(blocks);
        release_heap();
        let left = anonymous_memory().unwrap();
        assert!(left + (96 << 20) < full, "{full} -> {left}");
        assert_eq!(last.len(), 1 << 10);
    }
}
