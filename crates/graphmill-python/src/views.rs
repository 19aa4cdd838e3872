//! Zero-copy arrays over mapped files.
//!
//! An array made here has a hidden owner as its base, which holds the map: views outlive every handle, and the file is
//! unmapped with the last of them. NumPy views are read-only; torch views lie on a private copy-on-write map, because
//! torch knows no read-only tensors.

use crate::errors::Result;
use graphmill::disk::{Advice, Mapped, PrivateMap};
use graphmill::format::{ElementType, Section, TableShape};
use numpy::PyArray1;
use numpy::ndarray::ArrayView1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::{Arc, OnceLock};

/// What keeps a map alive as long as an array looks at it.
#[pyclass(frozen, module = "graphmill._native")]
struct Owner {
    _map: Map,
}

/// The memory behind a view.
#[derive(Clone)]
pub enum Map {
    /// Shared and read-only.
    Shared(Arc<Mapped>),
    /// Private and copy-on-write.
    Private(Arc<PrivateMap>),
}

impl Map {
    fn is_writable(&self) -> bool {
        matches!(self, Map::Private(_))
    }

    fn start(&self) -> *const u8 {
        match self {
            Map::Shared(mapped) => mapped.bytes().as_ptr(),
            Map::Private(private) => private.as_mut_ptr(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Map::Shared(mapped) => mapped.bytes().len(),
            Map::Private(private) => private.len(),
        }
    }
}

/// A one-dimensional array over a section.
pub fn section_view<'py>(
    py: Python<'py>,
    map: Map,
    section: &Section,
    dtype: &str,
) -> Result<Bound<'py, PyAny>> {
    let shape = PyTuple::new(py, [section.count])?;
    array(py, map, section, numpy_dtype(py, dtype)?, &shape, None)
}

/// An array over the rows of a table. A bfloat16 table is given as 16-bit integers; the caller says what they mean.
pub fn table_view<'py>(
    py: Python<'py>,
    map: Map,
    section: &Section,
    table: &TableShape,
) -> Result<Bound<'py, PyAny>> {
    let dtype = match table.element() {
        ElementType::Bf16 => "int16",
        other => other.name(),
    };
    let strides = PyTuple::new(py, strides_of(table))?;
    let strides = if table.is_contiguous() { None } else { Some(strides) };
    array(py, map, section, numpy_dtype(py, dtype)?, &shape_of(py, table, None)?, strides)
}

/// The shape of a table as NumPy has it, with `rows` in place of its own number of rows if given.
pub fn shape_of<'py>(
    py: Python<'py>,
    table: &TableShape,
    rows: Option<usize>,
) -> PyResult<Bound<'py, PyTuple>> {
    let rows = rows.map_or(table.rows(), |rows| rows as u64);
    if table.is_vector() {
        PyTuple::new(py, [rows])
    } else {
        PyTuple::new(py, [rows, table.columns()])
    }
}

fn strides_of(table: &TableShape) -> Vec<u64> {
    if table.is_vector() {
        vec![table.stride()]
    } else {
        vec![table.stride(), table.element().width()]
    }
}

fn array<'py>(
    py: Python<'py>,
    map: Map,
    section: &Section,
    dtype: Bound<'py, PyAny>,
    shape: &Bound<'py, PyTuple>,
    strides: Option<Bound<'py, PyTuple>>,
) -> Result<Bound<'py, PyAny>> {
    let numpy = py.import("numpy")?;
    if section.count == 0 {
        let empty = numpy.call_method1("empty", (shape, dtype))?;
        set_writable(&empty, map.is_writable())?;
        return Ok(empty);
    }
    let bytes = bytes_view(py, map.clone(), section)?;
    let keywords = PyDict::new(py);
    keywords.set_item("dtype", dtype)?;
    keywords.set_item("buffer", bytes)?;
    if let Some(strides) = strides {
        keywords.set_item("strides", strides)?;
    }
    Ok(numpy.getattr("ndarray")?.call((shape,), Some(&keywords))?)
}

/// The bytes of a section as an array that owns a share of the map.
fn bytes_view<'py>(py: Python<'py>, map: Map, section: &Section) -> Result<Bound<'py, PyAny>> {
    let (start, length) = (section.offset as usize, section.length() as usize);
    assert!(start + length <= map.len(), "sections lie inside their file");
    let writable = map.is_writable();
    // SAFETY: the range was just checked to lie inside the map. The owner holds the map as long as the array or any
    // view of it lives. Nobody forms a Rust reference to a private map's bytes, so writing through it is no aliasing.
    let bytes = unsafe {
        let view = ArrayView1::from_shape_ptr(length, map.start().add(start));
        let owner = Bound::new(py, Owner { _map: map })?;
        PyArray1::<u8>::borrow_from_array(&view, owner.into_any())
    };
    set_writable(bytes.as_any(), writable)?;
    Ok(bytes.into_any())
}

fn set_writable(array: &Bound<'_, PyAny>, writable: bool) -> PyResult<()> {
    if !writable {
        let keywords = PyDict::new(array.py());
        keywords.set_item("write", false)?;
        array.call_method("setflags", (), Some(&keywords))?;
    }
    Ok(())
}

/// NumPy's dtype of this name.
pub fn numpy_dtype<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("numpy")?.call_method1("dtype", (name,))
}

/// The dtype of a table for NumPy; bfloat16 exists there only with `ml_dtypes`.
pub fn element_dtype<'py>(py: Python<'py>, element: ElementType) -> PyResult<Bound<'py, PyAny>> {
    if element != ElementType::Bf16 {
        return numpy_dtype(py, element.name());
    }
    let class = py.import("ml_dtypes").and_then(|module| module.getattr("bfloat16")).map_err(|_| {
        PyTypeError::new_err(
            "NumPy has no bfloat16: use .torch(), pass torch ids to gather, or install ml_dtypes",
        )
    })?;
    py.import("numpy")?.call_method1("dtype", (class,))
}

/// Hands a NumPy array to torch without a copy.
pub fn to_torch<'py>(
    array: Bound<'py, PyAny>,
    element: ElementType,
) -> PyResult<Bound<'py, PyAny>> {
    let torch = array.py().import("torch")?;
    let tensor = torch.call_method1("from_numpy", (array,))?;
    match element {
        ElementType::Bf16 => tensor.call_method1("view", (torch.getattr("bfloat16")?,)),
        _ => Ok(tensor),
    }
}

/// The handle's private map, made on first use.
pub fn private_map(cell: &OnceLock<Arc<PrivateMap>>, mapped: &Mapped) -> Result<Arc<PrivateMap>> {
    if let Some(map) = cell.get() {
        return Ok(map.clone());
    }
    let map = PrivateMap::of(mapped)?;
    // The same reason as for the shared map; a system that does not know the advice still works.
    let _ = map.advise(Advice::Random);
    Ok(cell.get_or_init(|| Arc::new(map)).clone())
}
