//! Checks of the names of nodes: where each ends, that it is text, and that it comes after the one before.

use super::Report;
use super::blocks::{BlockReader, Piece};
use super::values::aligned;
use crate::Result;
use crate::names::{LONGEST_NAME, Names};
use graphmill_disk::{Pread, ReadAt};
use graphmill_format::Section;
use std::ops::Range;

/// Bytes of names that are read together; one name more may come on top.
const TEXT_AT_ONCE: u64 = 1 << 20;

pub(super) fn check_names(names: &Names, report: &mut Report) -> Result<()> {
    let text = Text { file: Pread::of(names.text().mapped())?, section: *names.text().section() };
    let ends = Pread::of(names.ends().mapped())?;
    let section = names.ends().section();
    if section.count == 0 && text.section.length() > 0 {
        let problem = format!("found {} bytes of names, expected none", text.section.length());
        report.add(super::fault(names.text().path(), "table", problem));
    }
    BlockReader::new(&ends, None)?.check(section, report, |piece| {
        let Some(ends) = aligned::<i64>(piece.bytes) else { return Ok(None) };
        let first = piece.start / 8;
        let start = end_at(piece, first.checked_sub(1))?;
        let wrong = match wrong_end(ends, start, text.section.length()) {
            Some(wrong) => Some(wrong),
            None if piece.start + piece.bytes.len() as u64 == section.length() => {
                unused_text(ends, text.section.length())
            }
            None => None,
        };
        if let Some((at, problem)) = wrong {
            return Ok(Some(piece.fault(at, problem)));
        }
        // The last name before the piece, unless its ends are wrong: that is then told where they stand.
        let before_start = end_at(piece, first.checked_sub(2))?;
        let is_sound = 0 <= before_start && before_start <= start;
        let before = if first > 0 && is_sound && (start - before_start) as u64 <= LONGEST_NAME {
            Some(text.read(before_start as u64..start as u64)?)
        } else {
            None
        };
        let wrong = wrong_name(&text, ends, start as u64, before)?;
        Ok(wrong.map(|(at, problem)| piece.fault(at, problem)))
    })
}

/// The bytes of all names.
struct Text {
    file: Pread,
    section: Section,
}

impl Text {
    fn read(&self, range: Range<u64>) -> Result<Vec<u8>> {
        let mut bytes = vec![0; (range.end - range.start) as usize];
        self.file.read_exact_at(self.section.offset + range.start, &mut bytes)?;
        Ok(bytes)
    }
}

/// The end at an index of the whole section; names start at 0.
fn end_at(piece: &Piece, index: Option<u64>) -> Result<i64> {
    let Some(index) = index else { return Ok(0) };
    let mut bytes = [0; 8];
    piece.file.read_exact_at(piece.section.offset + index * 8, &mut bytes)?;
    Ok(i64::from_le_bytes(bytes))
}

/// Ends ascend, stay inside the text, and leave no name longer than names are.
fn wrong_end(ends: &[i64], start: i64, length: u64) -> Option<(usize, String)> {
    let before = std::iter::once(start).chain(ends.iter().copied());
    let is_wrong = |(&end, before): (&i64, i64)| {
        before < 0 || end < before || end as u64 > length || (end - before) as u64 > LONGEST_NAME
    };
    let at = ends.iter().zip(before).position(is_wrong)?;
    let before = if at == 0 { start } else { ends[at - 1] };
    let problem = format!(
        "found the end {} after {before}, expected at most {LONGEST_NAME} bytes and {length} in all",
        ends[at]
    );
    Some((at, problem))
}

fn unused_text(ends: &[i64], length: u64) -> Option<(usize, String)> {
    let &last = ends.last()?;
    let problem = format!("found the last end {last}, expected {length}");
    (last as u64 != length).then_some((ends.len() - 1, problem))
}

/// The first name that is not UTF-8, or not above its predecessor; the ends are known to be sound.
fn wrong_name(
    text: &Text,
    ends: &[i64],
    mut start: u64,
    mut before: Option<Vec<u8>>,
) -> Result<Option<(usize, String)>> {
    let mut first = 0;
    while first < ends.len() {
        let rest = &ends[first..];
        let together = rest.partition_point(|&end| end as u64 - start <= TEXT_AT_ONCE).max(1);
        let stop = rest[together - 1] as u64;
        let bytes = text.read(start..stop)?;
        let mut from = 0;
        for (at, &end) in rest[..together].iter().enumerate() {
            let name = &bytes[from..(end as u64 - start) as usize];
            if let Err(error) = std::str::from_utf8(name) {
                return Ok(Some((first + at, format!("found a name that is no UTF-8: {error}"))));
            }
            if let Some(before) = before.as_deref().filter(|before| *before >= name) {
                let [name, before] = [name, before].map(String::from_utf8_lossy);
                let problem = format!("found the name {name:?}, expected one above {before:?}");
                return Ok(Some((first + at, problem)));
            }
            before = Some(name.to_vec());
            from += name.len();
        }
        (first, start) = (first + together, stop);
    }
    Ok(None)
}
