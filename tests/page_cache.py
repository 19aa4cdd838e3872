"""The page cache, as far as a test may move it."""

from __future__ import annotations

import os


def forget(path: os.PathLike[str]) -> None:
    """Let the page cache forget a file, where that is possible; only what has been written out can go."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)
