"""Sampling: fan-outs and walks over a graph in the page cache, beside the peers; then memory, and a file out of memory.

Lines are measured one after the other, each as contests between processes; the targets come last. The graph in all its
forms and the peers stay in the work folder for the next time.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks import memory_lines, sampling_lines
from benchmarks.choices import add_choices
from benchmarks.graphmill_command import Graphmill
from benchmarks.inputs import SCALES
from benchmarks.peers.installation import those_installed
from benchmarks.samplers import SAMPLERS
from benchmarks.samplers.graphmill import Ours
from benchmarks.sampling_bench import SamplingBench
from benchmarks.sampling_inputs import SamplingInputs
from benchmarks.sections import run_lines

LINES = {
    "fanout": sampling_lines.fanout,
    "threads": sampling_lines.threads,
    "onehop": sampling_lines.onehop,
    "walk": sampling_lines.walk,
    "node2vec": sampling_lines.node2vec,
    "scratch": memory_lines.scratch,
    "cold": memory_lines.cold,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be chosen on the command line."""
    add_choices(parser, SAMPLERS, LINES, repeats=5)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Every line that was asked for, then the targets."""
    work: Path = arguments.work.absolute()
    graphmill, scale = Graphmill(arguments.command), SCALES[arguments.scale]
    inputs = SamplingInputs(work / scale.name, scale, graphmill)
    peers, absent = those_installed(SAMPLERS[name](work / "peers") for name in arguments.peers)

    def bench_in(out: Path) -> SamplingBench:
        return SamplingBench(
            ours=Ours(work / "peers", graphmill),
            inputs=inputs,
            peers=peers,
            absent=absent,
            repeats=arguments.repeats,
            out=out / "run",
        )

    return run_lines(arguments, graphmill, LINES, bench_in)
