"""How several processes share seeds, batches and memory; torch is asked only if somebody else has imported it."""

from __future__ import annotations

import os
import sys
from typing import Any, Literal

from . import _native


def own_share(rank: int | None, world_size: int | None) -> tuple[int, int]:
    """Return rank and number of the processes that share the seeds: as given, else those of torch.distributed."""
    if (rank is None) != (world_size is None):
        raise ValueError(f"rank={rank} and world_size={world_size} belong together: give both")
    if rank is not None and world_size is not None:
        return rank, world_size
    distributed = _process_group()
    return (0, 1) if distributed is None else (distributed.get_rank(), distributed.get_world_size())


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
    """Return how many processes of this job run on this machine, as torchrun tells them.

    Where nobody tells, all processes of torch.distributed may be here: a share that is too small for one of several
    machines takes nothing away from others.
    """
    told = os.environ.get("LOCAL_WORLD_SIZE", "")
    if told.isdecimal():
        return max(int(told), 1)
    distributed = _process_group()
    return 1 if distributed is None else distributed.get_world_size()


def open_share(
    path: str | os.PathLike[str],
    memory: str | int | None,
    residency: Literal["auto", "mapped", "ram"] = "auto",
) -> _native.Dataset:
    """Open a dataset with this process's share of ``memory``."""
    processes = local_processes()
    if processes > 1:
        memory = _native.Dataset(path, memory, "mapped").memory // processes
    return _native.Dataset(path, memory, residency)


def _process_group() -> Any:
    """Return torch.distributed if it is in use, else None."""
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is None or not (distributed.is_available() and distributed.is_initialized()):
        return None
    return distributed
