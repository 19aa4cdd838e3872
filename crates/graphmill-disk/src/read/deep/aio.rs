//! The kernel's older queue, by `io_submit` and `io_getevents`.
//! It takes the ring's place where rings are denied, for direct reads alone: any other read would make `io_submit` itself
//! wait. The calls are made by number, because the C library does not have them.

use std::io;
use std::os::fd::RawFd;

use super::queue::is_passing;
use crate::read::piece::Request;

/// A read, as the kernel lays it out; what is always zero has no name of its own.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    name: u64,
    /// A key and flags, in an order that depends on the machine.
    _key_and_flags: u64,
    /// 0 is a read.
    operation: u16,
    _priority: i16,
    file: u32,
    into: u64,
    length: u64,
    offset: i64,
    _reserved: u64,
    _no_event: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Event {
    name: u64,
    _entry: u64,
    result: i64,
    _second_result: i64,
}

pub(super) struct Aio {
    context: libc::c_ulong,
    /// Pushed and not yet submitted, oldest first.
    pending: Vec<Entry>,
    /// Room for the addresses of the pending entries.
    addresses: Vec<*const Entry>,
    events: Vec<Event>,
}

impl Aio {
    pub(super) fn new(depth: u32) -> io::Result<Self> {
        let mut context: libc::c_ulong = 0;
        // SAFETY: the kernel writes the context into a local that is zero, as it demands.
        check(unsafe { libc::syscall(libc::SYS_io_setup, depth, &raw mut context) })?;
        let room = depth as usize;
        Ok(Self {
            context,
            pending: Vec::with_capacity(room),
            addresses: Vec::with_capacity(room),
            events: vec![Event::default(); room],
        })
    }

    pub(super) fn push(&mut self, file: RawFd, request: &Request, into: *mut u8, name: u64) {
        self.pending.push(Entry {
            name,
            file: file.unsigned_abs(),
            into: into as u64,
            length: request.length as u64,
            // Fits: offsets lie within a file.
            offset: request.offset as i64,
            ..Entry::default()
        });
    }

    pub(super) fn wait(&mut self, in_flight: u32, arrived: &mut Vec<(u64, i32)>) -> io::Result<()> {
        let before = arrived.len();
        self.submit(arrived);
        let refused = (arrived.len() - before) as u32;
        // Only what the kernel has can come back.
        let with_kernel = in_flight - refused - self.pending.len() as u32;
        let at_least = libc::c_long::from(refused == 0 && with_kernel > 0);
        // SAFETY: the context is alive, and there is room for as many events as are asked for.
        let found = check(unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.context,
                at_least,
                self.events.len() as libc::c_long,
                self.events.as_mut_ptr(),
                std::ptr::null_mut::<libc::timespec>(),
            )
        });
        match found {
            Ok(count) => {
                let found = &self.events[..count];
                // Fits: no request is as long as two gigabytes.
                arrived.extend(found.iter().map(|event| (event.name, event.result as i32)));
                Ok(())
            }
            Err(error) if is_passing(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Submits what is pending, as far as the kernel takes it now. What it refuses for good comes back with the reason.
    fn submit(&mut self, arrived: &mut Vec<(u64, i32)>) {
        while !self.pending.is_empty() {
            self.addresses.clear();
            self.addresses.extend(self.pending.iter().map(std::ptr::from_ref));
            // SAFETY: the entries live across the call, which copies them; whoever pushed them answers for the memory
            // that they name.
            let taken = check(unsafe {
                libc::syscall(
                    libc::SYS_io_submit,
                    self.context,
                    self.addresses.len() as libc::c_long,
                    self.addresses.as_mut_ptr(),
                )
            });
            match taken {
                Ok(count) => _ = self.pending.drain(..count),
                Err(error) if is_passing(&error) => return,
                Err(error) => {
                    let refused = self.pending.remove(0);
                    arrived.push((refused.name, -error.raw_os_error().unwrap_or(libc::EIO)));
                }
            }
        }
    }
}

fn check(outcome: libc::c_long) -> io::Result<usize> {
    usize::try_from(outcome).map_err(|_| io::Error::last_os_error())
}

impl Drop for Aio {
    fn drop(&mut self) {
        // SAFETY: the context was made by `new` in this process and is not used again; the kernel waits for what is left.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}
