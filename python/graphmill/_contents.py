"""What users ask a dataset or a graph about its contents, answered with NumPy and SciPy arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MASK = "_mask"
# Labels are looked at in pieces of this many rows.
_PIECE = 1 << 20


def num_columns(ds: _native.Dataset, table: str) -> int:
    """Columns of a table of the nodes as PyG counts features."""
    return _columns_of(ds.table(table).shape) if table in ds.tables else 0


def num_edge_columns(ds: _native.Dataset, table: str) -> int:
    """Columns of a table of the edges as PyG counts features."""
    return _columns_of(ds.edge_table(table).shape) if table in ds.edge_tables else 0


def num_classes(ds: _native.Dataset) -> int:
    """Count the classes of the labels as PyG does."""
    if ds.labels is None:
        return 0
    if "y" in ds.classes:
        return len(ds.classes["y"])
    shape = ds.labels.shape
    if len(shape) > 1 and shape[-1] != 1:
        return int(shape[-1])
    largest = 0
    distinct: NDArray[Any] = np.zeros(0)
    for piece in _pieces_of(ds.labels):
        if piece.dtype.kind == "f":
            distinct = np.union1d(distinct, piece[~np.isnan(piece)])
        else:
            largest = max(largest, int(piece.max()) + 1)
    return max(largest, len(distinct))


def _pieces_of(labels: _native.Features) -> Iterator[NDArray[Any]]:
    """Labels in pieces, as types that NumPy has."""
    try:
        rows: Any = labels.numpy()
    except TypeError:
        # bfloat16, which is exact as float32.
        rows = labels.torch()
    for start in range(0, len(rows), _PIECE):
        piece = rows[start : start + _PIECE]
        yield piece.reshape(-1) if isinstance(piece, np.ndarray) else piece.float().numpy().ravel()


def mask(ds: _native.Dataset, split: str) -> NDArray[np.bool_]:
    """Give a split as PyG's masks are: an entry for each id from 0 on."""
    ids = ds.split(split)
    _check_positions(ds, f"the mask of split {split!r}", f"ds.split({split!r}) lists its ids")
    found = np.zeros(ds.num_nodes, dtype=np.bool_)
    found[ids] = True
    return found


def entry(ds: _native.Dataset, name: str) -> Any:
    """Find a table, or the mask of a split, by name."""
    if name in ds.tables:
        return ds.table(name)
    if name in ds.edge_tables:
        return ds.edge_table(name)
    if name.removesuffix(_MASK) in ds.splits and name.endswith(_MASK):
        return mask(ds, name.removesuffix(_MASK))
    there = [*ds.tables, *ds.edge_tables, *(f"{split}{_MASK}" for split in ds.splits)]
    raise KeyError(
        f"{ds.path} has no {name!r}; it has {', '.join(there) or 'no tables and splits'}"
    )


def has_entry(ds: _native.Dataset, name: Any) -> bool:
    """Tell whether ``ds[name]`` gives something."""
    masks = [f"{split}{_MASK}" for split in ds.splits]
    return name in ds.tables or name in ds.edge_tables or name in masks


def has_edge(ds: _native.Dataset, src: Any, dst: Any) -> bool | NDArray[np.bool_]:
    """Look edges up by the ids of the source."""
    one = not _is_many(src)
    if one != (not _is_many(dst)):
        raise TypeError("src and dst must both be one id, or both be many")
    sources, destinations = (ds.node_ids([ids] if one else ids) for ids in (src, dst))
    found = ds.graph.has_edges(sources, destinations)
    return bool(found[0]) if one else found


def edge_index(ds: _native.Dataset) -> NDArray[np.int64]:
    """Give all edges by the ids of the source."""
    if ds.ids == "text":
        raise ValueError(
            f"the ids of {ds.path} are text; ds.graph.edge_index() has the internal ids of the nodes, "
            "and ds.original_ids(...) their names"
        )
    # Both rows, their order, and one row while it is put into that order.
    with ds._reserve(40 * ds.num_edges, f"{ds.num_edges} edges in memory"):
        edges = graph_edge_index(ds.graph)
        if ds.ids == "same":
            return edges
        for row in edges:
            row[:] = ds.original_ids(row)
        return edges


def to_scipy(ds: _native.Dataset) -> Any:
    """Give the adjacency matrix by the ids of the source."""
    if ds.ids == "same":
        return graph_to_scipy(ds.graph)
    _check_positions(ds, "a matrix", "ds.graph.to_scipy() has the internal ids of the nodes")
    import scipy.sparse

    # Values, and both rows in the types of SciPy.
    with ds._reserve(36 * ds.num_edges, f"an adjacency matrix of {ds.num_edges} edges"):
        found = graph_to_scipy(ds.graph).tocoo()
        rows, columns = (ds.original_ids(ids) for ids in found.coords)
        return scipy.sparse.csr_array((found.data, (rows, columns)), shape=found.shape)


def graph_edge_index(graph: _native.Graph) -> NDArray[np.int64]:
    """Give all edges of a graph by the internal ids of the nodes."""
    direction = _stored_direction(graph)
    offsets, neighbours = graph.neighbor_lists(np.arange(graph.num_nodes), direction)
    owners = np.repeat(np.arange(graph.num_nodes), np.diff(offsets))
    columns = [neighbours, owners] if direction == "in" else [owners, neighbours]
    ids = graph.edge_ids(direction)
    edges = np.empty((2, graph.num_edges), dtype=np.int64)
    order = slice(None) if ids is None else np.argsort(ids, kind="stable")
    for row, column in zip(edges, columns, strict=True):
        row[:] = column[order]
    return edges


def graph_to_scipy(graph: _native.Graph) -> Any:
    """Give the adjacency matrix of a graph by the internal ids of the nodes."""
    import scipy.sparse

    direction = _stored_direction(graph)
    if graph.encoding == "packed":
        lists = graph.neighbor_lists(np.arange(graph.num_nodes), direction)
    else:
        lists = graph.csr() if direction == "out" else graph.csc()
    offsets, neighbours = lists
    weights = graph.weights(direction)
    values = np.ones(graph.num_edges, dtype=np.float32) if weights is None else weights
    kind = scipy.sparse.csr_array if direction == "out" else scipy.sparse.csc_array
    shape = (graph.num_nodes, graph.num_nodes)
    return kind((values, neighbours, offsets), shape=shape)


def _columns_of(shape: tuple[int, ...]) -> int:
    return 1 if len(shape) == 1 else int(shape[-1])


def _stored_direction(graph: _native.Graph) -> str:
    return "out" if "out" in graph.directions else "in"


def _is_many(ids: Any) -> bool:
    return not isinstance(ids, str) and (hasattr(ids, "__len__") and getattr(ids, "ndim", 1) > 0)


def _check_positions(ds: _native.Dataset, what: str, remedy: str) -> None:
    if ds.ids in ("mapped", "text"):
        raise ValueError(
            f"{what} has an entry for each id from 0 on, but the ids of {ds.path} are {ds.ids}; {remedy}"
        )
