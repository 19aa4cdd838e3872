//! Rust errors become the exceptions of `graphmill._errors`.
//!
//! The classes live in Python, where one exception can have two parents (`DiskError` is an `OSError` too); this file
//! only chooses among them.

use graphmill::{disk, format, ingest, load, sample, store};
use pyo3::exceptions::{PyIndexError, PyKeyError, PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::io::ErrorKind;

/// An error on its way to Python.
pub struct Raised(PyErr);

/// What bound functions return.
pub type Result<T> = std::result::Result<T, Raised>;

impl From<Raised> for PyErr {
    fn from(raised: Raised) -> Self {
        raised.0
    }
}

impl From<PyErr> for Raised {
    fn from(error: PyErr) -> Self {
        Raised(error)
    }
}

/// Raises the class of this name with the error's message.
pub(crate) fn raise(class: &str, error: &impl ToString) -> Raised {
    let message = error.to_string();
    Raised(Python::attach(|py| {
        match py.import("graphmill._errors").and_then(|errors| errors.getattr(class)) {
            Ok(class) => match class.call1((message,)) {
                Ok(instance) => PyErr::from_value(instance),
                Err(error) => error,
            },
            Err(error) => error,
        }
    }))
}

fn format_error(source: &format::Error, error: &impl ToString) -> Raised {
    match source.kind() {
        format::ErrorKind::Format => raise("FormatError", error),
        format::ErrorKind::Corrupt => raise("CorruptError", error),
        format::ErrorKind::Request => Raised(PyValueError::new_err(error.to_string())),
    }
}

impl From<format::Error> for Raised {
    fn from(error: format::Error) -> Self {
        format_error(&error, &error)
    }
}

impl From<disk::Error> for Raised {
    fn from(error: disk::Error) -> Self {
        match &error {
            disk::Error::Budget { .. } => raise("MemoryBudgetError", &error),
            disk::Error::NoMemory { .. } => Raised(PyMemoryError::new_err(error.to_string())),
            disk::Error::BadSize { .. }
            | disk::Error::UnknownBackend { .. }
            | disk::Error::NotAPlainName { .. } => Raised(PyValueError::new_err(error.to_string())),
            disk::Error::Truncated { .. } | disk::Error::LengthChanged { .. } => {
                raise("CorruptError", &error)
            }
            disk::Error::Exists { .. } => raise("ExistsError", &error),
            disk::Error::Io { source, .. } => match source.kind() {
                ErrorKind::NotFound => raise("MissingError", &error),
                ErrorKind::PermissionDenied => raise("DeniedError", &error),
                _ => raise("DiskError", &error),
            },
            _ => raise("DiskError", &error),
        }
    }
}

impl From<store::Error> for Raised {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Disk(error) => error.into(),
            store::Error::Format { ref source, .. } => format_error(source, &error),
            store::Error::OutOfRange { .. } | store::Error::UnknownId { .. } => {
                Raised(PyIndexError::new_err(error.to_string()))
            }
            store::Error::UnknownName { .. } | store::Error::UnknownNode { .. } => {
                Raised(PyKeyError::new_err(error.to_string()))
            }
            store::Error::IdKind { .. } => Raised(PyTypeError::new_err(error.to_string())),
            store::Error::DirectionNotStored { .. } | store::Error::PackedLists { .. } => {
                Raised(PyValueError::new_err(error.to_string()))
            }
            _ => raise("CorruptError", &error),
        }
    }
}

impl From<sample::Error> for Raised {
    fn from(error: sample::Error) -> Self {
        match error {
            sample::Error::Store(error) => error.into(),
            sample::Error::Memory(error) => error.into(),
            sample::Error::NoMemory { .. } => Raised(PyMemoryError::new_err(error.to_string())),
            sample::Error::Seed { .. } | sample::Error::Start { .. } => {
                Raised(PyIndexError::new_err(error.to_string()))
            }
            _ => Raised(PyValueError::new_err(error.to_string())),
        }
    }
}

/// The keyword of an option of a source.
fn keyword(setting: ingest::Setting) -> Option<&'static str> {
    match setting {
        ingest::Setting::Header => Some("header=True or header=False"),
        ingest::Setting::TextIds => {
            Some("gm.build(..., string_ids=True); header=... for its first line")
        }
        ingest::Setting::Endpoints => Some("src_column=... and dst_column=..."),
        ingest::Setting::IdColumn => Some("id_column=..."),
        ingest::Setting::BadRows => Some("on_bad_row=\"skip\""),
        _ => None,
    }
}

impl From<ingest::Error> for Raised {
    fn from(error: ingest::Error) -> Self {
        match error {
            ingest::Error::Disk(error) => error.into(),
            ingest::Error::Format { ref source, .. } => format_error(source, &error),
            ingest::Error::Source { setting, .. } => match setting.and_then(keyword) {
                Some(keyword) => raise("SourceError", &format!("{error} ({keyword})")),
                None => raise("SourceError", &error),
            },
            _ => Raised(PyValueError::new_err(error.to_string())),
        }
    }
}

impl From<load::Error> for Raised {
    fn from(error: load::Error) -> Self {
        match error {
            load::Error::Store(error) => error.into(),
            load::Error::Disk(error) => error.into(),
            load::Error::Sample(error) => (*error).into(),
            load::Error::Forked | load::Error::Panicked { .. } => raise("LoaderError", &error),
            load::Error::RowOutOfRange { .. } => Raised(PyIndexError::new_err(error.to_string())),
            _ => Raised(PyValueError::new_err(error.to_string())),
        }
    }
}
