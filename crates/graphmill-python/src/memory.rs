//! Memory as users state it: `"4GiB"`, a number of bytes, or nothing for the default.

use crate::errors::Result;
use graphmill::disk::{
    Budget, Reservation, anonymous_memory, default_budget, file_memory, parse_size,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Mutex, PoisonError};

/// The budget that an argument `memory=` stands for.
pub fn budget_of(memory: Option<&Bound<'_, PyAny>>) -> Result<Budget> {
    Ok(Budget::new(memory.map(size_of).transpose()?.unwrap_or_else(default_budget)))
}

/// The bytes that an argument such as `memory=` stands for.
pub fn size_of(memory: &Bound<'_, PyAny>) -> Result<u64> {
    if let Ok(bytes) = memory.extract::<u64>() {
        return Ok(bytes);
    }
    match memory.extract::<String>() {
        Ok(text) => Ok(parse_size(&text)?),
        Err(_) => {
            let found = memory.get_type().name()?;
            let problem = format!(
                "memory must be a size such as \"4GiB\" or a number of bytes, found {found}"
            );
            Err(PyTypeError::new_err(problem).into())
        }
    }
}

/// The bytes that an argument such as `memory=` stands for, for code in Python that shares them out.
#[pyfunction(name = "size_of")]
pub fn size_in_bytes(memory: &Bound<'_, PyAny>) -> Result<u64> {
    size_of(memory)
}

/// Memory of a dataset's budget that Python code uses for the length of a `with` block.
#[pyclass(frozen, module = "graphmill._native")]
pub struct Held {
    reservation: Mutex<Option<Reservation>>,
}

impl Held {
    pub(crate) fn of(reservation: Reservation) -> Self {
        Held { reservation: Mutex::new(Some(reservation)) }
    }
}

#[pymethods]
impl Held {
    fn __enter__(&self) {}

    fn __exit__(
        &self,
        _kind: &Bound<'_, PyAny>,
        _error: &Bound<'_, PyAny>,
        _trace: &Bound<'_, PyAny>,
    ) {
        drop(self.reservation.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// What the process holds in memory: `{"anonymous": bytes, "file": bytes}`, None where the system does not tell.
///
/// Anonymous memory is what counts against a budget; file memory is page cache that happens to be mapped.
///
/// Example:
///     >>> sorted(gm.memory_in_use())
///     ['anonymous', 'file']
#[pyfunction]
pub fn memory_in_use(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let report = PyDict::new(py);
    report.set_item("anonymous", anonymous_memory())?;
    report.set_item("file", file_memory())?;
    Ok(report)
}
