"""Our own part: `Features.gather` as a user would call it, by each backend."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.child import Command
from benchmarks.feature_inputs import Asked
from benchmarks.readers.reader import Reader

BACKENDS = ["auto", "ring", "pread"]

# What `auto` costs beside `mapped` is less than what two processes differ by, so both take turns in one process, on
# different batches: rows of the same would still be in the processor's cache. The medians of their turns are compared,
# since a turn in which the machine was busy with something else is a hundred times what is looked for.
WARM = """
from statistics import median

import graphmill as gm

path, ids, kept, backend, rival, into = sys.argv[1:]
batches = np.load(ids)
out = buffer(len(batches[0]))
tables = {name: gm.Features(path, backend=name) for name in (backend, rival)}
seconds = {name: [] for name in tables}

def gather(name, ids):
    rows, took = timed(lambda: tables[name].gather(ids, out=out if into == "out" else None))
    seconds[name].append(took)
    return rows

def stream():
    for place, ids in enumerate(batches):
        far = batches[(place + len(batches) // 2) % len(batches)]
        turns = [(backend, ids), (rival, far)]
        for name, asked in turns if place % 2 else reversed(turns):
            gather(name, asked)

stream()
for turns in seconds.values():
    turns.clear()
for _ in range(ROUNDS):
    stream()
over_rival = median(seconds[rival]) / median(seconds[backend])
tell(ROUNDS * batches.size, sum(seconds[backend]), over_rival=over_rival, stats=tables[backend].stats())
keep(kept, batches[-1], gather(backend, batches[-1]))
"""

# A gather of few rows first, so that threads and rings are not made by the clock. The kernel counts in read_bytes what
# this process made it fetch from disk.
COLD = """
import graphmill as gm

def fetched():
    with open("/proc/self/io") as counts:
        return int(dict(line.split(": ") for line in counts)["read_bytes"])

def requested(stats):
    return stats["bytes_read"] if "bytes_read" in stats else stats["bytes"]

path, ids, kept, backend = sys.argv[1:]
ids, table = np.load(ids), gm.Features(path, backend=backend)
out = buffer(len(ids))
table.gather(np.arange(64))
before = fetched(), requested(table.stats())
_, seconds = timed(lambda: table.gather(ids, out=out))
fetched, stats = fetched() - before[0], table.stats()
tell(len(ids), seconds, fetched=fetched, requested=requested(stats) - before[1], stats=stats)
keep(kept, ids, out)
"""

LIMITED = """
import graphmill as gm

path, ids, group, kept, backend = sys.argv[1:]
batches = np.load(ids)
out = buffer(len(batches[0]))
enter(group)
table = gm.Features(path, backend=backend)

def stream():
    for ids in batches:
        table.gather(ids, out=out)

_, seconds = timed(stream)
tell(batches.size, seconds, stats=table.stats())
keep(kept, batches[-1], out)
"""


class Ours(Reader):
    """By the backend that it chooses itself, and by those that can be named."""

    name = "graphmill"

    def install(self) -> None:
        """It is what runs the benchmarks."""

    def warm(self, asked: Asked, kept: Path) -> Mapping[str, Command]:
        return {
            f"{self.name} auto, {into}": self.program(
                WARM, asked.table, asked.ids, kept, "auto", "mapped", into
            )
            for into in ("out", "fresh")
        }

    def cold(self, asked: Asked, kept: Path) -> Mapping[str, Command]:
        return {
            f"{self.name} {backend}": self.program(COLD, asked.table, asked.ids, kept, backend)
            for backend in BACKENDS
        }

    def limited(
        self, asked: Asked, group: Path, patience: float, kept: Path
    ) -> Mapping[str, Command]:
        # One entry for each way to get the rows of batches.
        arguments = (asked.table, asked.ids, group, kept)
        return {f"{self.name}, a gather a batch": self.program(LIMITED, *arguments, "auto")}
