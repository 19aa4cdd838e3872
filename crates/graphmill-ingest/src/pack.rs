//! From a `.gl` with plain lists to one with packed lists.
//! Writers make plain lists, because sections must have their places before they are written; here they are read back,
//! measured, and encoded, each on all threads. The plain file is a scratch file that nobody else sees. It must not know
//! how lists came to be, nor who publishes the file.

use std::ffi::OsString;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use graphmill_disk::{Budget, FileSystem, OutputFile, PageBuffer};
use graphmill_format::digest::BLOCK_LENGTH;
use graphmill_format::packed::{
    Directory, MOST_OF_ENTRY, TAIL_LENGTH, VALUES_PER_ENTRY, append_blocks, directory_length,
};
use graphmill_format::{
    DirectionSections, ElementType, GraphShape, Header, ListOrder, PackedLengths, Section,
};

use crate::edge_sort::workers::share_out;
use crate::progress::{Observer, Stage};
use crate::shared_section::SharedSection;
use crate::table_writer::{Written, seal};
use crate::{Error, Result};

/// Entries of a directory that one thread measures or encodes at a time.
const ENTRIES: u64 = 32;
const VALUES: u64 = ENTRIES * VALUES_PER_ENTRY;
/// Bytes that the blocks of a piece take at most.
const ENCODED: u64 = ENTRIES * MOST_OF_ENTRY;

/// Has a plain `.gl` written into a scratch file beside `name`, and packs it into an empty file that somebody else
/// publishes under that name.
pub(crate) fn write_packed<R>(
    file_system: &dyn FileSystem,
    file: &dyn OutputFile,
    name: &Path,
    budget: &Budget,
    observer: Option<Observer<'_>>,
    write_plain: impl FnOnce(&dyn OutputFile) -> Result<(Written, R)>,
) -> Result<(Written, R)> {
    let mut scratch = OsString::from(".");
    scratch.push(name.file_name().unwrap_or_default());
    scratch.push(".plain");
    let plain = file_system.scratch(&name.with_file_name(scratch))?;
    let (written, report) = write_plain(&*plain)?;
    let written = Packing { plain: &*plain, file, name, observer }.run(&written, budget)?;
    Ok((written, report))
}

struct Packing<'p> {
    plain: &'p dyn OutputFile,
    file: &'p dyn OutputFile,
    name: &'p Path,
    observer: Option<Observer<'p>>,
}

/// The two sequences of a direction, measured.
struct Measured {
    offsets: Directory,
    neighbours: Directory,
}

