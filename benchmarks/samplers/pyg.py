"""PyTorch Geometric: its NeighborLoader and walks, where one of the libraries that do the work is installed.

None of these is a wheel on the package index, and one compiles for a quarter of an hour, so none is installed here:
what the Python of the benchmarks has is used.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.child import CORES, Command
from benchmarks.peers.installation import InstallationFailed
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
ends = np.cumsum([0, *first.num_sampled_edges])
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
walks, seconds = timed(lambda: walk(starts))
tell(len(starts) * LENGTH, seconds, starts=len(starts))
np.save(kept, walks[:KEPT].numpy())
"""

FIND = """
import importlib.util, sys
found = [name for name in sys.argv[1:] if importlib.util.find_spec(name)]
print(" ".join(found))
"""


class Pyg(Sampler):
    """What PyG itself would use."""

    name = "pyg"
    _found: frozenset[str] = frozenset()

    @property
    def environment(self) -> Path:
        return Path(sys.prefix)

    def install(self) -> None:
        names = ["torch_geometric", "pyg_lib", "torch_sparse", "torch_cluster"]
        done = subprocess.run(
            self.program(FIND, *names).arguments, capture_output=True, text=True, check=True
        )
        self._found = frozenset(done.stdout.split())
        if not self._found - {"torch_geometric"}:
            raise InstallationFailed(
                "none of pyg_lib, torch_sparse and torch_cluster is installed beside "
                f"{sys.executable}, and PyG samples with nothing else"
            )

    def fanout(self, inputs: SamplingInputs, kept: Path) -> Mapping[str, Command]:
        if "torch_geometric" not in self._found or self._found.isdisjoint(
            {"pyg_lib", "torch_sparse"}
        ):
            return {}
        lists = inputs.lists("in")
        arguments = (lists.offsets, lists.neighbours, inputs.seeds(), kept, BATCH, CORES)
        return {f"pyg, {CORES} workers": self.program(FANOUT, *arguments)}

    def walk(self, inputs: SamplingInputs, kept: Path) -> Mapping[str, Command]:
        if self._found.isdisjoint({"pyg_lib", "torch_cluster"}):
            return {}
        lists = inputs.lists("out")
        arguments = (lists.offsets, lists.neighbours, inputs.starts(), kept)
        return {self.name: self.program(WALK, *arguments)}
