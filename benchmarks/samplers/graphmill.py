"""Our own part: through Python as a user would call it, and the command beside it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.child import CORES, Command
from benchmarks.graphmill_command import Graphmill
from benchmarks.samplers.sampler import FANOUTS, Sampler
from benchmarks.sampling_inputs import BATCH, BATCHES, SamplingInputs

# One Python thread for each core, each sampling batches on its own: the GIL is released while they work.
FANOUT = """
import graphmill as gm
from concurrent.futures import ThreadPoolExecutor

path, seeds, kept, batch, threads = sys.argv[1:]
graph, seeds = gm.Graph(path), np.load(seeds)

def sample(number, seeds):
    return graph.sample(seeds, FANOUTS, seed=number, threads=1)

def stream(pool, seeds):
    edges = nodes = batches = 0
    parts = np.split(seeds, range(int(batch), len(seeds), int(batch)))
    for made in pool.map(sample, range(len(parts)), parts):
        edges, nodes, batches = edges + len(made.row), nodes + len(made.n_id), batches + 1
    return edges, nodes, batches

with ThreadPoolExecutor(int(threads)) as pool:
    # Once through, since a graph that is read much is copied to huge pages, which happens once and not in each epoch.
    stream(pool, seeds)
    # Several times, since once is over too soon for the clock of a busy machine.
    rounds = 3
    counts, seconds = timed(lambda: [stream(pool, seeds) for _ in range(rounds)])
edges, nodes, batches = np.sum(counts, axis=0).tolist()
tell(edges, seconds, seeds=rounds * len(seeds), batches=batches, nodes=nodes)

first = sample(0, seeds[: int(batch)])
ends = np.cumsum([0, *first.edges_per_hop])
hops = {}
for hop in range(len(FANOUTS)):
    part = slice(ends[hop], ends[hop + 1])
    hops[f"source{hop}"] = first.n_id[first.row[part]]
    hops[f"destination{hop}"] = first.n_id[first.col[part]]
np.savez(kept, **hops)
"""

ROWS = """
import graphmill as gm
import graphmill.graphzero as gz

path, starts, kept, kind = sys.argv[1:]
starts = np.load(starts)
if kind == "onehop":
    one = gz.Graph(path)
    work = lambda seed: one.batch_random_fanout(starts, NEIGHBOURS, seed=seed)
else:
    graph, (p, q) = gm.Graph(path), (1.0, 1.0) if kind == "uniform" else (P, Q)
    work = lambda seed: graph.walk(starts, LENGTH, p=p, q=q, seed=seed)
work(0)
rows, calls, seconds = repeated(work)
amount = len(starts) * calls * (1 if kind == "onehop" else LENGTH)
tell(amount, seconds, starts=len(starts))
np.save(kept, rows[:KEPT])
"""


class Ours(Sampler):
    """Both ways to call it."""

    name = "graphmill"

    def __init__(self, folder: Path, graphmill: Graphmill) -> None:
        """Know the command that is measured."""
        super().__init__(folder)
        self.graphmill = graphmill

    @property
    def environment(self) -> Path:
        return Path(sys.prefix)

    def install(self) -> None:
        """It is what runs the benchmarks."""

    def fanout(self, inputs: SamplingInputs, kept: Path) -> Mapping[str, Command]:
        return self.stream(inputs, kept, CORES)

    def stream(self, inputs: SamplingInputs, kept: Path, threads: int) -> Mapping[str, Command]:
        """Sample the stream of batches with so many threads."""
        arguments = (inputs.graph(), inputs.seeds(), kept, BATCH, threads)
        return {self.name: self.program(FANOUT, *arguments)}

    def command(
        self, graph: Path, threads: int, *flags: str, batches: int = 3 * BATCHES
    ) -> Command:
        """The same by the command, which draws its own seeds."""
        return Command(
            [
                *(self.graphmill.program, "sample", str(graph), "--json"),
                *("--fanouts", ",".join(map(str, FANOUTS)), "--batch-size", str(BATCH)),
                *("--batches", str(batches), "--threads", str(threads), *flags),
            ]
        )

    def onehop(self, inputs: SamplingInputs, kept: Path) -> Mapping[str, Command]:
        return self._of(inputs, inputs.starts(), kept, "onehop")

    def walk(self, inputs: SamplingInputs, kept: Path) -> Mapping[str, Command]:
        return self._of(inputs, inputs.starts(), kept, "uniform")

    def node2vec(self, inputs: SamplingInputs, starts: Path, kept: Path) -> Mapping[str, Command]:
        return self._of(inputs, starts, kept, "node2vec")

    def _of(
        self, inputs: SamplingInputs, starts: Path, kept: Path, kind: str
    ) -> Mapping[str, Command]:
        return {self.name: self.program(ROWS, inputs.graph(), starts, kept, kind)}
