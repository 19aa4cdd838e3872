"""Train GraphSAGE from disk: plain torch, and a loader in place of the graph in memory.

python examples/train_graphsage.py
python examples/train_graphsage.py --nodes 10000000 --memory 1GiB
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

import graphmill as gm

FANOUTS = [10, 5]


class SageLayer(nn.Module):
    """Own rows and the mean of the neighbours' rows, each through its own weights."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.own = nn.Linear(inputs, outputs)
        self.neighbours = nn.Linear(inputs, outputs, bias=False)

    def forward(self, x: Tensor, edge_index: Tensor, num_targets: int) -> Tensor:
        row, col = edge_index
        total = x.new_zeros(num_targets, x.shape[1]).index_add_(0, col, x[row])
        degree = torch.bincount(col, minlength=num_targets).clamp(min=1).unsqueeze(1)
        return self.own(x[:num_targets]) + self.neighbours(total / degree)


class GraphSage(nn.Module):
    """Two layers; each computes only the nodes that the next one needs."""

    def __init__(self, inputs: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.first = SageLayer(inputs, hidden)
        self.second = SageLayer(hidden, classes)

    def forward(self, batch: gm.Batch) -> Tensor:
        # Nodes and edges are grouped by hop: the seeds come first, then what they touch.
        seeds, neighbours, _ = batch.num_sampled_nodes
        inner = batch.num_sampled_edges[0]
        hidden = self.first(batch.x, batch.edge_index, seeds + neighbours).relu()
        hidden = functional.dropout(hidden, 0.3, self.training)
        return self.second(hidden, batch.edge_index[:, :inner], seeds)


def train(model: nn.Module, loader: gm.NeighborLoader, optimizer: torch.optim.Optimizer) -> float:
    """One epoch; returns the mean loss."""
    model.train()
    total = 0.0
    for batch in loader:
        loss = functional.cross_entropy(model(batch), batch.y[: batch.batch_size])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += float(loss.detach())
    return total / len(loader)


@torch.no_grad()
def accuracy(model: nn.Module, loader: gm.NeighborLoader) -> float:
    """The share of seeds whose class is found."""
    model.eval()
    hits = total = 0
    for batch in loader:
        hits += int((model(batch).argmax(dim=1) == batch.y[: batch.batch_size]).sum())
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
        print(ds)
        assert ds.features is not None and ds.labels is not None
        classes = int(ds.labels.numpy().max()) + 1
        model = GraphSage(ds.features.shape[1], 128, classes)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
        size = arguments.batch_size
        training = gm.NeighborLoader(ds, FANOUTS, size, seeds="train", shuffle=True, seed=0)
        testing = gm.NeighborLoader(ds, FANOUTS, size, seeds="test", seed=0)
        for epoch in range(arguments.epochs):
            loss = train(model, training, optimizer)
            print(f"epoch {epoch}: loss {loss:.3f}, test accuracy {accuracy(model, testing):.3f}")


if __name__ == "__main__":
    main()
