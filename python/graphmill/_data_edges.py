"""The edges of PyG's ``Data``: its ``edge_index``, or the entries of its adjacency matrix."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

# Names of adjacency matrices, and whether their rows are destinations.
_MATRICES = {"adj_t": True, "adj": False}


@dataclass(frozen=True)
class DataEdges:
    """Endpoints of all edges, and what comes with them."""

    edge_index: Any
    count: int
    num_nodes: int
    # Attributes that are read here, so that they are not stored again.
    read: frozenset[str]
    # Values of a matrix, under the names that PyG's loaders would find them by.
    values: dict[str, Any] = field(default_factory=dict)


def edges_of(data: Any) -> DataEdges:
    """Return the edges of a ``Data``; one without any is a graph of nodes alone, as in PyG."""
    import torch

    edge_index = data.edge_index
    values: dict[str, Any] = {}
    matrices = [name for name in _MATRICES if _is_sparse(data.get(name))]
    if edge_index is not None and matrices:
        warnings.warn(
            f"{matrices[0]} is not stored: edge_index has the edges; the transform "
            "torch_geometric.transforms.ToSparseTensor() makes it of each batch",
            stacklevel=4,
        )
    elif matrices:
        name = matrices[0]
        edge_index, values = _entries(data[name], transposed=_MATRICES[name])
        values = {key: found for key, found in values.items() if data.get(key) is None}
    elif edge_index is None:
        edge_index = torch.empty(2, 0, dtype=torch.int64)
    shape = tuple(edge_index.shape)
    if len(shape) != 2 or shape[0] != 2:
        raise ValueError(f"edge_index has shape {shape}, expected [2, num_edges]")
    num_nodes = _num_nodes(data, edge_index)
    return DataEdges(edge_index, shape[1], num_nodes, frozenset({"edge_index", *matrices}), values)


def _is_sparse(matrix: Any) -> bool:
    import torch

    if isinstance(matrix, torch.Tensor):
        return matrix.layout != torch.strided
    # A SparseTensor of torch_sparse, which need not be installed.
    return hasattr(matrix, "coo") and hasattr(matrix, "sparse_sizes")


def _num_nodes(data: Any, edge_index: Any) -> int:
    largest = int(edge_index.max()) if edge_index.shape[1] else -1
    found = data.num_nodes
    num_nodes = largest + 1 if found is None else int(found)
    if largest >= num_nodes:
        raise ValueError(
            f"edge_index holds node {largest}, but the Data has {num_nodes} nodes; "
            "set data.num_nodes, and give every tensor of nodes that many rows"
        )
    return num_nodes


def _entries(matrix: Any, transposed: bool) -> tuple[Any, dict[str, Any]]:
    """The entries of a sparse matrix in their order, and their values unless they say nothing."""
    import torch

    if isinstance(matrix, torch.Tensor):
        rows, columns, value = _entries_of_tensor(matrix)
        # PyG writes ones where a matrix of torch's has no values.
        if value.dim() == 1 and bool((value == 1).all()):
            value = None
    else:
        rows, columns, value = matrix.coo()
    edge_index = torch.stack([columns, rows] if transposed else [rows, columns])
    if value is None:
        return edge_index, {}
    return edge_index, {"edge_weight" if value.dim() == 1 else "edge_attr": value}


def _entries_of_tensor(matrix: Any) -> tuple[Any, Any, Any]:
    import torch

    if matrix.layout == torch.sparse_coo:
        # Entries that are listed twice are two edges, so that nothing is added up here.
        rows, columns = matrix._indices()
        return rows, columns, matrix._values()
    if matrix.layout not in (torch.sparse_csr, torch.sparse_csc):
        raise TypeError(f"the adjacency matrix has layout {matrix.layout}; give edge_index instead")
    by_rows = matrix.layout == torch.sparse_csr
    offsets = matrix.crow_indices() if by_rows else matrix.ccol_indices()
    inner = matrix.col_indices() if by_rows else matrix.row_indices()
    outer = torch.arange(len(offsets) - 1).repeat_interleave(offsets.diff())
    return (outer, inner, matrix.values()) if by_rows else (inner, outer, matrix.values())
