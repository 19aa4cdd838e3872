"""A run as its folder holds it: the machine, the sections, their targets, curves and contests.

The report is made from this alone, so that every figure in it stands in a file of raw numbers. It must not know how
anything is shown.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Where runs are kept, and the file of each that describes the machine.
RUNS = Path(__file__).parents[1] / "runs"
MACHINE = "machine.json"
#: What a section holds beside figures of its own.
COMMON = {"command", "scale", "repeats", "load", "contests", "absent", "musts", "curves", "lines"}
#: What a section holds that counts instructions, beside the versions of what counted.
COUNTS = {"instructions", "spread", "baseline"}


@dataclass(frozen=True)
class Target:
    """One line that has to be reached."""

    section: str
    name: str
    measured: float | None
    at_least: float | None
    at_most: float | None
    unit: str
    met: bool | None
    headline: bool

    @property
    def verdict(self) -> str:
        """Whether it was reached, in a word or two."""
        return {True: "met", False: "short", None: "not measured"}[self.met]

    @property
    def asked(self) -> str:
        """The target, for people."""
        return f"{self.bound} {self.unit}"

    @property
    def bound(self) -> str:
        """The same without its unit."""
        sign, bound = ("≥", self.at_least) if self.at_least is not None else ("≤", self.at_most)
        return f"{sign} {bound:g}"

    @property
    def found(self) -> str:
        """What was measured, for people."""
        return "-" if self.measured is None else f"{figure(self.measured)} {self.unit}"

    @property
    def margin(self) -> float | None:
        """How many times better than asked: 1 is just enough, 2 twice as good, whichever way is better."""
        if self.measured is None:
            return None
        if self.at_least is not None:
            return self.measured / self.at_least
        assert self.at_most is not None, "a target has one bound"
        return self.at_most / self.measured if self.measured else math.inf


@dataclass(frozen=True)
class Contest:
    """Several ways to do one thing; or why it was not done."""

    section: str
    title: str
    contestants: dict[str, dict[str, Any]]
    skipped: str | None


@dataclass(frozen=True)
class Run:
    """One folder."""

    folder: Path
    machine: dict[str, Any]
    #: Whole files by the name of the section.
    sections: dict[str, dict[str, Any]]

    @property
    def size(self) -> str:
        """How large the run was."""
        return str(self.machine["size"])

    @property
    def left_out(self) -> list[str]:
        """Sections of which nothing is there yet, and lines as `section:line`."""
        found = []
        for section in self.machine["sections"]:
            if section not in self.sections:
                found.append(section)
            elif there := self.result(section).get("lines"):
                lines = self.machine.get("lines", {}).get(section, [])
                found += [f"{section}:{line}" for line in lines if line not in there]
        return found

    def result(self, section: str) -> dict[str, Any]:
        """What a section found; nothing where it failed."""
        found: dict[str, Any] = self.sections[section].get("result", {})
        return found

    def targets(self) -> list[Target]:
        """All of all sections."""
        return [
            Target(section=section, **must)
            for section in self.sections
            for must in self.result(section).get("musts", [])
        ]

    def headlines(self) -> list[Target]:
        """The few that say most. Sections go from files to training, and what is nearest to it comes first."""
        return [target for target in reversed(self.targets()) if target.headline]

    def curves(self) -> list[dict[str, Any]]:
        """All of all sections."""
        return [
            curve for section in self.sections for curve in self.result(section).get("curves", [])
        ]

    def contests(self, section: str) -> list[Contest]:
        """Those of one section."""
        found = []
        for title, entries in self.result(section).get("contests", {}).items():
            # A line may leave other figures beside its contests.
            if not isinstance(entries, dict):
                continue
            if "skipped" in entries:
                found.append(Contest(section, title, {}, entries["skipped"]))
            elif all(is_contestant(entry) for entry in entries.values()):
                found.append(Contest(section, title, entries, None))
        return found

    def figures(self, section: str) -> Iterator[tuple[str, Any]]:
        """All other figures of a section, each with its path."""
        result = self.result(section)
        shown = COMMON | COUNTS
        yield from flat({name: result[name] for name in result if name not in shown}, "")
        held = {contest.title for contest in self.contests(section)}
        contests = result.get("contests", {})
        yield from flat({title: contests[title] for title in contests if title not in held}, "")

    def failures(self) -> list[tuple[str, str, str, str]]:
        """Section, what, who, and why: everything that was not measured."""
        unmeasured = "not measured in this run"
        found = []
        for name in self.left_out:
            section, _, line = name.partition(":")
            found.append((section, f"line {line}" if line else "everything", "-", unmeasured))
        for section, file in self.sections.items():
            if "failure" in file:
                found.append((section, "everything", "-", file["failure"]))
            for name, reason in self.result(section).get("absent", {}).items():
                found.append((section, "not installed", name, reason))
            for contest in self.contests(section):
                if contest.skipped is not None:
                    found.append((section, contest.title, "-", contest.skipped))
                for name, entry in contest.contestants.items():
                    if entry["failure"] is not None:
                        found.append((section, contest.title, name, entry["failure"]))
        return found

    def commits(self) -> list[str]:
        """The versions that sections were measured with: one, if the run is of one piece."""
        measured = [
            piece
            for section, file in self.sections.items()
            # Lines that were measured again have a commit of their own.
            for piece in self.result(section).get("lines", {}).values() or [file]
        ]
        return sorted({f"{piece['graphmill']}, commit {piece['commit']}" for piece in measured})


def read(folder: Path) -> Run:
    """The run in a folder."""
    machine = folder / MACHINE
    if not machine.exists():
        raise SystemExit(f"{folder} is no run: it has no {MACHINE}; make bench makes one")
    about = json.loads(machine.read_text())
    files = {name: folder / f"{name}.json" for name in about["sections"]}
    sections = {name: json.loads(file.read_text()) for name, file in files.items() if file.exists()}
    if not sections:
        raise SystemExit(f"{folder} has no section yet: let make bench go on")
    return Run(folder, about, sections)


def newest(runs: Path) -> Path:
    """The run that was begun last."""
    machines = list(runs.glob(f"*/{MACHINE}"))
    if not machines:
        raise SystemExit(f"{runs} holds no run: make bench makes one")
    return max(machines, key=lambda file: str(json.loads(file.read_text())["begun"])).parent


def is_contestant(entry: object) -> bool:
    """Whether something stands for a contestant rather than for another figure."""
    return isinstance(entry, dict) and "runs" in entry and "failure" in entry


def flat(entry: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The leaves of nested figures."""
    if isinstance(entry, dict):
        for name, value in entry.items():
            yield from flat(value, f"{path}, {name}" if path else str(name))
    elif isinstance(entry, list):
        for place, value in enumerate(entry, start=1):
            yield from flat(value, f"{path}, {place}")
    else:
        yield path, entry


def figure(number: float) -> str:
    """A number for people: three digits that count, and none that do not."""
    size = abs(number)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2
    return f"{number:,.{digits}f}"
