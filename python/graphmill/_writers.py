"""Arrays in memory become files, without a detour through text."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._edges import endpoints
from ._values import is_sparse, number_name, raw_rows, times_of, weights_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_CHUNK_BYTES = 8 << 20
_ELEMENTS = {
    "int8": np.int8,
    "int16": np.int16,
    "int32": np.int32,
    "int64": np.int64,
    "uint8": np.uint8,
    "bool": np.bool_,
    "float16": np.float16,
    "float32": np.float32,
    "float64": np.float64,
    # NumPy has no such type; its bits are.
    "bfloat16": np.int16,
}
# Unsigned types that tables do not have, and the next that holds them.
_WIDER = {"uint16": "int32", "uint32": "int64", "uint64": "int64"}
_SHORT = {
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
}


def write_graph(
    path: str | os.PathLike[str],
    edge_index: Any,
    num_nodes: int | None = None,
    weights: ArrayLike | None = None,
    *,
    times: ArrayLike | None = None,
    undirected: bool = False,
    direction: str = "both",
    neighbor_order: str = "id",
    encoding: str = "auto",
    edge_ids: bool = False,
    memory: str | int | None = None,
    overwrite: bool = False,
) -> _native.Graph:
    """Write edges from memory as a ``.gl`` file and open it.

    Args:
        path: The file to write; it appears complete or not at all.
        edge_index: Integers of shape ``[2, E]`` or ``[E, 2]`` (NumPy or torch), or a pair ``(sources, destinations)``.
        num_nodes: At least so many nodes; more if an id demands it.
        weights: One finite number, 0 or more, for each edge.
        times: One integer for each edge.
        undirected: Store each edge both ways in one set of lists.
        direction: ``"both"``, ``"out"`` or ``"in"``: which lists a directed graph stores.
        neighbor_order: Order within a list: ``"id"``, ``"time"`` (needs ``times``) or ``"file"``.
        encoding: ``"i32"``, ``"i64"``, ``"packed"`` (few bits an edge, no view of ``indices``) or ``"auto"`` (the
            narrower one that fits).
        edge_ids: Store which column of ``edge_index`` an edge came from; implied by weights and times.
        memory: Budget for sorting, such as ``"2GiB"``; a quarter of the machine by default.
        overwrite: Replace an existing file.

    Example:
        >>> g = gm.write_graph("triangle.gl", [[0, 1, 2], [1, 2, 0]])
        >>> g.num_edges
        3
    """
    sources, destinations = _integer_columns(edge_index)
    _native.write_edges(
        os.fspath(path),
        sources,
        destinations,
        num_nodes,
        None if weights is None else weights_of(weights),
        None if times is None else times_of(times),
        undirected,
        direction,
        neighbor_order,
        encoding,
        edge_ids,
        memory,
        overwrite,
    )
    return _native.Graph(path)


def write_features(
    path: str | os.PathLike[str],
    array_or_chunks: Any,
    dtype: Any = None,
    *,
    align_rows: bool = False,
    overwrite: bool = False,
) -> _native.Features:
    """Write rows from memory as a ``.gd`` file and open it.

    Args:
        path: The file to write; it appears complete or not at all.
        array_or_chunks: An array or tensor of one or two dimensions, or an iterable of such chunks, which are
            written one after the other, so that the whole need not fit in memory.
        dtype: Store as this type, such as ``"float16"`` or ``"bf16"``; by default as the data is.
        align_rows: Let every row start on a multiple of 512 bytes.
        overwrite: Replace an existing file.

    Example:
        >>> x = gm.write_features("x.gd", np.zeros((4, 2), dtype=np.float32))
        >>> x.shape
        (4, 2)
    """
    rows, columns, element, pieces = _table(array_or_chunks, dtype)
    _native.write_table(os.fspath(path), element, rows, columns, align_rows, overwrite, pieces)
    return _native.Features(path)


def convert(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    target: str | os.PathLike[str],
    *,
    to: str | None = None,
    format: str | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    src_column: str | int | None = None,
    dst_column: str | int | None = None,
    weight_column: str | int | None = None,
    time_column: str | int | None = None,
    id_column: str | int | None = None,
    dtype: Any = None,
    on_bad_row: str = "stop",
    dedup: bool = False,
    drop_self_loops: bool = False,
    add_self_loops: bool = False,
    num_nodes: int | None = None,
    undirected: bool = False,
    direction: str | None = None,
    neighbor_order: str | None = None,
    encoding: str = "auto",
    edge_ids: bool = False,
    align_rows: bool = False,
    memory: str | int | None = None,
    overwrite: bool = False,
    internal_ids: bool = False,
    table: str | None = None,
) -> None:
    """Convert one file or a dataset: edges and tables as text, Parquet or arrays, ``.gl``, ``.gd``, GraphZero's files.

    What the source is follows from its content, what the target shall be from its name and ``to``. Text is read once,
    on all cores, and sorted within ``memory``; it may be packed as ``.gz`` or ``.zst``. A ``.csv`` or ``.parquet``
    target of a graph has the columns ``source`` and ``destination``, ``weight`` and ``time`` where there are any, in
    the order of the stored edge ids, and ``edge_id`` where these leave gaps. Each edge of an undirected graph is one
    row. Nodes have the ids or names that they had before they were renumbered. A ``.csv`` of a ``.gd`` has its rows
    without a header. What a target has no place for is named in a warning. Ids that are scattered or words need
    :func:`build` with ``map_ids=True`` or ``string_ids=True``.

    Args:
        source: The file to read, several that follow each other, a pattern such as ``"part-*.csv"``, or the folder
            of a dataset, which stands for its edges.
        target: The file to write; it appears complete or not at all.
        to: ``"graphmill"``, ``"graphzero"``, ``"npy"``, ``"csv"`` or ``"parquet"``; by default the name of the target
            decides.
        format: What the source is, instead of what it looks like.
        header: Whether the first line of a text names its columns; found by default.
        delimiter: What separates its fields: ``","``, a tab, ``";"`` or a space; found by default.
        src_column: The column of sources, by name or by number from 0; by default the one called ``src``, ``source``,
            ``from`` or the like, else the first that nothing else is read from.
        dst_column: The column of destinations, likewise.
        weight_column: The column of weights, by name or by number from 0.
        time_column: The column of times, by name or by number from 0.
        id_column: The column of a table that says whose row it is; one named ``id`` or ``node_id`` by default.
        dtype: The type of a table's cells; float32 for text and that of the array otherwise.
        on_bad_row: ``"stop"`` with an error that names line and column, or ``"skip"`` such rows and warn.
        dedup: Of edges with the same ends keep the first.
        drop_self_loops: Leave out edges from a node to itself.
        add_self_loops: Add an edge from every node to itself.
        num_nodes: At least this many nodes.
        undirected: Store each edge both ways.
        direction: Lists to store; by default those of a ``.gl``, and ``"out"`` for plain edges.
        neighbor_order: Order within lists; by default that of a graphmill file, and by id otherwise.
        encoding: ``"i32"``, ``"i64"``, ``"packed"`` or ``"auto"`` (packed if the source is).
        edge_ids: Store the source row of every edge.
        align_rows: Let every row of a ``.gd`` start on a multiple of 512 bytes.
        memory: Budget for sorting, such as ``"2GiB"``.
        overwrite: Replace an existing file.
        internal_ids: Name nodes by their numbers in the ``.gl``, not by the ids or names that they had before.
        table: Write this table of a dataset, with a column of the ids of its rows if the target is text or Parquet.

    Example:
        >>> gm.convert("x.gd", "x.npy")
        >>> np.load("x.npy").shape
        (4, 2)
    """
    source_options = _native.SourceOptions(
        format=format,
        header=header,
        delimiter=delimiter,
        src_column=None if src_column is None else str(src_column),
        dst_column=None if dst_column is None else str(dst_column),
        weight_column=None if weight_column is None else str(weight_column),
        time_column=None if time_column is None else str(time_column),
        id_column=None if id_column is None else str(id_column),
        dtype=None if dtype is None else element_name(dtype),
        on_bad_row=on_bad_row,
    )
    sources: Sequence[Any] = source if isinstance(source, (list, tuple)) else [source]
    _native.convert_file(
        [os.fspath(path) for path in sources],
        os.fspath(target),
        to,
        source_options,
        edge_ids,
        dedup,
        drop_self_loops,
        add_self_loops,
        num_nodes,
        undirected,
        direction,
        neighbor_order,
        encoding,
        align_rows,
        memory,
        overwrite,
        internal_ids,
        table,
    )


def _integer_columns(edge_index: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two contiguous columns of one integer type, without a copy where the input allows it."""
    sources, destinations = endpoints(edge_index)
    if isinstance(sources, list) or isinstance(destinations, list):
        raise TypeError("edge_index holds words, expected integers; gm.build takes string_ids=True")
    if sources.dtype == destinations.dtype == np.int32:
        return sources, destinations
    return sources.astype(np.int64, copy=False), destinations.astype(np.int64, copy=False)


