"""What users hand to a build, as the native code takes it: paths, or plain arrays with their types."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._columns import Columns, columns_of, id_index
from ._edges import EdgeArrays, endpoints, graph_columns
from ._errors import SourceError
from ._values import as_numpy, ids_of, is_sparse, raw_rows, times_of, typed, weights_of, words_of


@dataclass(frozen=True)
class SparseIndex:
    """Where the values of a sparse table stand: the columns of row i begin at ``offsets[i]``."""

    offsets: NDArray[Any]
    columns: NDArray[Any]


@dataclass(frozen=True)
class TableArray:
    """Rows in memory: bytes of one type or one column of texts, and whose rows they are."""

    data: NDArray[np.uint8] | None
    texts: list[str] | None
    element: str
    rows: int
    columns: int | None
    ids: NDArray[Any] | list[str] | None
    sparse: SparseIndex | None = None


def edge_source(
    edges: Any,
    weights: Any,
    times: Any,
    endpoint_columns: tuple[str | int | None, str | int | None],
    weight_column: str | int | None,
    time_column: str | int | None,
) -> list[str] | EdgeArrays:
    """Paths or arrays of edges."""
    paths = _paths(edges)
    if paths is not None:
        if weights is not None or times is not None:
            raise ValueError(
                "weights and times belong to edges in memory; name weight_column for files"
            )
        return paths
    frame, facts = graph_columns(edges, weight_column, time_column)
    if frame is not None:
        names = frame.names
        if len(names) < 2:
            raise ValueError(f"a table of edges needs two columns, found {names}")
        taken = []
        if weight_column is not None:
            taken.append(frame.position(weight_column))
            weights = _only_one("weights", weights, frame.columns[taken[-1]])
        if time_column is not None:
            taken.append(frame.position(time_column))
            times = _only_one("times", times, frame.columns[taken[-1]])
        first, second = (
            None if column is None else frame.position(column) for column in endpoint_columns
        )
        source, destination = _native.endpoint_columns(
            [str(name) for name in names], first, second, taken
        )
        edges = (frame.columns[source], frame.columns[destination])
    elif weight_column is not None or time_column is not None:
        raise ValueError("arrays have no columns to name; pass weights= and times= instead")
    elif endpoint_columns != (None, None):
        raise ValueError("arrays have no columns to name; pass a pair (sources, destinations)")
    sources, destinations = endpoints(edges)
    weights = None if weights is None else weights_of(weights)
    times = None if times is None else times_of(times)
    return EdgeArrays(sources, destinations, weights, times, facts)


def table_sources(
    table: Any, id_column: str | int | None, side_by_side: bool
) -> list[list[str] | TableArray]:
    """Sources of the features of the nodes, side by side."""
    if table is None:
        return []
    if side_by_side and isinstance(table, (list, tuple)):
        return [_matrix(part, table_source(part, id_column)) for part in table]
    return [_matrix(table, table_source(table, id_column))]


def table_source(
    table: Any, id_column: str | int | None, column: str | int | None = None
) -> list[str] | TableArray:
    """Paths or rows of nodes; of a table in memory only one column, if it is named."""
    paths = _paths(table)
    if paths is not None:
        return paths
    frame = columns_of(table, id_column, with_index=True)
    if frame is None:
        index = id_index(table, id_column)
        return _rows(table, None if index is None else ids_of(index, "the index"))
    key = frame.ids(id_column)
    ids = None if key is None else ids_of(frame.columns[key], f"column {frame.names[key]!r}")
    chosen = range(len(frame.names)) if column is None else [frame.position(column)]
    return _rows(_beside_each_other(frame, [at for at in chosen if at != key]), ids)


def edge_table_sources(table: Any, side_by_side: bool) -> list[list[str] | TableArray]:
    """Sources of the features of the edges, side by side."""
    if table is None:
        return []
    if side_by_side and isinstance(table, (list, tuple)):
        return [_matrix(part, edge_table_source(part)) for part in table]
    return [_matrix(table, edge_table_source(table))]


def edge_table_source(table: Any) -> list[str] | TableArray:
    """Paths or rows of edges, which belong to the edges by their position, whatever columns are called."""
    paths = _paths(table)
    if paths is not None:
        return paths
    frame = columns_of(table)
    if frame is None:
        return _rows(table, None)
    return _rows(_beside_each_other(frame, list(range(len(frame.names)))), None)


def _matrix(table: Any, source: list[str] | TableArray) -> list[str] | TableArray:
    """Features of one column: a table has two dimensions also then, as files of text have."""
    if isinstance(source, TableArray) and source.columns is None and columns_of(table) is not None:
        return replace(source, columns=None if source.texts is not None else 1)
    return source


def split_source(split: Any) -> list[str] | TableArray:
    """Paths, ids or a mask."""
    paths = _paths(split)
    if paths is not None:
        return paths
    frame, index = columns_of(split, with_index=True), id_index(split, None)
    if frame is not None:
        key = frame.ids(None)
        others = [at for at in range(len(frame.names)) if at != key]
        if key is None:
            if len(others) != 1:
                raise ValueError(f"a split has one column, or one named id, found {frame.names}")
            array = typed(as_numpy(frame.columns[0]))
        else:
            array = typed(as_numpy(frame.columns[key]))
            flags = [typed(as_numpy(frame.columns[at])) for at in others]
            if len(flags) == 1 and flags[0].dtype == np.bool_:
                array = array[flags[0]]
    else:
        array = typed(as_numpy(split))
        if index is not None and array.dtype == np.bool_:
            array = typed(as_numpy(index[array]))
        elif index is not None:
            raise ValueError(
                "a series with an index of ids may list ids by its values or by its index; "
                "give series.to_numpy() or series.index.to_numpy()"
            )
    if array.ndim != 1:
        raise ValueError(f"a split must have one dimension, found shape {array.shape}")
    if array.size == 0:
        array = array.astype(np.int64)
    return _rows(array, None)


def refuse_words(string_ids: bool, what: str, source: Any) -> None:
    """Refuse words as ids where they would have to be integers."""
    if string_ids:
        return
    if isinstance(source, EdgeArrays):
        words = source.sources if source.has_words else None
    else:
        words = source.ids if isinstance(source, TableArray) else None
    if isinstance(words, list):
        example = f" such as {words[0]!r}" if words else ""
        raise TypeError(
            f"ids of {what} are words{example}, expected integers from 0 on; "
            "give string_ids=True to number the nodes by their words"
        )


def _paths(source: Any) -> list[str] | None:
    """The paths that a source names, None if it is in memory."""
    if isinstance(source, (str, os.PathLike)):
        return [os.fspath(source)]
    if isinstance(source, (list, tuple)) and source:
        if all(isinstance(item, os.PathLike) for item in source):
            return [os.fspath(item) for item in source]
        if all(isinstance(item, str) for item in source) and _look_like_files(source):
            return list(source)
    return None


def _look_like_files(names: Sequence[str]) -> bool:
    """A list of words may be classes or ids; it is paths if the first of them is there."""
    first = names[0]
    return os.path.exists(first) or bool(glob.glob(first)) or os.sep in first


def _only_one(what: str, given: Any, column: Any) -> Any:
    if given is not None:
        raise ValueError(f"{what} are given twice, as an array and by a column; leave one out")
    return column


def _beside_each_other(frame: Columns, chosen: list[int]) -> Any:
    """Some columns as one table."""
    if len(chosen) == 1:
        return frame.columns[chosen[0]]
    cells = [typed(as_numpy(frame.columns[at])) for at in chosen]
    if not cells:
        raise SourceError(
            f"found rows without columns, only {frame.names}, expected at least one column of values; "
            "give one, or leave the table out"
        )
    common = np.result_type(*cells)
    if common.kind == "f":
        for at, cell in zip(chosen, cells, strict=True):
            _check_exact(frame.names[at], cell, common)
    return np.column_stack(cells)


def _check_exact(name: Any, cell: NDArray[Any], common: np.dtype[Any]) -> None:
    """Refuse integers that the type of the columns beside them would change."""
    if cell.dtype.kind not in "iu" or cell.dtype.itemsize < 4 or cell.size == 0:
        return
    # Beyond this, not every integer is a number of the type.
    most = 1 << (np.finfo(common).nmant + 1)
    for value in (int(cell.max()), int(cell.min())):
        if abs(value) > most:
            raise ValueError(
                f"column {name!r} holds {value}, and beside the other columns it would become {common}, which is exact "
                f"up to {most}; give it as a table of its own, or all columns as the type that is wanted"
            )


def _rows(table: Any, ids: NDArray[Any] | list[str] | None) -> TableArray:
    if is_sparse(table) or str(getattr(table, "layout", "")) in _SPARSE_LAYOUTS:
        return _sparse_rows(table, ids)
    if str(getattr(table, "dtype", "")) != "torch.bfloat16":
        table = typed(as_numpy(table))
        if table.dtype.kind in "OUST":
            if table.ndim == 2 and table.shape[1] == 1:
                table = table[:, 0]
            if table.ndim != 1:
                raise TypeError("a table of words must have one column, or hold numbers alone")
            texts = words_of(table, "rows")
            return TableArray(None, texts, "int64", len(texts), None, ids)
    data, element, shape = raw_rows(table)
    if len(shape) not in (1, 2):
        raise ValueError(f"rows must have one or two dimensions, found shape {shape}")
    return TableArray(data, None, element, shape[0], None if len(shape) == 1 else shape[1], ids)


_SPARSE_LAYOUTS = ("torch.sparse_coo", "torch.sparse_csr", "torch.sparse_csc")


def _sparse_rows(table: Any, ids: NDArray[Any] | list[str] | None) -> TableArray:
    """A sparse matrix of SciPy or torch, which the build writes out piece by piece."""
    if len(table.shape) != 2:
        raise ValueError(
            f"a sparse table must have two dimensions, found shape {tuple(table.shape)}"
        )
    if is_sparse(table):
        csr = table.tocsr()
        if not csr.has_canonical_format:
            # The matrix of the user stays as it is.
            csr = csr.copy() if csr is table else csr
            csr.sum_duplicates()
        offsets, columns, values = csr.indptr, csr.indices, csr.data
    else:
        # Coalesced values are in the order of the rows, and in a row in that of the columns.
        tensor = table.detach().cpu().to_sparse_coo().coalesce()
        rows, columns = tensor.indices().numpy()
        offsets = np.searchsorted(rows, np.arange(table.shape[0] + 1))
        values = tensor.values()
    data, element, _ = raw_rows(values)
    index = SparseIndex(np.ascontiguousarray(offsets), np.ascontiguousarray(columns))
    return TableArray(data, None, element, int(table.shape[0]), int(table.shape[1]), ids, index)
