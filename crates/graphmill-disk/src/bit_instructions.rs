//! Work compiled for processors that count and shift bits well.
//! Programs are built for the oldest processor of their kind, on which counting the ones of a word takes a dozen
//! instructions; nearly every processor has one for it. It must not know what the work is.

/// Does some work with the processor's instructions for bits, if it has them; the result is the same either way.
///
/// Only what the compiler puts into the work itself is faster, so what it calls should be `#[inline(always)]`.
#[inline(always)]
pub fn with_bit_instructions<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("popcnt")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("bmi2")
        {
            // SAFETY: the processor was just asked, and has all of them.
            return unsafe { with_all(work) };
        }
    }
    work()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,bmi2")]
fn with_all<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_once_and_its_result_returned() {
        let mut calls = 0;
        let ones = with_bit_instructions(|| {
            calls += 1;
            [0_u64, 1, u64::MAX].map(u64::count_ones)
        });
        assert_eq!((ones, calls), ([0, 1, 64], 1));
    }
}
