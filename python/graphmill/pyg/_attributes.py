"""What PyG calls by the name of an attribute, found in a dataset: times and weights.

A graph file has one list of times and one of weights, without names. They go by those that :func:`graphmill.from_pyg`
takes them from, and by that of any table of the edges that holds the same numbers.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import torch
from torch_geometric.sampler import NumNeighbors

from graphmill import Dataset

EDGE_TIME = "edge_time"
EDGE_WEIGHT = "edge_weight"
# Edges whose numbers are compared at once.
_PIECE = 1 << 20


@dataclass(frozen=True)
class Times:
    """Where times come from: a table of the nodes, or the edges themselves."""

    table: str | None

    @property
    def of_nodes(self) -> bool:
        return self.table is not None


def times_of(ds: Dataset, time_attr: str | None) -> Times | None:
    """The times that a name stands for."""
    if time_attr is None:
        return None
    if time_attr in ds.tables:
        return Times(time_attr)
    direction = ds.graph.directions[0]
    stored = ds.graph.times(direction, "torch")
    if stored is not None and (time_attr == EDGE_TIME or _has_table(ds, time_attr, stored)):
        return Times(None)
    raise ValueError(
        f"time_attr is {time_attr!r}, which is no table of the nodes of {ds.path} "
        f"(it has {', '.join(ds.tables) or 'none'}) and not what its edges are sampled by "
        f"({_by_what(stored, EDGE_TIME)}); "
        "store times of edges by build(..., times=...), time_column= or from_pyg(..., times=...)"
    )


def check_weights(ds: Dataset, weight_attr: str | None) -> bool:
    """Whether edges are picked by weight, once it is known that there are weights of this name."""
    if weight_attr is None:
        return False
    direction = ds.graph.directions[0]
    stored = ds.graph.weights(direction, "torch")
    if stored is not None and (weight_attr == EDGE_WEIGHT or _has_table(ds, weight_attr, stored)):
        return True
    raise ValueError(
        f"weight_attr is {weight_attr!r}, but that is not what the edges of {ds.path} are sampled by "
        f"({_by_what(stored, EDGE_WEIGHT)}; its tables of edges are {', '.join(ds.edge_tables) or 'none'}); "
        "store weights by build(..., weights=...), weight_column= or from_pyg(..., weights=...)"
    )


def _by_what(stored: Any, name: str) -> str:
    return "it stores none" if stored is None else f"call them {name!r}"


def _has_table(ds: Dataset, name: str, stored: torch.Tensor) -> bool:
    """Whether a table of the edges has the numbers that are stored in the lists; one pass over both."""
    if name not in ds.edge_tables or not ds.graph.has_edge_ids:
        return False
    table = ds.edge_table(name)
    if len(table.shape) > 1 and table.shape[1:] != (1,):
        return False
    ids = ds.graph.edge_ids(ds.graph.directions[0], "torch")
    for start in range(0, len(ids), _PIECE):
        part = slice(start, start + _PIECE)
        rows = table.gather(ids[part]).view(-1)
        if not torch.equal(rows.to(stored.dtype), stored[part]):
            return False
    return True


def fanouts_of(num_neighbors: Any) -> list[int]:
    """Fan-outs as a list."""
    values = num_neighbors.values if isinstance(num_neighbors, NumNeighbors) else num_neighbors
    if isinstance(values, dict):
        raise TypeError("num_neighbors is a dict, but a dataset has one type of edge: give a list")
    try:
        return [operator.index(value) for value in values]
    except TypeError:
        raise TypeError(f"num_neighbors must be a list of integers, found {values!r}") from None
