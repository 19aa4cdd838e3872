//! The header that every file starts with: 4 KiB that say what the file is and where its sections lie.
//!
//! `parse` believes nothing: magic, version, features, checksum, reserved bytes, and that the sections tile the file
//! from the header's end to the file's last byte. What the sections mean is the business of `graph` and `table`.

use crate::bytes::{first_nonzero, printable, put, u16_at, u32_at, u64_at};
use crate::section::ENTRY_LENGTH;
use crate::{
    Direction, ElementType, Error, Result, SECTION_ALIGNMENT, Section, SectionKind, digest,
    feature_bits,
};

/// Length of the header, and where the first section starts.
pub const HEADER_LENGTH: u64 = 4096;
/// The major version that this release reads and writes.
pub const MAJOR: u16 = 1;
/// The minor version that this release writes; files of later ones are read.
pub const MINOR: u16 = 0;

const VERSION_AT: usize = 8;
const LENGTH_AT: usize = 12;
const INCOMPATIBLE_AT: usize = 16;
const COMPATIBLE_AT: usize = 24;
const FILE_LENGTH_AT: usize = 32;
const COUNT_AT: usize = 40;
const BLOCK_LENGTH_AT: usize = 44;
const DIGEST_AT: usize = 48;
const RESERVED_AT: usize = 56;
/// Where the numbers of the particular kind of file are.
pub(crate) const DESCRIPTION_AT: usize = 64;
pub(crate) const DESCRIPTION_LENGTH: usize = 192;
const TABLE_AT: usize = 256;
const MOST_SECTIONS: usize = 56;
const TABLE_END: usize = TABLE_AT + MOST_SECTIONS * ENTRY_LENGTH;
/// Where the checksum of everything before it stands: the last four bytes.
pub(crate) const CHECKSUM_AT: usize = 4092;

/// The two kinds of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// `.gl`: topology.
    Graph,
    /// `.gd`: one table.
    Table,
}

impl FileKind {
    /// The first eight bytes: a byte above 127, three letters, then line ends that a text-mode copy would spoil.
    pub fn magic(self) -> [u8; 8] {
        match self {
            FileKind::Graph => *b"\x89GML\r\n\x1a\n",
            FileKind::Table => *b"\x89GMD\r\n\x1a\n",
        }
    }

    /// The kind of file that starts with these bytes.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        [FileKind::Graph, FileKind::Table].into_iter().find(|kind| bytes.starts_with(&kind.magic()))
    }

    /// What messages call it.
    pub fn name(self) -> &'static str {
        match self {
            FileKind::Graph => "a graphmill topology (.gl)",
            FileKind::Table => "a graphmill table (.gd)",
        }
    }
}

/// A header that has been checked, or planned for a file to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    kind: FileKind,
    minor: u16,
    incompatible: u64,
    compatible: u64,
    file_length: u64,
    digest_of_digests: u64,
    description: [u8; DESCRIPTION_LENGTH],
    sections: Vec<Section>,
}

/// A section to be written: what, which way, of what, how many.
pub(crate) type SectionPlan = (SectionKind, Option<Direction>, ElementType, u64);

impl Header {
    /// Lays out sections one after the other and adds the digest table that covers them.
    pub(crate) fn plan(
        kind: FileKind,
        description: [u8; DESCRIPTION_LENGTH],
        plans: impl IntoIterator<Item = SectionPlan>,
    ) -> Result<Self> {
        let mut sections = Vec::new();
        let mut end = HEADER_LENGTH;
        let mut digests = 0_u64;
        for (kind, direction, element, count) in plans {
            let section = Section::new(kind, direction, element, end, count)?;
            end = section.padded_end();
            digests += digest::block_count(section.length());
            sections.push(section);
        }
        let table = Section::new(SectionKind::Digests, None, ElementType::U64, end, digests)?;
        sections.push(table);
        if sections.len() > MOST_SECTIONS {
            return Err(Error::impossible("header", format!("more than {MOST_SECTIONS} sections")));
        }
        Ok(Header {
            kind,
            minor: MINOR,
            incompatible: 0,
            compatible: 0,
            file_length: table.padded_end(),
            digest_of_digests: 0,
            description,
            sections,
        })
    }

