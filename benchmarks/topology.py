"""Topology: bits of an edge, sampling, single lists and builds for every encoding and order, beside webgraph.

Lines are measured one after the other; the targets come last. The graphs and the peer stay in the work folder for the
next time.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks import encoding_table, list_lines, packed_lines, size_lines
from benchmarks.choices import add_choices, names_among
from benchmarks.graphmill_command import Graphmill
from benchmarks.peers.installation import those_installed
from benchmarks.peers.webgraph import WebGraph
from benchmarks.sections import run_lines
from benchmarks.topology_bench import TopologyBench
from benchmarks.topology_inputs import GRAPHS, SCALES, TopologyInputs
from benchmarks.topology_programs import Ours

LINES = {
    "size": size_lines.size,
    "sampling": packed_lines.sampling,
    "limited": packed_lines.limited,
    "lists": list_lines.lists,
    "hub": list_lines.hub,
    "build": size_lines.build,
    "table": encoding_table.table,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be chosen on the command line."""
    add_choices(parser, [WebGraph.name], LINES, repeats=3)
    parser.add_argument(
        "--graphs",
        type=names_among(GRAPHS),
        default=list(GRAPHS),
        help=f"which of {','.join(GRAPHS)} the table is for; all by default",
    )


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Every line that was asked for, then the targets."""
    work: Path = arguments.work.absolute()
    graphmill, scale = Graphmill(arguments.command), SCALES[arguments.scale]
    inputs = TopologyInputs(work / f"topology-{scale.name}", scale, graphmill)
    peers, absent = those_installed(WebGraph(work / "peers" / name) for name in arguments.peers)

    def bench_in(out: Path) -> TopologyBench:
        return TopologyBench(
            graphmill=graphmill,
            ours=Ours(work / "peers"),
            inputs=inputs,
            webgraph=peers.get(WebGraph.name),
            graphs=arguments.graphs,
            absent=absent,
            repeats=arguments.repeats,
            out=out / "run",
        )

    return run_lines(arguments, graphmill, LINES, bench_in)
