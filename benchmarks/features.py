"""Features: rows of a table by id, from memory and from disk, beside the peers and beside what the disk allows.

Lines are measured one after the other, each as contests between processes; the targets come last. The tables and the
peers stay in the work folder for the next time.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks import cold_lines, feature_lines
from benchmarks.choices import add_choices
from benchmarks.feature_bench import FeatureBench
from benchmarks.feature_inputs import SCALES, FeatureInputs
from benchmarks.graphmill_command import Graphmill
from benchmarks.peers.installation import those_installed
from benchmarks.readers import READERS, Fio
from benchmarks.readers.graphmill import Ours
from benchmarks.sections import run_lines

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

    def bench_in(out: Path) -> FeatureBench:
        return FeatureBench(
            ours=Ours(work / "peers"),
            inputs=inputs,
            peers=peers,
            absent=absent,
            repeats=arguments.repeats,
            out=out / "run",
        )

    return run_lines(arguments, graphmill, LINES, bench_in)
