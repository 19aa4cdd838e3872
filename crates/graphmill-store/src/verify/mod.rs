//! Verification: every byte is read, every fault is named.
//!
//! Files are read through `pread`, never through a map, so that a file truncated meanwhile is an error and not a
//! SIGBUS. Blocks are read and digested in parallel; what stands inside the sections is checked on the same pass.

mod blocks;
mod dataset;
mod edge_sums;
mod ids;
mod list_starts;
mod lists;
mod names;
mod packed;
mod sums;
mod values;

use crate::mapped_file::{Origin, recognise};
use crate::{Error, Result};
use blocks::BlockReader;
use graphmill_disk::{Pread, ReadAt};
use graphmill_format::{
    FileKind, GraphLayout, HEADER_LENGTH, Header, ListOrder, SECTION_ALIGNMENT, Section, content,
    digest, graphzero,
};
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// More faults than this are counted, not listed: a file of noise must not fill memory with messages.
const MOST_FAULTS: usize = 1000;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file.
    pub path: PathBuf,
    /// The bytes concerned; empty when the fault has no place.
    pub bytes: Range<u64>,
    /// Section and block, such as `neighbours.out block 3`.
    pub place: String,
    /// What was found and what was expected.
    pub problem: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { path, bytes, place, problem } = self;
        write!(formatter, "`{}`: {place}", path.display())?;
        if !bytes.is_empty() {
            write!(formatter, " (bytes {} to {})", bytes.start, bytes.end - 1)?;
        }
        write!(formatter, ": {problem}")
    }
}

/// What a verification found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Files that were read.
    pub files: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// Whether digests were there to be compared; GraphZero's files have none.
    pub without_digests: u64,
    /// What is wrong, in file order.
    pub faults: Vec<Fault>,
    /// How many more faults there are than are listed.
    pub unlisted: u64,
}

impl Report {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }

    fn merge(&mut self, other: Report) {
        self.files += other.files;
        self.bytes += other.bytes;
        self.without_digests += other.without_digests;
        self.unlisted += other.unlisted;
        other.faults.into_iter().for_each(|fault| self.add(fault));
    }

    fn add(&mut self, fault: Fault) {
        if self.faults.len() < MOST_FAULTS { self.faults.push(fault) } else { self.unlisted += 1 }
    }
}

/// Checks a `.gl`, a `.gd` or a dataset's folder completely.
///
/// `Err` means that the verification itself could not be done, such as a path that does not exist; whatever is wrong
/// with the data is a fault in the report.
pub fn verify(path: impl AsRef<Path>) -> Result<Report> {
    let path = path.as_ref();
    if path.is_dir() { dataset::verify_folder(path) } else { verify_file(path, None) }
}

/// Checks one file; `source_rows` is how many rows the edges came from, if a dataset says it.
fn verify_file(path: &Path, source_rows: Option<u64>) -> Result<Report> {
    let mut report = Report::default();
    let file = Pread::open(path)?;
    report.files = 1;
    report.bytes = file.len();
    match check_file(&file, source_rows, &mut report) {
        Ok(()) => {}
        // What the bytes say wrongly is a fault; so is a file that changes while it is read.
        Err(Error::Format { source, .. }) => report.add(fault(path, "header", source)),
        Err(Error::Disk(
            source @ (graphmill_disk::Error::Truncated { .. }
            | graphmill_disk::Error::LengthChanged { .. }),
        )) => report.add(fault(path, "length", source)),
        Err(error) => return Err(error),
    }
    Ok(report)
}

fn fault(path: &Path, place: &str, problem: impl ToString) -> Fault {
    Fault {
        path: path.to_path_buf(),
        bytes: 0..0,
        place: place.to_owned(),
        problem: problem.to_string(),
    }
}

fn check_file(file: &Pread, source_rows: Option<u64>, report: &mut Report) -> Result<()> {
    let mut start = vec![0; file.len().min(HEADER_LENGTH) as usize];
    file.read_exact_at(0, &mut start)?;
    let wrong = |source| Error::Format { path: file.path().to_path_buf(), source };
    match recognise(&start) {
        Some((Origin::GraphZero, FileKind::Graph)) => {
            let layout = graphzero::parse_graph(&start, file.len()).map_err(wrong)?;
            report.without_digests = 1;
            check_graph(file, &layout, None, source_rows, report)?;
        }
        Some((Origin::GraphZero, FileKind::Table)) => {
            let (_, section) = graphzero::parse_table(&start, file.len()).map_err(wrong)?;
            report.without_digests = 1;
            BlockReader::new(file, None)?.check(&section, report, values::check_table)?;
        }
        _ => {
            let header = Header::parse(&start, file.len()).map_err(wrong)?;
            check_padding(file, &header, report)?;
            let digests = read_digests(file, &header, report)?;
            match header.kind() {
                FileKind::Graph => {
                    let layout = header.graph_layout().map_err(wrong)?;
                    check_graph(file, &layout, digests.as_ref(), source_rows, report)?;
                }
                FileKind::Table => {
                    header.table_shape().map_err(wrong)?;
                    let section = *header.table_section().map_err(wrong)?;
                    BlockReader::new(file, digests.as_ref())?.check(
                        &section,
                        report,
                        values::check_table,
                    )?;
                }
            }
            check_unread(file, &header, digests.as_ref(), report)?;
        }
    }
    Ok(file.check_length()?)
}

