"""Hidden folders for files that are needed for the length of a call, which do not outlive a killed process for long."""

from __future__ import annotations

import glob
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

try:
    import fcntl
except ImportError:
    # Windows has no locks of folders; there a killed process leaves its folder behind.
    fcntl = None  # type: ignore[assignment]

_SUFFIX = ".layers"
# What such a folder holds: layers, their drafts and journals.
_OURS = re.compile(r"\.?layer-\d+\.gd(\..*)?")


@contextmanager
def scratch_folder(target: Path) -> Iterator[Path]:
    """Make a folder beside a target, and remove those that killed processes left there for the same target.

    A folder is locked as long as its process lives, so one that can be locked is a leftover.
    """
    _remove_leftovers(target)
    # Others look at names with the suffix alone, so that none is unlocked for a moment.
    folder = Path(mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    lock = _locked(folder)
    try:
        hidden = folder.with_name(folder.name + _SUFFIX)
        folder = folder.rename(hidden)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _remove_leftovers(target: Path) -> None:
    if sys.platform == "win32":
        return
    for found in glob.glob(f".{glob.escape(target.name)}.*{_SUFFIX}", root_dir=target.parent):
        folder = target.parent / found
        with suppress(OSError):
            lock = _locked(folder)
            if lock is None:
                continue
            try:
                if all(_OURS.fullmatch(name) for name in os.listdir(folder)):
                    shutil.rmtree(folder)
            finally:
                os.close(lock)


def _locked(folder: Path) -> int | None:
    """Lock a folder and return the descriptor that holds the lock; None if another process has it."""
    if sys.platform == "win32":
        return None
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
