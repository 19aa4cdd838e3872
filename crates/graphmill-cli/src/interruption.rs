//! Ctrl-C and its like, as a flag that long work looks at.
//! While files are being written a signal only asks to stop, so that drafts can remove themselves; at any other time it
//! ends the process at once. Handlers are installed for a process of our own alone, never on behalf of a host program.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether somebody asked to stop.
#[derive(Debug)]
pub struct Interruption {
    requested: Arc<AtomicBool>,
    /// Whether the next signal ends the process.
    deadly: Arc<AtomicBool>,
}

impl Interruption {
    /// An interruption that does not come.
    pub fn never() -> Self {
        Interruption { requested: Arc::default(), deadly: Arc::new(AtomicBool::new(true)) }
    }

    /// Listens for SIGINT and SIGTERM from now on.
    pub fn by_signals() -> io::Result<Self> {
        let interruption = Self::never();
        let Interruption { requested, deadly } = &interruption;
        for signal in [SIGINT, SIGTERM] {
            // In this order: the signal that makes the next one deadly must not be deadly itself.
            flag::register_conditional_shutdown(signal, super::FAILED.into(), Arc::clone(deadly))?;
            flag::register(signal, Arc::clone(requested))?;
            flag::register(signal, Arc::clone(deadly))?;
        }
        Ok(interruption)
    }

    /// Whether somebody asked to stop.
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Relaxed)
    }

    /// Until the guard is dropped, the first signal asks and only the second ends the process.
    #[must_use = "dropping the guard makes signals deadly again"]
    pub fn while_writing(&self) -> WritingGuard<'_> {
        self.deadly.store(false, Ordering::SeqCst);
        WritingGuard { interruption: self }
    }
}

/// Says that files are being written.
#[derive(Debug)]
pub struct WritingGuard<'a> {
    interruption: &'a Interruption,
}

impl Drop for WritingGuard<'_> {
    fn drop(&mut self) {
        self.interruption.deadly.store(true, Ordering::SeqCst);
    }
}
