//! The queue of one thread, with the memory that it reads into.
//! It keeps as many requests in flight as the device likes, hands out ranges as they arrive, and is kept for the thread's
//! next call. Whatever happens in between, no memory is freed before the kernel has let go of it, and a forked child
//! touches nothing of its parent's.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::ops::Range;

use super::arena::{Arena, Extent};
use super::queue::{Kind, Queue};
use crate::error::{Error, Result};
use crate::read::piece::Piece;
use crate::read::source::{Source, with_blocks};

/// Requests in flight at most.
pub(in crate::read) const DEPTH: u32 = 128;
/// Bytes in flight, unless one range alone is longer.
const ARENA_BYTES: usize = 4 << 20;

/// Bytes that a call takes at most.
pub(in crate::read) fn memory(longest: u64) -> u64 {
    let slots = u64::from(DEPTH) * (size_of::<Slot>() + size_of::<(u64, i32)>() + 16) as u64;
    // The kernel's part: a request of 64 bytes for each, and two answers of 16.
    let ring = u64::from(DEPTH) * 128 + 8192;
    with_blocks(longest).max(ARENA_BYTES as u64).saturating_add(slots + ring)
}

thread_local! {
    /// One for each kind of queue, since making and ending one takes longer than many reads. Empty while in use: a call
    /// within a call makes another.
    static KEPT: [Cell<Option<Box<Workplace>>>; 2] = const { [Cell::new(None), Cell::new(None)] };
}

/// A range in flight.
#[derive(Clone, Copy, Debug)]
struct Slot {
    piece: Piece,
    room: Extent,
    /// Requests that have not come back, whether made or not.
    missing: u32,
}

pub(in crate::read) struct Workplace {
    queue: ManuallyDrop<Queue>,
    arena: ManuallyDrop<Arena>,
    slots: Vec<Slot>,
    free_slots: Vec<u32>,
    /// Completions that were taken from the ring together.
    arrived: Vec<(u64, i32)>,
    /// Requests that the kernel has, or will have with the next system call.
    in_flight: u32,
    /// How many may be in flight in this call.
    depth: u32,
    /// The process that it was made in.
    process: u32,
}

impl Workplace {
    /// The one that this thread keeps, or a new one, with room for a range of `longest` bytes.
    pub(in crate::read) fn of_thread(
        kind: Kind,
        longest: usize,
        depth: u32,
    ) -> io::Result<Box<Self>> {
        let process = std::process::id();
        // A thread that is ending keeps nothing any more.
        let kept = KEPT.try_with(|kept| kept[kind as usize].take()).ok().flatten();
        let mut workplace = match kept.filter(|kept| kept.process == process) {
            Some(kept) => kept,
            None => Box::new(Self::new(kind, process)?),
        };
        if workplace.arena.len() < longest {
            // Nothing is in flight between calls.
            *workplace.arena = Arena::new(longest);
        }
        workplace.depth = depth.clamp(1, DEPTH);
        Ok(workplace)
    }

    fn new(kind: Kind, process: u32) -> io::Result<Self> {
        Ok(Self {
            queue: ManuallyDrop::new(Queue::new(kind, DEPTH)?),
            arena: ManuallyDrop::new(Arena::new(ARENA_BYTES)),
            slots: Vec::with_capacity(DEPTH as usize),
            free_slots: Vec::with_capacity(DEPTH as usize),
            arrived: Vec::with_capacity(DEPTH as usize),
            in_flight: 0,
            depth: DEPTH,
            process,
        })
    }

