"""Orders: how many blocks of rows a batch touches when nodes are numbered this way or that.

Nothing is timed: the numbers are counts, the same on every machine. A batch is sampled in the dataset as it is built,
and its nodes are looked up in the same dataset in another order; so all orders answer for the same batches.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import graphmill as gm
from benchmarks import musts
from benchmarks.choices import add_places, names_among
from benchmarks.graphmill_command import Graphmill
from benchmarks.kept_files import KeptFiles
from benchmarks.musts import Must

ORDERS = ["none", "hot", "visits", "bfs", "community"]
#: Orders whose first rows are those that a loader holds; without one it goes by how often nodes are neighbours.
HOTTEST_FIRST = ["hot", "visits"]
#: Pages and the likes between them, in a folder beside the project; absent in most clones.
FACEBOOK = Path(__file__).parents[2] / "shared" / "data" / "facebook" / "facebook_edges.csv"
#: Rows of 128 x f32 in a block of 4 KiB.
ROWS_PER_BLOCK = 8
#: The share of rows that memory holds, those that are wanted most.
BUDGETS = (0.1, 0.25)
#: Batches that a loader reads together.
WINDOW = 12
NODES = {"small": "100k", "full": "2M"}

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Graph:
    """A graph, and the batches that are asked of it."""

    name: str
    fanouts: tuple[int, ...]
    batch: int
    target: float | None = None


@dataclass(frozen=True)
class Blocks:
    """Blocks of 4 KiB a batch."""

    whole: float
    #: Beside the rows that a loader holds, for each budget; and of those, when so many batches are read together.
    beside: list[float]
    together: list[float]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be chosen on the command line."""
    parser.add_argument("--scale", choices=NODES, default="full", help="targets are for full")
    parser.add_argument("--orders", type=names_among(ORDERS[1:]), default=ORDERS[1:])
    add_places(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Every graph in every order, then the targets."""
    graphmill = Graphmill(arguments.command)
    inputs = OrderInputs(arguments.work.absolute() / f"orders-{arguments.scale}", arguments.scale)
    targets: list[Must] = []
    results: dict[str, Any] = {}
    for graph, source, flags in inputs.graphs(graphmill):
        print(f"\n{graph.name}: blocks a batch, fan-outs {graph.fanouts} of {graph.batch} seeds")
        found = {}
        for order in ["none", *arguments.orders]:
            dataset = inputs.ordered(graphmill, graph.name, source, order, flags)
            found[order] = count(gm.open(inputs.plain(graph.name)), gm.open(dataset), graph)
            show(order, found[order], found["none"])
        results[graph.name] = {order: asdict(blocks) for order, blocks in found.items()}
        if graph.target is not None:
            best = min(blocks.beside[-1] for blocks in found.values())
            what = (
                f"{graph.name}: blocks of none over the best, {BUDGETS[-1]:.0%} of rows in memory"
            )
            targets.append(Must(what, found["none"].beside[-1] / best, at_least=graph.target))
    note = "" if arguments.scale == "full" else " (targets are for --scale full)"
    musts.show(targets, note)
    return {
        "scale": arguments.scale,
        "graphs": results,
        "musts": [must.record() for must in targets],
    }


class OrderInputs(KeptFiles):
    """Graphs without rows: where a row would lie follows from the number of its node."""

    def __init__(self, folder: Path, scale: str) -> None:
        """Take a folder of its own."""
        super().__init__(folder, scale, 4 * 10**9)
        self.nodes = NODES[scale]

    def graphs(self, graphmill: Graphmill) -> list[tuple[Graph, Path, list[str]]]:
        """All graphs, with their edges and how they are built."""

        def generate(path: Path) -> None:
            graphmill.generate("papers", path.with_suffix(".gl"), "--nodes", self.nodes)
            path.with_suffix(".gl").rename(path)

        papers = self._once("papers-edges.gl", generate)
        wide, narrow = (15, 10, 5), (15, 10)
        graphs = [
            (Graph("papers", wide, 1024, target=2.0), papers, []),
            (Graph("papers, undirected", wide, 1024), papers, ["--undirected"]),
        ]
        if FACEBOOK.exists():
            graphs.append((Graph("facebook", narrow, 64), FACEBOOK, ["--undirected"]))
        else:
            print("facebook: not here, so left out")
        return graphs

    def plain(self, name: str) -> Path:
        """The dataset that keeps the numbers of the source."""
        return self.folder / f"{name.replace(', ', '-')}-none"

    def ordered(
        self, graphmill: Graphmill, name: str, source: Path, order: str, flags: list[str]
    ) -> Path:
        """The same dataset in an order."""

        def build(path: Path) -> None:
            command = graphmill.build(path, source, "--order", order, *flags)
            shutil.rmtree(path, ignore_errors=True)
            subprocess.run(command.arguments, check=True)

        return self._once(f"{name.replace(', ', '-')}-{order}", build)


def count(plain: gm.Dataset, ordered: gm.Dataset, graph: Graph) -> Blocks:
    """Sample in one dataset, and look the nodes up in the other."""
    rng = np.random.default_rng(1)
    batches = []
    for number in range(WINDOW):
        seeds = np.unique(rng.integers(0, plain.num_nodes, graph.batch))
        sample = plain.graph.sample(seeds, list(graph.fanouts), direction="in", seed=number)
        batches.append(np.asarray(sample.n_id))
    number_of = np.asarray(ordered.node_ids(np.arange(plain.num_nodes)))
    by_heat = number_of if ordered.order in HOTTEST_FIRST else -neighbours_of(plain)
    heat = np.argsort(by_heat, kind="stable")
    beside, together = [], []
    for budget in BUDGETS:
        held = np.zeros(plain.num_nodes, bool)
        held[heat[: int(budget * plain.num_nodes)]] = True
        missing = [number_of[batch[~held[batch]]] for batch in batches]
        beside.append(float(np.mean([blocks(ids) for ids in missing])))
        together.append(blocks(np.concatenate(missing)) / WINDOW)
    whole = float(np.mean([blocks(number_of[batch]) for batch in batches]))
    return Blocks(whole, beside, together)


def neighbours_of(ds: gm.Dataset) -> Ids:
    """How often each node occurs as an in-neighbour: what makes it hot. In-lists alone are enough to tell."""
    return np.bincount(ds.graph.csc()[1], minlength=ds.num_nodes)


def blocks(ids: Ids) -> int:
    """Different blocks that hold these rows."""
    return len(np.unique(ids // ROWS_PER_BLOCK))


def show(order: str, found: Blocks, none: Blocks) -> None:
    """Print a line: blocks, and how many times fewer than without an order."""
    parts = [f"{found.whole:10,.0f} ({none.whole / found.whole:4.2f}x)"]
    for budget, beside, together, before, before_together in zip(
        BUDGETS, found.beside, found.together, none.beside, none.together, strict=True
    ):
        parts.append(f"beside {budget:.0%} in memory {beside:9,.0f} ({before / beside:4.2f}x)")
        parts.append(f"{WINDOW} together {together:8,.0f} ({before_together / together:4.2f}x)")
    print(f"  {order:10}" + ", ".join(parts), flush=True)
