"""The samplers of pyg-lib and torch-sparse in Python, so that PyG's own loaders run where neither is installed.

They take lists as those do: whatever times say, a list is believed to be ordered by them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
import torch
import torch_geometric.typing
from torch import Tensor


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let PyG find both."""
    for name in (
        "PYG_LIB",
        "TORCH_SPARSE",
        "EDGE_TIME_NEIGHBOR_SAMPLE",
        "WEIGHTED_NEIGHBOR_SAMPLE",
    ):
        monkeypatch.setattr(torch_geometric.typing, f"WITH_{name}", True)
    monkeypatch.setattr(torch.ops.pyg, "neighbor_sample", _of_pyg_lib, raising=False)
    monkeypatch.setattr(torch.ops.torch_sparse, "neighbor_sample", _of_torch_sparse, raising=False)


def _of_pyg_lib(
    offsets: Tensor,
    neighbours: Tensor,
    seeds: Tensor,
    fanouts: Sequence[int],
    node_time: Tensor | None,
    edge_time: Tensor | None,
    seed_time: Tensor | None,
    edge_weight: Tensor | None,
    csc: bool,
    replace: bool,
    directed: bool,
    disjoint: bool,
    temporal_strategy: str,
    return_edge_id: bool,
) -> tuple[Any, ...]:
    assert csc
    assert directed
    assert return_edge_id
    assert edge_time is None
    assert edge_weight is None
    for lists in (offsets, neighbours):
        assert lists.dtype == torch.int64
    if node_time is not None and seed_time is None:
        seed_time = node_time[seeds]
    # A seed that is given twice is a node twice.
    nodes = [(tree if disjoint else 0, node) for tree, node in enumerate(seeds.tolist())]
    local: dict[tuple[int, int], int] = {}
    for place, key in enumerate(nodes):
        local.setdefault(key, place)
    rows: list[int] = []
    cols: list[int] = []
    edges: list[int] = []
    per_hop, edges_per_hop = [len(nodes)], []
    begin = 0
    for fanout in fanouts:
        end, before = len(nodes), len(edges)
        for place in range(begin, end):
            tree, node = nodes[place]
            first, last = int(offsets[node]), int(offsets[node + 1])
            if node_time is not None:
                assert seed_time is not None
                first, last = _old_enough(node_time[neighbours[first:last]], seed_time[tree], first)
            for edge in _chosen(range(first, last), fanout, replace, temporal_strategy):
                key = tree, int(neighbours[edge])
                if key not in local:
                    local[key] = len(nodes)
                    nodes.append(key)
                rows.append(local[key])
                cols.append(place)
                edges.append(edge)
        per_hop.append(len(nodes) - end)
        edges_per_hop.append(len(edges) - before)
        begin = end
    found = torch.tensor(nodes, dtype=torch.int64).view(-1, 2)
    made = [torch.tensor(each, dtype=torch.int64) for each in (rows, cols, edges)]
    return (*made[:2], found if disjoint else found[:, 1], made[2], per_hop, edges_per_hop)


def _of_torch_sparse(
    offsets: Tensor,
    neighbours: Tensor,
    seeds: Tensor,
    fanouts: Sequence[int],
    replace: bool,
    directed: bool,
) -> tuple[Tensor, ...]:
    plain = (None, None, None, None, True, replace, True, False, "uniform", True)
    rows, cols, nodes, edges, _, _ = _of_pyg_lib(offsets, neighbours, seeds, fanouts, *plain)
    if not directed:
        local = {node: place for place, node in enumerate(nodes.tolist())}
        owners = torch.arange(len(offsets) - 1).repeat_interleave(offsets.diff())
        edges = (torch.isin(owners, nodes) & torch.isin(neighbours, nodes)).nonzero().view(-1)
        rows, cols = (
            torch.tensor([local[node] for node in ids[edges].tolist()], dtype=torch.int64)
            for ids in (neighbours, owners)
        )
    return nodes, rows, cols, edges


def _old_enough(times: Tensor, limit: Tensor, first: int) -> tuple[int, int]:
    """The beginning of a list up to a time, found by a binary search as pyg-lib does."""
    return first, first + int(torch.searchsorted(times.contiguous(), limit, right=True))


def _chosen(edges: range, fanout: int, replace: bool, strategy: str) -> Sequence[int]:
    if fanout < 0 or (len(edges) <= fanout and not replace):
        return edges
    if strategy == "last":
        return edges[-fanout:]
    return random.choices(edges, k=fanout) if replace and edges else random.sample(edges, fanout)