    /// Reads ranges that were checked, and keeps the ring for the next call if all went well.
    pub(in crate::read) fn read_each(
        mut self: Box<Self>,
        source: &Source,
        ranges: &[Range<u64>],
        take: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<()> {
        // Dropping it, after an error or a panic of `take`, waits for what is in flight.
        self.run(source, ranges, take)?;
        if self.arena.len() > ARENA_BYTES {
            *self.arena = Arena::new(ARENA_BYTES);
        }
        let _ending = KEPT.try_with(|kept| kept[self.queue.kind() as usize].set(Some(self)));
        Ok(())
    }

    fn run(
        &mut self,
        source: &Source,
        ranges: &[Range<u64>],
        take: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<()> {
        let direct = source.direct();
        let file = direct.map_or(&source.opened.file, |direct| &direct.file);
        let mut pieces = ranges
            .iter()
            .enumerate()
            .map(|(place, range)| Piece::new(place, range, direct))
            .peekable();
        // The range whose requests are being made, and the next of them.
        let mut begun: Option<(u32, u32)> = None;
        loop {
            while self.in_flight < self.depth {
                let (slot, number) = match begun {
                    Some(begun) => begun,
                    None => {
                        let Some(piece) = pieces.peek() else { break };
                        if piece.requests() == 0 {
                            take(piece.place, &[]);
                            pieces.next();
                            continue;
                        }
                        let Some(slot) = self.occupy(*piece) else { break };
                        pieces.next();
                        (slot, 0)
                    }
                };
                self.push(file, slot, number);
                let next = number + 1;
                begun = (next < self.slots[slot as usize].piece.requests()).then_some((slot, next));
            }
            // Then nothing is left: with nothing in flight, there is room for any range.
            if self.in_flight == 0 {
                return Ok(());
            }
            self.wait().map_err(|error| Error::io("read", &source.opened.path, error))?;
            self.hand_out(source, take)?;
        }
    }

    /// Room for a range; None until others have arrived.
    fn occupy(&mut self, piece: Piece) -> Option<u32> {
        let room = self.arena.take(piece.buffer_length())?;
        let slot = Slot { piece, room, missing: piece.requests() };
        match self.free_slots.pop() {
            Some(free) => {
                self.slots[free as usize] = slot;
                Some(free)
            }
            None => {
                self.slots.push(slot);
                // Fits: no more are occupied than requests are in flight.
                Some(self.slots.len() as u32 - 1)
            }
        }
    }

    fn push(&mut self, file: &File, slot: u32, number: u32) {
        let Slot { piece, room, .. } = self.slots[slot as usize];
        let request = piece.request(number);
        // SAFETY: the request lies within the piece's buffer, and that within its room.
        let into = unsafe { self.arena.pointer(room).add(request.at) };
        let name = u64::from(slot) << 32 | u64::from(number);
        // SAFETY: the room stays taken until the request has come back, and the arena is freed after that; no more than
        // `depth` are in flight.
        unsafe { self.queue.push(file, &request, into, name) };
        self.in_flight += 1;
    }

    /// Submits what was pushed, waits for a completion and takes all that have arrived.
    fn wait(&mut self) -> io::Result<()> {
        loop {
            // One is enough: all that came meanwhile are taken together, and that is many where the thread is the bottleneck.
            self.queue.wait(self.in_flight, &mut self.arrived)?;
            if !self.arrived.is_empty() {
                self.in_flight -= self.arrived.len() as u32;
                return Ok(());
            }
        }
    }

    fn hand_out(&mut self, source: &Source, take: &mut dyn FnMut(usize, &[u8])) -> Result<()> {
        while let Some((name, result)) = self.arrived.pop() {
            let (place, number) = ((name >> 32) as usize, name as u32);
            let Slot { piece, room, .. } = self.slots[place];
            // SAFETY: of this room, the request that came back has this part to itself, and the kernel is done with it.
            let into = unsafe {
                let request = piece.request(number);
                std::slice::from_raw_parts_mut(
                    self.arena.pointer(room).add(request.at),
                    request.length,
                )
            };
            complete(source, &piece, number, result, into)?;
            let slot = &mut self.slots[place];
            slot.missing -= 1;
            if slot.missing == 0 {
                // SAFETY: all requests of the room have come back.
                let bytes = unsafe {
                    std::slice::from_raw_parts(self.arena.pointer(room), piece.buffer_length())
                };
                take(piece.place, piece.slice(bytes));
                self.arena.give_back(room);
                self.free_slots.push(place as u32);
            }
        }
        Ok(())
    }

    /// Waits until the kernel has let go of the memory.
    fn drain(&mut self) -> io::Result<()> {
        while self.in_flight > 0 {
            self.arrived.clear();
            self.wait()?;
        }
        Ok(())
    }
}

fn complete(
    source: &Source,
    piece: &Piece,
    number: u32,
    result: i32,
    into: &mut [u8],
) -> Result<()> {
    let request = piece.request(number);
    let outcome =
        if result < 0 { Err(io::Error::from_raw_os_error(-result)) } else { Ok(result as usize) };
    #[cfg(feature = "faults")]
    let outcome = crate::faults::reads::judge(outcome, into);
    source.complete(piece, &request, outcome, &mut into[..request.needed])
}

impl Drop for Workplace {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // SAFETY: taken once, here.
            unsafe { ManuallyDrop::take(&mut self.queue) }.abandon();
            // The kernel writes into the parent's memory, so the copy of the arena can go.
            // SAFETY: dropped once, here.
            unsafe { ManuallyDrop::drop(&mut self.arena) };
            return;
        }
        match self.drain() {
            // SAFETY: both are dropped once, here, and the kernel has nothing of them any more.
            Ok(()) => unsafe {
                ManuallyDrop::drop(&mut self.queue);
                ManuallyDrop::drop(&mut self.arena);
            },
            // The kernel may still write into the arena: it must stay for ever.
            Err(error) => {
                tracing::error!(%error, "a queue of reads could not be emptied; its memory is left to it")
            }
        }
    }
}
