//! `graphmill.Features`.

use crate::arguments::Int;
use crate::errors::Result;
use crate::ids::{self, is_tensor};
use crate::loader::read_stats;
use crate::memory::budget_of;
use crate::views::{Map, element_dtype, numpy_dtype, private_map, shape_of, table_view, to_torch};
use graphmill::disk::{Advice, Budget, PrivateMap, ReadAt, format_size, room};
use graphmill::format::ElementType;
use graphmill::load::{self, Reading, Rows, StatsSum};
use graphmill::store::Table;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PySlice, PyTuple};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// A table on disk: features, labels, or any other column with one row per node or edge.
///
/// `numpy()` and `torch()` are views without a copy; `gather(ids)` reads rows. Opening takes microseconds whatever the
/// size of the file. Handles may be shared by threads, pickled (by path) and used after a fork.
///
/// Args:
///     path: A `.gd` file of graphmill's, or GraphZero's.
///     backend: How `gather` reads. `"auto"` copies rows that are in the page cache and reads the others with deep queues,
///         `"mapped"` copies all from the mapped file, `"ring"` reads past the page cache by io_uring (by `"pread"` where
///         the system does not allow it), `"pread"` by positioned reads on many threads. Rows are the same either way.
///     memory: What gathering may take beside its result, such as `"1GiB"`; a quarter of the machine's memory by default.
///
/// Example:
///     >>> x = gm.Features("features.gd")
///     >>> x.shape
///     (4, 2)
///     >>> x[[3, 0]].shape
///     (2, 2)
#[pyclass(frozen, module = "graphmill", subclass)]
pub struct Features {
    table: Table,
    reading: Reading,
    budget: Budget,
    rows: OnceLock<Rows>,
    stats: StatsSum,
    private: OnceLock<Arc<PrivateMap>>,
}

impl Features {
    pub(crate) fn of(table: Table, reading: Reading, budget: Budget) -> Self {
        let (rows, private) = (OnceLock::new(), OnceLock::new());
        Features { table, reading, budget, rows, stats: StatsSum::default(), private }
    }

    fn element(&self) -> ElementType {
        self.table.shape().element()
    }

    fn rows(&self, widen: bool) -> Result<Rows> {
        let rows = match self.rows.get() {
            Some(rows) => rows,
            None => {
                let rows = Rows::open(self.table.clone(), self.reading)?;
                self.rows.get_or_init(|| rows)
            }
        };
        Ok(rows.clone().widened(widen))
    }

