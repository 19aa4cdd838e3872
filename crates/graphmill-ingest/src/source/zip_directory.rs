//! The directory of a zip archive, read strictly.
//! Only what NumPy writes is understood: one disk, stored or deflated members, with or without
//! zip64; every offset and size is checked against the file before it is believed. It must not
//! know what the members hold.

use std::fmt::Display;

use graphmill_disk::ReadAt;

use crate::{Error, Result};

const END: u32 = 0x0605_4B50;
const END_64_LOCATOR: u32 = 0x0706_4B50;
const END_64: u32 = 0x0606_4B50;
const CENTRAL: u32 = 0x0201_4B50;
const LOCAL: u32 = 0x0403_4B50;
/// No archive of arrays has a directory that comes near this.
const LARGEST_DIRECTORY: u64 = 4 << 20;
/// Deflate cannot make more out of a byte.
const LARGEST_RATIO: u64 = 1032;

/// How a member is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Stored,
    Deflated,
}

/// One member of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) packing: Packing,
    /// Where its bytes start in the archive.
    pub(crate) start: u64,
    pub(crate) packed: u64,
    pub(crate) size: u64,
    pub(crate) crc32: u32,
}

/// Reads the directory of an archive.
pub(crate) fn members(file: &dyn ReadAt) -> Result<Vec<Member>> {
    read_members(file).map_err(|error| error.in_file(file.path()))
}

fn read_members(file: &dyn ReadAt) -> Result<Vec<Member>> {
    let (count, start, length) = directory(file)?;
    let mut bytes = vec![0; length as usize];
    file.read_exact_at(start, &mut bytes)?;
    let mut rest = &bytes[..];
    let mut members: Vec<Member> = Vec::new();
    for index in 0..count {
        let at = start + (bytes.len() - rest.len()) as u64;
        let (member, behind) = entry(file, rest, at, start)?;
        if members.iter().any(|known| known.name == member.name) {
            let found = format!("{:?} twice", member.name);
            return Err(wrong(at, found, "names that differ", "save the arrays again"));
        }
        members.push(member);
        rest = behind;
        if rest.is_empty() && index + 1 < count {
            let found = format!("{} members", index + 1);
            return Err(wrong(at, found, count, "the archive is damaged; copy it again"));
        }
    }
    if !rest.is_empty() {
        let found = format!("{} bytes behind the last member", rest.len());
        return Err(wrong(start, found, "none", "the archive is damaged; copy it again"));
    }
    Ok(members)
}

/// Number of members, and where the directory lies.
fn directory(file: &dyn ReadAt) -> Result<(u64, u64, u64)> {
    let length = file.len();
    // The end record has 22 bytes and a comment of at most 65535.
    let tail_length = length.min(22 + 65_535);
    let tail_at = length - tail_length;
    let mut tail = vec![0; tail_length as usize];
    file.read_exact_at(tail_at, &mut tail)?;
    let last = (0..tail.len().saturating_sub(21)).rev().find(|&at| {
        number(&tail, at, 4) == Some(u64::from(END))
            && number(&tail, at + 20, 2) == Some((tail.len() - at - 22) as u64)
    });
    let Some(at) = last else {
        let remedy = "the archive is truncated; copy it again";
        return Err(wrong(length, "no end record", "the end of a zip archive", remedy));
    };
    let end = &tail[at..];
    let end_at = tail_at + at as u64;
    let field = |offset, width| number(end, offset, width).unwrap_or(0);
    let mut found = (field(10, 2), field(16, 4), field(12, 4));
    let mut disks = (field(4, 2), field(6, 2));
    let mut limit = end_at;
    let escaped = found.0 == 0xFFFF || found.1 == 0xFFFF_FFFF || found.2 == 0xFFFF_FFFF;
    if let Some(locator_at) = end_at.checked_sub(20)
        && escaped
    {
        let mut locator = [0; 20];
        file.read_exact_at(locator_at, &mut locator)?;
        if number(&locator, 0, 4) == Some(u64::from(END_64_LOCATOR)) {
            let at = number(&locator, 8, 8).unwrap_or(0);
            let mut end = [0; 56];
            if at.checked_add(56).is_none_or(|behind| behind > locator_at) {
                let remedy = "the archive is damaged; copy it again";
                return Err(wrong(
                    locator_at,
                    format!("an end record at {at}"),
                    "one before it",
                    remedy,
                ));
            }
            file.read_exact_at(at, &mut end)?;
            let field = |offset, width| number(&end, offset, width).unwrap_or(0);
            if field(0, 4) != u64::from(END_64) {
                let remedy = "the archive is damaged; copy it again";
                return Err(wrong(at, "something else", "the end record of zip64", remedy));
            }
            found = (field(32, 8), field(48, 8), field(40, 8));
            disks = (field(16, 4), field(20, 4));
            limit = at;
        }
    }
    let (count, start, size) = found;
    if disks != (0, 0) {
        return Err(wrong(end_at, "several disks", "one file", "save the arrays again"));
    }
    let fits = start.checked_add(size).is_some_and(|behind| behind == limit);
    if !fits || size > LARGEST_DIRECTORY || count > size / 46 {
        let found = format!("{count} members in {size} bytes at {start}");
        let expected = format!("a directory that ends at byte {limit}");
        return Err(wrong(end_at, found, expected, "the archive is damaged; copy it again"));
    }
    Ok((count, start, size))
}

