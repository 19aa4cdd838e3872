"""Lines about edges: against the peers, both directions, hot order, and a graph of a billion edges."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

from benchmarks.bench import MEMORY, Bench, agreed, size
from benchmarks.child import CORES
from benchmarks.contest import MIB, Contestant, Outcomes, ratio
from benchmarks.curves import Curve, Point, Series
from benchmarks.graphmill_command import Traits
from benchmarks.inputs import COLUMNS
from benchmarks.musts import Must
from benchmarks.peers import EdgeList, Peer

GROWTH_POWER = 26
GROWTH_EDGES = 1_000_000_000
GROWTH_MEMORY = 2048
#: The text takes 18 GB, runs of the sort 8 GB, the file 5 GB, and the rest is air.
GROWTH_DISK = 40 * 10**9


def conversion(bench: Bench) -> None:
    """Text to a graph on disk, against every peer."""
    edges = bench.inputs.edges()
    title = (
        f"edges.csv, {size(edges.path)}: {edges.edges:,} edges, {edges.distinct_edges:,} distinct"
    )
    ours = bench.convert(edges.path, (edges.nodes, edges.edges))
    theirs = [against(peer, edges, bench.out) for peer in bench.peers.values()]
    outcomes = bench.hold(title, ours.name, [ours, *theirs])
    for name, reason in bench.absent.items():
        print(f"  {name}: not measured: {reason}")
    for name, target in [("graphzero", 15.0), ("graph_builder", 1.5), ("webgraph", 3.0)]:
        measured = ratio(outcomes, name, ours.name)
        what, is_origin = f"convert: speed over {name}", name == "graphzero"
        bench.musts.append(Must(what, measured, at_least=target, headline=is_origin))
    most = outcomes[ours.name].peak_anonymous / MIB or None
    limit = 1.10 * MEMORY + 64
    bench.musts.append(Must("convert: anonymous memory", most, at_most=limit, unit="MiB"))


def against(peer: Peer, edges: EdgeList, out: Path) -> Contestant:
    """A peer in a contest about edges."""
    return Contestant(
        name=peer.name,
        work=peer.work,
        command=peer.build(edges, out),
        inputs=[edges.path],
        check=lambda figures: agreed(peer.counts(out, figures), peer.expected(edges)),
    )


def building(bench: Bench) -> None:
    """Both directions as a dataset against out-lists alone, and hot order against none."""
    edges = bench.inputs.edges()
    wanted = edges.nodes, edges.edges
    outcomes = bench.datasets(
        "edges.csv to a dataset",
        lambda: [
            bench.convert(edges.path, wanted),
            *(bench.build(edges.path, wanted, Traits(order=order)) for order in ("none", "hot")),
        ],
    )
    both = ratio(outcomes, "build", "graphmill")
    hot = ratio(outcomes, "build hot", "build")
    bench.musts.append(Must("build: time over convert", both, at_most=1.6))
    bench.musts.append(Must("hot order, edges only: time over none", hot, at_most=1.6))


def ordering(bench: Bench) -> None:
    """Hot order against none when the features do not fit in the budget."""
    scale, edges, table = bench.inputs.scale, bench.inputs.edges(), bench.inputs.table_array()
    wanted = max(edges.nodes, 1 << scale.nodes_power), edges.edges
    shape = wanted[0], COLUMNS
    outcomes = bench.datasets(
        f"edges.csv and x.npy of {size(table)} to a dataset",
        lambda: [
            bench.build(edges.path, wanted, Traits(shape, order), scale.tight_memory, table)
            for order in ("none", "hot")
        ],
    )
    hot = ratio(outcomes, "build hot", "build")
    bench.musts.append(Must("hot order, features over budget: time over none", hot, at_most=2.3))


def growth(bench: Bench) -> None:
    """Whether an edge among very many takes as long as an edge among few."""
    title = f"growth to {GROWTH_EDGES:,} edges within {GROWTH_MEMORY} MiB"
    free = shutil.disk_usage(bench.inputs.folder).free
    measured = None
    if bench.inputs.scale.name != "full":
        bench.skip(title, "only with --scale full")
    elif free < GROWTH_DISK:
        wanted = f"{GROWTH_DISK / 1e9:.0f} GB of free disk"
        bench.skip(title, f"needs {wanted}, {free / 1e9:.0f} GB are there")
    else:
        few, text = bench.inputs.edges(), bench.inputs.folder / "growth.csv"
        try:
            flags = ["--scale", str(GROWTH_POWER), "--edges", str(GROWTH_EDGES)]
            bench.graphmill.generate("rmat", text, *flags)
            measured = growth_from(bench, title, few, text)
        finally:
            text.unlink(missing_ok=True)
    bench.musts.append(Must("growth: time for an edge, over few", measured, at_most=1.3))


def growth_from(bench: Bench, title: str, few: EdgeList, text: Path) -> float | None:
    """Seconds for an edge of the large list over those for an edge of the small one, with one budget.

    The large text does not stay in the page cache of most machines, so both are read from disk.
    """
    small = bench.convert(few.path, (few.nodes, few.edges), GROWTH_MEMORY)
    small = dataclasses.replace(small, cold=True)
    large = bench.convert(text, (None, GROWTH_EDGES), GROWTH_MEMORY)
    large = dataclasses.replace(large, name="many edges", cold=True)
    outcomes = bench.hold(title, small.name, [small, large])
    bench.curves.append(growth_curve(few.edges, outcomes))
    times = ratio(outcomes, large.name, small.name)
    return None if times is None else times * few.edges / GROWTH_EDGES


def growth_curve(few: int, outcomes: Outcomes) -> Curve:
    """Edges in a second, by how many there are."""
    points = []
    for edges, outcome in zip((few, GROWTH_EDGES), outcomes.values(), strict=True):
        pace = None if outcome.seconds is None else edges / outcome.seconds / 1e6
        points.append(Point(edges / 1e6, pace, outcome.failure or ""))
    remark = f"CSV to .gl, read from disk, within {GROWTH_MEMORY} MiB, {CORES} threads."
    series = [Series("graphmill convert", points)]
    return Curve("Ingest by edges", "million edges", "million edges/s", series, remark)
