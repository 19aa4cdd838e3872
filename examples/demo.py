"""Train GraphSAGE from disk on a papers-like graph that is larger than its memory budget.

Run by ``make demo``. The model is plain torch; the only thing that comes from graphmill is the loader. An MLP on the
same features is trained beside it, to show that the graph matters. Rows are read past the page cache, so that every
epoch comes from the disk, however much memory the machine has; ``--backend auto`` shows what it does by itself.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

import graphmill as gm
from examples.demo_meter import MIB, Meter, write_page


class SageLayer(nn.Module):
    """Own features and the mean of the in-neighbours' features, each through its own weights."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.own = nn.Linear(inputs, outputs)
        self.neighbours = nn.Linear(inputs, outputs, bias=False)

    def forward(self, x: Tensor, edge_index: Tensor, num_targets: int) -> Tensor:
        row, col = edge_index
        total = torch.zeros(num_targets, x.shape[1]).index_add_(0, col, x[row])
        degree = torch.bincount(col, minlength=num_targets).clamp(min=1).unsqueeze(1)
        return self.own(x[:num_targets]) + self.neighbours(total / degree)


class GraphSage(nn.Module):
    """Two layers; each computes only the nodes that the next one needs."""

    def __init__(self, inputs: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.first = SageLayer(inputs, hidden)
        self.second = SageLayer(hidden, classes)

    def forward(self, batch: gm.Batch) -> Tensor:
        seeds, first_hop, _ = batch.num_sampled_nodes
        inner_edges = batch.num_sampled_edges[0]
        hidden = self.first(batch.x, batch.edge_index, seeds + first_hop).relu()
        hidden = functional.dropout(hidden, 0.3, self.training)
        return self.second(hidden, batch.edge_index[:, :inner_edges], seeds)


class Mlp(nn.Module):
    """The same size without the graph."""

    def __init__(self, inputs: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, hidden), nn.ReLU(), nn.Dropout(0.3), nn.Linear(hidden, classes)
        )

    def forward(self, batch: gm.Batch) -> Tensor:
        return self.layers(batch.x[: batch.batch_size])


@dataclass
class Epoch:
    """What one pass over the training seeds took."""

    seconds: float = 0.0
    waiting: float = 0.0
    batches: int = 0

    @property
    def waiting_share(self) -> float:
        """The part of the time in which the models waited for data."""
        return self.waiting / max(self.seconds, 1e-9)


