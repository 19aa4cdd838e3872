"""How several processes share seeds, batches and memory; torch is asked only if somebody else has imported it."""

from __future__ import annotations

import os
import secrets
import sys
from hashlib import blake2b
from typing import Any, Literal

from . import _native
from ._dataset_path import expanded, why_no_dataset
from ._errors import DiskError, LoaderError

# Where the processes of a group keep the random number that the seeds of their loaders derive from.
_ENTROPY_KEY = "graphmill/entropy"


def given_share(
    rank: int | None, world_size: int | None, distributed: bool
) -> tuple[int, int] | None:
    """Return rank and number of processes if they are given, None if torch.distributed decides."""
    if (rank is None) != (world_size is None):
        raise ValueError(f"rank={rank} and world_size={world_size} belong together: give both")
    if rank is None or world_size is None:
        return None if distributed else (0, 1)
    if not distributed and (rank, world_size) != (0, 1):
        raise ValueError(
            f"distributed=False contradicts rank={rank} of world_size={world_size}: leave one of them out"
        )
    if rank >= world_size:
        raise ValueError(
            f"rank {rank} of {world_size} processes was given, expected a rank from 0 and below their number"
        )
    return rank, world_size


def share_of_group() -> tuple[int, int] | None:
    """Return rank and number of the processes of torch.distributed; None where it is not initialised."""
    distributed = _process_group()
    if distributed is None:
        return None
    return distributed.get_rank(), distributed.get_world_size()


def agreed_seed(options: str) -> int:
    """Return the seed that every process of torch.distributed derives for a loader with these options.

    The first process that asks leaves a random number in the store of the process group, and the others find it there.
    Nobody waits, so a loader may be used by some of the processes only, and since the seed depends on the options
    rather than on a count of loaders, such a loader does not change the seeds of others.
    """
    from torch.distributed import distributed_c10d

    if in_worker():
        # The connection of a forked worker is that of its parent, and two must not speak through it.
        raise LoaderError(
            "a loader without a seed was made before init_process_group and first used in a worker of a DataLoader, "
            "where the processes cannot agree on a seed: give seed=, or make it after init_process_group"
        )
    store = distributed_c10d._get_default_store()
    try:
        entropy = store.compare_set(_ENTROPY_KEY, "", secrets.token_hex(16))
    except RuntimeError as error:
        raise LoaderError(
            f"the processes of torch.distributed cannot agree on a seed through their store ({error}): give seed= to "
            "the loaders, or distributed=False to one that is used by this process alone"
        ) from error
    return int.from_bytes(blake2b(entropy + options.encode(), digest_size=8).digest(), "big") >> 1


def in_worker() -> bool:
    """Return whether this is a worker of a DataLoader."""
    data: Any = sys.modules.get("torch.utils.data")
    return data is not None and data.get_worker_info() is not None


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
    path = expanded(path)
    processes = local_processes()
    try:
        if processes > 1:
            memory = _native.Dataset(path, memory, "mapped").memory // processes
        return _native.Dataset(path, memory, residency)
    except DiskError as error:
        reason = why_no_dataset(path)
        if reason is None:
            raise
        raise reason from error


def _process_group() -> Any:
    """Return torch.distributed if it is in use, else None."""
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is None or not (distributed.is_available() and distributed.is_initialized()):
        return None
    return distributed
