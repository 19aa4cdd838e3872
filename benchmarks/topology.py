"""Topology: bits of an edge, sampling, single lists and builds for every encoding and order, beside webgraph.

Lines are measured one after the other; the targets come last. The graphs and the peer stay in the work folder for the
next time.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import encoding_table, list_lines, musts, packed_lines, size_lines
from benchmarks.child import CORES
from benchmarks.choices import add_choices, names_among
from benchmarks.graphmill_command import Graphmill
from benchmarks.peers.installation import those_installed
from benchmarks.peers.webgraph import WebGraph
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
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="out-", dir=work) as out:
        print(
            f"{graphmill.version()}; medians of {arguments.repeats}, in turns, {CORES} of "
            f"{os.cpu_count()} cores each; load {load:.1f} when it began"
        )
        bench = TopologyBench(
            graphmill=graphmill,
            ours=Ours(work / "peers"),
            inputs=inputs,
            webgraph=peers.get(WebGraph.name),
            graphs=arguments.graphs,
            absent=absent,
            repeats=arguments.repeats,
            out=Path(out) / "run",
        )
        for line in arguments.lines:
            LINES[line](bench)
    note = "" if scale.name == "full" else f" (targets are for --scale full, this is {scale.name})"
    if bench.musts:
        musts.show(bench.musts, note)
    return {
        "command": graphmill.version(),
        "scale": scale.name,
        "repeats": arguments.repeats,
        "load": load,
        "contests": bench.results,
        "absent": absent,
        "musts": [must.record() for must in bench.musts],
    }
