"""What users hand to a build, as the native code takes it: paths, or plain arrays with their types."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._writers import as_numpy, element_name

_ID_NAMES = ("id", "node_id")
# Unsigned types that tables do not store, and the next that holds them.
_WIDER = {"uint16": np.int32, "uint32": np.int64, "uint64": np.int64}


@dataclass(frozen=True)
class EdgeArrays:
    """Edges in memory: two columns of ids, and values where there are any."""

    sources: NDArray[Any] | list[str]
    destinations: NDArray[Any] | list[str]
    weights: NDArray[np.float32] | None
    times: NDArray[np.int64] | None


@dataclass(frozen=True)
class TableArray:
    """Rows in memory: bytes of one type or one column of texts, and whose rows they are."""

    data: NDArray[np.uint8] | None
    texts: list[str] | None
    element: str
    rows: int
    columns: int | None
    ids: NDArray[Any] | list[str] | None


def edge_source(
    edges: Any,
    weights: Any,
    times: Any,
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
    frame = _columns(edges)
    if frame is not None:
        names = list(frame)
        if len(names) < 2:
            raise ValueError(f"a table of edges needs two columns, found {names}")
        if weight_column is not None:
            weights = frame[_column_name(names, weight_column)]
        if time_column is not None:
            times = frame[_column_name(names, time_column)]
        edges = (frame[names[0]], frame[names[1]])
    elif weight_column is not None or time_column is not None:
        raise ValueError("arrays have no columns to name; pass weights= and times= instead")
    sources, destinations = _ends(edges)
    return EdgeArrays(sources, destinations, _values(weights, np.float32), _values(times, np.int64))


def table_sources(
    table: Any, id_column: str | int | None, side_by_side: bool
) -> list[list[str] | TableArray]:
    """Sources of one table, side by side."""
    if table is None:
        return []
    if side_by_side and isinstance(table, (list, tuple)):
        return [table_source(part, id_column) for part in table]
    return [table_source(table, id_column)]


def table_source(
    table: Any, id_column: str | int | None, column: str | int | None = None
) -> list[str] | TableArray:
    """Paths or rows; of a table in memory only one column, if it is named."""
    paths = _paths(table)
    if paths is not None:
        return paths
    frame = _columns(table)
    if frame is None:
        return _rows(table, None)
    names = list(frame)
    if id_column is not None:
        key: str | None = _column_name(names, id_column)
    else:
        key = next((name for name in names if str(name).lower() in _ID_NAMES), None)
    ids = None if key is None else _ids(frame[key])
    chosen = names if column is None else [_column_name(names, column)]
    cells = [frame[name] for name in chosen if name != key]
    if len(cells) == 1:
        return _rows(cells[0], ids)
    return _rows(np.column_stack(cells) if cells else np.zeros((len(frame[names[0]]), 0)), ids)


def split_source(split: Any) -> list[str] | TableArray:
    """Paths, ids or a mask."""
    paths = _paths(split)
    if paths is not None:
        return paths
    frame = _columns(split)
    if frame is not None:
        split = next((frame[name] for name in frame if str(name).lower() in _ID_NAMES), None)
        if split is None:
            if len(frame) != 1:
                raise ValueError(f"a split has one column, or one named id, found {list(frame)}")
            split = next(iter(frame.values()))
    array = as_numpy(split)
    if array.ndim != 1:
        raise ValueError(f"a split must have one dimension, found shape {array.shape}")
    if array.size == 0:
        array = array.astype(np.int64)
    return _rows(array, None)


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


def _columns(table: Any) -> Mapping[Any, NDArray[Any]] | None:
    """The columns of a pandas, polars or pyarrow table, None for anything else."""
    library = type(table).__module__.partition(".")[0]
    if library in ("pandas", "polars") and hasattr(table, "columns"):
        return {name: table[name].to_numpy() for name in table.columns}
    if library == "pyarrow" and hasattr(table, "column_names"):
        return {
            name: _arrow_to_numpy(column)
            for name, column in zip(table.column_names, table.columns, strict=True)
        }
    return None


def _arrow_to_numpy(column: Any) -> NDArray[Any]:
    # Neither texts nor chunks can be seen without a copy.
    array: NDArray[Any] = (
        column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(zero_copy_only=False)
    )
    return array


def _column_name(names: Sequence[Any], column: str | int) -> Any:
    if isinstance(column, int) or (str(column).isdigit() and column not in names):
        if not 0 <= int(column) < len(names):
            raise ValueError(f"there is no column {column}; the table has {len(names)}")
        return names[int(column)]
    found = [name for name in names if str(name).lower() == str(column).lower()]
    if not found:
        raise ValueError(f"there is no column {column!r}; the table has {list(names)}")
    return found[0]


def _ends(edges: Any) -> tuple[Any, Any]:
    if hasattr(edges, "shape"):
        if len(edges.shape) != 2 or edges.shape[0] != 2:
            raise ValueError(f"edges must have shape [2, E], found {tuple(edges.shape)}")
    elif len(edges) != 2:
        raise ValueError(f"edges must be two columns, found {len(edges)}")
    sources, destinations = _ids(edges[0]), _ids(edges[1])
    if isinstance(sources, list) != isinstance(destinations, list):
        raise TypeError("one column of edges holds words and the other numbers")
    if len(sources) != len(destinations):
        raise ValueError(f"edges have {len(sources)} sources and {len(destinations)} destinations")
    return sources, destinations


def _ids(values: Any) -> NDArray[Any] | list[str]:
    """Ids as contiguous int32 or int64, or as words."""
    array = _to_array(values)
    if array.ndim != 1:
        raise ValueError(f"ids must have one dimension, found shape {array.shape}")
    if array.dtype.kind in "OUST":
        return _words(array)
    if array.size == 0:
        return np.zeros(0, np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"ids must be integers or words, found {array.dtype}")
    if array.dtype == np.uint64 and int(array.max()) > np.iinfo(np.int64).max:
        raise ValueError(f"found the id {int(array.max())}, expected ids below 2^63")
    if array.dtype != np.int32:
        array = array.astype(np.int64, copy=False)
    return np.ascontiguousarray(array)


def _values(values: Any, dtype: Any) -> NDArray[Any] | None:
    if values is None:
        return None
    array = _to_array(values)
    if array.ndim != 1:
        raise ValueError(f"weights and times must have one dimension, found shape {array.shape}")
    if dtype is np.int64 and array.dtype.kind in "Mm":
        array = array.astype(np.int64)
    if array.dtype.kind not in ("iu" if dtype is np.int64 else "iufb") and array.size:
        raise TypeError(f"found {array.dtype}, expected {np.dtype(dtype)} or what fits into it")
    return np.ascontiguousarray(array, dtype=dtype)


def _rows(table: Any, ids: Any) -> TableArray:
    if str(getattr(table, "dtype", "")) == "torch.bfloat16":
        # NumPy has no bfloat16, but its bits fit anywhere.
        import torch

        array, element = table.detach().cpu().contiguous().view(torch.int16).numpy(), "bfloat16"
    else:
        array = _to_array(table)
        if array.dtype.kind in "OUST":
            if array.ndim == 2 and array.shape[1] == 1:
                array = array[:, 0]
            if array.ndim != 1:
                raise TypeError("a table of words must have one column, or hold numbers alone")
            texts = _words(array)
            return TableArray(None, texts, "int64", len(texts), None, ids)
        wider = _WIDER.get(array.dtype.name)
        if wider is not None:
            if array.size and int(array.max()) > np.iinfo(wider).max:
                raise ValueError(f"{int(array.max())} does not fit into {np.dtype(wider)}")
            array = array.astype(wider)
        element = element_name(array.dtype)
    if array.ndim not in (1, 2):
        raise ValueError(f"rows must have one or two dimensions, found shape {array.shape}")
    columns = None if array.ndim == 1 else array.shape[1]
    data = np.ascontiguousarray(array)
    if data.dtype.byteorder == ">":
        data = data.astype(data.dtype.newbyteorder("<"))
    rows = data.shape[0]
    return TableArray(data.reshape(-1).view(np.uint8), None, element, rows, columns, ids)


def _to_array(values: Any) -> NDArray[Any]:
    library = type(values).__module__.partition(".")[0]
    if library in ("pandas", "polars") and hasattr(values, "to_numpy"):
        values = values.to_numpy()
    elif library == "pyarrow" and hasattr(values, "to_numpy"):
        values = _arrow_to_numpy(values)
    return as_numpy(values)


def _words(array: NDArray[Any]) -> list[str]:
    words = []
    for value in array.tolist():
        if value is None or value != value:
            # A missing value of pandas is None or a NaN.
            words.append("")
        elif isinstance(value, (str, int, np.integer)) and not isinstance(value, bool):
            words.append(str(value))
        else:
            raise TypeError(f"found {value!r} of type {type(value).__name__}, expected words")
    return words
