"""What PyG calls by the name of an attribute, found in a dataset: times and weights.

A graph file has one list of times and one of weights, without names; they have those that :func:`graphmill.from_pyg`
takes them from.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

from torch_geometric.sampler import NumNeighbors

from graphmill import Dataset

EDGE_TIME = "edge_time"
EDGE_WEIGHT = "edge_weight"


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
    if time_attr == EDGE_TIME and ds.graph.times(direction) is not None:
        return Times(None)
    raise ValueError(
        f"time_attr is {time_attr!r}, which is no table of {ds.path} (it has {', '.join(ds.tables) or 'none'}); "
        f"times of edges are called {EDGE_TIME!r} and stored by build(..., times=...) or time_column="
    )


def check_weights(ds: Dataset, weight_attr: str | None) -> bool:
    """Whether edges are picked by weight, once it is known that there are weights of this name."""
    if weight_attr is None:
        return False
    if weight_attr != EDGE_WEIGHT:
        raise ValueError(
            f"weight_attr is {weight_attr!r}; the weights of a dataset are called {EDGE_WEIGHT!r}"
        )
    if not ds.graph.has_weights:
        raise ValueError(f"{ds.path} has no weights; build it with weights= or weight_column=")
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
