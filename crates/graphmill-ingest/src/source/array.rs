//! An array in a `.npy`, in a member of an `.npz`, or in a compiled or raw table.
//! Headers are checked before anything is read, sizes against the file or the directory, and what
//! is unpacked never exceeds what the header claims. Readers ask for its bytes by position, or
//! front to back where they are packed. It must not know what arrays mean.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use graphmill_disk::{Backend, ReadAt};
use graphmill_format::{ElementType, HEADER_LENGTH, Header, graphzero};

use super::compressed::{FileReader, of_the_disk};
use super::zip_directory::{self, Member, Packing};
use crate::npy::{ArrayHeader, ArrayType, NpyHeader};
use crate::{Error, Result};

/// What a member's name ends with, and what its array is called without.
const SUFFIX: &str = ".npy";

/// An array and where its bytes are.
#[derive(Clone, Debug)]
pub struct ArrayFile {
    pub(crate) file: Arc<dyn ReadAt>,
    header: ArrayHeader,
    /// The member of an archive, or None for a file of its own.
    member: Option<Member>,
    /// Bytes from one row to the next, where rows are padded.
    stride: Option<u64>,
}

/// The names of the arrays in an `.npz`, in the order of its directory.
pub fn npz_names(path: &Path) -> Result<Vec<String>> {
    let file = graphmill_disk::open(path, Backend::Pread)?;
    let members = zip_directory::members(&*file)?;
    Ok(members.into_iter().map(|member| array_name(&member.name).to_owned()).collect())
}

fn array_name(member: &str) -> &str {
    member.strip_suffix(SUFFIX).unwrap_or(member)
}

impl ArrayFile {
    /// Opens a `.npy`.
    pub fn npy(path: &Path) -> Result<Self> {
        let file = graphmill_disk::open(path, Backend::Pread)?;
        let mut start = vec![0; NpyHeader::needed_bytes(file.len())];
        file.read_exact_at(0, &mut start)?;
        let header = ArrayHeader::parse(&start, file.len()).map_err(|error| error.in_file(path))?;
        Ok(ArrayFile { file, header, member: None, stride: None })
    }

    /// Opens a file that is rows of numbers and nothing else, as IGB's large features are.
    ///
    /// One column is a vector.
    pub fn raw(path: &Path, element: ElementType, columns: u64) -> Result<Self> {
        let file = graphmill_disk::open(path, Backend::Pread)?;
        let row = columns.checked_mul(element.width()).filter(|row| *row > 0);
        let Some(rows) =
            row.filter(|row| file.len().is_multiple_of(*row)).map(|row| file.len() / row)
        else {
            let found = format!("a file of {} bytes", file.len());
            let expected = format!("whole rows of {columns} {element}");
            let error = Error::source("length", found, expected, "check the number of columns");
            return Err(error.in_file(path));
        };
        let shape = if columns == 1 { vec![rows] } else { vec![rows, columns] };
        let (numbers, fortran, data_offset) = (element.into(), false, 0);
        let header = ArrayHeader { numbers, shape, fortran, data_offset };
        Ok(ArrayFile { file, header, member: None, stride: None })
    }

    /// Opens a `.gd`, ours or GraphZero's.
    pub fn table(path: &Path) -> Result<Self> {
        let file = graphmill_disk::open(path, Backend::Pread)?;
        let mut first = vec![0; file.len().min(HEADER_LENGTH) as usize];
        file.read_exact_at(0, &mut first)?;
        let found = if first.starts_with(&graphzero::TABLE_MAGIC) {
            graphzero::parse_table(&first, file.len())
        } else {
            Header::parse(&first, file.len())
                .and_then(|header| Ok((header.table_shape()?, *header.table_section()?)))
        };
        let (table, section) = found.map_err(Error::format(path))?;
        let mut shape = vec![table.rows()];
        if !table.is_vector() {
            shape.push(table.columns());
        }
        let (numbers, data_offset) = (ArrayType::from(table.element()), section.offset);
        let header = ArrayHeader { numbers, shape, fortran: false, data_offset };
        let stride = (!table.is_contiguous()).then(|| table.stride());
        Ok(ArrayFile { file, header, member: None, stride })
    }

    /// Opens one array of an `.npz`: the one named, or the first of `usual` that is there, or the
    /// only one.
    pub fn npz(path: &Path, name: Option<&str>, usual: &[&str]) -> Result<Self> {
        let file = graphmill_disk::open(path, Backend::Pread)?;
        let members = zip_directory::members(&*file)?;
        let called = |name: &str| members.iter().find(|member| array_name(&member.name) == name);
        let member = match (name, &members[..]) {
            (Some(name), _) => called(name),
            (None, [only]) => Some(only),
            (None, _) => usual.iter().find_map(|name| called(name)),
        };
        let Some(member) = member else {
            let names: Vec<&str> = members.iter().map(|member| array_name(&member.name)).collect();
            let expected = match name {
                Some(name) => format!("an array {name:?}"),
                None => format!("one array, or one called {}", usual.join(" or ")),
            };
            let found = format!("the arrays {}", names.join(", "));
            let remedy = "save the array that is meant as a .npy file";
            let error = Error::source("directory", found, expected, remedy);
            return Err(error.in_file(path));
        };
        Self::member(file.clone(), member.clone()).map_err(|error| error.in_file(path))
    }

