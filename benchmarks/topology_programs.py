"""Programs of the topology section: batches from several encodings in turns, within a limit, and from a cold file.

Each opens what it is given, prints a line of JSON and ends. It must not know how it is measured or judged.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.child import CORES, Command
from benchmarks.orders import Graph
from benchmarks.programs import Programs
from benchmarks.topology_inputs import Stored

# One Python thread for each core, each sampling batches on its own: the GIL is released while they work.
PRELUDE = f"""
import hashlib, json, os, sys, time
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import graphmill as gm

pool = ThreadPoolExecutor({CORES})

def timed(work):
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start

def tell(amount, seconds, **more):
    print(json.dumps(dict(amount=amount, seconds=seconds, **more)))

def in_batches(seeds, batch):
    return np.load(seeds).reshape(-1, int(batch))

def one(graph, number, seeds):
    return graph.sample(seeds, FANOUTS, direction="in", seed=number, threads=1)

def several(graph, first, batches):
    made = pool.map(lambda place: one(graph, first + place, batches[place]), range(len(batches)))
    return sum(len(sample.row) for sample in made)

def digest(sample):
    parts = (sample.n_id, sample.row, sample.col)
    return hashlib.sha256(b"".join(np.asarray(part).tobytes() for part in parts)).hexdigest()
"""

# What encodings differ by is less than what two processes differ by, so all take turns in one process. The median of
# the turns is told: what else the machine does hits single turns. A turn is long enough for each to bring its own lists
# into the processor's cache again.
IN_TURNS = """
files, batch, residency = sys.argv[2:]
files = json.loads(files)
graphs = {name: gm.Graph(path, residency=residency) for name, (path, _) in files.items()}
batches = {name: in_batches(seeds, batch) for name, (_, seeds) in files.items()}

def turn(name, first):
    start = time.perf_counter()
    edges = several(graphs[name], first, batches[name][first : first + TURN])
    return edges / (time.perf_counter() - start)

def all_turns():
    firsts = range(0, min(map(len, batches.values())), TURN)
    return [{name: turn(name, first) for name in graphs} for first in firsts]

all_turns()
turns, seconds = timed(all_turns)
rates = {name: float(np.median([rate[name] for rate in turns])) for name in graphs}
digests = {name: digest(one(graph, 0, batches[name][0])) for name, graph in graphs.items()}
tell(len(turns), seconds, rates=rates, digests=digests)
"""

# A process that enters a cgroup takes along what it has and leaves the bill behind, so that the limit holds for what it
# takes from then on. The file is read once before the clock starts, so that what fits is in the page cache.
LIMITED = """
path, seeds, batch, count, group = sys.argv[2:]
batches, buffer = in_batches(seeds, batch)[: int(count)], bytearray(1 << 20)
with open(os.path.join(group, "cgroup.procs"), "w") as processes:
    processes.write(str(os.getpid()))
with open(path, "rb", buffering=0) as file:
    while file.readinto(buffer):
        pass
graph = gm.Graph(path)
several(graph, 0, batches[:2])
edges, seconds = timed(lambda: several(graph, 0, batches))
tell(edges, seconds, batches=len(batches), digest=digest(one(graph, 0, batches[0])))
"""

# Pages that somebody has mapped cannot be forgotten, so each batch opens the file anew. The kernel counts in read_bytes
# what this process made it fetch from disk.
COLD = """
path, seeds, batch, count = sys.argv[2:]
batches = in_batches(seeds, batch)[: int(count)]

def fetched():
    with open("/proc/self/io") as counts:
        return int(dict(line.split(": ") for line in counts)["read_bytes"])

def forget():
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

read, seconds = 0, 0.0
for number, seeds in enumerate(batches):
    forget()
    graph = gm.Graph(path, residency="mapped")
    before = fetched()
    seconds += timed(lambda: one(graph, number, seeds))[1]
    read += fetched() - before
    del graph
tell(len(batches), seconds, blocks=read / 4096 / len(batches))
"""

#: Batches of a turn.
TURN = 4


class Ours(Programs):
    """Through Python, as a user would call it."""

    name = "graphmill"
    prelude = f"TURN = {TURN}\n{PRELUDE}FANOUTS = json.loads(sys.argv[1])\n"

    @property
    def environment(self) -> Path:
        return Path(sys.prefix)

    def install(self) -> None:
        """It is what runs the benchmarks."""

    def in_turns(self, graph: Graph, stored: Mapping[str, Stored], residency: str) -> Command:
        """Sample all batches from every file."""
        files = {name: (str(each.path), str(each.seeds)) for name, each in stored.items()}
        return self._of(IN_TURNS, graph, json.dumps(files), graph.batch, residency)

    def limited(self, graph: Graph, stored: Stored, batches: int, group: Path) -> Command:
        """Sample some batches within a cgroup."""
        return self._of(LIMITED, graph, stored.path, stored.seeds, graph.batch, batches, group)

    def cold(self, graph: Graph, stored: Stored, batches: int) -> Command:
        """Sample some batches, each from a file that is not in memory."""
        return self._of(COLD, graph, stored.path, stored.seeds, graph.batch, batches)

    def _of(self, code: str, graph: Graph, *arguments: object) -> Command:
        return self.program(code, json.dumps(graph.fanouts), *arguments)