/// The first entry of a directory, and what follows it.
fn entry<'a>(
    file: &dyn ReadAt,
    bytes: &'a [u8],
    at: u64,
    directory: u64,
) -> Result<(Member, &'a [u8])> {
    let damaged = |found: &str, expected: &str| {
        wrong(at, found, expected, "the archive is damaged; copy it again")
    };
    if bytes.len() < 46 || number(bytes, 0, 4) != Some(u64::from(CENTRAL)) {
        return Err(damaged("something else", "an entry of the directory"));
    }
    let field = |offset, width| number(bytes, offset, width).unwrap_or(0);
    let lengths = [28, 30, 32].map(|offset| field(offset, 2) as usize);
    let [name, extra, comment] = lengths;
    let Some(variable) = bytes[46..].get(..name + extra + comment) else {
        return Err(damaged("the end of the directory", "the rest of an entry"));
    };
    let raw_name = &variable[..name];
    let name = plain_name(raw_name, at)?;
    let (flags, method) = (field(8, 2), field(10, 2));
    if flags & 1 != 0 {
        let found = format!("{name:?}, encrypted");
        return Err(wrong(at, found, "plain arrays", "save the arrays without a password"));
    }
    let packing = match method {
        0 => Packing::Stored,
        8 => Packing::Deflated,
        other => {
            let found = format!("{name:?}, compressed by method {other}");
            let remedy = "save with numpy.savez or savez_compressed";
            return Err(wrong(at, found, "stored or deflated arrays", remedy));
        }
    };
    let mut large = large_fields(&variable[raw_name.len()..raw_name.len() + extra]);
    let mut widened = |value: u64| {
        if value == 0xFFFF_FFFF { large.next() } else { Some(value) }
    };
    let (Some(size), Some(packed), Some(header)) =
        (widened(field(24, 4)), widened(field(20, 4)), widened(field(42, 4)))
    else {
        return Err(damaged("a size that is missing", "the sizes of zip64"));
    };
    let start = data_start(file, header, raw_name, method, directory, at)?;
    if start.checked_add(packed).is_none_or(|behind| behind > directory) {
        let found = format!("{name:?}, {packed} bytes from byte {start}");
        let expected = format!("members that end before byte {directory}");
        return Err(damaged(&found, &expected));
    }
    let most = match packing {
        Packing::Stored => packed,
        Packing::Deflated => packed.saturating_mul(LARGEST_RATIO),
    };
    if size > most || (packing == Packing::Stored && size != packed) {
        let found = format!("{name:?}, {size} bytes packed into {packed}");
        return Err(damaged(&found, &format!("at most {most} bytes")));
    }
    let member = Member { name, packing, start, packed, size, crc32: field(16, 4) as u32 };
    Ok((member, &bytes[46 + lengths.iter().sum::<usize>()..]))
}

/// A name that leads nowhere.
fn plain_name(raw: &[u8], at: u64) -> Result<String> {
    let name = String::from_utf8_lossy(raw).into_owned();
    let leads_away = name.contains(['/', '\\', '\0', ':']) || name.is_empty() || name == "..";
    if leads_away {
        let found = format!("member {name:?}");
        let remedy = "is this a .npz? save arrays with numpy.savez";
        return Err(wrong(at, found, "plain names such as edge_index.npy", remedy));
    }
    Ok(name)
}

/// The 64-bit fields of an entry, in the order of the fields that ask for them.
fn large_fields(mut extra: &[u8]) -> impl Iterator<Item = u64> {
    let mut fields = &[][..];
    while let (Some(kind), Some(length)) = (number(extra, 0, 2), number(extra, 2, 2)) {
        let Some(content) = extra.get(4..4 + length as usize) else { break };
        if kind == 1 {
            fields = content;
        }
        extra = &extra[4 + length as usize..];
    }
    fields.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes))
}

/// Where the bytes of a member start, by its own header.
fn data_start(
    file: &dyn ReadAt,
    header: u64,
    name: &[u8],
    method: u64,
    directory: u64,
    at: u64,
) -> Result<u64> {
    let remedy = "the archive is damaged; copy it again";
    if header.checked_add(30 + name.len() as u64).is_none_or(|behind| behind > directory) {
        let found = format!("a member at byte {header}");
        return Err(wrong(at, found, format!("one before byte {directory}"), remedy));
    }
    let mut bytes = vec![0; 30 + name.len()];
    file.read_exact_at(header, &mut bytes)?;
    let field = |offset, width| number(&bytes, offset, width).unwrap_or(0);
    let same = field(0, 4) == u64::from(LOCAL)
        && field(8, 2) == method
        && field(26, 2) == name.len() as u64
        && &bytes[30..] == name;
    if !same {
        let expected = "the member that the directory names";
        return Err(wrong(header, "another header", expected, remedy));
    }
    Ok(header + 30 + name.len() as u64 + field(28, 2))
}

fn number(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + width)?;
    Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

fn wrong(at: u64, found: impl Display, expected: impl Display, remedy: &'static str) -> Error {
    Error::source(format!("byte {at}"), found, expected, remedy)
}
