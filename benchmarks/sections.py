"""What every section does around its lines: a folder for what they write, a heading, and at the end the targets.

It must not know what lines measure, nor with what.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

from benchmarks import merged_lines, musts
from benchmarks.child import CORES
from benchmarks.curves import Curve
from benchmarks.graphmill_command import Graphmill
from benchmarks.musts import Must


class Bench(Protocol):
    """Where the lines of a section leave what they find."""

    absent: dict[str, str]
    results: dict[str, Any]
    musts: list[Must]
    curves: list[Curve]


AnyBench = TypeVar("AnyBench", bound=Bench)


def run_lines(
    arguments: argparse.Namespace,
    graphmill: Graphmill,
    lines: Mapping[str, Callable[[AnyBench], None]],
    bench_in: Callable[[Path], AnyBench],
) -> dict[str, Any]:
    """Every line that was asked for, then the targets; `bench_in` is given a folder that is theirs alone.

    A whole run wants to know what there is after each line, and gives a function for it with the arguments.
    """
    load = os.getloadavg()[0]
    lines_found: dict[str, Any] = {}
    # Two runs at a time measure nothing, but must not take each other's files away.
    with tempfile.TemporaryDirectory(prefix="out-", dir=arguments.work.absolute()) as out:
        bench = bench_in(Path(out))
        print(
            f"{graphmill.version()}; medians of {arguments.repeats}, in turns, {CORES} of "
            f"{os.cpu_count()} cores each; load {load:.1f} when it began"
        )
        common = {
            "command": graphmill.version(),
            "scale": arguments.scale,
            "repeats": arguments.repeats,
            "load": load,
            "absent": bench.absent,
            "lines": lines_found,
        }
        for line in arguments.lines:
            before, began = found(bench), time.perf_counter()
            lines[line](bench)
            took = time.perf_counter() - began
            # With the inputs that it made, so that whoever has an hour knows what to ask for.
            lines_found[line] = {**merged_lines.index(found(bench), before), "seconds": took}
            if after_line := getattr(arguments, "after_line", None):
                after_line({**common, **found(bench)})
    scale = arguments.scale
    if bench.musts:
        note = "" if scale == "full" else f" (targets are for --scale full, this is {scale})"
        musts.show(bench.musts, note)
    return {**common, **found(bench)}


def found(bench: Bench) -> dict[str, Any]:
    """What lines have left so far."""
    return {
        "contests": {**bench.results},
        "musts": [must.record() for must in bench.musts],
        "curves": [curve.record() for curve in bench.curves],
    }
