"""One command as a process of its own: how long it takes, what it computes, how much memory it holds.

Sections hand commands in and get figures back. It must not know what the commands do.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

CORES = 2
INTERVAL = 0.02


@dataclass(frozen=True)
class Command:
    """What is run, and what it finds."""

    arguments: list[str]
    stdin: Path | None = None
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Figures:
    """What one run took. Memory is that of all its processes together."""

    seconds: float
    cpu_seconds: float
    peak_anonymous: int
    peak_resident: int
    #: Pages of files that were mapped and in memory, which the kernel may take back.
    peak_file: int
    #: Bytes that came from the block device for it, past the page cache or into it.
    read_bytes: int
    output: str


class CommandFailed(RuntimeError):
    """A command that did not end well, with the last thing it said."""


def measure(command: Command, timeout: float) -> Figures:
    """Run a command to its end on a fixed number of cores, looking at its memory every 20 ms."""
    environment = {**os.environ, **threads(), **command.environment}
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        with open(command.stdin or os.devnull, "rb") as stdin:
            start = time.perf_counter()
            process = subprocess.Popen(
                command.arguments,
                stdin=stdin,
                stdout=output,
                stderr=errors,
                env=environment,
                start_new_session=True,
                preexec_fn=settle,
            )
        try:
            with watched(process.pid) as memory, stopped_after(process.pid, timeout) as late:
                # Waiting here and not through Popen: only wait4 tells what this one child used.
                _, status, usage = os.wait4(process.pid, 0)
                seconds = time.perf_counter() - start
        except BaseException:
            # Ctrl-C does not reach a child with a session of its own.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            reason = f"stopped after {timeout:.0f} s" if late.is_set() else ending(process)
            errors.seek(0)
            raise CommandFailed(f"{reason}: {last_line(errors.read())}")
        output.seek(0)
        return Figures(
            seconds=seconds,
            cpu_seconds=usage.ru_utime + usage.ru_stime,
            peak_anonymous=memory.anonymous,
            peak_resident=memory.resident,
            peak_file=memory.file,
            # The kernel counts blocks of 512 bytes here, whatever those of the device are.
            read_bytes=usage.ru_inblock * 512,
            output=output.read().decode(errors="replace"),
        )


def threads() -> dict[str, str]:
    """What tells the common thread pools how many threads they may have."""
    names = ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"]
    return dict.fromkeys(names, str(CORES))


def settle() -> None:
    """In the child: keep to the same few cores, and be the first to go when memory runs out."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def ending(process: subprocess.Popen[bytes]) -> str:
    """How a process ended, for people."""
    if process.returncode == -signal.SIGKILL:
        return "killed, most likely because memory ran out"
    if process.returncode < 0:
        return f"ended by {signal.Signals(-process.returncode).name}"
    return f"exit code {process.returncode}"


def last_line(text: bytes) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in text.decode(errors="replace").splitlines() if line.strip()]
    return lines[-1][:300] if lines else "no message"


@contextlib.contextmanager
def stopped_after(process: int, timeout: float) -> Iterator[threading.Event]:
    """End a process and its children when it takes too long; the event says so."""
    late = threading.Event()

    def stop() -> None:
        late.set()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)

    timer = threading.Timer(timeout, stop)
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()


@dataclass
class Memory:
    """The most that was seen at any moment."""

    anonymous: int = 0
    resident: int = 0
    file: int = 0


@contextlib.contextmanager
def watched(process: int) -> Iterator[Memory]:
    """Look at the memory of a process and its children until the block ends."""
    memory, ended = Memory(), threading.Event()

    def watch() -> None:
        while not ended.wait(INTERVAL):
            now = memory_of(process)
            memory.anonymous = max(memory.anonymous, now.anonymous)
            memory.resident = max(memory.resident, now.resident)
            memory.file = max(memory.file, now.file)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield memory
    finally:
        ended.set()
        watcher.join()


def memory_of(process: int) -> Memory:
    """What a process and all its descendants hold now.

    The kernel remembers the most that one process had resident, which may be more than all have now. It does so in
    rusage too, but there a child starts with what its parent had.
    """
    found, highest = Memory(), 0
    waiting = [process]
    while waiting:
        folder = Path("/proc") / str(waiting.pop())
        # A process may end between two looks.
        with contextlib.suppress(OSError):
            for line in (folder / "status").read_text().splitlines():
                if line.startswith("RssAnon:"):
                    found.anonymous += int(line.split()[1]) * 1024
                elif line.startswith("RssFile:"):
                    found.file += int(line.split()[1]) * 1024
                elif line.startswith("VmRSS:"):
                    found.resident += int(line.split()[1]) * 1024
                elif line.startswith("VmHWM:"):
                    highest = max(highest, int(line.split()[1]) * 1024)
            for task in (folder / "task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
    found.resident = max(found.resident, highest)
    return found