fn check_graph(
    file: &Pread,
    layout: &GraphLayout,
    digests: Option<&Digests>,
    source_rows: Option<u64>,
    report: &mut Report,
) -> Result<()> {
    let reader = BlockReader::new(file, digests)?;
    let before = report.faults.len();
    if layout.order == ListOrder::Time
        && layout.directions.iter().any(|lists| lists.edge_times.is_none())
    {
        let problem =
            "found lists in the order of time without times, expected a time of each edge";
        report.add(fault(file.path(), "header", problem));
    }
    let mut sums = Vec::new();
    for sections in &layout.directions {
        sums.push(lists::check_direction(&reader, layout, sections, source_rows, report)?);
    }
    // What is wrong in itself cannot be compared.
    if report.faults.len() == before {
        edge_sums::compare(&reader, layout, &sums, report)?;
    }
    if let Some(section) = &layout.original_ids {
        reader.check(section, report, values::nothing)?;
    }
    Ok(())
}

/// Sections that this release does not interpret still have digests.
fn check_unread(
    file: &Pread,
    header: &Header,
    digests: Option<&Digests>,
    report: &mut Report,
) -> Result<()> {
    let reader = BlockReader::new(file, digests)?;
    for section in header.sections().iter().filter(|section| section.kind.is_none()) {
        reader.check(section, report, values::nothing)?;
    }
    Ok(())
}

/// The digest table, with the place of each section's first digest.
pub(crate) struct Digests {
    values: Vec<u64>,
    starts: Vec<(u64, usize)>,
}

impl Digests {
    /// The digests of a section's blocks.
    fn of(&self, section: &Section) -> &[u64] {
        let start = self.starts.iter().find(|(offset, _)| *offset == section.offset);
        let start = start.map_or(self.values.len(), |(_, start)| *start);
        let count = digest::block_count(section.length()) as usize;
        &self.values[start..start + count]
    }
}

/// Reads the digest table; a damaged one is a fault, and blocks are then checked by content alone.
fn read_digests(file: &Pread, header: &Header, report: &mut Report) -> Result<Option<Digests>> {
    let section = header.digest_section();
    let mut bytes = vec![0; section.length() as usize];
    file.read_exact_at(section.offset, &mut bytes)?;
    let (found, expected) = (digest::digest(&bytes), header.digest_of_digests());
    if found != expected {
        report.add(Fault {
            path: file.path().to_path_buf(),
            bytes: section.range(),
            place: "digest table".to_owned(),
            problem: format!(
                "digest {found:#018x}, expected {expected:#018x}: the table is damaged"
            ),
        });
        return Ok(None);
    }
    let values = bytes.as_chunks::<8>().0.iter().map(|chunk| u64::from_le_bytes(*chunk)).collect();
    let mut starts = Vec::new();
    let mut next = 0;
    for section in header.sections().split_last().map_or(&[][..], |(_, others)| others) {
        // An empty section has no digest and may share its offset with the next one.
        if section.count > 0 {
            starts.push((section.offset, next));
            next += digest::block_count(section.length()) as usize;
        }
    }
    Ok(Some(Digests { values, starts }))
}

fn check_padding(file: &Pread, header: &Header, report: &mut Report) -> Result<()> {
    let mut padding = [0; SECTION_ALIGNMENT as usize];
    for section in header.sections() {
        let padding = &mut padding[..(section.padded_end() - section.end()) as usize];
        file.read_exact_at(section.end(), padding)?;
        if let Some(at) = content::first_nonzero(padding) {
            let byte = section.end() + at as u64;
            report.add(Fault {
                path: file.path().to_path_buf(),
                bytes: byte..byte + 1,
                place: format!("padding after {section}"),
                problem: format!("found {}, expected 0", padding[at]),
            });
        }
    }
    Ok(())
}
