"""Arguments that several calls take, checked in one place."""

from __future__ import annotations

import operator
import os
import sys
from typing import Any, TypeVar

import numpy as np

from . import _native

_Default = TypeVar("_Default", int, None)


def check_dataset(ds: Any, caller: str) -> None:
    """Raise a TypeError that says how to get a dataset from what was given instead of one."""
    if isinstance(ds, _native.Dataset):
        return
    found = f"{caller} takes a dataset, found {_described(ds)}"
    pyg: Any = sys.modules.get("torch_geometric.data.data")
    if pyg is not None and isinstance(ds, pyg.BaseData):
        raise TypeError(f"{found}: call gm.from_pyg(data, path) once, then give the dataset")
    if isinstance(ds, (str, os.PathLike)):
        raise TypeError(f"{found}: give gm.open({os.fspath(ds)!r})")
    if isinstance(ds, _native.Graph):
        raise TypeError(
            f"{found}: open the dataset that the graph belongs to with gm.open(path), or call graph.sample"
        )
    raise TypeError(f"{found}: open one with gm.open(path), or build one with gm.build")


def _described(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, (str, os.PathLike)):
        return f"the path {os.fspath(value)!r}"
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    return kind.__name__ if package == "builtins" else f"{package}'s {kind.__name__}"


def at_least(least: int, value: int | None, what: str, default: _Default) -> int | _Default:
    """Return an integer that is not below ``least``, or ``default`` for None."""
    return default if value is None else integer(least, value, what)


def integer(least: int, value: Any, what: str) -> int:
    """Return an integer that is not below ``least``; a bool is none."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{what} must be an integer, found {value!r}")
    if value < least:
        raise ValueError(f"{what} must be at least {least}, found {value}")
    return int(value)


def as_seed(seed: Any) -> int:
    """Return a seed as an integer of any size."""
    try:
        return operator.index(seed)
    except TypeError:
        raise TypeError(f"seed must be an integer or None, found {seed!r}") from None
