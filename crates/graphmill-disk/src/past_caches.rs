//! Copies that leave the processor's caches alone.
//! Whoever fills tens of megabytes that are read much later writes them past the caches: an ordinary store first fetches
//! the line that it is about to overwrite, which is a third of what such a copy moves. It must not know what is copied.

/// Makes such copies; what it copied is there for other threads once it is dropped.
#[derive(Debug)]
pub struct PastCaches(());

impl PastCaches {
    /// Begins.
    #[expect(clippy::new_without_default, reason = "it does something when it ends")]
    pub fn new() -> Self {
        PastCaches(())
    }

    /// Copies bytes of one length. Those of `into` that do not fill a vector go the ordinary way.
    ///
    /// # Panics
    /// If the lengths differ.
    #[inline]
    pub fn copy(&self, from: &[u8], into: &mut [u8]) {
        assert_eq!(from.len(), into.len(), "a copy of another length");
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
            const VECTOR: usize = size_of::<__m128i>();
            let before = into.as_ptr().align_offset(VECTOR).min(into.len());
            let (first, from) = from.split_at(before);
            into[..before].copy_from_slice(first);
            let (vectors, rest) = into[before..].as_chunks_mut::<VECTOR>();
            let (sources, last) = from.as_chunks::<VECTOR>();
            for (source, vector) in sources.iter().zip(vectors) {
                // SAFETY: both are as long as a vector, the second is aligned like one, and SSE2 is part of every x86-64
                // processor. The fence that such stores need before anybody else may look is in `drop`.
                unsafe {
                    let value = _mm_loadu_si128(source.as_ptr().cast());
                    _mm_stream_si128(vector.as_mut_ptr().cast(), value);
                }
            }
            rest.copy_from_slice(last);
        }
        #[cfg(not(target_arch = "x86_64"))]
        into.copy_from_slice(from);
    }
}

impl Drop for PastCaches {
    fn drop(&mut self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: SSE is part of every x86-64 processor.
        unsafe {
            std::arch::x86_64::_mm_sfence()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_arrives_wherever_it_begins() {
        let from: Vec<u8> = (0..300).map(|number| number as u8).collect();
        for start in 0..20 {
            for length in 0..200 {
                let mut into = vec![0; 300];
                let copying = PastCaches::new();
                copying.copy(&from[7..7 + length], &mut into[start..start + length]);
                drop(copying);
                assert_eq!(into[start..start + length], from[7..7 + length]);
                assert!(into[..start].iter().chain(&into[start + length..]).all(|&byte| byte == 0));
            }
        }
    }
}
