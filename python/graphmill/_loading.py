"""What surrounds the loop over batches: progress, ranges in a profile, and one warning about slow reading."""

from __future__ import annotations

import contextlib
import importlib
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from . import _native

_NOTHING: AbstractContextManager[None] = nullcontext()
_has_warned = False


@contextlib.contextmanager
def progress_bar(shown: bool, total: int) -> Iterator[Callable[[], Any]]:
    """Give what to call after each batch; it moves a bar of tqdm if one is to be shown."""
    if not shown:
        yield lambda: None
        return
    with tqdm()(total=total, unit="batch") as bar:
        yield bar.update


def tqdm() -> Any:
    """Return the class of bars."""
    try:
        return importlib.import_module("tqdm.auto").tqdm
    except ImportError as error:
        raise ImportError("progress=True needs tqdm: pip install tqdm") from error


def profiled(name: str, use_torch: bool) -> AbstractContextManager[Any]:
    """Name what is done for a profiler of torch, if one is running."""
    if not use_torch:
        return _NOTHING
    import torch

    # Asking costs far less than a range that nobody records.
    if not torch.autograd._profiler_enabled():  # type: ignore[attr-defined]
        return _NOTHING
    return torch.profiler.record_function(name)


def warn_of_slow_reading(source: _native.BatchSource) -> None:
    """Say once per process if rows were read in a slower way than was asked for, and why."""
    global _has_warned
    reason = None if _has_warned else source.slow_reading()
    if reason is not None:
        _has_warned = True
        warnings.warn(f"rows were read without io_uring, which is slower: {reason}", stacklevel=3)
