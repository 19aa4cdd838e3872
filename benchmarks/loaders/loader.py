"""What the training section asks of a system that is measured beside graphmill.

Each has a file of its own in this folder, with the programs that are timed. A program opens or loads the data, makes
batches by the clock, prints a line of JSON (how many in which time) and leaves its last batch in a file for the
witness. It must not know how it is measured or judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.child import CORES, Command
from benchmarks.feature_inputs import OFFSET
from benchmarks.inputs import COLUMNS
from benchmarks.programs import Programs
from benchmarks.samplers.sampler import FANOUTS
from benchmarks.training_inputs import Prepared

#: In place of a cgroup: none.
NO_GROUP = Path("-")

# A process that enters a cgroup leaves what it has on the old bill, so that the limit holds for what it takes from then
# on. `drain` holds a batch until the next one is there, as a training loop does.
PRELUDE = f"""
import json, os, sys, time
import numpy as np

FANOUTS, COLUMNS, OFFSET, CORES, KEPT = {FANOUTS}, {COLUMNS}, {OFFSET}, {CORES}, 2000

def enter(group):
    if group != "-":
        with open(os.path.join(group, "cgroup.procs"), "w") as processes:
            processes.write(str(os.getpid()))

def table(path):
    # NumPy asks for huge pages, which suits whoever gathers from it.
    return np.fromfile(path, np.float32, offset=OFFSET, count=int(rows) * COLUMNS).reshape(-1, COLUMNS)

def drain(loader, nodes_of, start=None):
    start, marks, nodes = start or time.perf_counter(), [], 0
    for batch in loader:
        nodes += nodes_of(batch)
        marks.append(time.perf_counter() - start)
    return batch, nodes, marks

def tell(nodes, marks, **more):
    quarter = max(1, len(marks) // 4)
    steady = (len(marks) - quarter) / (marks[-1] - marks[quarter - 1])
    told = dict(amount=len(marks), seconds=marks[-1], nodes=nodes, first=marks[0], steady=steady)
    print(json.dumps({{**told, **more}}, default=str))

def keep(kept, ids, rows, hops):
    some = np.linspace(0, len(ids) - 1, min(KEPT, len(ids))).astype(np.int64)
    named = {{f"{{end}}{{hop}}": ids for hop, ends in enumerate(hops)
             for end, ids in zip(("source", "destination"), ends)}}
    np.savez(kept, ids=ids[some], rows=rows[some], **named)
"""


class Loader(Programs):
    """A system that loads batches with their rows; each method gives the commands by the name of the contestant."""

    prelude = PRELUDE

    def resident(
        self, prepared: Prepared, batch: int, batches: int, kept: Path, group: Path = NO_GROUP
    ) -> Mapping[str, Command]:
        """Make batches with everything in memory; if a cgroup is named, within it."""
        return {}