    /// Reads the header of a file that is `file_length` bytes long.
    ///
    /// `bytes` are the first bytes of the file, [`HEADER_LENGTH`] of them unless the file is shorter.
    pub fn parse(bytes: &[u8], file_length: u64) -> Result<Self> {
        let Some(kind) = FileKind::of(bytes) else {
            let expected = "a graphmill file (.gl or .gd)";
            return Err(Error::Magic { expected, found: printable(bytes) });
        };
        if bytes.len() < HEADER_LENGTH as usize {
            let why = "a header alone is that long";
            return Err(Error::Length { found: file_length, expected: HEADER_LENGTH, why });
        }
        let bytes = &bytes[..HEADER_LENGTH as usize];
        let header_length = u32_at(bytes, LENGTH_AT);
        if header_length == (HEADER_LENGTH as u32).swap_bytes() {
            return Err(Error::ForeignEndian);
        }
        let major = u16_at(bytes, VERSION_AT);
        if major != MAJOR {
            return Err(Error::Version { place: "byte 8", found: major, expected: MAJOR });
        }
        let (found, expected) = (u32_at(bytes, CHECKSUM_AT), crc32c::crc32c(&bytes[..CHECKSUM_AT]));
        if found != expected {
            return Err(Error::Checksum {
                what: "checksum of the header",
                at: CHECKSUM_AT as u64,
                found: found.into(),
                expected: expected.into(),
            });
        }
        if u64::from(header_length) != HEADER_LENGTH {
            return Err(Error::field(
                "header length",
                LENGTH_AT as u64,
                header_length,
                HEADER_LENGTH,
            ));
        }
        let incompatible = u64_at(bytes, INCOMPATIBLE_AT);
        let unknown = incompatible & !feature_bits::supported(kind);
        if unknown != 0 {
            return Err(Error::Feature { place: "byte 16", names: feature_bits::names(unknown) });
        }
        let claimed_length = u64_at(bytes, FILE_LENGTH_AT);
        if claimed_length != file_length {
            let why = "its header says so";
            return Err(Error::Length { found: file_length, expected: claimed_length, why });
        }
        let block_length = u32_at(bytes, BLOCK_LENGTH_AT);
        if u64::from(block_length) != digest::BLOCK_LENGTH {
            let at = BLOCK_LENGTH_AT as u64;
            return Err(Error::field(
                "digest block length",
                at,
                block_length,
                digest::BLOCK_LENGTH,
            ));
        }
        let sections = parse_sections(bytes, file_length)?;
        let mut description = [0; DESCRIPTION_LENGTH];
        description.copy_from_slice(&bytes[DESCRIPTION_AT..DESCRIPTION_AT + DESCRIPTION_LENGTH]);
        Ok(Header {
            kind,
            minor: u16_at(bytes, VERSION_AT + 2),
            incompatible,
            compatible: u64_at(bytes, COMPATIBLE_AT),
            file_length,
            digest_of_digests: u64_at(bytes, DIGEST_AT),
            description,
            sections,
        })
    }

