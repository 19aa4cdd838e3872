"""Train GraphSAGE from disk on a papers-like graph that is larger than its memory budget.

Run by ``make demo``. The model is plain torch; the only thing that comes from graphmill is the loader. An MLP on the
same features is trained beside it, to show that the graph matters.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

import graphmill as gm

MIB = 1 << 20


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

    seconds: float
    waiting: float
    batches: int


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


def train(learners: dict[str, Learner], loader: gm.NeighborLoader) -> Epoch:
    """One epoch; every model sees the same batches."""
    start = time.perf_counter()
    waiting, batches = 0.0, 0
    before = start
    for batch in loader:
        waiting += time.perf_counter() - before
        for learner in learners.values():
            learner.step(batch)
        batches += 1
        before = time.perf_counter()
    return Epoch(time.perf_counter() - start, waiting, batches)


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


def disk_bytes_read() -> int | None:
    """Bytes that this process made the disk read, where the system tells."""
    try:
        lines = Path("/proc/self/io").read_text().splitlines()
    except OSError:
        return None
    return next(int(line.split()[1]) for line in lines if line.startswith("read_bytes"))


def drop_from_cache(folder: Path) -> None:
    """Let the first epoch start cold: ask the kernel to forget the dataset's pages."""
    if not hasattr(os, "posix_fadvise"):
        return
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def main() -> None:
    """Generate, train, and tell accuracy, throughput and memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("demo-data/papers"))
    parser.add_argument("--nodes", type=int, default=600_000)
    parser.add_argument("--features", type=int, default=128)
    parser.add_argument("--memory", default="128MiB")
    parser.add_argument("--epochs", type=int, default=2)
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
    training = gm.NeighborLoader(ds, [10, 5], 512, seeds="train", shuffle=True, seed=0, prefetch=1)
    testing = gm.NeighborLoader(ds, [10, 5], 512, seeds="test", seed=0, prefetch=1)

    baseline = gm.memory_in_use()["anonymous"] or 0
    for number in range(arguments.epochs):
        read_before = disk_bytes_read()
        epoch = train(learners, training)
        state = "cold" if number == 0 else "cached"
        read = (
            ""
            if read_before is None
            else f", {(disk_bytes_read() or 0) - read_before:,} bytes from disk"
        )
        print(
            f"epoch {number} ({state} at its start): {epoch.batches / epoch.seconds:.1f} batches/s, "
            f"{100 * epoch.waiting / epoch.seconds:.0f}% of the time waiting for data{read}"
        )
    memory = gm.memory_in_use()

    print("\ntest accuracy")
    for name, learner in learners.items():
        print(f"  {name:10} {learner.accuracy(testing):5.1f}%")
    print("memory")
    print(f"  dataset on disk       {size / MIB:8.0f} MiB")
    print(f"  budget for loading    {ds.memory / MIB:8.0f} MiB")
    if memory["anonymous"] is not None:
        print(
            f"  anonymous, grown by   {(memory['anonymous'] - baseline) / MIB:8.0f} MiB, torch's own included"
        )
        print(
            f"  mapped page cache     {(memory['file'] or 0) / MIB:8.0f} MiB, the kernel's to take back"
        )


if __name__ == "__main__":
    main()
