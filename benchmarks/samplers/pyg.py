"""PyTorch Geometric: its NeighborLoader and walks, with whichever of the libraries that do the work is there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.child import CORES, Command
from benchmarks.peers.pyg import ENDS_OF_HOPS, WALKING, Installed
from benchmarks.samplers.sampler import Sampler
from benchmarks.sampling_inputs import BATCH, SamplingInputs

FANOUT = """
import torch
from torch_geometric.data import Data
from torch_geometric.loader import NeighborLoader
from torch_geometric.typing import SparseTensor

offsets, neighbours, seeds, kept, batch, workers = sys.argv[1:]
tensor = lambda path: torch.from_numpy(np.load(path)).to(torch.int64)
colptr, row, seeds = tensor(offsets), tensor(neighbours), tensor(seeds)
nodes = len(colptr) - 1
col = torch.arange(nodes).repeat_interleave(torch.diff(colptr))
data = Data(edge_index=torch.stack([row, col]), num_nodes=nodes)

def loader(seeds):
    return NeighborLoader(data, FANOUTS, seeds, batch_size=int(batch), is_sorted=True,
                          num_workers=int(workers))

def stream(seeds):
    edges = nodes = batches = 0
    for made in loader(seeds):
        edges, nodes, batches = edges + made.num_edges, nodes + made.num_nodes, batches + 1
    return edges, nodes, batches

stream(seeds[: 8 * int(batch)])
(edges, nodes, batches), seconds = timed(lambda: stream(seeds))
tell(edges, seconds, seeds=len(seeds), batches=batches, nodes=nodes)
[first] = loader(seeds[: int(batch)])
ends = ends_of_hops(first)
source, destination = first.n_id[first.edge_index].numpy()
hops = {}
for hop in range(len(FANOUTS)):
    part = slice(ends[hop], ends[hop + 1])
    hops[f"source{hop}"], hops[f"destination{hop}"] = source[part], destination[part]
np.savez(kept, **hops)
"""

WALK = """
import torch

offsets, neighbours, starts, kept = sys.argv[1:]
tensor = lambda path: torch.from_numpy(np.load(path)).to(torch.int64)
rowptr, col, starts = tensor(offsets), tensor(neighbours), tensor(starts)
try:
    import pyg_lib
    walk = lambda starts: torch.ops.pyg.random_walk(rowptr, col, starts, LENGTH, 1.0, 1.0)
except ImportError:
    import torch_cluster
    walk = lambda starts: torch.ops.torch_cluster.random_walk(rowptr, col, starts, LENGTH, 1.0, 1.0)[0]
walk(starts[:1000])
walks, calls, seconds = repeated(lambda _: walk(starts))
tell(len(starts) * calls * LENGTH, seconds, starts=len(starts))
np.save(kept, walks[:KEPT].numpy())
"""


class Pyg(Sampler):
    """What PyG itself would use."""

    name = "pyg"

    def __init__(self, folder: Path) -> None:
        """Know where to look for it."""
        super().__init__(folder)
        self.installed = Installed(folder)

    @property
    def environment(self) -> Path:
        return self.installed.environment

    def install(self) -> None:
        self.installed.install()

    def fanout(self, inputs: SamplingInputs, kept: Path) -> Mapping[str, Command]:
        lists = inputs.lists("in")
        arguments = (lists.offsets, lists.neighbours, inputs.seeds(), kept, BATCH, CORES)
        return {f"pyg, {CORES} workers": self.program(ENDS_OF_HOPS + FANOUT, *arguments)}

    def walk(self, inputs: SamplingInputs, kept: Path) -> Mapping[str, Command]:
        if not self.installed.has_any(WALKING):
            return {}
        lists = inputs.lists("out")
        arguments = (lists.offsets, lists.neighbours, inputs.starts(), kept)
        return {self.name: self.program(WALK, *arguments)}
