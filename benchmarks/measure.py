"""Clocks, medians and cgroups that the sections share."""

from __future__ import annotations

import contextlib
import errno
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path


def seconds(work: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def interleaved(rounds: int, **works: Callable[[], object]) -> dict[str, float]:
    """Median seconds of each, measured in turns so that noise hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            times[name].append(seconds(work))
    return {name: statistics.median(values) for name, values in times.items()}


@contextlib.contextmanager
def memory_limit(limit: int) -> Iterator[Callable[[list[str]], str] | None]:
    """A runner for commands whose memory, page cache included, is limited; None where no cgroup can be made."""
    with memory_group(limit) as group:
        yield None if group is None else partial(_run_in, group)


@contextlib.contextmanager
def memory_group(limit: int) -> Iterator[Path | None]:
    """A cgroup whose memory, page cache included, is limited; None where none can be made."""
    # Several may exist at once, with different limits.
    name = f"graphmill-bench-{os.getpid()}-{limit}"
    choices = [
        (Path("/sys/fs/cgroup/memory") / name, "memory.limit_in_bytes"),
        (Path("/sys/fs/cgroup") / name, "memory.max"),
    ]
    for group, file in choices:
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / file).write_text(str(limit))
        except OSError:
            group.rmdir()
            continue
        try:
            yield group
        finally:
            remove(group)
        return
    yield None


def remove(group: Path) -> None:
    """Remove a cgroup; processes that were just ended may take a moment to leave it."""
    for patience in (0.01, 0.1, 1.0, 5.0):
        try:
            group.rmdir()
            return
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            time.sleep(patience)
    group.rmdir()


def entering(group: Path, command: list[str]) -> list[str]:
    """The command that does the same within a cgroup, from its first instruction on."""
    return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(group / "cgroup.procs"), *command]


def _run_in(group: Path, command: list[str]) -> str:
    """Run a command in a cgroup and return what it printed."""
    done = subprocess.run(entering(group, command), capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{command[:3]} exited with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def python(code: str, *arguments: str) -> list[str]:
    """The command that runs a piece of Python with arguments."""
    return [sys.executable, "-c", code, *arguments]