class Learner:
    """A model and its optimizer."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=0.003)

    def step(self, batch: gm.Batch) -> None:
        """Learn from one batch."""
        self.model.train()
        loss = functional.cross_entropy(self.model(batch), batch.y[: batch.batch_size])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    @torch.no_grad()
    def accuracy(self, loader: gm.NeighborLoader) -> float:
        """Share of seeds whose class is predicted, in percent."""
        self.model.eval()
        hits = total = 0
        for batch in loader:
            labels = batch.y[: batch.batch_size]
            hits += int((self.model(batch).argmax(dim=1) == labels).sum())
            total += len(labels)
        return 100.0 * hits / max(total, 1)


def train(learners: dict[str, Learner], loader: gm.NeighborLoader, epoch: Epoch) -> None:
    """One epoch; every model sees the same batches."""
    start = before = time.perf_counter()
    for batch in loader:
        epoch.waiting += time.perf_counter() - before
        for learner in learners.values():
            learner.step(batch)
        epoch.batches += 1
        before = time.perf_counter()
    epoch.seconds = time.perf_counter() - start


def generate(folder: Path, nodes: int, features: int, memory: str) -> None:
    """Make the dataset once; a later run finds it and uses it again."""
    if (folder / "dataset.json").exists():
        print(f"using {folder}, made by an earlier run")
        return
    command = [sys.executable, "-m", "graphmill", "generate", "papers", str(folder)]
    command += ["--nodes", str(nodes), "--features", str(features), "--memory", memory, "--quiet"]
    start = time.perf_counter()
    subprocess.run(command, check=True)
    print(f"generated {folder} in {time.perf_counter() - start:.1f} s within {memory}")


def drop_from_cache(folder: Path) -> None:
    """Let the first epoch start cold: ask the kernel to forget the dataset's pages."""
    if not hasattr(os, "posix_fadvise"):
        return
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def describe(
    ds: gm.Dataset,
    size: int,
    epochs: Sequence[Epoch],
    accuracies: dict[str, float],
    meter: Meter,
    stats: dict[str, Any],
) -> str:
    """The table at the end: what was learnt, how fast, in which memory, from how much disk."""
    seconds = sum(epoch.seconds for epoch in epochs)
    batches = sum(epoch.batches for epoch in epochs)
    waiting = sum(epoch.waiting for epoch in epochs) / max(seconds, 1e-9)
    first = meter.moments[0]
    grown = max(moment.anonymous for moment in meter.moments) - first.anonymous
    mapped = max(moment.page_cache for moment in meter.moments) - first.page_cache
    verdict = "the disk is the limit" if waiting > 0.5 else "the model is the limit"
    rows = [("test accuracy", f"{name} {percent:.1f}%") for name, percent in accuracies.items()]
    for number, epoch in enumerate(epochs):
        rate = epoch.batches / max(epoch.seconds, 1e-9)
        waited = f"{100 * epoch.waiting_share:.0f}% of the time waiting for data"
        rows.append((f"epoch {number}", f"{rate:.1f} batches/s, {waited}"))
    rows += [
        ("dataset on disk", f"{size / MIB:,.0f} MiB"),
        (
            "budget",
            f"{ds.memory / MIB:,.0f} MiB, of which {stats['peak_memory'] / MIB:,.0f} were used",
        ),
        ("anonymous memory", f"grew by {grown / MIB:,.0f} MiB, the models and torch included"),
        ("page cache", f"{mapped / MIB:,.0f} MiB mapped, the kernel's to take back"),
        (
            "disk",
            f"{stats['bytes_read'] / 1e6:,.0f} MB in {stats['requests']:,} requests for "
            f"{stats['bytes_used'] / 1e6:,.0f} MB of rows by {stats['backend'] or 'copies from the map'}",
        ),
        (
            "disk rate",
            f"{stats['bytes_read'] / 1e6 / max(seconds, 1e-9):,.0f} MB/s over all epochs",
        ),
        ("verdict", f"{verdict}: {batches / max(seconds, 1e-9):.1f} batches/s"),
    ]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:{width}}  {value}" for name, value in rows)


def main() -> None:
    """Generate, train, and tell accuracy, throughput, memory and disk."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("demo-data/papers"))
    parser.add_argument("--nodes", type=int, default=2_000_000)
    parser.add_argument("--features", type=int, default=128)
    parser.add_argument("--memory", default="256MiB")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--backend", default="ring")
    arguments = parser.parse_args()

    arguments.folder.parent.mkdir(parents=True, exist_ok=True)
    generate(arguments.folder, arguments.nodes, arguments.features, arguments.memory)
    drop_from_cache(arguments.folder)
    torch.manual_seed(0)

    start = time.perf_counter()
    ds = gm.open(arguments.folder, memory=arguments.memory)
    opened = time.perf_counter() - start
    size = sum(path.stat().st_size for path in arguments.folder.iterdir())
    print(
        f"{ds!r}\nopened in {1000 * opened:.2f} ms; {size / ds.memory:.1f} times its memory budget"
    )

    labels = ds.labels
    assert ds.features is not None and labels is not None
    classes = int(labels.numpy().max()) + 1
    inputs = ds.features.shape[1]
    learners = {
        "GraphSAGE": Learner(GraphSage(inputs, 128, classes)),
        "MLP": Learner(Mlp(inputs, 128, classes)),
    }

    def loader(seeds: str, shuffle: bool) -> gm.NeighborLoader:
        return gm.NeighborLoader(
            ds, [10, 5], 512, seeds, shuffle, seed=0, prefetch=1, backend=arguments.backend
        )

    training, testing = loader("train", True), loader("test", False)
    epochs = [Epoch() for _ in range(arguments.epochs)]
    with Meter(lambda: sum(epoch.batches for epoch in epochs)) as meter:
        for number, epoch in enumerate(epochs):
            train(learners, training, epoch)
            print(f"epoch {number}: {epoch.batches} batches in {epoch.seconds:.1f} s", flush=True)
    stats = training.stats()
    accuracies = {name: learner.accuracy(testing) for name, learner in learners.items()}

    table = describe(ds, size, epochs, accuracies, meter, stats)
    picture = arguments.folder.parent / "demo.html"
    write_page(picture, "GraphSAGE, trained from disk", table, meter.moments, ds.memory)
    print(f"\n{table}\n\nbatches, memory and disk over time: {picture}")


if __name__ == "__main__":
    main()
