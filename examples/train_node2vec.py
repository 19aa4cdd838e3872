"""Learn an embedding of every node from random walks: node2vec, skip-grams with negative samples.

Nodes that meet on walks get near each other. The graph is generated in communities, and in the end the nearest nodes
of a node are asked which community it is in.

    python examples/train_node2vec.py
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

LENGTH = 20
WINDOW = 5


class SkipGram(nn.Module):
    """Two vectors for each node: one as the centre of a window, one as a neighbour in it."""

    def __init__(self, nodes: int, width: int) -> None:
        super().__init__()
        self.centre = nn.Embedding(nodes, width, sparse=True)
        self.context = nn.Embedding(nodes, width, sparse=True)
        nn.init.uniform_(self.centre.weight, -0.5 / width, 0.5 / width)
        nn.init.zeros_(self.context.weight)

    def score(self, centre: Tensor, context: Tensor) -> Tensor:
        return (self.centre(centre) * self.context(context)).sum(dim=-1)

    def forward(self, pairs: Tensor, negatives: Tensor) -> Tensor:
        near = self.score(pairs[0], pairs[1])
        far = self.score(pairs[0].unsqueeze(1), negatives)
        return -functional.logsigmoid(near).mean() - functional.logsigmoid(-far).sum(dim=1).mean()


def windows(walks: Tensor) -> Tensor:
    """All pairs of nodes at most WINDOW steps apart on a walk; -1 is where a walk had ended."""
    pairs = []
    for step in range(1, WINDOW + 1):
        earlier, later = walks[:, :-step].reshape(-1), walks[:, step:].reshape(-1)
        pairs += [torch.stack([earlier, later]), torch.stack([later, earlier])]
    found = torch.cat(pairs, dim=1)
    return found[:, (found >= 0).all(dim=0)]


def neighbours_agree(embedding: Tensor, labels: Tensor, sample: Tensor) -> float:
    """How often the majority of the ten nearest nodes has the class of a node."""
    embedding = functional.normalize(embedding)
    near = (embedding[sample] @ embedding.t()).topk(11).indices[:, 1:]
    return float((labels[near].mode(dim=1).values == labels[sample]).float().mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=3_000)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--width", type=int, default=64)
    arguments = parser.parse_args()
    torch.manual_seed(0)

    with tempfile.TemporaryDirectory() as folder:
        blocks = Path(folder) / "blocks"
        generate = [sys.executable, "-m", "graphmill", "generate", "sbm", str(blocks)]
        sizes = ["--nodes", str(arguments.nodes), "--edges", str(10 * arguments.nodes)]
        kind = ["--classes", "10", "--undirected", "--quiet"]
        subprocess.run([*generate, *sizes, *kind], check=True)

        ds = gm.open(blocks)
        graph = ds.graph
        model = SkipGram(ds.num_nodes, arguments.width)
        optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=0.02)
        for epoch in range(arguments.epochs):
            total = 0.0
            batches = torch.randperm(ds.num_nodes).split(32)
            for number, starts in enumerate(batches):
                seed = epoch * len(batches) + number
                walks = graph.walk(starts, LENGTH, p=1.0, q=0.5, seed=seed)
                pairs = windows(walks)
                negatives = torch.randint(ds.num_nodes, (pairs.shape[1], 5))
                loss = model(pairs, negatives)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += float(loss.detach())
            print(f"epoch {epoch}: loss {total / len(batches):.3f}")

        assert ds.labels is not None
        labels = torch.from_numpy(ds.labels.numpy().copy())
        sample = torch.randperm(ds.num_nodes)[:1000]
        agreement = neighbours_agree(model.centre.weight.detach(), labels, sample)
        print(f"the nearest nodes agree on the class: {agreement:.2f} (by chance 0.10)")


if __name__ == "__main__":
    main()