impl Packing<'_> {
    fn run(&self, written: &Written, budget: &Budget) -> Result<Written> {
        let header = Header::parse(&written.header, written.length);
        let layout = header.and_then(|header| header.graph_layout()).map_err(self.wrong())?;
        let values = layout.num_nodes + 1 + layout.num_edges;
        let directories = Directory::memory(layout.num_nodes + 1)
            .saturating_add(Directory::memory(layout.num_edges))
            .saturating_mul(layout.directions.len() as u64);
        let mut reserved = budget.reserve(directories, "the directories of packed lists")?;
        // What a thread reads, converts and encodes, and the block of output that it is in the middle of.
        let worker = VALUES * 16 + ENCODED + 2 * BLOCK_LENGTH;
        let threads = graphmill_disk::pool()?.current_num_threads() as u64;
        let workers = threads.min(budget.free() / worker).max(1);
        reserved.grow(worker.saturating_mul(workers).min(budget.free()))?;
        let workers = workers as usize;

        let total = values * 2 * layout.directions.len() as u64;
        let stage = Mutex::new(Stage::new(self.observer, "packing lists", total));
        let advance =
            |values: u64| stage.lock().unwrap_or_else(PoisonError::into_inner).advance(values);
        let measure = |section: &Section| self.measure(section, workers, &advance);
        let mut measured = Vec::new();
        for lists in &layout.directions {
            let offsets = measure(&lists.offsets)?;
            measured.push(Measured { offsets, neighbours: measure(&lists.neighbours)? });
        }
        let mut shape = layout.shape();
        let lengths = |lists: &Measured| PackedLengths {
            offsets: lists.offsets.sequence_length(),
            neighbours: lists.neighbours.sequence_length(),
        };
        shape.packed = measured.iter().map(lengths).collect();
        let header = Header::for_graph(&shape).map_err(self.wrong())?;
        let packed = header.graph_layout().map_err(self.wrong())?;
        let mut digests = Vec::new();
        for ((plain, packed), directories) in
            layout.directions.iter().zip(&packed.directions).zip(&measured)
        {
            let Measured { offsets, neighbours } = directories;
            let pairs = [
                (&plain.offsets, &packed.offsets, offsets),
                (&plain.neighbours, &packed.neighbours, neighbours),
            ];
            for (from, to, directory) in pairs {
                digests.extend(self.encode(from, to, directory, workers, &advance)?);
            }
            for (from, to) in optional(plain).into_iter().zip(optional(packed)) {
                digests.extend(self.copy(from, to, workers)?);
            }
        }
        if let (Some(from), Some(to)) = (&layout.original_ids, &packed.original_ids) {
            digests.extend(self.copy(from, to, workers)?);
        }
        seal(self.file, header, &digests)
    }

    fn measure(
        &self,
        section: &Section,
        workers: usize,
        advance: &(dyn Fn(u64) -> Result<()> + Sync),
    ) -> Result<Directory> {
        let pieces = section.count.div_ceil(VALUES) as usize;
        let measured: Mutex<Vec<Directory>> = Mutex::new(vec![Directory::default(); pieces]);
        share_out(workers, pieces, Numbers::default, |numbers, piece| {
            let values = numbers.read(self.plain, section, piece_of(section, piece))?;
            let mut directory = Directory::default();
            directory.measure(values).map_err(self.wrong())?;
            measured.lock().unwrap_or_else(PoisonError::into_inner)[piece] = directory;
            advance(values.len() as u64)
        })?;
        let mut whole = Directory::default();
        let measured = measured.into_inner().unwrap_or_else(PoisonError::into_inner);
        measured.into_iter().for_each(|directory| whole.append(directory));
        Ok(whole)
    }

    /// Writes a packed section; gives the digests of its blocks.
    fn encode(
        &self,
        from: &Section,
        to: &Section,
        directory: &Directory,
        workers: usize,
        advance: &(dyn Fn(u64) -> Result<()> + Sync),
    ) -> Result<Vec<u64>> {
        let section = SharedSection::new(self.file, to);
        let mut at = 0;
        for entries in directory.encode().collect::<Vec<_>>().chunks(1 << 10) {
            let bytes = entries.as_flattened();
            section.write(at, bytes)?;
            at += bytes.len() as u64;
        }
        debug_assert_eq!(at, directory_length(from.count));
        // Where the blocks of each piece begin.
        let mut starts = Vec::new();
        for entry in 0..directory.len() {
            if (entry as u64).is_multiple_of(ENTRIES) {
                starts.push(at);
            }
            at += directory.entry_length(entry);
        }
        section.write(at, &[0; TAIL_LENGTH as usize])?;
        let own = || (Numbers::default(), Vec::new());
        share_out(workers, starts.len(), own, |(numbers, bytes), piece| {
            let values = numbers.read(self.plain, from, piece_of(from, piece))?;
            bytes.clear();
            append_blocks(values, bytes).map_err(self.wrong())?;
            section.write(starts[piece], bytes)?;
            advance(values.len() as u64)
        })?;
        section.finish()
    }

    /// Writes a section that stays as it is; gives the digests of its blocks.
    fn copy(&self, from: &Section, to: &Section, workers: usize) -> Result<Vec<u64>> {
        let section = SharedSection::new(self.file, to);
        let blocks = from.length().div_ceil(BLOCK_LENGTH) as usize;
        let own = || PageBuffer::new(BLOCK_LENGTH as usize);
        share_out(workers, blocks, own, |buffer, block| {
            let at = block as u64 * BLOCK_LENGTH;
            let bytes = &mut buffer[..(from.length() - at).min(BLOCK_LENGTH) as usize];
            self.plain.read_exact_at(from.offset + at, bytes)?;
            let mut whole = section.whole_block(block as u64);
            whole.write(bytes)?;
            whole.finish()
        })?;
        section.finish()
    }

    fn wrong(&self) -> impl FnOnce(graphmill_format::Error) -> Error {
        Error::format(self.name)
    }
}

/// The values of a piece of a section.
fn piece_of(section: &Section, piece: usize) -> Range<u64> {
    let first = piece as u64 * VALUES;
    first..section.count.min(first + VALUES)
}

/// The sections of a direction that are as long as their elements say.
fn optional(lists: &DirectionSections) -> Vec<&Section> {
    let optional = [&lists.edge_ids, &lists.weights, &lists.cumulative_weights, &lists.edge_times];
    optional.into_iter().filter_map(Option::as_ref).collect()
}

/// Plain numbers of a section, read a piece at a time; keeps its memory.
#[derive(Default)]
struct Numbers {
    bytes: Option<PageBuffer>,
    values: Vec<u64>,
}

impl Numbers {
    fn read(
        &mut self,
        file: &dyn OutputFile,
        section: &Section,
        range: Range<u64>,
    ) -> Result<&[u64]> {
        let width = section.element.width();
        let bytes = self.bytes.get_or_insert_with(|| PageBuffer::new((VALUES * 8) as usize));
        let bytes = &mut bytes[..((range.end - range.start) * width) as usize];
        file.read_exact_at(section.offset + range.start * width, bytes)?;
        self.values.clear();
        if section.element == ElementType::I32 {
            let ids = bytes.as_chunks().0.iter();
            self.values.extend(ids.map(|id| u64::from(u32::from_le_bytes(*id))));
        } else {
            let ids = bytes.as_chunks().0.iter();
            self.values.extend(ids.map(|id| u64::from_le_bytes(*id)));
        }
        Ok(&self.values)
    }
}

/// Whether packing pays by itself: when plain lists would take more than a quarter of the machine's memory, and are in the
/// order of ids, without which there is little to gain.
pub(crate) fn pays(shape: &GraphShape) -> bool {
    let neighbours = shape.num_edges.saturating_mul(shape.neighbours.width());
    let direction = shape.num_nodes.saturating_mul(8).saturating_add(neighbours);
    let bytes = direction.saturating_mul(shape.directions.len() as u64);
    shape.order == ListOrder::Id && bytes > graphmill_disk::default_budget()
}
