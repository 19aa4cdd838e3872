"""Instructions that a unit of work takes, counted by valgrind: the same in every run, whatever else the machine does.

A program is run twice, for less and for more work, and the difference of its counts is divided by the difference of
what it did; so its start falls out. It must not know what programs do.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.child import Command, CommandFailed
from benchmarks.peers.installation import InstallationFailed

#: Callgrind's last words, with the instructions of all threads.
COLLECTED = re.compile(r"Collected : (\d+)")
TIMEOUT = 600.0


@dataclass(frozen=True)
class Counted:
    """What one run of a program took, and what it said."""

    instructions: int
    output: str


class Counter(Protocol):
    """What counts the instructions of a command."""

    def count(self, command: Command) -> Counted: ...


class Callgrind:
    """Valgrind's tool that counts; a system package, not installed here."""

    name = "valgrind"

    def install(self) -> None:
        """Raise with the remedy where it is missing."""
        if shutil.which(self.name) is None:
            raise InstallationFailed(f"no command `{self.name}` here: install {self.name}")

    def version(self) -> str:
        """What it says it is."""
        done = subprocess.run([self.name, "--version"], stdout=subprocess.PIPE, text=True)
        return done.stdout.strip()

    def count(self, command: Command) -> Counted:
        """Run a command to its end."""
        with tempfile.TemporaryDirectory(prefix="callgrind-") as folder:
            log = Path(folder) / "log"
            tool = [self.name, "--tool=callgrind", "--callgrind-out-file=/dev/null"]
            done = subprocess.run(
                [*tool, f"--log-file={log}", *command.arguments],
                capture_output=True,
                text=True,
                timeout=TIMEOUT,
            )
            said = log.read_text() if log.exists() else ""
        found = COLLECTED.findall(said)
        if done.returncode != 0 or len(found) != 1:
            words = (done.stderr.strip() or said.strip())[-500:]
            raise CommandFailed(
                f"{Path(command.arguments[0]).name} under {self.name}, exit code {done.returncode}: {words}"
            )
        return Counted(int(found[0]), done.stdout)


@dataclass(frozen=True)
class Kernel:
    """A piece of code that much time is spent in, and two runs that differ in how often it is gone through."""

    name: str
    shorter: Command
    longer: Command
    #: How many units a run did, by its command and what it said.
    units: Callable[[Command, str], int]


@dataclass(frozen=True)
class PerUnit:
    """Instructions of a unit, and how far two such counts lie apart, as a share of it."""

    instructions: float
    spread: float


def per_unit(counter: Counter, kernel: Kernel) -> PerUnit:
    """Count a kernel twice. Whatever else happens only adds, so the lower count is the one."""
    found = [once(counter, kernel) for _ in range(2)]
    return PerUnit(min(found), (max(found) - min(found)) / min(found))


def once(counter: Counter, kernel: Kernel) -> float:
    """The instructions of a unit by a shorter and a longer run."""
    shorter, longer = counter.count(kernel.shorter), counter.count(kernel.longer)
    more = longer.instructions - shorter.instructions
    units = kernel.units(kernel.longer, longer.output)
    units -= kernel.units(kernel.shorter, shorter.output)
    if units <= 0 or more <= 0:
        raise RuntimeError(
            f"{kernel.name}: the longer run did {units:,} units in {more:,} instructions more, "
            "expected more of both"
        )
    return more / units
