//! Hints to the processor's caches.
//! Whoever knows which element it will read some hundred instructions from now announces it here, and goes on with
//! something else while it comes from memory. A hint never faults, never waits and never changes what a read returns.

/// Asks for the cache line of an element that is about to be read.
///
/// Any index may be given: one past the end asks for memory that is not ours, or not there, and has no effect. A page of
/// a mapped file that is not resident stays so. Processors for which no instruction is known here do nothing.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    let address = slice.as_ptr().wrapping_add(index);
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the instruction takes any address, mapped or not, and reads nothing that the program can see; SSE is
        // part of every x86-64 processor.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above, for the instruction of this architecture; it changes no register and no flag.
    unsafe {
        std::arch::asm!(
            "prfm pldl1keep, [{0}]",
            in(reg) address,
            options(nostack, preserves_flags, readonly)
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_index_of_any_slice_may_be_announced() {
        let numbers: Vec<u64> = (0..1000).collect();
        for index in [0, 999, 1000, 1 << 40, usize::MAX / 8, usize::MAX] {
            prefetch(&numbers, index);
            prefetch::<u64>(&[], index);
            prefetch(&[(); 3], index);
        }
        assert!(numbers.iter().copied().eq(0..1000));
    }
}
