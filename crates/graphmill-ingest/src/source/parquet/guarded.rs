//! Calls of the Parquet library, whose panics become errors.
//!
//! What the library takes from a file is checked before, as far as memory hangs on it; a file that breaks another of
//! its assumptions makes it panic. The panic is caught here, on the thread that called, and says nothing on stderr:
//! the error that it becomes says it.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a call of the library; if it panics, gives what the panic says.
pub(super) fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                usual(panic);
            }
        }));
    });
    let before = IS_GUARDED.replace(true);
    // What the call has touched is dropped by the callers: a reader that panicked is never asked again.
    let outcome = catch_unwind(AssertUnwindSafe(call));
    IS_GUARDED.set(before);
    outcome.map_err(|panic| message(&*panic))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without words").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_what_they_say() {
        assert_eq!(guarded(|| 1), Ok(1));
        let empty: &[u8] = &[];
        let said = guarded(|| empty[std::hint::black_box(3)]).unwrap_err();
        assert!(said.contains("out of bounds"), "{said}");
        assert_eq!(guarded(|| -> u8 { panic!("so") }), Err("so".to_owned()));
        assert!(!IS_GUARDED.get());
    }

    #[test]
    fn a_guarded_call_within_another_stays_guarded() {
        let inner = guarded(|| {
            let inner = guarded(|| -> u8 { panic!("inner") });
            assert!(IS_GUARDED.get());
            inner
        });
        assert_eq!(inner, Ok(Err("inner".to_owned())));
    }
}
