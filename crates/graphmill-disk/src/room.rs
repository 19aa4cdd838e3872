//! Memory whose size follows from what a caller asks for.
//! A plain vector ends the process if the system refuses its memory, as it does under a limit of the address space; what
//! grows with arguments is asked for here, so that a refusal is an error. It must not know what the memory is for.

use crate::error::{Error, Result};

/// An empty vector with room for this many elements.
pub fn vector<V>(capacity: usize) -> Result<Vec<V>> {
    let mut vector = Vec::new();
    vector.try_reserve_exact(capacity).map_err(|_| refused::<V>(capacity))?;
    Ok(vector)
}

/// A copy of some elements.
pub fn copy_of<V: Copy>(elements: &[V]) -> Result<Vec<V>> {
    let mut copy = vector(elements.len())?;
    copy.extend_from_slice(elements);
    Ok(copy)
}

/// Fails unless the system would give this many bytes now, for code that is about to take them in pieces.
pub fn check(bytes: u64) -> Result<()> {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    vector::<u8>(bytes).map(drop)
}

fn refused<V>(capacity: usize) -> Error {
    Error::NoMemory { bytes: (capacity as u64).saturating_mul(size_of::<V>() as u64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_has_is_an_error() {
        assert!(matches!(vector::<u64>(1 << 60), Err(Error::NoMemory { .. })));
        assert!(matches!(vector::<u64>(usize::MAX), Err(Error::NoMemory { bytes: u64::MAX })));
        assert!(check(u64::MAX).is_err());
        check(1 << 20).unwrap();
        assert!(vector::<u64>(10).unwrap().capacity() >= 10);
        assert_eq!(copy_of(&[3, 1]).unwrap(), [3, 1]);
    }
}