def _table(
    array_or_chunks: Any, dtype: Any
) -> tuple[int | None, int | None, str, Iterator[NDArray[np.uint8]]]:
    """Rows (None if they have to be counted), columns (None for a vector), type and bytes."""
    is_array = hasattr(array_or_chunks, "shape")
    chunks = iter([array_or_chunks] if is_array else array_or_chunks)
    try:
        first = next(chunks)
    except StopIteration:
        raise ValueError("no chunk of rows was given; pass an array for an empty table") from None
    if not (hasattr(first, "shape") and hasattr(first, "dtype")):
        raise TypeError(
            f"rows must be NumPy arrays or torch tensors, found {type(first).__name__}; give numpy.asarray(rows)"
        )
    element = stored_type(first) if dtype is None else element_name(dtype)
    if len(first.shape) not in (1, 2):
        raise ValueError(f"rows must have one or two dimensions, found shape {tuple(first.shape)}")
    columns = None if len(first.shape) == 1 else int(first.shape[1])
    rows = int(first.shape[0]) if is_array else None
    return rows, columns, element, _pieces(chain([first], chunks), element, columns)


def element_name(dtype: Any) -> str:
    """The name of a NumPy, torch or written type, such as ``torch.bfloat16`` or ``"f16"``."""
    if isinstance(dtype, str):
        name = _SHORT.get(dtype, dtype)
    elif str(dtype).startswith("torch."):
        name = str(dtype).removeprefix("torch.")
    else:
        name = np.dtype(dtype).name
    if name not in _ELEMENTS:
        raise TypeError(f"a table cannot store {name}; it stores {', '.join(_ELEMENTS)}")
    return name


