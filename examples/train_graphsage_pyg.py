"""Train PyTorch Geometric's GraphSAGE from disk: the script that PyG's users have, with another loader.

python examples/train_graphsage_pyg.py
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.data import Data
from torch_geometric.nn import GraphSAGE

import graphmill as gm
from graphmill.pyg import NeighborLoader


def scores(model: nn.Module, batch: Data) -> Tensor:
    """The classes of the seeds; what later layers do not need is left out on the way."""
    return model(
        batch.x,
        batch.edge_index,
        num_sampled_nodes_per_hop=batch.num_sampled_nodes,
        num_sampled_edges_per_hop=batch.num_sampled_edges,
    )[: batch.batch_size]


@torch.no_grad()
def accuracy(model: nn.Module, loader: NeighborLoader) -> float:
    model.eval()
    hits = total = 0
    for batch in loader:
        labels = batch.y[: batch.batch_size]
        hits += int((scores(model, batch).argmax(dim=1) == labels).sum())
        total += batch.batch_size
    return hits / total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--memory", default="256MiB", help="what loading may take")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=512)
    arguments = parser.parse_args()
    torch.manual_seed(0)

    with tempfile.TemporaryDirectory() as folder:
        papers = Path(folder) / "papers"
        generate = [sys.executable, "-m", "graphmill", "generate", "papers", str(papers)]
        subprocess.run([*generate, "--nodes", str(arguments.nodes), "--quiet"], check=True)

        ds = gm.open(papers, memory=arguments.memory)
        assert ds.features is not None and ds.labels is not None
        classes = int(ds.labels.numpy().max()) + 1
        model = GraphSAGE(
            ds.features.shape[1], 128, num_layers=2, out_channels=classes, dropout=0.3
        )
        optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
        size = arguments.batch_size
        training = NeighborLoader(ds, [10, 5], input_nodes="train", batch_size=size, shuffle=True)
        testing = NeighborLoader(ds, [10, 5], input_nodes="test", batch_size=size)
        for epoch in range(arguments.epochs):
            model.train()
            for batch in training:
                loss = functional.cross_entropy(scores(model, batch), batch.y[: batch.batch_size])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            print(f"epoch {epoch}: test accuracy {accuracy(model, testing):.3f}")


if __name__ == "__main__":
    main()
