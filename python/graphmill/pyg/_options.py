"""The keywords that PyG's loaders hand on to ``DataLoader``, sorted into what they mean here."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

# Worker processes and what belongs to them, with the values that ask for nothing.
_OF_WORKERS: dict[str, Any] = {
    "num_workers": 0,
    "persistent_workers": False,
    "prefetch_factor": None,
    "multiprocessing_context": None,
    "worker_init_fn": None,
    "timeout": 0,
    "in_order": True,
    "pin_memory_device": "",
}
# What a loader gets from Lightning and replaces by its own, as PyG does.
_REPLACED = ("dataset", "collate_fn")
_TAKEN = (
    *("batch_size", "shuffle", "drop_last", "pin_memory"),
    *("columns", "edge_columns", "method", "layer_dependency", "time_window", "direction", "seed", "threads"),
    *("prefetch", "backend", "device", "progress", "rank", "world_size", "distributed", "window", "hot_memory"),
    *("widen", "original"),
)  # fmt: skip
_OF_TORCH = ("sampler", "batch_sampler", "generator")
_REFUSED = {
    "neighbor_sampler": "a sampler of PyG's goes to its own loaders, with graphmill.pyg.stores",
    "transform_sampler_output": "rows are read along with the sample; use graphmill.pyg.Sampler with PyG's own loaders",
}
# PyG follows edges against their direction by "forward", since messages then run forward to the seeds.
_DIRECTIONS = {"forward": "in", "backward": "out"}


@dataclass
class Loading:
    """What a loader was asked for: the options of ours, and what torch's ``DataLoader`` decides with."""

    options: dict[str, Any]
    sampler: Any = None
    batch_sampler: Any = None
    generator: Any = None


def loading_options(given: dict[str, Any], more: tuple[str, ...] = ()) -> Loading:
    """Sort keywords; names that mean nothing here are a warning or an error."""
    loading = Loading({"batch_size": 1})
    options = loading.options
    in_vain = []
    for name, value in given.items():
        if name in (*_TAKEN, *more):
            options[name] = value
        elif name in _OF_TORCH:
            setattr(loading, name, value)
        elif name in _OF_WORKERS:
            in_vain += [name] if value != _OF_WORKERS[name] else []
        elif name in _REFUSED:
            if value is not None:
                raise TypeError(f"{name} is not supported: {_REFUSED[name]}")
        elif name == "sample_direction":
            _take_direction(options, given)
        elif name not in _REPLACED:
            raise TypeError(f"got an unexpected keyword argument {name!r}")
    if in_vain:
        warnings.warn(
            f"{', '.join(in_vain)} had no effect: threads prepare the batches, and no worker processes are needed; "
            "see prefetch= and threads=",
            stacklevel=3,
        )
    # Scripts that run several processes of PyG's give each its own seeds, so these are not divided again.
    if not any(name in options for name in ("rank", "world_size", "distributed")):
        options |= {"rank": 0, "world_size": 1}
    # Shuffling is off if it is None, as in DataLoader.
    options["shuffle"] = bool(options.get("shuffle"))
    _check_orders(loading)
    return loading


def _take_direction(options: dict[str, Any], given: dict[str, Any]) -> None:
    direction = given["sample_direction"]
    if direction not in _DIRECTIONS:
        raise ValueError(f"sample_direction is {direction!r}, expected 'forward' or 'backward'")
    if given.get("direction", _DIRECTIONS[direction]) != _DIRECTIONS[direction]:
        raise ValueError(
            f"sample_direction={direction!r} and direction={given['direction']!r} contradict each other: give one"
        )
    options["direction"] = _DIRECTIONS[direction]


def _check_orders(loading: Loading) -> None:
    """Refuse two ways to say in which order seeds come, as ``DataLoader`` does."""
    options = loading.options
    several = options.get("world_size", 1) != 1 or options.get("distributed", False)
    for name in ("sampler", "batch_sampler"):
        if getattr(loading, name) is None:
            continue
        if not hasattr(getattr(loading, name), "__iter__"):
            raise TypeError(f"{name} must yield positions, found {getattr(loading, name)!r}")
        if options["shuffle"] or several:
            raise ValueError(
                f"{name} decides which seeds come and in which order: leave out shuffle, rank, world_size and "
                "distributed"
            )
    taken = loading.sampler is not None or options["batch_size"] != 1 or options.get("drop_last")
    if loading.batch_sampler is not None and taken:
        raise ValueError(
            "batch_sampler decides what a batch is: leave out sampler, batch_size and drop_last"
        )
