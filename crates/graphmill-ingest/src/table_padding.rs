//! More rows for a table that is finished but not published.
//! A build learns how many nodes there are only when everything has been read; tables that were
//! written before get the rows that they lack. It must not know why rows are missing.

use graphmill_disk::OutputFile;
use graphmill_format::digest::BLOCK_LENGTH;
use graphmill_format::{Header, TableShape};

use crate::section_writer::SectionWriter;
use crate::table_writer::{Written, seal, with_rows};
use crate::{Error, Result};

/// Bytes of new rows written at a time.
const PIECE: usize = 1 << 16;

/// Extends a sealed table to `rows`, each new one with the bytes of `fill`, a row without padding.
pub(crate) fn pad_rows(
    file: &dyn OutputFile,
    written: &Written,
    rows: u64,
    fill: &[u8],
) -> Result<Written> {
    let wrong = |error| Error::format(file.path())(error);
    let old = Header::parse(&written.header, written.length).map_err(wrong)?;
    let shape = old.table_shape().map_err(wrong)?;
    let section = *old.table_section().map_err(wrong)?;
    let header = Header::for_table(&with_rows(&shape, rows).map_err(wrong)?).map_err(wrong)?;
    let mut digests = read_digests(file, &old)?;
    // The last block may grow; those before it stay as they are.
    let whole = section.length() / BLOCK_LENGTH;
    digests.truncate(whole as usize);
    let kept = whole * BLOCK_LENGTH;
    let mut last = vec![0; (section.length() - kept) as usize];
    file.read_exact_at(section.offset + kept, &mut last)?;
    let mut writer = SectionWriter::open_ended(file, section.offset + kept);
    writer.write(&last)?;
    write_fill(&mut writer, &shape, rows - shape.rows(), fill)?;
    digests.extend(writer.finish()?);
    seal(file, header, &digests)
}

fn read_digests(file: &dyn OutputFile, header: &Header) -> Result<Vec<u64>> {
    let section = header.digest_section();
    let mut bytes = vec![0; section.length() as usize];
    file.read_exact_at(section.offset, &mut bytes)?;
    Ok(bytes.as_chunks().0.iter().map(|digest| u64::from_le_bytes(*digest)).collect())
}

fn write_fill(
    writer: &mut SectionWriter<'_>,
    shape: &TableShape,
    rows: u64,
    fill: &[u8],
) -> Result<()> {
    let mut row = fill.to_vec();
    row.resize(shape.stride() as usize, 0);
    if row.is_empty() {
        return Ok(());
    }
    let many = (PIECE / row.len()).max(1);
    let piece = row.repeat(many);
    let mut left = rows;
    while left > 0 {
        let now = left.min(many as u64);
        writer.write(&piece[..now as usize * row.len()])?;
        left -= now;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table_writer::TableWriter;
    use graphmill_disk::{FileSystem, RealFileSystem};
    use graphmill_format::ElementType;

    #[test]
    fn a_padded_table_is_the_one_that_was_written_whole() {
        let folder = tempfile::tempdir().unwrap();
        for aligned in [false, true] {
            for (rows, more, columns) in
                [(0, 3, 5), (7, 1, 3), (1000, 5000, 300), (699_051, 10, 3), (349_525, 1 << 17, 3)]
            {
                let shape = |rows| {
                    let shape = TableShape::matrix(rows, columns, ElementType::I8).unwrap();
                    if aligned && rows < 10_000 {
                        shape.with_aligned_rows().unwrap()
                    } else {
                        shape
                    }
                };
                if aligned && rows + more >= 10_000 {
                    continue;
                }
                let bytes: Vec<u8> = (0..rows * columns).map(|byte| byte as u8).collect();
                let fill = vec![0xff; columns as usize];
                let (short, whole) = (folder.path().join("short"), folder.path().join("whole"));
                let file = RealFileSystem.create(&short).unwrap();
                let mut writer = TableWriter::new(&*file, shape(rows)).unwrap();
                writer.write_rows(&bytes).unwrap();
                let written = writer.finish().unwrap();
                let padded = pad_rows(&*file, &written, rows + more, &fill).unwrap();
                let file = RealFileSystem.create(&whole).unwrap();
                let mut writer = TableWriter::new(&*file, shape(rows + more)).unwrap();
                writer.write_rows(&bytes).unwrap();
                (0..more).for_each(|_| writer.write_rows(&fill).unwrap());
                assert_eq!(writer.finish().unwrap(), padded);
                let length = padded.length as usize;
                let read = |path| std::fs::read(path).unwrap();
                assert!(read(&short)[..length] == read(&whole)[..length], "{rows} + {more}");
                assert_eq!(read(&short).len(), length);
                std::fs::remove_file(&short).unwrap();
                std::fs::remove_file(&whole).unwrap();
            }
        }
    }
}
