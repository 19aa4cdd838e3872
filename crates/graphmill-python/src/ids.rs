//! Node ids as users give them: lists, ranges, NumPy arrays of any integer type, torch tensors; names as lists and
//! arrays of str.
//!
//! An int64 array is used where it lies; anything else is converted once. What is not a list of integers, or of names,
//! is a `TypeError`, before any work is done.

use crate::errors::Result;
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyList, PyRange, PyTuple};

/// Ids in memory that Rust can borrow.
pub struct Ids<'py> {
    array: PyReadonlyArray1<'py, i64>,
    /// Whether they came as a torch tensor; results then are torch tensors too.
    pub from_torch: bool,
}

impl Ids<'_> {
    /// The ids.
    pub fn as_slice(&self) -> Result<&[i64]> {
        Ok(self.array.as_slice().map_err(PyErr::from)?)
    }
}

/// Whether an object is a torch tensor, without importing torch.
pub fn is_tensor(object: &Bound<'_, PyAny>) -> bool {
    let modules = object.py().import("sys").and_then(|sys| sys.getattr("modules"));
    let torch = modules.and_then(|modules| modules.get_item("torch"));
    let tensor = torch.and_then(|torch| torch.getattr("Tensor"));
    tensor.is_ok_and(|tensor| object.is_instance(&tensor).unwrap_or(false))
}

/// Reads ids; `what` names them in messages.
pub fn read<'py>(object: &Bound<'py, PyAny>, what: &str) -> Result<Ids<'py>> {
    let numpy = object.py().import("numpy")?;
    let wrong = |found: String| {
        let expected = "a one-dimensional list or array of integers";
        PyTypeError::new_err(format!("{what} must be {expected}, found {found}"))
    };
    // A range may be longer than any list; NumPy calls that an overflow.
    if object.is_instance_of::<PyRange>() && object.len().is_err() {
        let problem = format!("{what} is a range of 2^63 ids or more; no graph has so many nodes");
        return Err(PyIndexError::new_err(problem).into());
    }
    let from_torch = is_tensor(object);
    let array = if from_torch {
        object.call_method0("detach")?.call_method0("cpu")?.call_method0("numpy")?
    } else if is_sequence(object) || object.hasattr("__array__")? {
        numpy.call_method1("asarray", (object,))?
    } else {
        return Err(wrong(object.get_type().name()?.to_string()).into());
    };
    // An empty list has no type of its own; NumPy calls it float64.
    let is_empty_list = is_sequence(object) && object.len()? == 0;
    let dtype = array.getattr("dtype")?;
    let kind: String = dtype.getattr("kind")?.extract()?;
    let dimensions: usize = array.getattr("ndim")?.extract()?;
    if dimensions != 1 || !(kind == "i" || kind == "u" || is_empty_list) {
        return Err(wrong(format!("{dimensions}-dimensional {dtype}")).into());
    }
    // What exceeds int64 is out of range for every graph, and must not wrap around to a valid id.
    if dtype.eq("uint64")? {
        let beyond = array.call_method1("__gt__", (i64::MAX as u64,))?;
        if numpy.call_method1("any", (beyond,))?.is_truthy()? {
            let problem = format!("{what} holds an id of 2^63 or more; no graph has so many nodes");
            return Err(PyIndexError::new_err(problem).into());
        }
    }
    let array = numpy.call_method1("ascontiguousarray", (array, "int64"))?;
    let array = array.cast_into::<PyArray1<i64>>().map_err(PyErr::from)?;
    Ok(Ids { array: array.readonly(), from_torch })
}

/// Reads names; `what` names them in messages.
pub fn read_names(object: &Bound<'_, PyAny>, what: &str) -> Result<Vec<PyBackedStr>> {
    let wrong = |found: String| {
        let expected = "a one-dimensional list or array of str, as the ids of the source are";
        PyTypeError::new_err(format!("{what} must be {expected}, found {found}"))
    };
    // Lists are read as they are: NumPy would cut zeros off the ends of names.
    let list = if is_sequence(object) {
        object.clone()
    } else if object.hasattr("__array__")? && !is_tensor(object) {
        let array = object.py().import("numpy")?.call_method1("asarray", (object,))?;
        if array.getattr("ndim")?.extract::<usize>()? != 1 {
            return Err(wrong(format!("shape {}", array.getattr("shape")?)).into());
        }
        array.call_method0("tolist")?
    } else {
        return Err(wrong(object.get_type().name()?.to_string()).into());
    };
    // Grown as names come: a range may claim a length that no memory holds.
    let mut names = Vec::new();
    for (position, name) in list.try_iter()?.enumerate() {
        let name = name?;
        match name.extract::<PyBackedStr>() {
            Ok(name) => names.push(name),
            Err(_) => {
                let found = format!("{} at position {position}", name.get_type().name()?);
                return Err(wrong(found).into());
            }
        }
    }
    Ok(names)
}

fn is_sequence(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyTuple>()
        || object.is_instance_of::<PyRange>()
}
