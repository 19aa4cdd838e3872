//! Memory of sampling that is used again: that of the work, and that of results whose arrays are gone.
//!
//! A fresh result of some megabytes is a thousand page faults, which take as long as sampling itself; so the lists of a
//! result come back here when the last array that looks at them dies, and the next call fills them.

use graphmill::sample::Scratch;
use numpy::PyArray1;
use numpy::ndarray::ArrayView1;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex};

/// Work memory, and lists in all, that are kept for the next call: more is what few calls need.
const KEPT: u64 = 64 << 20;

/// What calls that have ended left. It is only ever tried, never waited for: after a fork it may stay locked for ever by
/// a thread that the child does not have.
#[derive(Default)]
pub struct Recycled {
    scratches: Mutex<Vec<Scratch>>,
    lists: SpareLists,
}

impl Recycled {
    /// Does some work with memory that was used before, if there is any.
    pub fn with<T>(&self, work: impl FnOnce(&mut Scratch) -> T) -> T {
        let kept = self.scratches.try_lock().ok().and_then(|mut kept| kept.pop());
        let mut scratch = kept.unwrap_or_default();
        self.lists.give(&mut scratch);
        let outcome = work(&mut scratch);
        if scratch.bytes() <= KEPT
            && let Ok(mut kept) = self.scratches.try_lock()
        {
            kept.push(scratch);
        }
        outcome
    }

    /// Hands a list to NumPy or torch without a copy, and takes it back when they no longer need it.
    pub fn array<'py>(
        &self,
        py: Python<'py>,
        mut list: Vec<i64>,
        torch: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (start, length) = (list.as_mut_ptr(), list.len());
        let owner = Bound::new(py, ListOwner { list, spare: self.lists.clone() })?;
        // SAFETY: the list has this many elements, and its owner holds it, untouched and unmoved, as long as the array or
        // any view of it lives; nobody else forms a reference to its elements.
        let array = unsafe {
            let view = ArrayView1::from_shape_ptr(length, start.cast_const());
            PyArray1::<i64>::borrow_from_array(&view, owner.into_any()).into_any()
        };
        if torch { py.import("torch")?.call_method1("from_numpy", (array,)) } else { Ok(array) }
    }
}

/// Lists whose arrays are gone.
#[derive(Clone, Default)]
struct SpareLists(Arc<Mutex<Vec<Vec<i64>>>>);

impl SpareLists {
    fn give(&self, scratch: &mut Scratch) {
        let Ok(mut lists) = self.0.try_lock() else { return };
        while scratch.wants_lists() {
            let Some(list) = lists.pop() else { break };
            scratch.recycle(list);
        }
    }

    fn take(&self, list: Vec<i64>) {
        let Ok(mut lists) = self.0.try_lock() else { return };
        let bytes: usize = lists.iter().chain([&list]).map(|list| 8 * list.capacity()).sum();
        if bytes as u64 <= KEPT {
            lists.push(list);
        }
    }
}

/// What keeps a list alive as long as an array looks at it.
#[pyclass(frozen, module = "graphmill._native")]
struct ListOwner {
    list: Vec<i64>,
    spare: SpareLists,
}

impl Drop for ListOwner {
    fn drop(&mut self) {
        self.spare.take(std::mem::take(&mut self.list));
    }
}
