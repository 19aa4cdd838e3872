"""What the operating system says about this process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="needs /proc, which only Linux has"
)


def anonymous_memory() -> int:
    """RssAnon in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no RssAnon in /proc/self/status")


def open_files() -> int:
    """Number of open descriptors."""
    return len(os.listdir("/proc/self/fd"))


def maps_of(name: str) -> int:
    """Number of mappings of files whose path holds ``name``."""
    return sum(name in line for line in Path("/proc/self/maps").read_text().splitlines())
