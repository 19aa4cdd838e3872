"""PyG's own loaders over a graph in memory, where neither pyg-lib nor torch-sparse is installed.

Only the kernel that PyG calls in C++ is replaced, by a slow one whose meaning is plain; everything else is PyG's:
lists, negatives, rows, ids and orders.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch
import torch_geometric.typing
from torch import Tensor
from torch_geometric.sampler import NeighborSampler, SamplerOutput

IS_NEEDED = not (torch_geometric.typing.WITH_PYG_LIB or torch_geometric.typing.WITH_TORCH_SPARSE)


def install() -> None:
    """Let PyG's samplers work in this process as they would with its extensions."""
    if not IS_NEEDED:
        return
    NeighborSampler._sample = sample
    warnings.filterwarnings("ignore", "Using 'NeighborSampler' without a 'pyg-lib'")


def sample(self: Any, seed: Tensor, seed_time: Tensor | None = None, **_: Any) -> SamplerOutput:
    """Follow lists hop by hop; each node gets its number when it is met, and each list is read by id.

    PyG leaves the order within a list to a sort that is not stable, so that it means nothing.
    """
    assert seed_time is None
    assert not self.disjoint
    assert self.subgraph_type.value == "directional"
    nodes = seed.tolist()
    local = {node: number for number, node in enumerate(nodes)}
    rows: list[int] = []
    cols: list[int] = []
    edges: list[int] = []
    node_counts: list[int] = [len(nodes)]
    edge_counts: list[int] = []
    begin = 0
    for fanout in self.num_neighbors.get_mapped_values():
        end, known = len(nodes), len(edges)
        for col in range(begin, end):
            first, last = self.colptr[nodes[col]], self.colptr[nodes[col] + 1]
            chosen = torch.arange(int(first), int(last))
            if 0 <= fanout < len(chosen):
                chosen = chosen[torch.randperm(len(chosen))[:fanout]]
            chosen = chosen[self.row[chosen].argsort(stable=True)]
            for position, node in zip(chosen.tolist(), self.row[chosen].tolist(), strict=True):
                if node not in local:
                    local[node] = len(nodes)
                    nodes.append(node)
                rows.append(local[node])
                cols.append(col)
                edges.append(position)
        node_counts.append(len(nodes) - end)
        edge_counts.append(len(edges) - known)
        begin = end
    lists = [torch.tensor(each, dtype=torch.int64) for each in (nodes, rows, cols, edges)]
    return SamplerOutput(*lists, None, node_counts, edge_counts)