def stored_type(rows: Any) -> str:
    """The name of the type that a table has for rows of this type: their own, or the next that holds it."""
    if str(rows.dtype).startswith("torch."):
        name = str(rows.dtype).removeprefix("torch.")
    else:
        name = number_name(np.dtype(rows.dtype))
    return element_name(_WIDER.get(name, name))


def _pieces(
    chunks: Iterable[Any], element: str, columns: int | None
) -> Iterator[NDArray[np.uint8]]:
    """Every chunk in pieces of a few MiB, converted, as bytes."""
    before = 0
    for chunk in chunks:
        shape = tuple(getattr(chunk, "shape", ()))
        if len(shape) != (1 if columns is None else 2) or (
            columns is not None and shape[1] != columns
        ):
            expected = "[rows]" if columns is None else f"[rows, {columns}]"
            raise ValueError(f"a chunk has shape {shape}, expected {expected} like the first")
        width = max(1, (columns or 1) * 8)
        step = max(1, _CHUNK_BYTES // width)
        # Other sparse matrices cannot be cut.
        rows = chunk.tocsr() if is_sparse(chunk) else chunk
        for start in range(0, shape[0], step):
            yield stored(rows[start : start + step], element, before + start)
        before += shape[0]
        # While the next one is made, this one need not be there.
        del chunk, rows


def stored(rows: Any, element: str, first_row: int) -> NDArray[np.uint8]:
    """The bytes of rows in the type of a table; a value that would change its meaning is an error, rounding is not."""
    data, name, shape = raw_rows(rows)
    if name == element:
        return data
    columns = 1 if len(shape) == 1 else shape[1]
    return _native.stored_rows(data, name, element, columns, first_row)
