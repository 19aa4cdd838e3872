"""What the sampling section reads: one graph in every form that somebody needs, and the nodes to start from.

All forms hold the edges of the text that the ingest section reads; nodes are drawn with NumPy and given to everybody
alike. It must not know who samples.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

import graphmill as gm
from benchmarks.inputs import Inputs

BATCH = 1024
#: Seeds of the stream: enough batches for a second or two of the slowest.
BATCHES = 60
STARTS = 100_000
HUBS = 1000
#: Ids of the sparse graph are those of the other times this, so that its nodes are as many times more.
SPREAD = 16


@dataclass(frozen=True)
class Lists:
    """Neighbour lists of one direction as two arrays, which every peer can take."""

    offsets: Path
    neighbours: Path

    def load(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """The arrays, mapped."""
        return np.load(self.offsets, mmap_mode="r"), np.load(self.neighbours, mmap_mode="r")


class SamplingInputs(Inputs):
    """The inputs of one scale, beside those of ingest."""

    def graph(self) -> Path:
        """Our file, with lists in both directions."""
        edges = self.edges()
        return self._once("graph.gl", lambda target: self._convert(edges.path, target))

    def _convert(self, source: Path, target: Path, *flags: str) -> None:
        # The name tells the command what to write, and the unfinished one has the same ending.
        direction = () if flags else ("--direction", "both")
        command = self.graphmill.convert(source, target, "--overwrite", *direction, *flags)
        subprocess.run(command.arguments, check=True)

    def graphzero(self) -> Path:
        """The same out-lists as GraphZero stores them."""
        graph = self.graph()
        flags = ("--to", "graphzero", "--direction", "out")
        return self._once("graphzero.gl", lambda target: self._convert(graph, target, *flags))

    def lists(self, direction: str) -> Lists:
        """The lists of one direction, for peers that take arrays."""
        names = {"in": "csc", "out": "csr"}
        graph = self.graph()

        def save(part: int) -> Path:
            def write(target: Path) -> None:
                stored = gm.Graph(graph)
                pair = stored.csc() if direction == "in" else stored.csr()
                np.save(target, np.asarray(pair[part]))

            return self._once(f"{names[direction]}-{part}.npy", write)

        return Lists(save(0), save(1))

    def seeds(self) -> Path:
        """Distinct nodes with in-edges, for a stream of batches."""
        return self._nodes("seeds.npy", "in", BATCHES * BATCH)

    def starts(self) -> Path:
        """Distinct nodes with out-edges, to walk from."""
        return self._nodes("starts.npy", "out", STARTS)

    def hubs(self) -> Path:
        """As many starts, each among the thousand nodes with the longest out-lists."""
        return self._nodes("hubs.npy", "out", STARTS, among=HUBS)

    def _nodes(self, name: str, direction: str, count: int, among: int | None = None) -> Path:
        lists = self.lists(direction)

        def write(target: Path) -> None:
            degrees = np.diff(lists.load()[0])
            random = np.random.default_rng(count)
            if among is None:
                able = np.flatnonzero(degrees)
                chosen = random.choice(able, min(count, len(able)), replace=False)
            else:
                chosen = random.choice(np.argsort(degrees)[-among:], count)
            np.save(target, chosen.astype(np.int64))

        return self._once(name, write)

    def spread(self) -> Path:
        """A graph of the same shape among many more nodes: most have no edge, and ids lie far apart."""
        lists = self.lists("in")

        def write(target: Path) -> None:
            offsets, neighbours = lists.load()
            nodes = len(offsets) - 1
            destinations = np.repeat(np.arange(nodes, dtype=np.int64), np.diff(offsets))
            edges = (np.asarray(neighbours, dtype=np.int64) * SPREAD, destinations * SPREAD)
            gm.write_graph(target, edges, SPREAD * nodes + 1, direction="in")

        return self._once("spread.gl", write)
