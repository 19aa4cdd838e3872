//! Checks of the running sums of weights: each is the one before it in its list plus its own weight, to the last bit.

use super::Fault;
use super::blocks::Piece;
use super::list_starts::ListStarts;
use super::values::aligned;
use crate::Result;
use graphmill_disk::ReadAt;
use graphmill_format::Section;

/// Compares the sums of a piece with the weights, which are read once more; offsets have been found sound.
pub(super) fn check_sums(
    piece: &Piece,
    starts: &mut ListStarts<'_>,
    weights: &Section,
) -> Result<Option<Fault>> {
    let Some(sums) = aligned::<f64>(piece.bytes) else { return Ok(None) };
    let first = piece.start / 8;
    let mut bytes = vec![0; sums.len() * 4];
    piece.file.read_exact_at(weights.offset + first * 4, &mut bytes)?;
    let mut before = [0; 8];
    if piece.start > 0 {
        piece.file.read_exact_at(piece.section.offset + piece.start - 8, &mut before)?;
    }
    let mut starts = starts.places(piece.elements())?.into_iter().peekable();
    let mut sum = f64::from_le_bytes(before);
    for (at, (&found, weight)) in sums.iter().zip(bytes.chunks_exact(4)).enumerate() {
        while starts.next_if(|&start| start <= at).is_some() {
            sum = 0.0;
        }
        let weight = f32::from_le_bytes([weight[0], weight[1], weight[2], weight[3]]);
        sum += f64::from(weight);
        if found.to_bits() != sum.to_bits() {
            let problem =
                format!("found running sum {found}, expected {sum} after weight {weight}");
            return Ok(Some(piece.fault(at, problem)));
        }
    }
    Ok(None)
}
