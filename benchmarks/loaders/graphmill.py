"""Our own part: `NeighborLoader` as a user would call it, with the page cache full and within a limit."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.child import Command
from benchmarks.loaders.loader import NO_GROUP, Loader
from benchmarks.training_inputs import SEEDS, Prepared

# An epoch goes before the one that is timed: buffers are made and a graph that is read much is copied to huge pages,
# which happens once and not in each epoch.
RESIDENT = """
import torch, graphmill as gm

path, batch, split, kept, group = sys.argv[1:]
enter(group)
loader = gm.NeighborLoader(gm.open(path), FANOUTS, int(batch), split, columns=["x"], seed=0)
drain(loader, lambda batch: len(batch.n_id))
last, nodes, marks = drain(loader, lambda batch: len(batch.n_id))
tell(nodes, marks, stats=loader.stats())
"""

# By the clock from the opening on. The lists are copied to memory out of the budget, since the page cache would have no
# room for them beside it. After each batch a look at what the process holds and has read, which takes microseconds.
LIMITED = """
from itertools import islice
import torch, graphmill as gm

path, batch, batches, split, kept, group, memory = sys.argv[1:]
# Threads of torch belong to the process and not to the data.
torch.ones(1 << 20).sum()

def look():
    held = gm.memory_in_use()
    with open("/proc/self/io") as lines:
        read = next(int(line.split()[1]) for line in lines if line.startswith("read_bytes"))
    return [round(time.perf_counter() - start, 4), held["anonymous"], held["file"], read]

enter(group)
start = time.perf_counter()
moments = [look()]
ds = gm.open(path, memory=int(memory), residency="ram")
loader = gm.NeighborLoader(ds, FANOUTS, int(batch), split, columns=["x"], seed=0)
some = islice(loader, int(batches))
last, nodes, marks = drain(some, lambda batch: moments.append(look()) or len(batch.n_id), start)
tell(nodes, marks, stats=loader.stats(), budget=ds.memory, moments=moments)
"""

KEEP = """
ends = np.cumsum([0, *last.num_sampled_edges])
ids = last.n_id.numpy()
source, destination = ids[last.edge_index.numpy()]
parts = [slice(*pair) for pair in zip(ends, ends[1:])]
keep(kept, ids, last.x.numpy(), [(source[part], destination[part]) for part in parts])
"""


class Ours(Loader):
    """What runs the benchmarks."""

    name = "graphmill"

    @property
    def environment(self) -> Path:
        return Path(sys.prefix)

    def install(self) -> None:
        """It is what runs the benchmarks."""

    def resident(
        self, prepared: Prepared, batch: int, batches: int, kept: Path, group: Path = NO_GROUP
    ) -> Mapping[str, Command]:
        # Its split holds the batches that we load.
        arguments = (prepared.dataset, batch, SEEDS, kept, group)
        return {self.name: self.program(RESIDENT + KEEP, *arguments)}

    def limited(
        self, prepared: Prepared, batch: int, batches: int, kept: Path, group: Path, memory: int
    ) -> Mapping[str, Command]:
        """Make batches from a cold dataset in a cgroup, with so much memory for the loader."""
        arguments = (prepared.dataset, batch, batches, SEEDS, kept, group, memory)
        return {self.name: self.program(LIMITED + KEEP, *arguments)}
