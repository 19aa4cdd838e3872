"""What the sampling section asks of a system that is measured beside graphmill.

Each has a file of its own in this folder, with the programs that are timed. A program loads the graph, does its work
once to warm up and once by the clock, prints a line of JSON (what was done, in which time) and leaves some of it in a
file for the witness. It must not know how it is measured or judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.child import Command
from benchmarks.programs import Programs
from benchmarks.sampling_inputs import SamplingInputs

FANOUTS = [15, 10, 5]
NEIGHBOURS = 10
LENGTH = 20
#: node2vec's p and q.
BIAS = (1.0, 0.5)

# `kept` is a file for the witness; walks and rows keep this many.
PRELUDE = f"""
import json, sys, time
import numpy as np

FANOUTS, NEIGHBOURS, LENGTH, (P, Q), KEPT = {FANOUTS}, {NEIGHBOURS}, {LENGTH}, {BIAS}, 2000

def timed(work):
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start

# One call may take as long as the scheduler lets a thread wait, so calls go on for a while.
def repeated(work, seconds=0.5):
    start, calls = time.perf_counter(), 0
    while calls == 0 or time.perf_counter() - start < seconds:
        calls += 1
        result = work(calls)
    return result, calls, time.perf_counter() - start

def tell(amount, seconds, **more):
    print(json.dumps(dict(amount=amount, seconds=seconds, **more)))
"""


class Sampler(Programs):
    """A system that can do some of it; each method gives the commands by the name of the contestant."""

    prelude = PRELUDE

    def fanout(self, inputs: SamplingInputs, kept: Path) -> Mapping[str, Command]:
        """Sample the stream of batches."""
        return {}

    def onehop(self, inputs: SamplingInputs, kept: Path) -> Mapping[str, Command]:
        """Pick neighbours of every start."""
        return {}

    def walk(self, inputs: SamplingInputs, kept: Path) -> Mapping[str, Command]:
        """Walk uniformly from every start."""
        return {}

    def node2vec(self, inputs: SamplingInputs, starts: Path, kept: Path) -> Mapping[str, Command]:
        """Walk as node2vec does from every start."""
        return {}
