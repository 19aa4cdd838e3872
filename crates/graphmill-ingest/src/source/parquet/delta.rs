//! Lengths packed as differences, walked before the library takes memory for what they claim.
//! A stream starts with the size of its blocks, the parts of a block and the number of values; each block holds the
//! least difference, a width for each part, and the differences above the least one.

use super::thrift::Thrift;

/// Values of a block at most; writers use 128 or 256.
const LARGEST_BLOCK: u64 = 1 << 16;

/// The start of a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeltaHeader {
    parts: usize,
    part_values: usize,
    pub(super) values: u64,
    first: i64,
    length: usize,
}

impl DeltaHeader {
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        // Its numbers are written as Thrift writes them.
        let mut numbers = Thrift::new(bytes);
        let (block, parts, values) =
            (numbers.unsigned()?, numbers.unsigned()?, numbers.unsigned()?);
        let first = numbers.signed()?;
        if block > LARGEST_BLOCK || !block.is_multiple_of(128) || parts == 0 || parts > block {
            return None;
        }
        let part_values = block / parts;
        if !block.is_multiple_of(parts) || !part_values.is_multiple_of(32) {
            return None;
        }
        let length = bytes.len() - numbers.left();
        let (parts, part_values) = (parts as usize, part_values as usize);
        Some(DeltaHeader { parts, part_values, values, first, length })
    }
}

/// The sum of a stream of lengths. None if one of them is negative or the stream is damaged.
pub(super) fn sum_of_lengths(bytes: &[u8], header: DeltaHeader) -> Option<u64> {
    let mut left = header.values;
    if left == 0 {
        return Some(0);
    }
    let mut last = u32::try_from(header.first).ok().filter(|first| *first <= i32::MAX as u32)?;
    let mut sum = u64::from(last);
    left -= 1;
    let mut rest = bytes.get(header.length..)?;
    while left > 0 {
        let mut number = Thrift::new(rest);
        let least = number.signed()?;
        let (widths, mut behind) =
            rest[rest.len() - number.left()..].split_at_checked(header.parts)?;
        for &width in widths {
            let count = left.min(header.part_values as u64) as usize;
            if count == 0 {
                break;
            }
            let length = header.part_values * usize::from(width) / 8;
            // The last part may be cut behind its last value.
            let part = &behind[..length.min(behind.len())];
            for value in 0..count {
                let above = bits(part, value * usize::from(width), width)?;
                // Differences wrap around as the writer's do.
                last = last.wrapping_add(least as u32).wrapping_add(above);
                if last > i32::MAX as u32 {
                    return None;
                }
                sum += u64::from(last);
            }
            left -= count as u64;
            behind = &behind[length.min(behind.len())..];
        }
        rest = behind;
    }
    Some(sum)
}

/// `width` bits from bit `at` on, the lowest first.
fn bits(bytes: &[u8], at: usize, width: u8) -> Option<u32> {
    if width > 32 {
        return None;
    }
    if width == 0 {
        return Some(0);
    }
    let (first, last) = (at / 8, (at + usize::from(width) - 1) / 8);
    let mut window = [0; 8];
    let taken = bytes.get(first..=last)?;
    window[..taken.len()].copy_from_slice(taken);
    let value = u64::from_le_bytes(window) >> (at % 8);
    Some((value & ((1 << width) - 1)) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unsigned(mut value: u64, into: &mut Vec<u8>) {
        while value >= 0x80 {
            into.push(value as u8 | 0x80);
            value >>= 7;
        }
        into.push(value as u8);
    }

    fn signed(value: i64, into: &mut Vec<u8>) {
        unsigned(((value << 1) ^ (value >> 63)) as u64, into);
    }

    /// The stream of some lengths, in blocks of 128 values and 4 parts.
    fn written(lengths: &[u32]) -> Vec<u8> {
        let mut bytes = Vec::new();
        unsigned(128, &mut bytes);
        unsigned(4, &mut bytes);
        unsigned(lengths.len() as u64, &mut bytes);
        signed(lengths.first().copied().unwrap_or(0).into(), &mut bytes);
        let differences: Vec<i64> =
            lengths.windows(2).map(|pair| i64::from(pair[1]) - i64::from(pair[0])).collect();
        for block in differences.chunks(128) {
            let least = *block.iter().min().unwrap();
            signed(least, &mut bytes);
            let parts: Vec<&[i64]> = block.chunks(32).collect();
            let width = |part: &&[i64]| {
                let most = part.iter().map(|value| (value - least) as u64).max().unwrap();
                64 - most.leading_zeros() as u8
            };
            let widths: Vec<u8> = parts.iter().map(width).collect();
            bytes.extend((0..4).map(|part| widths.get(part).copied().unwrap_or(0)));
            for (part, &width) in parts.iter().zip(&widths) {
                let mut packed = vec![0_u8; 4 * usize::from(width)];
                for (index, value) in part.iter().enumerate() {
                    for bit in 0..usize::from(width) {
                        let at = index * usize::from(width) + bit;
                        packed[at / 8] |= (((value - least) >> bit & 1) as u8) << (at % 8);
                    }
                }
                bytes.extend(packed);
            }
        }
        bytes
    }

    #[test]
    fn streams_of_other_shapes_are_refused() {
        for (block, parts) in [(0, 1), (127, 1), (128, 0), (128, 3), (128, 8), (1 << 40, 4)] {
            let mut bytes = Vec::new();
            [block, parts, 5, 0].into_iter().for_each(|number| unsigned(number, &mut bytes));
            assert!(DeltaHeader::parse(&bytes).is_none() || block == 0, "{block} {parts}");
        }
    }

    #[test]
    fn negative_lengths_and_short_streams_are_none() {
        let mut bytes = written(&[5, 3]);
        let header = DeltaHeader::parse(&bytes).unwrap();
        assert_eq!(sum_of_lengths(&bytes, header), Some(8));
        let short = &bytes[..bytes.len() - 5];
        assert_eq!(sum_of_lengths(short, DeltaHeader::parse(short).unwrap()), None);
        // The difference becomes -100.
        let at = bytes.iter().rposition(|byte| *byte == 3).unwrap();
        bytes[at] = 199;
        bytes.insert(at + 1, 1);
        assert_eq!(sum_of_lengths(&bytes, DeltaHeader::parse(&bytes).unwrap()), None);
    }

    proptest! {
        #[test]
        fn sums_are_those_of_what_was_written(
            lengths in proptest::collection::vec(0_u32..70_000, 0..400),
        ) {
            let bytes = written(&lengths);
            let header = DeltaHeader::parse(&bytes).unwrap();
            prop_assert_eq!(header.values, lengths.len() as u64);
            let sum = lengths.iter().map(|length| u64::from(*length)).sum();
            prop_assert_eq!(sum_of_lengths(&bytes, header), Some(sum));
        }

        #[test]
        fn any_bytes_are_walked(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let whole = [&[0x80, 1, 4, 200, 1][..], &bytes].concat();
            if let Some(header) = DeltaHeader::parse(&whole) {
                let _ = sum_of_lengths(&whole, header);
            }
        }
    }
}
