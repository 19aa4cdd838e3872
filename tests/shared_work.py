"""What threads and processes do with a dataset that they share; apart, so that a process can import it quickly."""

from __future__ import annotations

import hashlib

import numpy as np

import graphmill as gm

THREADS = 64
PROCESSES = 8


def work(ds: gm.Dataset, number: int) -> str:
    """Everything that reads, as the number says: a digest of all that came back."""
    rng = np.random.default_rng(number)
    ids = rng.integers(0, ds.num_nodes, 300)
    sample = ds.graph.sample(ids[:100], [6, 4], seed=number, threads=1 + number % 3)
    table = ds.table("x")
    state = hashlib.sha256()
    for array in (
        *(sample.n_id, sample.row, sample.col, sample.e_id),
        *(table.gather(ids), table[int(ids[0])], table.numpy()[ids]),
        *(ds.graph.walk(ids[:50], length=6, seed=number), ds.graph.degrees(ids)),
        *(ds.graph.neighbors(int(ids[1])), *ds.graph.neighbor_lists(ids)),
    ):
        state.update(np.ascontiguousarray(array).tobytes())
    if number % PROCESSES == 0:
        # In one process of several, as it is torch that takes long to import.
        for batch in gm.NeighborLoader(ds, [3, 2], 128, ids, seed=number, threads=2, prefetch=2):
            for _, value in batch:
                state.update(np.asarray(value).tobytes())
    return state.hexdigest()
