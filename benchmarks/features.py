"""Features: rows of a table by id, from memory and from disk, beside the peers and beside what the disk allows.

Lines are measured one after the other, each as contests between processes; the targets come last. The tables and the
peers stay in the work folder for the next time.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import cold_lines, feature_lines, musts
from benchmarks.child import CORES
from benchmarks.choices import add_choices
from benchmarks.feature_bench import FeatureBench
from benchmarks.feature_inputs import SCALES, FeatureInputs
from benchmarks.graphmill_command import Graphmill
from benchmarks.peers.installation import those_installed
from benchmarks.readers import READERS, Fio
from benchmarks.readers.graphmill import Ours

LINES = {
    "warm": feature_lines.warm,
    "sparse": cold_lines.sparse,
    "dense": cold_lines.dense,
    "limited": feature_lines.limited,
    "honest": cold_lines.honest,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be chosen on the command line."""
    add_choices(parser, READERS, LINES, repeats=3)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Every line that was asked for, then the targets."""
    work: Path = arguments.work.absolute()
    graphmill, scale = Graphmill(arguments.command), SCALES[arguments.scale]
    inputs = FeatureInputs(work / f"features-{scale.name}", scale, graphmill)
    peers, absent = those_installed(READERS[name](work / "peers") for name in arguments.peers)
    if isinstance(fio := peers.get("fio"), Fio):
        fio.seconds = scale.fio_seconds
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="out-", dir=work) as out:
        print(
            f"{graphmill.version()}; medians of {arguments.repeats}, in turns, {CORES} of "
            f"{os.cpu_count()} cores each; load {load:.1f} when it began"
        )
        bench = FeatureBench(
            ours=Ours(work / "peers"),
            inputs=inputs,
            peers=peers,
            absent=absent,
            repeats=arguments.repeats,
            out=Path(out) / "run",
        )
        for line in arguments.lines:
            LINES[line](bench)
    note = "" if scale.name == "full" else f" (targets are for --scale full, this is {scale.name})"
    musts.show(bench.musts, note)
    return {
        "command": graphmill.version(),
        "scale": scale.name,
        "repeats": arguments.repeats,
        "load": load,
        "contests": bench.results,
        "absent": absent,
        "musts": [must.record() for must in bench.musts],
        "curves": [curve.record() for curve in bench.curves],
    }
