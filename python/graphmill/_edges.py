"""Edges in memory: two columns, pairs, tables by columns, sparse matrices of SciPy and graphs of networkx."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._columns import Columns, columns_of
from ._values import ids_of, is_sparse


@dataclass(frozen=True)
class GraphFacts:
    """What a graph says beside its edges."""

    # Nodes there are at least, where ids are the numbers from 0 on.
    num_nodes: int = 0
    # Nodes that the graph has, also those without edges.
    nodes: int = 0
    is_undirected: bool = False


@dataclass(frozen=True)
class EdgeArrays:
    """Two columns of ids, values where there are any, and what else is known."""

    sources: NDArray[Any] | list[str]
    destinations: NDArray[Any] | list[str]
    weights: NDArray[np.float32] | None
    times: NDArray[np.int64] | None
    facts: GraphFacts = field(default_factory=GraphFacts)

    @property
    def has_words(self) -> bool:
        """Whether ids are words."""
        return isinstance(self.sources, list)


def graph_columns(edges: Any, *asked: str | int | None) -> tuple[Columns | None, GraphFacts]:
    """The columns of a table, a sparse matrix or a graph, with the attributes that are asked for; None for others."""
    if _is_networkx(edges):
        return _from_networkx(edges, [str(name) for name in asked if name is not None])
    if is_sparse(edges):
        return _from_scipy(edges)
    return columns_of(edges), GraphFacts()


def endpoints(edges: Any) -> tuple[NDArray[Any] | list[str], NDArray[Any] | list[str]]:
    """The two columns of ``[2, E]`` or ``[E, 2]``, of two arrays, or of pairs."""
    first, second = _two_columns(edges)
    sources, destinations = ids_of(first, "ids of the edges"), ids_of(second, "ids of the edges")
    if len(sources) != len(destinations):
        raise ValueError(f"edges have {len(sources)} sources and {len(destinations)} destinations")
    if isinstance(sources, list) != isinstance(destinations, list):
        raise TypeError("one column of edges holds words and the other numbers; give both alike")
    return sources, destinations


def _two_columns(edges: Any) -> tuple[Any, Any]:
    if hasattr(edges, "shape"):
        shape = tuple(edges.shape)
        if str(getattr(edges, "layout", "torch.strided")).startswith("torch.sparse"):
            raise TypeError(
                f"edges must be dense, found a tensor of layout {edges.layout}; "
                "give edges.to_sparse_coo().coalesce().indices()"
            )
        # A shape of [2, 2] is that of an edge_index, whatever it may have been meant to be.
        if len(shape) == 2 and shape[0] == 2:
            return edges[0], edges[1]
        if len(shape) == 2 and shape[1] == 2:
            return edges[:, 0], edges[:, 1]
        raise ValueError(f"edges must have shape [2, E] or [E, 2], found {shape}")
    if not isinstance(edges, (list, tuple)):
        raise TypeError(
            f"edges must be two columns of ids, found {type(edges).__name__}; give an array of shape [2, E], a pair "
            "(sources, destinations), a table, a matrix of SciPy or a graph of networkx; gm.from_pyg(data, path) "
            "takes a Data object of PyG"
        )
    if len(edges) == 2:
        if isinstance(edges, list) and all(_is_pair(item) for item in edges):
            raise ValueError(
                f"edges {edges!r} may be two pairs or two columns; give a pair of lists (sources, destinations)"
            )
        return edges[0], edges[1]
    if not edges:
        return [], []
    if all(isinstance(item, (list, tuple)) and len(item) == 2 for item in edges):
        return [item[0] for item in edges], [item[1] for item in edges]
    raise ValueError(
        f"edges must be two columns or pairs, found a {type(edges).__name__} of {len(edges)}; give an array of shape "
        "[2, E] or a pair (sources, destinations)"
    )


def _is_pair(item: Any) -> bool:
    return isinstance(item, tuple) and len(item) == 2


def _is_networkx(edges: Any) -> bool:
    return hasattr(edges, "is_multigraph") and hasattr(edges, "is_directed")


def _from_networkx(graph: Any, asked: list[str]) -> tuple[Columns, GraphFacts]:
    """Edges in the order of the graph, with their attributes as further columns."""
    nodes = list(graph.nodes)
    whole = all(
        isinstance(node, (int, np.integer)) and not isinstance(node, bool) for node in nodes
    )
    if not whole and not all(isinstance(node, str) for node in nodes):
        kinds = ", ".join(sorted({type(node).__name__ for node in nodes}))
        raise TypeError(
            f"the nodes of the graph must be integers or words, found {kinds}; "
            "give networkx.convert_node_labels_to_integers(graph)"
        )
    edges = list(graph.edges(data=True))
    columns = []
    for name in asked:
        missing = next((edge for edge in edges if name not in edge[2]), None)
        if missing is not None:
            raise ValueError(
                f"the edge from {missing[0]!r} to {missing[1]!r} has no attribute {name!r}; it has {list(missing[2])}"
            )
        columns.append([edge[2][name] for edge in edges])
    kind: Any = np.int64 if whole else object
    ends = [np.array([edge[end] for edge in edges], dtype=kind) for end in (0, 1)]
    # Nodes without edges are there only as numbers below this one.
    num_nodes = int(max(nodes)) + 1 if whole and nodes and max(nodes) < 2 * len(nodes) else 0
    facts = GraphFacts(num_nodes, len(nodes), not graph.is_directed())
    return Columns(["source", "target", *asked], [*ends, *columns]), facts


def _from_scipy(matrix: Any) -> tuple[Columns, GraphFacts]:
    """Entry [u, v] is the edge from u to v; what is stored there is a column named ``data``."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"an adjacency matrix has shape [N, N], found {tuple(matrix.shape)}; give the edges between two kinds of "
            "nodes as arrays, with ids of their own for both"
        )
    matrix = matrix.tocoo()
    return Columns(["source", "target", "data"], [matrix.row, matrix.col, matrix.data]), GraphFacts(
        int(matrix.shape[0])
    )
