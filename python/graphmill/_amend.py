"""Tables and splits are added to a dataset: users give ids of the source, files hold numbers of nodes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native, _writers
from ._columns import columns_of
from ._errors import SourceError
from ._values import as_numpy, typed

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CHUNK_BYTES = 8 << 20
_KINDS = {"mapped": "integers of any size", "text": "text"}


def add_table(ds: _native.Dataset, name: str, array: Any, dtype: Any, ids: Any, fill: Any) -> None:
    """Add a table of the nodes; see ``Dataset.add_table``."""
    if ids is not None:
        _add_by_ids(ds, name, array, dtype, ids, fill)
    elif fill is not None:
        raise ValueError("fill is the value of rows that ids leave out; give ids too")
    elif ds.ids == "same":
        _write(ds, name, array, dtype)
    else:
        _check_positions(ds, f"table {name!r}", "give ids=, the id of each row")
        _check_rows(name, array, ds.num_nodes, "one for each node")
        # The row of a node is its id.
        _write(ds, name, _reordered(array, dtype, ds.num_nodes, ds.original_ids, None), dtype)


def add_split(ds: _native.Dataset, name: str, nodes: Any) -> None:
    """Add a split; see ``Dataset.add_split``."""
    if columns_of(nodes) is not None:
        raise TypeError(
            f"nodes must be ids or a mask, found a table ({type(nodes).__name__}); give one of its columns"
        )
    array = typed(as_numpy(nodes))
    if array.dtype == np.bool_:
        if array.shape != (ds.num_nodes,):
            raise ValueError(f"a mask has shape {array.shape}, expected ({ds.num_nodes},)")
        _check_positions(ds, f"a mask for split {name!r}", "give a list of ids")
        nodes = array = np.flatnonzero(array)
    elif array.ndim != 1:
        raise ValueError(f"a split must have one dimension, found shape {array.shape}")
    elif array.size == 0:
        nodes = array = np.zeros(0, dtype=np.int64)
    else:
        _refuse_repeats(ds, name, array)
    if ds.ids != "same" and array.size:
        array = _numbers(ds, nodes)
    _native.amend_split(os.fspath(ds.path), name, array, ds)


def _refuse_repeats(ds: _native.Dataset, name: str, array: NDArray[Any]) -> None:
    """Refuse a list that names a node twice, as a build does; an old mask of 0 and 1 is one."""
    # The order of the ids, and they in that order.
    with ds._reserve(24 * array.size, f"looking for repeated ids in split {name!r}"):
        order = np.argsort(array, kind="stable")
        in_order = array[order]
        repeated = order[1:][in_order[1:] == in_order[:-1]]
        if not repeated.size:
            return
        second = int(repeated.min())
        first = int(np.flatnonzero(array == array[second])[0])
    if array.dtype.kind in "iu" and np.isin(array, (0, 1)).all():
        raise SourceError(
            f"split {name!r}: found {array.size} values that are all 0 or 1, expected ids that are listed once, or a "
            "mask of booleans; for a mask give mask.astype(bool), for ids list each once"
        )
    raise SourceError(
        f"split {name!r}, positions {first} and {second}: found the id {array[second]} twice, expected every id once; "
        "list each id once"
    )


def add_edge_table(ds: _native.Dataset, name: str, array: Any, dtype: Any) -> None:
    """Add a table of the edges; see ``Dataset.add_edge_table``."""
    if not ds.graph.has_edge_ids:
        raise ValueError(
            f"the rows of edge table {name!r} are found by edge ids, which {ds.path} does not store; "
            "build it with edge_ids=True"
        )
    rows, columns, element, pieces = _writers._table(array, dtype)
    count = ds.num_source_rows
    if rows is not None and rows != count:
        raise ValueError(
            f"edge table {name!r} has {rows} rows, expected {count}, one for each edge of the source"
        )
    path = os.fspath(ds.path)
    _native.amend_table(path, name, element, count, columns, pieces, ds, of_edges=True)


def remove_table(ds: _native.Dataset, name: str) -> None:
    """Remove a table of the nodes or of the edges; see ``Dataset.remove_table``."""
    of_edges = name in ds.edge_tables and name not in ds.tables
    _native.amend_removal(os.fspath(ds.path), "edge table" if of_edges else "table", name)


def remove_split(ds: _native.Dataset, name: str) -> None:
    """Remove a split; see ``Dataset.remove_split``."""
    _native.amend_removal(os.fspath(ds.path), "split", name)


def remove(path: str | os.PathLike[str]) -> None:
    """Remove a dataset: its manifest and the files that this names, and the folder if nothing else is in it.

    What else lies in the folder stays. Handles that are open keep what they have; a build or a change of the dataset
    that is under way is an error.

    Args:
        path: The folder of the dataset.

    Example:
        >>> ds = gm.build("short-lived/", edges=[[0, 1], [1, 2]])
        >>> gm.remove("short-lived/")
    """
    _native.remove_dataset(os.fspath(path))


def _add_by_ids(
    ds: _native.Dataset, name: str, array: Any, dtype: Any, ids: Any, fill: Any
) -> None:
    _check_rows(name, array, len(ids), "one for each of ids")
    if fill is not None:
        _check_fill(array, dtype, fill)
    count = ds.num_nodes
    # The row of every node, the numbers of the given ones, and what finding duplicates takes.
    with ds._reserve(8 * (count + 3 * len(ids)), f"the order of the rows of table {name!r}"):
        numbers = _numbers(ds, ids)
        row_of = np.full(count, -1, dtype=np.int64)
        row_of[numbers] = np.arange(len(numbers))
        overwritten = np.flatnonzero(row_of[numbers] != np.arange(len(numbers)))
        if overwritten.size:
            first = int(overwritten[0])
            raise SourceError(
                f"table {name!r}: rows {first} and {row_of[numbers[first]]} have the same id {ids[first]!r}; "
                "give one row for each node"
            )
        missing = count - len(numbers)
        if missing and fill is None:
            unnamed = ds.original_ids([int(np.argmin(row_of))])[0]
            raise SourceError(
                f"table {name!r}: {missing} of {count} nodes have no row, among them the one with id {unnamed!r}; "
                "give rows for all, or fill= for the others"
            )
        chunks = _reordered(array, dtype, count, row_of.__getitem__, fill)
        _write(ds, name, chunks, dtype)


def _write(ds: _native.Dataset, name: str, array_or_chunks: Any, dtype: Any) -> None:
    rows, columns, element, pieces = _writers._table(array_or_chunks, dtype)
    count = ds.num_nodes
    if rows is not None and rows != count:
        raise ValueError(f"table {name!r} has {rows} rows, expected {count}, one for each node")
    _native.amend_table(os.fspath(ds.path), name, element, count, columns, pieces, ds)


def _reordered(
    array: Any,
    dtype: Any,
    count: int,
    rows_of: Callable[[NDArray[np.int64]], NDArray[np.int64]],
    fill: Any,
) -> Iterator[Any]:
    """The rows of all nodes by number, in chunks; ``rows_of`` gives -1 for rows that are filled."""
    width = 8 * int(np.prod(array.shape[1:], dtype=np.int64))
    step = max(1, _CHUNK_BYTES // max(1, width))
    # A table of no nodes still has columns.
    for start in range(0, max(1, count), step):
        rows = rows_of(np.arange(start, min(start + step, count)))
        is_given = rows >= 0
        yield array[rows] if is_given.all() else _filled(array, dtype, rows, is_given, fill)


def _filled(
    array: Any, dtype: Any, rows: NDArray[np.int64], is_given: NDArray[np.bool_], fill: Any
) -> Any:
    element = _element(array, dtype)
    bits = _writers._ELEMENTS[element]
    chunk = np.empty((len(rows), *array.shape[1:]), dtype=bits)
    chunk[...] = _writers.stored(np.asarray([fill]), element, 0).view(bits)[0]
    if is_given.any():
        given = _writers.stored(array[rows[is_given]], element, 0)
        chunk[is_given] = given.view(bits).reshape(-1, *array.shape[1:])
    if element == "bfloat16":
        import torch

        return torch.from_numpy(chunk).view(torch.bfloat16)
    return chunk


def _check_fill(array: Any, dtype: Any, fill: Any) -> None:
    _writers.stored(np.asarray([fill]), _element(array, dtype), 0)


def _element(array: Any, dtype: Any) -> str:
    return _writers.stored_type(array) if dtype is None else _writers.element_name(dtype)


def _check_rows(name: str, array: Any, expected: int, one_for: str) -> None:
    if not hasattr(array, "shape"):
        raise TypeError(
            f"the rows of table {name!r} have to be put into the order of the nodes: give one array instead of "
            "chunks; np.load(..., mmap_mode='r') gives one that is larger than memory"
        )
    if len(array.shape) not in (1, 2) or array.shape[0] != expected:
        raise ValueError(
            f"table {name!r} has shape {tuple(array.shape)}, expected {expected} rows, {one_for}"
        )


def _check_positions(ds: _native.Dataset, what: str, remedy: str) -> None:
    if ds.ids in _KINDS:
        raise ValueError(
            f"{what} says by position which node is meant, but the ids of {ds.path} are {_KINDS[ds.ids]}; {remedy}"
        )


def _numbers(ds: _native.Dataset, ids: Any) -> NDArray[np.int64]:
    """The nodes with these ids; one that is none cannot be stored."""
    try:
        return np.asarray(as_numpy(ds.node_ids(ids)), dtype=np.int64)
    except (IndexError, KeyError) as error:
        raise SourceError(error.args[0]) from None
