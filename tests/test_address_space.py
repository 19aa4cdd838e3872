"""Calls whose results grow with their arguments raise where the system refuses memory; none ends the process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import graphmill as gm

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of the address space")

NODES = 1 << 16

# Each call is made with little first, so that threads and libraries are there, and then with ever higher limits: so
# all its allocations are refused in turn.
CALLS = """
import resource, sys
import numpy as np
import graphmill as gm

folder = sys.argv[1]
g = gm.Graph(folder + "/ds/graph.1.gl", residency="mapped")
ds = gm.open(folder + "/ds", residency="mapped", memory="64GiB")
x = ds.features
nodes = ds.num_nodes
few = np.arange(8)
many = np.tile(np.arange(nodes), 128)
out = np.zeros((len(many), 1), dtype=x.dtype)
drawn = np.tile(np.arange(nodes), 64)
calls = {
    "degrees": lambda ids: g.degrees(ids),
    "neighbor_lists": lambda ids: g.neighbor_lists(ids),
    "sample": lambda ids: g.sample(ids, [2], seed=0, threads=1),
    "disjoint": lambda ids: g.sample(ids, [2], seed=0, threads=1, disjoint=True),
    "sample_edges": lambda ids: g.sample_edges([ids, ids], [1], seed=0, threads=1, exclude="both"),
    "walk": lambda ids: g.walk(ids, length=20, seed=0, threads=1),
    "negative_edges": lambda ids: g.negative_edges(10 * len(ids), seed=0, threads=1),
    "negative destinations": lambda ids: g.negative_edges(10, src=ids, seed=0, threads=1),
    "gather": lambda ids: x.gather(ids),
    "gather into": lambda ids: x.gather(ids, out=out[: len(ids)]),
    "original_ids": lambda ids: ds.original_ids(ids),
    "node_ids": lambda ids: ds.node_ids(ds.original_ids(ids[:8]).repeat(len(ids) // 8)),
}

def size():
    for line in open("/proc/self/status"):
        if line.startswith("VmSize:"):
            return int(line.split()[1]) * 1024

refused = dict.fromkeys(calls, 0)
for name, call in calls.items():
    call(few)
    for room in [8, 24, 48, 80, 120, 180, 260, 360]:
        print(name, room, flush=True)
        resource.setrlimit(resource.RLIMIT_AS, (size() + (room << 20), resource.RLIM_INFINITY))
        try:
            call(many)
        except MemoryError:
            refused[name] += 1
        except ValueError as error:
            # More edges than the system has memory for.
            assert "memory" in str(error), error
            refused[name] += 1
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert all(refused.values()), refused
"""


def test_no_call_ends_the_process_when_memory_is_refused(tmp_path: Path) -> None:
    edges = np.random.default_rng(0).integers(0, NODES, size=(2, 4 * NODES))
    x = np.zeros((NODES, 1), dtype=np.float32)
    gm.build(tmp_path / "ds", edges=edges, features=x, order="hot", num_nodes=NODES)
    done = subprocess.run(
        [sys.executable, "-c", CALLS, str(tmp_path)], capture_output=True, text=True, timeout=280
    )
    last = done.stdout.splitlines()[-1:]
    assert done.returncode == 0, (last, done.returncode, done.stderr[-2000:])
