"""What the features section asks of a way to read rows that is measured beside graphmill.

Each has a file of its own in this folder, with the programs that are timed. A program opens the table, loads the ids
and touches its buffers before the clock starts, prints a line of JSON (how many rows in which time) and leaves some
rows in a file for the witness. It must not know how it is measured or judged.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.child import CORES, Command
from benchmarks.feature_inputs import OFFSET, Asked
from benchmarks.inputs import COLUMNS
from benchmarks.programs import Programs

#: How often the batches of a warm contest are gathered, since once is over too soon for the clock of a busy machine.
ROUNDS = 10

# A process that enters a cgroup takes along what it has and leaves the bill behind, so that the limit holds for what
# it takes from then on.
PRELUDE = f"""
import json, mmap, os, sys, time
import numpy as np

COLUMNS, OFFSET, ROUNDS, CORES, KEPT = {COLUMNS}, {OFFSET}, {ROUNDS}, {CORES}, 2000

def timed(work):
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start

def tell(amount, seconds, **more):
    print(json.dumps(dict(amount=amount, seconds=seconds, **more), default=str))

def buffer(rows):
    return np.ones((rows, COLUMNS), dtype=np.float32)

def mapped(path, rows, mode, advice):
    table = np.memmap(path, np.float32, mode, OFFSET, (int(rows), COLUMNS))
    table._mmap.madvise(advice)
    return table

def enter(group):
    with open(os.path.join(group, "cgroup.procs"), "w") as processes:
        processes.write(str(os.getpid()))

def keep(kept, ids, rows):
    some = np.linspace(0, len(ids) - 1, min(KEPT, len(ids))).astype(np.int64)
    np.savez(kept, ids=ids[some], rows=rows[some])
"""


class Reader(Programs):
    """A way to read rows that can do some of it; each method gives the commands by the name of the contestant."""

    prelude = PRELUDE

    @property
    def environment(self) -> Path:
        """The folder of its Python; that of the benchmarks unless it says otherwise."""
        return Path(sys.prefix)

    def warm(self, asked: Asked, kept: Path) -> Mapping[str, Command]:
        """Gather batches from a table in memory, into a buffer (`out`) and into fresh memory."""
        return {}

    def cold(self, asked: Asked, kept: Path) -> Mapping[str, Command]:
        """Gather one list of ids from a table on disk."""
        return {}

    def scan(self, asked: Asked) -> Mapping[str, Command]:
        """Read the whole table from front to back past the page cache, whichever rows are asked for."""
        return {}

    def limited(
        self, asked: Asked, group: Path, patience: float, kept: Path
    ) -> Mapping[str, Command]:
        """Gather batches, one after the other, in a cgroup much smaller than the table."""
        return {}
