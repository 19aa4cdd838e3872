"""What the topology section reads: graphs with in-lists in every order, and what is stored of them in other ways.

Every order of a graph is a dataset of plain lists; packed ones are converted from it, so that all encodings hold the
same lists under the same numbers. It must not know what is measured.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import graphmill as gm
from benchmarks.child import Command
from benchmarks.graphmill_command import Graphmill
from benchmarks.kept_files import KeptFiles
from benchmarks.orders import FACEBOOK, NODES, Graph
from benchmarks.peers.webgraph import WebGraph

ENCODINGS = ["i32", "i64", "packed"]
RMAT = Graph("rmat", (15, 10, 5), 1024)
PAPERS = Graph("papers", (15, 10, 5), 1024)
PAGES = Graph("facebook", (15, 10), 64)
GRAPHS = {graph.name: graph for graph in (RMAT, PAPERS, PAGES)}
#: Seeds of a run: as many batches as this, where the graph has so many nodes with neighbours.
BATCHES = 60
HUB_DEGREE = 100_000


@dataclass(frozen=True)
class TopologyScale:
    """How large everything is."""

    name: str
    #: Nodes (as a power of two) and edges of the R-MAT graph.
    power: int
    edges: int
    #: Batches that are sampled where pages come from disk.
    cold_batches: int
    #: What our commands may take while they make the inputs.
    memory: str
    #: Free bytes that the inputs ask for, and other encodings for a while.
    disk: int


SCALES = {
    "small": TopologyScale("small", 17, 1_000_000, 10, "256MiB", 10**9),
    "full": TopologyScale("full", 22, 64_000_000, 30, "2GiB", 6 * 10**9),
}


@dataclass(frozen=True)
class Stored:
    """Lists in one order and encoding, and where batches begin, by the numbers of that order."""

    path: Path
    seeds: Path


class TopologyInputs(KeptFiles):
    """The graphs of one scale."""

    def __init__(self, folder: Path, scale: TopologyScale, graphmill: Graphmill) -> None:
        """Know the command that makes them."""
        super().__init__(folder, scale.name, scale.disk)
        self.scale, self.graphmill = scale, graphmill

    def graphs(self, names: Sequence[str]) -> list[Graph]:
        """Those that are named and are there."""
        if PAGES.name in names and not FACEBOOK.exists():
            print(f"{PAGES.name}: not here, so left out")
            names = [name for name in names if name != PAGES.name]
        return [GRAPHS[name] for name in names]

    def dataset(self, graph: Graph, order: str) -> Path:
        """A graph in an order, its lists plain."""
        if order == "none":
            return self._once(f"{graph.name}-none", lambda target: self._make(graph, target))
        source = self.dataset(graph, "none")

        def reorder(target: Path) -> None:
            flags = ("--order", order, "--memory", self.scale.memory)
            self._run(self.graphmill.reorder(source, target, *flags))

        return self._once(f"{graph.name}-{order}", reorder)

    def _make(self, graph: Graph, target: Path) -> None:
        memory, directed = ("--memory", self.scale.memory), ("--direction", "in")
        if graph is RMAT:
            self.graphmill.generate("rmat", target, *self._rmat_shape(), *directed, *memory)
        elif graph is PAPERS:
            shape = ("--nodes", NODES[self.scale.name], "--features", "0")
            self.graphmill.generate("papers", target, *shape, *directed, *memory)
        else:
            self._run(self.graphmill.build(target, FACEBOOK, "--undirected", *memory))

    def _run(self, command: Command) -> None:
        subprocess.run(command.arguments, check=True)

    def plain(self, graph: Graph, order: str) -> Stored:
        """The lists of a graph in an order, as they are."""
        return Stored(topology_of(self.dataset(graph, order)), self.seeds(graph, order))

    def packed(self, graph: Graph, order: str) -> Stored:
        """The same, packed and kept."""
        plain = self.plain(graph, order)
        path = self._once(
            f"{graph.name}-{order}-packed.gl",
            lambda target: self.encode(plain.path, target, "packed"),
        )
        return Stored(path, plain.seeds)

    def encode(self, source: Path, target: Path, encoding: str) -> None:
        """Write a graph in another encoding."""
        self._run(self.graphmill.convert(source, target, "--encoding", encoding, "--overwrite"))

    @contextmanager
    def encodings(self, graph: Graph, order: str) -> Iterator[dict[str, Stored]]:
        """A graph in every encoding, as long as it is measured."""
        plain = self.plain(graph, order)
        with tempfile.TemporaryDirectory(prefix="encodings-", dir=self.folder) as folder:
            found = {ENCODINGS[0]: plain}
            for encoding in ENCODINGS[1:]:
                path = Path(folder) / f"{encoding}.gl"
                self.encode(plain.path, path, encoding)
                found[encoding] = Stored(path, plain.seeds)
            yield found

    def seeds(self, graph: Graph, order: str) -> Path:
        """The same nodes with in-edges for every order, by their numbers in it."""
        plain, ordered = (gm.open(self.dataset(graph, name)) for name in ("none", order))

        def write(target: Path) -> None:
            degrees = plain.graph.degrees(np.arange(plain.num_nodes), direction="in")
            able = np.flatnonzero(degrees)
            count = min(BATCHES * graph.batch, len(able) // graph.batch * graph.batch)
            chosen = np.random.default_rng(count).choice(able, count, replace=False)
            np.save(target, ordered.node_ids(chosen))

        return self._once(f"{graph.name}-{order}-seeds.npy", write)

    def distinct(self) -> Path:
        """The R-MAT graph in hot order without repeated edges, packed."""
        source = topology_of(self.dataset(RMAT, "none"))

        def build(target: Path) -> None:
            flags = ("--order", "hot", "--encoding", "packed", "--dedup")
            self._run(self.graphmill.build(target, source, *self.build_flags(), *flags))

        return topology_of(self._once("rmat-distinct", build))

    def distinct_plain(self) -> Path:
        """The same lists in 32 bits an id."""
        source = self.distinct()
        return self._once("rmat-distinct-i32.gl", lambda target: self.encode(source, target, "i32"))

    def text(self) -> Path:
        """The edges of the R-MAT graph as text, in the order in which they are drawn."""

        def generate(target: Path) -> None:
            self.graphmill.generate("rmat", target, *self._rmat_shape())

        return self._once("rmat.csv", generate)

    def _rmat_shape(self) -> list[str]:
        return ["--scale", str(self.scale.power), "--edges", str(self.scale.edges)]

    def build_flags(self) -> list[str]:
        """What a build from the R-MAT graph is told besides: edges do not tell of nodes without any."""
        nodes = str(1 << self.scale.power)
        return ["--direction", "in", "--num-nodes", nodes, "--memory", self.scale.memory]

    def bv(self, webgraph: WebGraph) -> Path:
        """The base name of the same lists as webgraph stores them, with what random access needs."""
        graph = self.distinct()
        nodes, edges = self.graphmill.counts(graph)

        def write(target: Path) -> None:
            target.mkdir()
            text = target / "arcs.csv"
            self._run(self.graphmill.convert(graph, text))
            webgraph.store_in_lists(text, nodes, target)
            text.unlink()

        base = self._once("rmat-distinct-bv", write) / "graph"
        found = webgraph.stored(base.parent)
        assert found == (nodes, edges), f"webgraph stored {found}, must be {(nodes, edges)}"
        return base

    def hub(self) -> Path:
        """As many nodes as the R-MAT graph has, one of them with many random neighbours and the others with few."""

        def write(target: Path) -> None:
            random = np.random.default_rng(HUB_DEGREE)
            nodes = max(1 << self.scale.power, 2 * HUB_DEGREE)
            hub = nodes // 2
            near = random.choice(nodes, HUB_DEGREE, replace=False)
            source, destination = random.integers(0, nodes, (2, 4 * nodes))
            elsewhere = destination != hub
            edges = (
                np.concatenate([near, source[elsewhere]]),
                np.concatenate([np.full(HUB_DEGREE, hub), destination[elsewhere]]),
            )
            gm.write_graph(target, edges, nodes, direction="in", encoding="packed")

        return self._once("hub-packed.gl", write)


def topology_of(dataset: Path) -> Path:
    """The file of the lists."""
    [path] = dataset.glob("graph.*.gl")
    return path
