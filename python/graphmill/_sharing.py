"""How several processes share the work of a loader; torch is asked only if somebody else has imported it."""

from __future__ import annotations

import os
import sys
from typing import Any


def own_share(rank: int | None, world_size: int | None) -> tuple[int, int]:
    """Return rank and number of the processes that share the seeds: as given, else those of torch.distributed."""
    if (rank is None) != (world_size is None):
        raise ValueError(f"rank={rank} and world_size={world_size} belong together: give both")
    if rank is not None and world_size is not None:
        return rank, world_size
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is None or not (distributed.is_available() and distributed.is_initialized()):
        return 0, 1
    return distributed.get_rank(), distributed.get_world_size()


def worker_share(start: int) -> tuple[int, int]:
    """Return the first batch and the step to the next: in worker k of n of a DataLoader, every n-th from k on.

    A DataLoader asks its workers in turn, so together they deliver the batches in their order. That is so for a dataset
    that is iterated over; one whose items are asked for by number has them divided already, and an item that needs a
    whole epoch gets it.
    """
    data: Any = sys.modules.get("torch.utils.data")
    worker = None if data is None else data.get_worker_info()
    if worker is None or not isinstance(worker.dataset, data.IterableDataset):
        return start, 1
    return start + worker.id, worker.num_workers


def local_processes() -> int:
    """Return how many processes of this job run on this machine, as torchrun tells them."""
    told = os.environ.get("LOCAL_WORLD_SIZE", "1")
    return max(int(told), 1) if told.isdecimal() else 1
