"""DGL 2.1: its walks over a graph in memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.child import Command
from benchmarks.peers.graphbolt import GraphBolt as Installed
from benchmarks.samplers.sampler import Sampler
from benchmarks.sampling_inputs import SamplingInputs

CODE = """
import torch, dgl

offsets, neighbours, starts, kept, kind = sys.argv[1:]
tensor = lambda path: torch.from_numpy(np.load(path))
lists = (tensor(offsets), tensor(neighbours).to(torch.int64), torch.tensor([], dtype=torch.int64))
graph = dgl.graph(("csr", lists), num_nodes=len(lists[0]) - 1).formats(["csr"])
starts = tensor(starts)

def walk(starts):
    if kind == "uniform":
        return dgl.sampling.random_walk(graph, starts, length=LENGTH)[0]
    return dgl.sampling.node2vec_random_walk(graph, starts, P, Q, LENGTH)

walk(starts[:1000])
walks, calls, seconds = repeated(lambda _: walk(starts))
tell(len(starts) * calls * LENGTH, seconds, starts=len(starts))
np.save(kept, walks[:KEPT].numpy())
"""


class Dgl(Sampler):
    """From the environment of GraphBolt, which is a part of it."""

    name = "dgl"

    @property
    def environment(self) -> Path:
        return self.folder / Installed.name

    def install(self) -> None:
        Installed(self.environment).install()

    def walk(self, inputs: SamplingInputs, kept: Path) -> Mapping[str, Command]:
        lists, starts = inputs.lists("out"), inputs.starts()
        arguments = (lists.offsets, lists.neighbours, starts, kept, "uniform")
        return {self.name: self.program(CODE, *arguments)}

    def node2vec(self, inputs: SamplingInputs, starts: Path, kept: Path) -> Mapping[str, Command]:
        lists = inputs.lists("out")
        arguments = (lists.offsets, lists.neighbours, starts, kept, "node2vec")
        return {self.name: self.program(CODE, *arguments)}
