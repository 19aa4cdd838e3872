"""One model in several processes, each with its part of the seeds: `DistributedDataParallel` by torch's `spawn`.

PyG's example of this name, in our words; what PyG's has in place of three lines stands above them.

    python -m examples.pyg.distributed_sampling
"""

from __future__ import annotations

import os
import tempfile
from argparse import Namespace
from math import ceil

import torch
import torch.distributed as dist
from torch import Tensor
from torch.multiprocessing.spawn import spawn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel
from torch_geometric.data import Data
from torch_geometric.nn import GraphSAGE

# PyG: -
import graphmill as gm
from examples.pyg.communities import CLASSES, communities, options

# PyG: from torch_geometric.loader import NeighborLoader
from graphmill.pyg import DataView, NeighborLoader


@torch.no_grad()
def test(loader: NeighborLoader, model: torch.nn.Module) -> Tensor:
    model.eval()
    hits, count = torch.tensor(0.0), 0
    for batch in loader:
        found = model(batch.x, batch.edge_index)[: batch.batch_size].argmax(dim=-1)
        hits += (found == batch.y[: batch.batch_size]).sum()
        count += batch.batch_size
    return hits / count


def part_of(mask: Tensor, rank: int, world_size: int) -> Tensor:
    nodes = mask.nonzero().view(-1)
    return nodes.split(ceil(len(nodes) / world_size))[rank]


def run(rank: int, world_size: int, data: Data, args: Namespace, meeting: str) -> None:
    dist.init_process_group(
        "gloo", init_method=f"file://{meeting}", rank=rank, world_size=world_size
    )
    sizes = {"data": data, "num_neighbors": args.num_neighbors, "batch_size": 32}
    train_nodes = part_of(data.train_mask, rank, world_size)
    test_nodes = part_of(data.test_mask, rank, world_size)
    train_loader = NeighborLoader(
        input_nodes=train_nodes, shuffle=args.shuffle, drop_last=True, **sizes
    )
    test_loader = NeighborLoader(input_nodes=test_nodes, shuffle=False, **sizes)

    torch.manual_seed(12345)
    model = DistributedDataParallel(
        GraphSAGE(data.num_features, 32, num_layers=2, out_channels=CLASSES)
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(args.epochs):
        model.train()
        for batch in train_loader:
            out = model(batch.x, batch.edge_index)[: batch.batch_size]
            loss = functional.cross_entropy(out, batch.y[: batch.batch_size])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch}: loss {loss.item():.5f}")
    accuracy = test(test_loader, model)
    dist.all_reduce(accuracy)
    if rank == 0:
        print(f"test accuracy {float(accuracy) / world_size:.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    args = options(epochs=4, num_neighbors=[25, 10])
    # PyG: data = communities()
    data = DataView(gm.from_pyg(communities(), args.folder))
    with tempfile.TemporaryDirectory() as folder:
        spawn(run, args=(2, data, args, f"{folder}/meeting"), nprocs=2, join=True)
