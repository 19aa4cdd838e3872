"""Training: whole batches with their rows, from memory and from a disk within a limit, beside the peers.

Lines are measured one after the other, each as contests between processes; the targets come last. The datasets and the
peers stay in the work folder for the next time.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import budget_lines, model_lines, musts, training_lines
from benchmarks.child import CORES
from benchmarks.choices import add_choices
from benchmarks.graphmill_command import Graphmill
from benchmarks.loaders import LOADERS
from benchmarks.loaders.graphmill import Ours
from benchmarks.peers.installation import those_installed
from benchmarks.training_bench import TrainingBench
from benchmarks.training_inputs import SCALES, TrainingInputs

LINES = {
    "resident": training_lines.resident,
    "outofcore": training_lines.outofcore,
    "memory": budget_lines.memory,
    "estimate": training_lines.estimate,
    "model": model_lines.model,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be chosen on the command line."""
    add_choices(parser, LOADERS, LINES, repeats=3, scales=SCALES)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Every line that was asked for, then the targets."""
    work: Path = arguments.work.absolute()
    graphmill, scale = Graphmill(arguments.command), SCALES[arguments.scale]
    inputs = TrainingInputs(work / f"training-{scale.name}", scale, graphmill)
    peers, absent = those_installed(LOADERS[name](work / "peers") for name in arguments.peers)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="out-", dir=work) as out:
        print(
            f"{graphmill.version()}; medians of {arguments.repeats}, in turns, {CORES} of "
            f"{os.cpu_count()} cores each; load {load:.1f} when it began"
        )
        bench = TrainingBench(
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