    /// The table in place, bfloat16 as 16-bit integers.
    fn view<'py>(&self, py: Python<'py>, writable: bool) -> Result<Bound<'py, PyAny>> {
        self.table.mapped().check_length()?;
        let map = if writable {
            Map::Private(private_map(&self.private, self.table.mapped())?)
        } else {
            Map::Shared(self.table.mapped().clone())
        };
        table_view(py, map, self.table.section(), self.table.shape())
    }

    /// A fresh result of `count` rows, as a NumPy array or torch tensor.
    fn fresh<'py>(
        &self,
        py: Python<'py>,
        element: ElementType,
        count: usize,
        torch: bool,
    ) -> Result<Bound<'py, PyAny>> {
        let shape = shape_of(py, self.table.shape(), Some(count))?;
        let dtype = match element {
            ElementType::Bf16 if torch => numpy_dtype(py, "int16")?,
            other => element_dtype(py, other)?,
        };
        // NumPy asks for huge pages, torch does not; without them a result of a batch is thousands of page faults.
        let fresh = py.import("numpy")?.call_method1("empty", (shape, dtype))?;
        if torch { Ok(to_torch(fresh, element)?) } else { Ok(fresh) }
    }

    /// The bytes of the caller's array, checked to be what the rows need.
    fn bytes_of<'py>(
        &self,
        out: &Bound<'py, PyAny>,
        element: ElementType,
        count: usize,
    ) -> Result<Bound<'py, PyArray1<u8>>> {
        let py = out.py();
        let torch = is_tensor(out);
        let found = out
            .getattr("shape")
            .map_err(|_| PyTypeError::new_err("out must be a NumPy array or a torch tensor"))?;
        let expected = shape_of(py, self.table.shape(), Some(count))?;
        if !PyTuple::new(py, found.try_iter()?.collect::<PyResult<Vec<_>>>()?)?.eq(&expected)? {
            return Err(PyValueError::new_err(format!(
                "out has shape {found}, expected {expected}"
            ))
            .into());
        }
        let dtype = out.getattr("dtype")?;
        let wanted = if torch {
            py.import("torch")?.getattr(element.name())?
        } else {
            element_dtype(py, element)?
        };
        if !dtype.eq(&wanted)? {
            return Err(
                PyTypeError::new_err(format!("out has dtype {dtype}, expected {wanted}")).into()
            );
        }
        let contiguous = if torch {
            let on_cpu = out.getattr("device")?.getattr("type")?.eq("cpu")?;
            on_cpu && out.call_method0("is_contiguous")?.is_truthy()?
        } else {
            let flags = out.getattr("flags")?;
            flags.get_item("C_CONTIGUOUS")?.is_truthy()?
                && flags.get_item("WRITEABLE")?.is_truthy()?
        };
        if !contiguous {
            let problem = "out must be contiguous, writable and in the memory of the CPU";
            return Err(PyValueError::new_err(problem).into());
        }
        let flat = out.call_method1("reshape", (-1,))?;
        // torch gives nothing a stride of its own, with which it then refuses to see it as bytes.
        if flat.len()? == 0 {
            return Ok(PyArray1::zeros(py, 0, false));
        }
        let bytes = if torch {
            let torch = py.import("torch")?;
            flat.call_method0("detach")?
                .call_method1("view", (torch.getattr("uint8")?,))?
                .call_method0("numpy")?
        } else {
            flat.call_method1("view", ("uint8",))?
        };
        Ok(bytes.cast_into().map_err(PyErr::from)?)
    }

    /// The ids of the rows that a mask selects: a tensor if it is one.
    fn rows_of_mask<'py>(&self, mask: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        let (found, expected) = (mask.len()?, self.__len__());
        if found != expected {
            let problem = format!("the mask has {found} entries, expected {expected}, one a row");
            return Err(PyIndexError::new_err(problem).into());
        }
        if is_tensor(mask) {
            return Ok(mask.call_method0("nonzero")?.call_method1("reshape", (-1,))?);
        }
        Ok(mask.py().import("numpy")?.call_method1("flatnonzero", (mask,))?)
    }
}

/// Whether an array or tensor holds truth values.
fn is_boolean(array: &Bound<'_, PyAny>) -> PyResult<bool> {
    let dtype = array.getattr("dtype")?;
    match is_tensor(array) {
        true => dtype.eq(array.py().import("torch")?.getattr("bool")?),
        false => dtype.eq("bool"),
    }
}

#[pymethods]
impl Features {
    #[new]
    #[pyo3(signature = (path, backend = "auto", memory = None))]
    fn new(path: PathBuf, backend: &str, memory: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        let (reading, budget) = (backend.parse()?, budget_of(memory)?);
        let table = Table::open(std::path::absolute(&path).unwrap_or(path))?;
        Ok(Features::of(table, reading, budget))
    }

    /// Absolute path of the file.
    #[getter]
    fn path(&self) -> PathBuf {
        self.table.path().to_path_buf()
    }

