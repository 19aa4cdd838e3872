"""Learn which links exist: GraphSAGE scores pairs of nodes, and pairs that are no edges are the counterexamples.

A part of the edges is kept out of the graph and asked for in the end. While training, the links of a batch are kept out
of its neighbourhoods, so that the model cannot look up what it is asked.

    python examples/train_link_prediction.py
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
from torch_geometric.nn import GraphSAGE

import graphmill as gm
from graphmill.pyg import to_pyg


class LinkModel(nn.Module):
    """An embedding of every node; a pair scores the product of both."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.embed = GraphSAGE(inputs, width, num_layers=2)

    def forward(self, batch: gm.Batch) -> Tensor:
        rows = self.embed(batch.x, batch.edge_index)
        source, destination = rows[batch.edge_label_index]
        return (source * destination).sum(dim=1)


def area_under_curve(scores: Tensor, labels: Tensor) -> float:
    """How often a link scores above a pair that is none."""
    ranks = torch.empty(len(scores), dtype=torch.float64)
    ranks[scores.argsort()] = torch.arange(1, len(scores) + 1, dtype=torch.float64)
    links, others = int(labels.sum()), int((1 - labels).sum())
    return float((ranks[labels == 1].sum() - links * (links + 1) / 2) / (links * others))


def split_edges(folder: Path, nodes: int) -> tuple[gm.Dataset, Tensor, Tensor]:
    """A dataset without a tenth of its edges, the edges that it has, and that tenth."""
    generate = [sys.executable, "-m", "graphmill", "generate", "sbm", str(folder / "all")]
    sizes = ["--nodes", str(nodes), "--edges", str(10 * nodes), "--features", "32"]
    subprocess.run([*generate, *sizes, "--classes", "20", "--quiet"], check=True)
    data = to_pyg(gm.open(folder / "all"))
    edges = data.edge_index[:, torch.randperm(data.num_edges)]
    asked, kept = edges.split([data.num_edges // 10, data.num_edges - data.num_edges // 10], dim=1)
    ds = gm.build(folder / "kept", edges=kept, features=data.x)
    return ds, kept, asked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=512)
    arguments = parser.parse_args()
    torch.manual_seed(0)

    with tempfile.TemporaryDirectory() as folder:
        ds, kept, asked = split_edges(Path(folder), arguments.nodes)
        training = gm.LinkNeighborLoader(
            ds,
            [10, 5],
            kept,
            negatives="binary",
            batch_size=arguments.batch_size,
            shuffle=True,
            exclude_seed_edges=True,
            seed=0,
        )
        testing = gm.LinkNeighborLoader(
            ds, [10, 5], asked, negatives="binary", batch_size=arguments.batch_size, seed=1
        )
        assert ds.features is not None
        model = LinkModel(ds.features.shape[1], 64)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
        for epoch in range(arguments.epochs):
            model.train()
            for batch in training:
                loss = functional.binary_cross_entropy_with_logits(model(batch), batch.edge_label)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            model.eval()
            with torch.no_grad():
                found = [(model(batch), batch.edge_label) for batch in testing]
            scores, labels = (torch.cat(part) for part in zip(*found, strict=True))
            print(f"epoch {epoch}: area under the curve {area_under_curve(scores, labels):.3f}")


if __name__ == "__main__":
    main()