    /// The header as it stands in the file.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_LENGTH as usize];
        put(&mut bytes, 0, &self.kind.magic());
        put(&mut bytes, VERSION_AT, &MAJOR.to_le_bytes());
        put(&mut bytes, VERSION_AT + 2, &self.minor.to_le_bytes());
        put(&mut bytes, LENGTH_AT, &(HEADER_LENGTH as u32).to_le_bytes());
        put(&mut bytes, INCOMPATIBLE_AT, &self.incompatible.to_le_bytes());
        put(&mut bytes, COMPATIBLE_AT, &self.compatible.to_le_bytes());
        put(&mut bytes, FILE_LENGTH_AT, &self.file_length.to_le_bytes());
        put(&mut bytes, COUNT_AT, &(self.sections.len() as u32).to_le_bytes());
        put(&mut bytes, BLOCK_LENGTH_AT, &(digest::BLOCK_LENGTH as u32).to_le_bytes());
        put(&mut bytes, DIGEST_AT, &self.digest_of_digests.to_le_bytes());
        put(&mut bytes, DESCRIPTION_AT, &self.description);
        for (section, entry) in self.sections.iter().zip(bytes[TABLE_AT..].chunks_mut(ENTRY_LENGTH))
        {
            section.encode(entry);
        }
        let checksum = crc32c::crc32c(&bytes[..CHECKSUM_AT]);
        put(&mut bytes, CHECKSUM_AT, &checksum.to_le_bytes());
        bytes
    }

    /// Records the digest of the digest table, once the data has been written.
    pub fn seal(&mut self, digest_table: &[u8]) {
        self.digest_of_digests = digest::digest(digest_table);
    }

    /// `.gl` or `.gd`.
    pub fn kind(&self) -> FileKind {
        self.kind
    }

    /// Major and minor version of the file.
    pub fn version(&self) -> (u16, u16) {
        (MAJOR, self.minor)
    }

    /// Bytes of the whole file.
    pub fn file_length(&self) -> u64 {
        self.file_length
    }

    /// All sections in file order; the digest table is the last.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The section of this kind and direction.
    pub fn section(&self, kind: SectionKind, direction: Option<Direction>) -> Option<&Section> {
        self.sections
            .iter()
            .find(|section| section.kind == Some(kind) && section.direction == direction)
    }

    /// The digest table's own section.
    pub fn digest_section(&self) -> &Section {
        self.sections.last().expect("plan and parse both end the table with the digest section")
    }

    /// What the digest of the digest table must be.
    pub fn digest_of_digests(&self) -> u64 {
        self.digest_of_digests
    }

    /// The same header, with features that readers must know.
    pub(crate) fn needing(self, features: u64) -> Self {
        Header { incompatible: features, ..self }
    }

    /// Whether readers must know a feature.
    pub(crate) fn needs(&self, feature: u64) -> bool {
        self.incompatible & feature == feature
    }

    pub(crate) fn description(&self) -> &[u8; DESCRIPTION_LENGTH] {
        &self.description
    }
}

/// Reads the section table and checks that the sections tile the file exactly.
fn parse_sections(bytes: &[u8], file_length: u64) -> Result<Vec<Section>> {
    let count = u32_at(bytes, COUNT_AT) as usize;
    if !(1..=MOST_SECTIONS).contains(&count) {
        let expected = format!("1 to {MOST_SECTIONS}");
        return Err(Error::field("section count", COUNT_AT as u64, count, expected));
    }
    let unused = TABLE_AT + count * ENTRY_LENGTH;
    let reserved = first_nonzero(bytes, RESERVED_AT..DESCRIPTION_AT)
        .or_else(|| first_nonzero(bytes, unused..TABLE_END))
        .or_else(|| first_nonzero(bytes, TABLE_END..CHECKSUM_AT));
    if let Some(at) = reserved {
        return Err(Error::field("reserved byte", at as u64, bytes[at], 0));
    }
    let mut sections: Vec<Section> = Vec::with_capacity(count);
    let mut end = HEADER_LENGTH;
    let mut digests = 0_u64;
    for index in 0..count {
        let at = TABLE_AT + index * ENTRY_LENGTH;
        let section = Section::parse(bytes, at, end)?;
        let same = |other: &Section| other.to_string() == section.to_string();
        if sections.iter().any(same) {
            return Err(Error::field("section", at as u64, section, "each section once"));
        }
        let is_digests = section.kind == Some(SectionKind::Digests);
        if is_digests != (index + 1 == count) {
            return Err(Error::field("section", at as u64, section, "the digest table, last"));
        }
        if is_digests && (section.count != digests || section.element != ElementType::U64) {
            let found = format!("{} x {}", section.count, section.element);
            let expected = format!("{digests} x uint64");
            return Err(Error::field("digest table", at as u64 + 24, found, expected));
        }
        end = section.padded_end();
        digests += digest::block_count(section.length());
        sections.push(section);
    }
    if end != file_length {
        let why = "its sections end there";
        return Err(Error::Length { found: file_length, expected: end, why });
    }
    debug_assert!(end.is_multiple_of(SECTION_ALIGNMENT));
    Ok(sections)
}
