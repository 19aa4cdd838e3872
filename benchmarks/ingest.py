"""Ingest: how long raw data takes to become files, beside the peers and beside what the machine allows.

Lines are measured one after the other, each as contests between processes; the targets come last. The inputs and the
peers stay in the work folder for the next time.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks import contest, edge_lines, table_lines
from benchmarks.bench import Bench, agreed
from benchmarks.child import measure
from benchmarks.choices import add_choices
from benchmarks.graphmill_command import Graphmill
from benchmarks.inputs import SCALES, Inputs
from benchmarks.peers import PEERS, EdgeList, Peer
from benchmarks.sections import run_lines

LINES = {
    "convert": edge_lines.conversion,
    "build": edge_lines.building,
    "csv": table_lines.table_text,
    "npy": table_lines.table_array,
    "npz": table_lines.archive,
    "order": edge_lines.ordering,
    "growth": edge_lines.growth,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be chosen on the command line."""
    add_choices(parser, PEERS, LINES, repeats=3)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Every line that was asked for, then the targets."""
    work: Path = arguments.work.absolute()
    graphmill, scale = Graphmill(arguments.command), SCALES[arguments.scale]
    inputs = Inputs(work / scale.name, scale, graphmill)

    def bench_in(out: Path) -> Bench:
        peers, absent = installed(arguments.peers, work / "peers", out)
        return Bench(graphmill, inputs, peers, absent, arguments.repeats, out / "run")

    return run_lines(arguments, graphmill, LINES, bench_in)


def installed(names: list[str], folder: Path, out: Path) -> tuple[dict[str, Peer], dict[str, str]]:
    """The peers that can be had here and work, and why the others cannot."""
    peers: dict[str, Peer] = {}
    absent: dict[str, str] = {}
    for name in names:
        peer = PEERS[name](folder / name)
        try:
            peer.install()
            # The first run reads the peer's own files from disk, the second shows what is left of starting it.
            trial(peer, out)
            print(f"{name}: {trial(peer, out):.2f} s for a graph of three edges")
            peers[name] = peer
        except (OSError, RuntimeError, LookupError, ValueError) as error:
            absent[name] = str(error)
            print(f"{name}: cannot be had here: {error}")
    return peers, absent


def trial(peer: Peer, folder: Path) -> float:
    """Seconds that a peer takes for next to nothing; raises if it does not even manage that."""
    contest.empty(folder)
    edges = EdgeList(folder / "edges.csv", nodes=3, edges=3, distinct_edges=3)
    edges.path.write_text("0,1\n1,2\n2,0\n")
    contest.empty(folder / "out")
    figures = measure(peer.build(edges, folder / "out"), timeout=120)
    agreed(peer.counts(folder / "out", figures), peer.expected(edges))
    return figures.seconds
