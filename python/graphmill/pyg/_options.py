"""The keywords that PyG's loaders hand on to ``DataLoader``, sorted into what they mean here."""

from __future__ import annotations

import warnings
from typing import Any

import torch

# Worker processes and what belongs to them, with the values that ask for nothing.
_OF_WORKERS: dict[str, Any] = {
    "num_workers": 0,
    "persistent_workers": False,
    "prefetch_factor": None,
    "multiprocessing_context": None,
    "worker_init_fn": None,
    "timeout": 0,
    "in_order": True,
    "filter_per_worker": None,
}
# What a loader gets from Lightning and replaces by its own, as PyG does.
_REPLACED = ("dataset", "collate_fn")
_TAKEN = (
    *("batch_size", "shuffle", "drop_last", "pin_memory"),
    *("columns", "edge_columns", "method", "layer_dependency", "time_window", "direction", "seed", "threads"),
    *("prefetch", "backend", "device", "progress", "rank", "world_size", "window", "hot_memory", "widen", "original"),
)  # fmt: skip
_REFUSED = {
    "sampler": "give the ids in the order that you want as input",
    "batch_sampler": "give the ids in the order that you want as input",
    "neighbor_sampler": "a sampler of PyG's goes to its own loaders, with graphmill.pyg.stores",
    "transform_sampler_output": "rows are read along with the sample; use graphmill.pyg.Sampler with PyG's own loaders",
}


def loading_options(given: dict[str, Any], more: tuple[str, ...] = ()) -> dict[str, Any]:
    """What our loader takes of ``given``; names that mean nothing here are a warning or an error."""
    options: dict[str, Any] = {"batch_size": 1}
    in_vain = []
    for name, value in given.items():
        if name in (*_TAKEN, *more):
            options[name] = value
        elif name in _OF_WORKERS:
            in_vain += [name] if value != _OF_WORKERS[name] else []
        elif name in _REFUSED:
            if value is not None:
                raise TypeError(f"{name} is not supported: {_REFUSED[name]}")
        elif name not in (*_REPLACED, "generator"):
            raise TypeError(f"got an unexpected keyword argument {name!r}")
    if in_vain:
        warnings.warn(
            f"{', '.join(in_vain)} had no effect: threads prepare the batches, and no worker processes are needed; "
            "see prefetch= and threads=",
            stacklevel=3,
        )
    # Whoever runs several processes of PyG's gives each its own seeds, so these are not divided again.
    if "rank" not in options and "world_size" not in options:
        options |= {"rank": 0, "world_size": 1}
    # Shuffling is off if it is None, as in DataLoader.
    options["shuffle"] = bool(options.get("shuffle"))
    if options.get("seed") is None:
        # PyG's batches follow torch.manual_seed, or a generator.
        options["seed"] = int(torch.randint(2**63 - 1, (), generator=given.get("generator")))
    return options
