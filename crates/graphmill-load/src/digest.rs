//! A number that stands for a list.
//! Saved states of a loader hold it instead of the seeds, to find out that they belong to others. It tells lists apart that
//! differ by accident, not those that somebody made to look alike.

/// An odd number without structure.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Digests lists of integers one after the other; where one ends and the next begins counts.
pub(crate) fn digest(lists: &[&[i64]]) -> u64 {
    let mut state = FACTOR;
    let mut add = |word: u64| state = (state ^ word).wrapping_mul(FACTOR).rotate_left(29);
    for list in lists {
        add(list.len() as u64);
        list.iter().for_each(|&word| add(word as u64));
    }
    // Every format that has integers has those of 63 bits.
    state >> 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_its_place_and_the_ends_of_lists_count() {
        let lists: [&[&[i64]]; 6] =
            [&[&[1, 2, 3]], &[&[1, 3, 2]], &[&[1, 2], &[3]], &[&[1, 2, 4]], &[&[0, 1, 2, 3]], &[]];
        for (one, left) in lists.iter().enumerate() {
            for (other, right) in lists.iter().enumerate() {
                assert_eq!(digest(left) == digest(right), one == other, "{left:?} {right:?}");
            }
        }
    }
}
