"""Training: whole batches with their rows, from memory and from a disk within a limit, beside the peers.

Lines are measured one after the other, each as contests between processes; the targets come last. The datasets and the
peers stay in the work folder for the next time.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks import budget_lines, claim_lines, model_lines, training_lines
from benchmarks.choices import add_choices
from benchmarks.graphmill_command import Graphmill
from benchmarks.loaders import LOADERS
from benchmarks.loaders.graphmill import Ours
from benchmarks.peers.installation import those_installed
from benchmarks.sections import run_lines
from benchmarks.training_bench import TrainingBench
from benchmarks.training_inputs import SCALES, TrainingInputs

LINES = {
    "resident": training_lines.resident,
    "outofcore": training_lines.outofcore,
    "memory": budget_lines.memory,
    "estimate": training_lines.estimate,
    "model": model_lines.model,
    "claim": claim_lines.claim,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be chosen on the command line."""
    add_choices(parser, LOADERS, LINES, repeats=3, scales=SCALES)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Every line that was asked for, then the targets."""
    work: Path = arguments.work.absolute()
    graphmill, scale = Graphmill(arguments.command), SCALES[arguments.scale]
    inputs = TrainingInputs(work, scale, graphmill)
    peers, absent = those_installed(LOADERS[name](work / "peers") for name in arguments.peers)

    def bench_in(out: Path) -> TrainingBench:
        return TrainingBench(
            ours=Ours(work / "peers"),
            inputs=inputs,
            peers=peers,
            absent=absent,
            repeats=arguments.repeats,
            out=out / "run",
        )

    return run_lines(arguments, graphmill, LINES, bench_in)
