"""Kernels: instructions that a sampled edge, a step, a row and a parsed number take, beside those of an earlier run.

Nothing is timed: times on rented machines vary by a third from one minute to the next, and counts do not, so that a
change for the worse shows. Another compiler gives other counts, so its version is written down with them.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import compiled_programs, kernel_baseline, kernel_inputs, musts
from benchmarks.choices import add_work
from benchmarks.graphmill_command import Graphmill
from benchmarks.instruction_counts import Callgrind, PerUnit, per_unit
from benchmarks.kernel_runs import Programs, kernels
from benchmarks.musts import Must
from benchmarks.peers.installation import those_installed
from benchmarks.reporting.recorded import RUNS

#: What two counts of one kernel may differ by, in percent.
SPREAD = 0.1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be chosen on the command line."""
    parser.add_argument(
        "--baseline",
        type=Path,
        metavar="RUN",
        help="the folder of the run to compare with; the newest that has counts by default",
    )
    # The run that this belongs to, which is no baseline of its own; a whole run fills it in.
    parser.set_defaults(folder=None)
    add_work(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Count every kernel, compare, then the targets."""
    baseline = (
        kernel_baseline.named(arguments.baseline)
        if arguments.baseline
        else kernel_baseline.newest(RUNS, arguments.folder)
    )
    present, absent = those_installed([Callgrind()])
    versions, found = {}, {}
    for callgrind in present.values():
        versions = {"valgrind": callgrind.version(), "rustc": compiled_programs.compiler()}
        print(", ".join(versions.values()), flush=True)
        found = counted(callgrind, arguments.work.absolute())
    instructions = {name: count.instructions for name, count in found.items()}
    spreads = [100 * count.spread for count in found.values()]
    targets = [
        *kernel_baseline.targets(instructions, baseline),
        Must(
            "two counts of a kernel differ by", max(spreads, default=None), at_most=SPREAD, unit="%"
        ),
    ]
    if found:
        kernel_baseline.show(instructions, baseline)
    musts.show(targets, kernel_baseline.remark(versions, baseline))
    return {
        **versions,
        "absent": absent,
        "instructions": instructions,
        "spread": {name: count.spread for name, count in found.items()},
        "baseline": None if baseline is None else asdict(baseline),
        "musts": [must.record() for must in targets],
    }


def counted(callgrind: Callgrind, work: Path) -> dict[str, PerUnit]:
    """What each kernel takes, counted now."""
    programs = Programs(
        graphmill=compiled_programs.command(),
        walk_steps=compiled_programs.example("graphmill-sample", "walk_steps"),
        read_lists=compiled_programs.example("graphmill-sample", "read_lists"),
        gather_rows=compiled_programs.example("graphmill-load", "gather_rows"),
    )
    work.mkdir(parents=True, exist_ok=True)
    found = {}
    with tempfile.TemporaryDirectory(prefix="kernels-", dir=work) as folder:
        inputs = kernel_inputs.made(Graphmill(programs.graphmill), Path(folder))
        for kernel in kernels(programs, inputs, Path(folder)):
            found[kernel.name] = per_unit(callgrind, kernel)
            print(f"  {kernel.name}: {found[kernel.name].instructions:,.1f}", flush=True)
    return found
