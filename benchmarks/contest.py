"""Several ways to do one thing, measured in turns and shown in one table.

Sections say who takes part; every run starts with warm inputs, without unwritten pages, and with nothing of an earlier
run on disk. It must not know what is measured.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
from collections.abc import Callable, Container, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import rested_disk
from benchmarks.child import Command, Figures, measure

MIB = 1 << 20
TIMEOUT = 3600.0


@dataclass(frozen=True)
class Contestant:
    """One way to do it. The check says what came out, and raises `WrongResult` if that is wrong."""

    name: str
    work: str
    command: Command
    inputs: Sequence[Path]
    check: Callable[[Figures], str]
    #: Whether the inputs come from disk rather than from the page cache.
    cold: bool = False


class WrongResult(RuntimeError):
    """A run that was timed and did not do what it was timed for."""


@dataclass
class Outcome:
    """What became of a contestant."""

    name: str
    work: str
    #: Whether its inputs came from disk rather than from the page cache.
    cold: bool = False
    runs: list[Figures] = field(default_factory=list)
    result: str = ""
    failure: str | None = None

    @property
    def seconds(self) -> float | None:
        """The median, if every run went well."""
        if self.failure is not None or not self.runs:
            return None
        return statistics.median(run.seconds for run in self.runs)

    @property
    def peak_anonymous(self) -> int:
        """The most that any run held."""
        return max((run.peak_anonymous for run in self.runs), default=0)

    def record(self) -> dict[str, Any]:
        """All there is to know, for the file of raw numbers."""
        runs = [asdict(run) for run in self.runs]
        for run in runs:
            del run["output"]
        return {
            "work": self.work,
            "cold": self.cold,
            "median_seconds": self.seconds,
            "result": self.result,
            "failure": self.failure,
            "runs": runs,
        }


Outcomes = dict[str, Outcome]


def hold(
    contestants: Sequence[Contestant],
    repeats: int,
    out: Path,
    once_is_enough: Callable[[Outcomes], Container[str]] = lambda _: (),
) -> Outcomes:
    """Let all take turns; each finds the folder `out` empty. One that fails is left out from then on.

    After the first round `once_is_enough` names those whose further runs would decide nothing.
    """
    outcomes = {each.name: Outcome(each.name, each.work, each.cold) for each in contestants}
    decided: Container[str] = ()
    for turn in range(1, repeats + 1):
        if turn == 2:
            decided = once_is_enough(outcomes)
        for contestant in contestants:
            outcome = outcomes[contestant.name]
            if outcome.failure is not None or contestant.name in decided:
                continue
            empty(out)
            os.sync()
            prepare = cool if contestant.cold else warm
            for path in contestant.inputs:
                prepare(path)
            if contestant.cold:
                rest(contestant.inputs)
            try:
                figures = measure(contestant.command, TIMEOUT)
                outcome.runs.append(figures)
                outcome.result = contestant.check(figures)
                news = f"{figures.seconds:.2f} s"
            except (OSError, RuntimeError, LookupError, ValueError) as error:
                outcome.failure = news = f"{error}"
            print(f"  {contestant.name}, run {turn} of {repeats}: {news}", file=sys.stderr)
    shutil.rmtree(out, ignore_errors=True)
    return outcomes


def empty(folder: Path) -> None:
    """Remove all that a run left behind."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def warm(path: Path) -> None:
    """Bring a file, or all files of a folder, into the page cache."""
    buffer = bytearray(MIB)
    for file in files_of(path):
        with open(file, "rb", buffering=0) as source:
            while source.readinto(buffer):
                pass


def cool(path: Path) -> None:
    """Let the page cache forget a file, or all files of a folder."""
    for file in files_of(path):
        with open(file, "rb", buffering=0) as source:
            os.posix_fadvise(source.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def rest(paths: Sequence[Path]) -> None:
    """Let the disk forget what went before, by the largest file that will be read from it."""
    files = [file for path in paths for file in files_of(path)]
    if files:
        rested_disk.wait(max(files, key=lambda file: file.stat().st_size))


def files_of(path: Path) -> list[Path]:
    """A file itself, or all files below a folder."""
    return [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]


def ratio(outcomes: Outcomes, name: str, to: str) -> float | None:
    """How many times as long one takes as another, where both were measured."""
    if name not in outcomes or to not in outcomes:
        return None
    above, below = outcomes[name].seconds, outcomes[to].seconds
    return None if above is None or below is None else above / below


def show(title: str, outcomes: Outcomes, ours: str) -> None:
    """Print a table: ratios to ours first, since only they carry over to another machine."""
    print(f"\n{title}")
    width = max([len("who"), *map(len, outcomes)])
    print(f"  {'who':{width}}   x ours   seconds   cpu s   anon MiB   RSS MiB   result")
    for name, outcome in outcomes.items():
        if outcome.failure is not None:
            print(f"  {name:{width}}   failed: {outcome.failure}")
            continue
        times = ratio(outcomes, name, ours)
        cpu = statistics.median(run.cpu_seconds for run in outcome.runs)
        resident = max(run.peak_resident for run in outcome.runs)
        print(
            f"  {name:{width}} {'-' if times is None else f'{times:.2f}':>8}"
            f" {outcome.seconds:9.2f} {cpu:7.2f} {outcome.peak_anonymous / MIB:10.0f}"
            f" {resident / MIB:9.0f}   {outcome.work}: {outcome.result}"
        )
