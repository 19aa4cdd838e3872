"""Train a PyG model on samples, then compute every node exactly, layer by layer, from disk to disk.

Sampling is for training. Afterwards all nodes are wanted, with all their neighbours; layer by layer each is
computed once, and the rows of a layer are a file that the next one reads.

    python examples/inference.py
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
from torch_geometric.nn import SAGEConv

import graphmill as gm


class Model(nn.Module):
    """Two convolutions; ``layers`` are the same as steps that can be taken one by one."""

    def __init__(self, inputs: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.first = SAGEConv(inputs, hidden)
        self.second = SAGEConv(hidden, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.second(self.first(x, edge_index).relu(), edge_index)

    def hidden(self, x: Tensor, edge_index: Tensor, num_targets: int) -> Tensor:
        """The first layer of ``num_targets`` nodes, whose rows come first in ``x``."""
        return self.first((x, x[:num_targets]), edge_index).relu()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=50_000)
    parser.add_argument("--memory", default="128MiB")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=512)
    arguments = parser.parse_args()
    torch.manual_seed(0)

    with tempfile.TemporaryDirectory() as folder:
        papers = Path(folder) / "papers"
        generate = [sys.executable, "-m", "graphmill", "generate", "papers", str(papers)]
        subprocess.run([*generate, "--nodes", str(arguments.nodes), "--quiet"], check=True)
        ds = gm.open(papers, memory=arguments.memory)
        assert ds.features is not None and ds.labels is not None
        labels = ds.labels.torch()

        model = Model(ds.features.shape[1], 64, int(labels.max()) + 1)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
        loader = gm.NeighborLoader(
            ds, [10, 5], arguments.batch_size, seeds="train", shuffle=True, seed=0
        )
        for _ in range(arguments.epochs):
            for batch in loader:
                out = model(batch.x, batch.edge_index)[: batch.batch_size]
                loss = functional.cross_entropy(out, batch.y[: batch.batch_size])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

        # A convolution is a layer as it is; one with something behind it is a function.
        layers = [model.hidden, model.second]
        scores = gm.inference(ds, layers, Path(folder) / "scores.gd")
        print(f"{scores}, for {ds.num_nodes} nodes")
        # Rows are found by the number of a node, splits are ids of the source.
        test = ds.node_ids(ds.split("test"))
        found = torch.from_numpy(scores.gather(test)).argmax(dim=1)
        share = float((found == labels[torch.from_numpy(test)]).float().mean())
        print(f"test accuracy with all neighbours: {share:.3f}")


if __name__ == "__main__":
    main()
