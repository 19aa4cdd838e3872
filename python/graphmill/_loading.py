"""What surrounds the loop over batches: progress, ranges in a profile, transfers, and warnings that come once."""

from __future__ import annotations

import contextlib
import importlib
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from typing import Any, NoReturn

from . import _native
from ._errors import LoaderError

_NOTHING: AbstractContextManager[None] = nullcontext()
_has_warned = False
_has_warned_of_pinning = False


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


class ClosedSource:
    """What is still known of the source of batches of a loader that was closed."""

    def __init__(self, source: _native.BatchSource, world_size: int) -> None:
        self._stats = source.stats()
        self._num_batches = source.num_batches(world_size)
        self._num_seeds = source.num_seeds()
        self._digests = source.digests()
        self._described = repr(source)

    def stats(self) -> dict[str, Any]:
        """Return what the loader had read when it was closed."""
        return dict(self._stats)

    def num_batches(self, _world_size: int) -> int:
        """Return how many batches an epoch had."""
        return self._num_batches

    def num_seeds(self) -> int:
        """Return how many seeds or links there were."""
        return self._num_seeds

    def digests(self) -> tuple[int, int | None]:
        """Return what stood for the seeds and their times."""
        return self._digests

    def slow_reading(self) -> None:
        """Return that there is nothing to warn of any more."""

    def epoch(self, *_arguments: Any) -> NoReturn:
        """Refuse to begin an epoch."""
        raise LoaderError("the loader was closed; make a new one")

    def __repr__(self) -> str:
        """Describe the source that was closed."""
        return f"closed, {self._described}"


def warn_of_slow_reading(source: _native.BatchSource | ClosedSource) -> None:
    """Say once per process if rows were read in a slower way than was asked for, and why."""
    global _has_warned
    reason = None if _has_warned else source.slow_reading()
    if reason is not None:
        _has_warned = True
        warnings.warn(f"rows were read without io_uring, which is slower: {reason}", stacklevel=3)


def can_pin() -> bool:
    """Tell whether page-locked memory is of use here; say once per process if it is not."""
    global _has_warned_of_pinning
    if _has_accelerator():
        return True
    if not _has_warned_of_pinning:
        _has_warned_of_pinning = True
        warnings.warn(
            "pin_memory=True has no effect: torch finds no accelerator that would copy from page-locked memory",
            stacklevel=_levels_to_the_user(),
        )
    return False


def _has_accelerator() -> bool:
    if find_spec("torch") is None:
        return False
    import torch

    # Older versions know of CUDA alone.
    devices = getattr(torch, "accelerator", torch.cuda)
    return bool(devices.is_available())


def _levels_to_the_user() -> int:
    """Return the ``stacklevel`` by which a warning of the caller names the code that called this package."""
    frame, level = sys._getframe(1), 1
    package = __name__.partition(".")[0]
    while frame.f_back is not None and frame.f_globals["__name__"].partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    return level


def moved(value: Any, method: str, *arguments: Any, **options: Any) -> Any:
    """Call a method such as ``to`` of a batch, or of whatever a transform has put into tuples, lists and dicts."""
    if hasattr(value, method):
        return getattr(value, method)(*arguments, **options)
    if isinstance(value, Mapping):
        return {key: moved(item, method, *arguments, **options) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [moved(item, method, *arguments, **options) for item in value]
        # Named tuples take their fields one by one.
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value