    /// `(rows, columns)`, or `(rows,)` for a vector such as labels.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        shape_of(py, self.table.shape(), None)
    }

    /// Number of dimensions, 1 or 2.
    #[getter]
    fn ndim(&self) -> usize {
        if self.table.shape().is_vector() { 1 } else { 2 }
    }

    /// The NumPy dtype; the name `"bfloat16"` where NumPy has no such type.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match element_dtype(py, self.element()) {
            Err(_) => Ok(self.element().name().into_pyobject(py)?.into_any()),
            dtype => dtype,
        }
    }

    /// Bytes of the rows on disk.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.table.shape().length()
    }

    /// A NumPy view of the whole table; no memory is taken and nothing is read until it is looked at.
    ///
    /// The view is read-only, or private and copy-on-write with `writable=True`, and stays valid after this handle is
    /// gone. If another program truncates the file while you look at the view, the operating system ends the process;
    /// graphmill itself replaces files and never shortens them.
    ///
    /// Example:
    ///     >>> x.numpy()[2, 1]
    ///     np.float32(5.0)
    #[pyo3(signature = (*, writable = false))]
    fn numpy<'py>(&self, py: Python<'py>, writable: bool) -> Result<Bound<'py, PyAny>> {
        let dtype = element_dtype(py, self.element())?;
        let view = self.view(py, writable)?;
        if self.element() == ElementType::Bf16 {
            return Ok(view.call_method1("view", (dtype,))?);
        }
        Ok(view)
    }

    /// A torch view of the whole table, private and copy-on-write; no memory is taken until it is written to.
    ///
    /// A write costs one page of memory, is seen by every torch view of this handle, and never reaches the file.
    ///
    /// Example:
    ///     >>> x.torch()[2]
    ///     tensor([4., 5.])
    fn torch<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        Ok(to_torch(self.view(py, true)?, self.element())?)
    }

    /// How `gather` reads, as it was asked for.
    #[getter]
    fn backend(&self) -> String {
        self.reading.to_string()
    }

    /// Reads rows by id, in the order given, into `out` or a fresh array.
    ///
    /// The result is a torch tensor when `ids` or `out` is one, else a NumPy array. Negative ids and ids past the end
    /// raise `IndexError`. A row that is asked for twice is read once; near rows are read together.
    ///
    /// Args:
    ///     ids: Rows, in any order.
    ///     out: An array or tensor of the right shape and dtype, contiguous and on the CPU, to be filled and returned.
    ///     widen: Whether float16 and bfloat16 rows become float32 on the way.
    ///
    /// Example:
    ///     >>> x.gather([0, 2]).shape
    ///     (2, 2)
    #[pyo3(signature = (ids, out = None, *, widen = false))]
    fn gather<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        out: Option<Bound<'py, PyAny>>,
        widen: bool,
    ) -> Result<Bound<'py, PyAny>> {
        let given = ids::read(ids, "ids")?;
        let from_torch = given.from_torch;
        // Copied, because `out` may lie over them and other threads may write to them, and gathering relies on ids that have
        // been checked.
        let held = self.budget.reserve(8 * given.as_slice()?.len() as u64, "ids of rows")?;
        let ids = room::copy_of(given.as_slice()?)?;
        drop(given);
        let rows = self.rows(widen)?;
        let out = match out {
            Some(out) => out,
            None => self.fresh(py, rows.element(), ids.len(), from_torch)?,
        };
        let bytes = self.bytes_of(&out, rows.element(), ids.len())?;
        let mut bytes =
            bytes.try_readwrite().map_err(|error| PyValueError::new_err(error.to_string()))?;
        let bytes = bytes.as_slice_mut().map_err(PyErr::from)?;
        py.detach(|| -> load::Result<()> {
            let reserve = |wanted| Ok(self.budget.reserve(wanted, "gathering rows")?);
            self.stats.add(&rows.gather_within(&ids, bytes, reserve)?);
            Ok(())
        })?;
        drop(held);
        Ok(out)
    }

    /// What `gather` has done through this handle so far.
    ///
    /// Rows were delivered from the page cache, copied from the map, or from disk, read by requests, which are as many
    /// and as long as the system was asked for.
    ///
    /// Example:
    ///     >>> rows = x.gather([0, 2])
    ///     >>> x.stats()["rows"]
    ///     2
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        read_stats(py, &self.stats.total())
    }

    /// Tells the operating system how the views will be used: `"random"` (the default), `"sequential"` or `"normal"`.
    ///
    /// Example:
    ///     >>> x.advise("sequential")
    ///     >>> float(x.numpy().sum())
    ///     28.0
    fn advise(&self, pattern: &str) -> Result<()> {
        let advice = match pattern {
            "random" => Advice::Random,
            "sequential" => Advice::Sequential,
            "normal" => Advice::Normal,
            other => {
                let expected = "expected \"random\", \"sequential\" or \"normal\"";
                return Err(
                    PyValueError::new_err(format!("pattern is {other:?}, {expected}")).into()
                );
            }
        };
        self.table.mapped().advise(advice, 0..self.table.mapped().len())?;
        if let Some(private) = self.private.get() {
            private.advise(advice).map_err(PyErr::from)?;
        }
        Ok(())
    }

    /// One row, a slice (both views of `numpy()`), or the rows of a list of ids or of a mask (`gather`).
    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        key: Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyAny>> {
        if key.is_instance_of::<PyTuple>() {
            let rows = "write x[[2, 1]] for rows 2 and 1";
            let cell = "x[2][1] or x.numpy()[2, 1] for a cell";
            let problem = format!("a tuple may mean rows or a cell; {rows}, {cell}");
            return Err(PyTypeError::new_err(problem).into());
        }
        let is_array = key.hasattr("dtype")? && key.hasattr("ndim")?;
        let dimensions = if is_array { key.getattr("ndim")?.extract()? } else { 0 };
        if dimensions == 1 && is_boolean(&key)? {
            return self.gather(py, &self.rows_of_mask(&key)?, None, false);
        }
        let row = if is_array && dimensions == 0 { key.call_method0("item")? } else { key };
        if row.is_instance_of::<PyBool>() {
            let problem =
                "a row is found by an integer, rows by a list of them or a mask; found a bool";
            return Err(PyTypeError::new_err(problem).into());
        }
        // NumPy calls an integer that it cannot hold an overflow.
        if row.is_instance_of::<PyInt>() && row.extract::<i64>().is_err() {
            let (row, rows) = (row.extract::<Int>()?, self.__len__());
            let problem = format!("row {row} is out of range; the table has {rows} rows");
            return Err(PyIndexError::new_err(problem).into());
        }
        if row.is_instance_of::<PySlice>() || row.is_instance_of::<PyInt>() {
            return Ok(self.numpy(py, false)?.get_item(row)?);
        }
        self.gather(py, &row, None, false)
    }

    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> Result<Bound<'py, PyAny>> {
        let view = self.numpy(py, false)?;
        let other_dtype = match &dtype {
            Some(dtype) => !view
                .getattr("dtype")?
                .eq(py.import("numpy")?.call_method1("dtype", (dtype,))?)?,
            None => false,
        };
        if other_dtype && copy == Some(false) {
            return Err(PyValueError::new_err("another dtype needs a copy").into());
        }
        match dtype {
            Some(dtype) if other_dtype => Ok(view.call_method1("astype", (dtype,))?),
            _ if copy == Some(true) => Ok(view.call_method0("copy")?),
            _ => Ok(view),
        }
    }

    fn __len__(&self) -> usize {
        self.table.shape().rows() as usize
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let size = format_size(self.table.mapped().len());
        Ok(format!("Features(shape={}, dtype={}, {size} on disk)", self.shape(py)?, self.element()))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyTuple>> {
        let features = slf.get();
        let arguments = (features.path(), features.backend(), features.budget.total());
        let arguments = arguments.into_pyobject(slf.py())?;
        Ok(PyTuple::new(slf.py(), [slf.get_type().into_any(), arguments.into_any()])?)
    }
}
