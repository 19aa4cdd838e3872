"""A small PyG object with everything that a dataset can hold, shared by the tests of graphmill.pyg."""

from __future__ import annotations

import torch
from torch_geometric.data import Data

NODES, EDGES = 200, 1500


def small_data(seed: int = 0) -> Data:
    """A directed multigraph; the features of a node and of an edge tell which it is."""
    generator = torch.Generator().manual_seed(seed)
    edge_index = torch.randint(NODES - 10, (2, EDGES), generator=generator)
    return Data(
        x=torch.arange(NODES * 4, dtype=torch.float32).view(NODES, 4),
        y=torch.randint(5, (NODES,), generator=generator),
        edge_index=edge_index,
        edge_attr=torch.arange(EDGES * 2, dtype=torch.float32).view(EDGES, 2),
        edge_weight=torch.rand(EDGES, generator=generator) + 0.1,
        edge_time=torch.randint(1000, (EDGES,), generator=generator),
        year=torch.randint(1000, (NODES,), generator=generator),
        train_mask=torch.rand(NODES, generator=generator) < 0.5,
    )
