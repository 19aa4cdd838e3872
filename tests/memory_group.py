"""A memory limit by the kernel: a cgroup of its own for one process, where one can be made."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path("/sys/fs/cgroup")


@contextmanager
def memory_group(limit: int) -> Iterator[Path]:
    """Make a cgroup with this limit; skip the test where that is not possible."""
    version_1 = (ROOT / "memory").is_dir()
    group = (ROOT / "memory" if version_1 else ROOT) / f"graphmill-test-{os.getpid()}"
    limit_file = group / ("memory.limit_in_bytes" if version_1 else "memory.max")
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"needs a memory cgroup, and making one fails: {error}")
    try:
        try:
            limit_file.write_text(str(limit))
        except OSError as error:
            pytest.skip(f"needs a memory cgroup, and its limit cannot be set: {error}")
        yield group
    finally:
        group.rmdir()


def run_in(group: Path, script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a Python script inside the cgroup from its first instruction on."""
    # sh joins the group, and becomes Python.
    join = 'echo $$ > "$0/cgroup.procs" && exec "$@"'
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(
        ["/bin/sh", "-c", join, str(group), *command],
        capture_output=True,
        text=True,
        timeout=200,
        cwd=Path(__file__).parents[1],
    )