    fn member(file: Arc<dyn ReadAt>, member: Member) -> Result<Self> {
        let size = member.size;
        let mut start = vec![0; NpyHeader::needed_bytes(size)];
        let numbers = ElementType::U8.into();
        let unknown = ArrayHeader { numbers, shape: Vec::new(), fortran: false, data_offset: 0 };
        let array = ArrayFile { file, header: unknown, member: Some(member), stride: None };
        array.stream()?.fill(&mut start)?;
        let header = ArrayHeader::parse(&start, size)?;
        Ok(ArrayFile { header, ..array })
    }

    /// What the header says.
    pub fn header(&self) -> &ArrayHeader {
        &self.header
    }

    /// Whether columns come after columns, as Fortran stores them.
    pub fn is_fortran(&self) -> bool {
        self.header.fortran
    }

    /// Bytes from one row of a table to the next, where rows are padded.
    pub(crate) fn stride(&self) -> Option<u64> {
        self.stride
    }

    /// Where the array's bytes can be read at any position, if they are not packed.
    pub(crate) fn stored_at(&self) -> Option<u64> {
        match &self.member {
            None => Some(self.header.data_offset),
            Some(Member { packing: Packing::Stored, start, .. }) => {
                Some(start + self.header.data_offset)
            }
            Some(_) => None,
        }
    }

    /// The member of an archive whose checksum is to be confirmed, with where it starts.
    pub(crate) fn checksum(&self) -> Option<(u64, u32)> {
        self.member.as_ref().map(|member| (member.start, member.crc32))
    }

    /// Bytes that it takes on the disk.
    pub(crate) fn bytes(&self) -> u64 {
        self.member.as_ref().map_or(self.file.len(), |member| member.packed)
    }

    /// The numbers, front to back.
    pub fn stream(&self) -> Result<ArrayStream> {
        let (reader, member): (Box<dyn Read + Send>, _) = match &self.member {
            None => (Box::new(self.range(0, self.file.len())), None),
            Some(member) => {
                let packed = self.range(member.start, member.packed);
                let reader: Box<dyn Read + Send> = match member.packing {
                    Packing::Stored => Box::new(packed),
                    Packing::Deflated => Box::new(flate2::bufread::DeflateDecoder::new(packed)),
                };
                (reader, Some(member.clone()))
            }
        };
        let size = member.as_ref().map_or(self.file.len(), |member| member.size);
        let mut stream = ArrayStream {
            reader,
            file: self.file.clone(),
            left: size,
            position: 0,
            crc: member.map(|member| (flate2::Crc::new(), member.crc32)),
        };
        stream.skip(self.header.data_offset)?;
        Ok(stream)
    }

    fn range(&self, start: u64, length: u64) -> FileReader {
        FileReader::range(self.file.clone(), start..start + length, Arc::new(AtomicU64::new(0)))
    }
}

/// The bytes of an array, front to back.
pub struct ArrayStream {
    reader: Box<dyn Read + Send>,
    file: Arc<dyn ReadAt>,
    left: u64,
    position: u64,
    crc: Option<(flate2::Crc, u32)>,
}

impl ArrayStream {
    /// Fills `into` completely, or fails; the last bytes are checked against the archive.
    pub fn fill(&mut self, into: &mut [u8]) -> Result<()> {
        if into.len() as u64 > self.left {
            let found = format!("{} bytes left", self.left);
            let error = self.fault(found, format!("{} more", into.len()));
            return Err(error);
        }
        let mut filled = 0;
        while filled < into.len() {
            match self.reader.read(&mut into[filled..]) {
                Ok(0) => return Err(self.fault("the end of the data", "more of the array")),
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(match of_the_disk(error) {
                        Ok(error) => error.into(),
                        Err(error) => self.fault(error, "more of the array"),
                    });
                }
            }
        }
        self.position += filled as u64;
        self.left -= filled as u64;
        if let Some((crc, _)) = &mut self.crc {
            crc.update(into);
        }
        if self.left == 0 && filled > 0 { self.finish() } else { Ok(()) }
    }

    /// Passes over `length` bytes.
    pub fn skip(&mut self, mut length: u64) -> Result<()> {
        let mut waste = vec![0; length.min(64 << 10) as usize];
        while length > 0 {
            let piece = length.min(waste.len() as u64) as usize;
            self.fill(&mut waste[..piece])?;
            length -= piece as u64;
        }
        Ok(())
    }

    /// Bytes that are still to come.
    pub fn left(&self) -> u64 {
        self.left
    }

    fn finish(&mut self) -> Result<()> {
        let Some((crc, expected)) = self.crc.take() else { return Ok(()) };
        if !matches!(self.reader.read(&mut [0]), Ok(0)) {
            return Err(self.fault("more data", "the end that the directory names"));
        }
        if crc.sum() != expected {
            let found = format!("checksum {:08x}", crc.sum());
            return Err(self.fault(found, format!("{expected:08x}")));
        }
        Ok(())
    }

    fn fault(&self, found: impl std::fmt::Display, expected: impl std::fmt::Display) -> Error {
        let place = format!("byte {} of the array's file", self.position);
        let remedy = "the file is damaged; copy it again";
        Error::source(place, found, expected, remedy).in_file(self.file.path())
    }
}
