"""All lists of a dataset in memory, as PyG's own sampler wants them: int64, by its ids, ordered by time if asked for.

The lists of a stored direction are read in pieces, so that no more than the result and one piece is in memory. Those
of a direction that is not stored take a sort of all edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from graphmill import Dataset

from ._node_ids import NodeIds

# Edges of a piece, unless a single list has more.
_PIECE = 1 << 20
# What an edge takes while lists are made: in a piece, and in a sort of all.
_PIECE_BYTES = 64
_SORT_BYTES = 64


@dataclass(frozen=True)
class NeighborLists:
    """Lists one after the other: where each begins, its neighbours, and the ids of their edges."""

    offsets: Tensor
    neighbours: Tensor
    edge_ids: Tensor | None


def bytes_of_lists(ds: Dataset) -> int:
    """What the lists of one direction take in memory."""
    return 16 * ds.num_edges + 8 * (ds.num_nodes + 1)


def bytes_to_make_lists(ds: Dataset, direction: str) -> int:
    """What making them takes beside the result."""
    count, edges = ds.num_nodes, ds.num_edges
    if direction not in ds.graph.directions:
        return _SORT_BYTES * edges
    longest = int(ds.graph.degrees(direction=direction).max(initial=0))
    return _PIECE_BYTES * min(edges, max(_PIECE, longest)) + 24 * (count + 1)


def make_lists(ds: Dataset, direction: str, ids: NodeIds, times: Tensor | None) -> NeighborLists:
    """Make the lists of all nodes; ``times``, by internal id, put the neighbours with the earliest first."""
    by = None if times is None else times.view(-1).numpy()
    if direction in ds.graph.directions:
        return _read(ds, direction, ids, by)
    return _turned(ds, direction, ids, by)


def _read(ds: Dataset, direction: str, ids: NodeIds, times: Any) -> NeighborLists:
    graph, count = ds.graph, ds.num_nodes
    degrees = graph.degrees(direction=direction)
    starts = np.concatenate([[0], np.cumsum(degrees)])
    nodes = ids.internal(torch.arange(count)).numpy()
    offsets = np.concatenate([[0], np.cumsum(degrees[nodes])])
    neighbours = np.empty(ds.num_edges, dtype=np.int64)
    edge_ids = np.empty(ds.num_edges, dtype=np.int64)
    stored_ids = graph.edge_ids(direction)
    first = 0
    while first < count:
        last = int(np.searchsorted(offsets, offsets[first] + _PIECE, side="right")) - 1
        last = min(max(last, first + 1), count)
        part = slice(int(offsets[first]), int(offsets[last]))
        _, found = graph.neighbor_lists(nodes[first:last], direction)
        owners = np.repeat(np.arange(first, last), degrees[nodes[first:last]])
        places = starts[nodes[owners]] + np.arange(part.start, part.stop) - offsets[owners]
        if times is not None:
            order = np.lexsort((times[found], owners))
            found, places = found[order], places[order]
        neighbours[part] = ids.outward(torch.as_tensor(found)).numpy()
        # Without edge ids, an edge is its position in the stored lists.
        edge_ids[part] = places if stored_ids is None else stored_ids[places]
        first = last
    return _as_tensors(offsets, neighbours, edge_ids)


def _turned(ds: Dataset, direction: str, ids: NodeIds, times: Any) -> NeighborLists:
    graph, count = ds.graph, ds.num_nodes
    stored = "out" if direction == "in" else "in"
    offsets, ends = graph.neighbor_lists(np.arange(count), stored)
    owners = np.repeat(np.arange(count), np.diff(offsets))
    ends = ids.outward(torch.as_tensor(ends)).numpy()
    keys = (ends,) if times is None else (times[owners], ends)
    order = np.lexsort(keys)
    neighbours = ids.outward(torch.as_tensor(owners[order])).numpy()
    stored_ids = graph.edge_ids(stored)
    edge_ids = order if stored_ids is None else stored_ids[order]
    counts = np.bincount(ends, minlength=count)
    return _as_tensors(np.concatenate([[0], np.cumsum(counts)]), neighbours, edge_ids)


def _as_tensors(offsets: Any, neighbours: Any, edge_ids: Any) -> NeighborLists:
    arrays = (np.asarray(array, dtype=np.int64) for array in (offsets, neighbours, edge_ids))
    return NeighborLists(*(torch.from_numpy(array) for array in arrays))
