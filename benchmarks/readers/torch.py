"""PyTorch: index_select from a tensor in memory, and over a mapped file."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.child import CORES, Command
from benchmarks.feature_inputs import Asked
from benchmarks.peers.installation import InstallationFailed
from benchmarks.readers.reader import Reader

WARM = """
import torch

path, rows, ids, kept, into = sys.argv[1:]
torch.set_num_threads(CORES)
table = np.fromfile(path, np.float32, int(rows) * COLUMNS, offset=OFFSET).reshape(-1, COLUMNS)
table, batches = torch.from_numpy(table), torch.from_numpy(np.load(ids))
out = torch.from_numpy(buffer(len(batches[0])))

def stream():
    for ids in batches:
        if into == "out":
            rows = torch.index_select(table, 0, ids, out=out)
        else:
            # The last result is given back first, as it is between two steps of training.
            rows = None
            rows = torch.index_select(table, 0, ids)
    return rows

stream()
_, seconds = timed(lambda: [stream() for _ in range(ROUNDS)][-1])
tell(ROUNDS * batches.numel(), seconds)
keep(kept, batches[-1].numpy(), stream().numpy())
"""

# Mapped as private memory, because torch complains about memory that cannot be written.
LIMITED = """
import torch

path, rows, ids, group, kept = sys.argv[1:]
torch.set_num_threads(CORES)
batches = torch.from_numpy(np.load(ids))
out = torch.from_numpy(buffer(len(batches[0])))
# Its threads start now and not by the clock.
torch.index_select(out, 0, torch.arange(len(out)))
enter(group)
table = torch.from_numpy(mapped(path, rows, "c", mmap.MADV_RANDOM))

def stream():
    for ids in batches:
        torch.index_select(table, 0, ids, out=out)

_, seconds = timed(stream)
tell(batches.numel(), seconds)
keep(kept, batches[-1].numpy(), out.numpy())
"""


class Torch(Reader):
    """What PyG's loaders gather with."""

    name = "torch"

    def install(self) -> None:
        if importlib.util.find_spec("torch") is None:
            raise InstallationFailed(f"torch is not installed beside {sys.executable}")

    def warm(self, asked: Asked, kept: Path) -> Mapping[str, Command]:
        arguments = (asked.table, asked.rows, asked.ids, kept)
        return {
            f"{self.name}, {into}": self.program(WARM, *arguments, into)
            for into in ("out", "fresh")
        }

    def limited(
        self, asked: Asked, group: Path, patience: float, kept: Path
    ) -> Mapping[str, Command]:
        command = self.program(LIMITED, asked.table, asked.rows, asked.ids, group, kept)
        return {f"{self.name}, MADV_RANDOM, {CORES} threads": command}
