"""GraphZero 0.2: one hop and walks over its own mapped file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.child import Command
from benchmarks.peers.graphzero import GraphZero as Installed
from benchmarks.samplers.sampler import Sampler
from benchmarks.sampling_inputs import SamplingInputs

# node2vec from all starts would take minutes, so it gets a part of them.
CODE = """
import graphzero

path, starts, kept, kind = sys.argv[1:]
graph, starts = graphzero.Graph(path), np.load(starts)

def work(starts):
    if kind == "onehop":
        return graph.batch_random_fanout(starts, NEIGHBOURS)
    if kind == "uniform":
        return graph.batch_random_walk_uniform(starts, LENGTH)
    return graph.batch_random_walk(starts, LENGTH, p=P, q=Q)

starts = starts[: 2000 if kind == "node2vec" else None]
work(starts[:1000] if kind == "node2vec" else starts)
rows, calls, seconds = repeated(lambda _: work(starts))
tell(len(starts) * calls * (1 if kind == "onehop" else LENGTH), seconds, starts=len(starts))
np.save(kept, np.asarray(rows)[:KEPT])
"""


class GraphZero(Sampler):
    """The original of the drop-in."""

    name = "graphzero"

    @property
    def environment(self) -> Path:
        return self.folder / Installed.name

    def install(self) -> None:
        Installed(self.environment).install()

    def onehop(self, inputs: SamplingInputs, kept: Path) -> Mapping[str, Command]:
        return self._of(inputs, inputs.starts(), kept, "onehop")

    def walk(self, inputs: SamplingInputs, kept: Path) -> Mapping[str, Command]:
        return self._of(inputs, inputs.starts(), kept, "uniform")

    def node2vec(self, inputs: SamplingInputs, starts: Path, kept: Path) -> Mapping[str, Command]:
        return self._of(inputs, starts, kept, "node2vec")

    def _of(
        self, inputs: SamplingInputs, starts: Path, kept: Path, kind: str
    ) -> Mapping[str, Command]:
        return {self.name: self.program(CODE, inputs.graphzero(), starts, kept, kind)}
