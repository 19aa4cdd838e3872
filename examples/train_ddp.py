"""Train one model in several processes: torch's DistributedDataParallel, and loaders that share the seeds.

    torchrun --standalone --nproc-per-node=2 examples/train_ddp.py

Every process opens the same dataset, whose pages the system keeps once for all of them. Loaders see that
torch.distributed is running: each takes its part of every epoch, all of the same length, and of the memory.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel
from torch_geometric.nn import GraphSAGE

import graphmill as gm


def shared_folder() -> Path:
    """One folder for all processes, made by the first."""
    names = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(names)
    return Path(str(names[0]))


def mean_over_processes(value: float) -> float:
    total = torch.tensor(value, dtype=torch.float64)
    dist.all_reduce(total)
    return float(total) / dist.get_world_size()


def hits(model: nn.Module, batch: gm.Batch) -> Tensor:
    return model(batch.x, batch.edge_index)[: batch.batch_size].argmax(dim=1)


def train(arguments: argparse.Namespace, papers: Path) -> None:
    ds = gm.open(papers, memory=arguments.memory)
    assert ds.features is not None and ds.labels is not None
    torch.manual_seed(0)
    classes = int(ds.labels.numpy().max()) + 1
    model = DistributedDataParallel(
        GraphSAGE(ds.features.shape[1], 64, num_layers=2, out_channels=classes)
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    # The same seed everywhere: together the processes make one epoch, and each seed is in one of them.
    size = arguments.batch_size
    training = gm.NeighborLoader(ds, [10, 5], size, seeds="train", shuffle=True, seed=0)
    testing = gm.NeighborLoader(ds, [10, 5], size, seeds="test", seed=0)
    for epoch in range(arguments.epochs):
        model.train()
        for batch in training:
            out = model(batch.x, batch.edge_index)[: batch.batch_size]
            loss = functional.cross_entropy(out, batch.y[: batch.batch_size])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            right = [hits(model, batch) == batch.y[: batch.batch_size] for batch in testing]
        share = mean_over_processes(float(torch.cat(right).float().mean()))
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: {len(training)} batches each, test accuracy {share:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=50_000)
    parser.add_argument(
        "--memory", default="256MiB", help="for all processes of a machine together"
    )
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=256, help="of each process")
    arguments = parser.parse_args()
    dist.init_process_group("gloo")
    folder = shared_folder()
    try:
        if dist.get_rank() == 0:
            generate = [sys.executable, "-m", "graphmill", "generate", "papers"]
            size = ["--nodes", str(arguments.nodes), "--quiet"]
            subprocess.run([*generate, str(folder / "papers"), *size], check=True)
        dist.barrier()
        train(arguments, folder / "papers")
        dist.barrier()
    finally:
        if dist.get_rank() == 0:
            shutil.rmtree(folder)
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
