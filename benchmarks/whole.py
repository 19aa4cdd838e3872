"""A whole run: every section at one size, each into a file of its own beside a description of the machine.

A run that was interrupted goes on where it stopped: what a section's file holds is not measured again, and it is
written anew after every line. Sections are given from outside; it must not know what they measure.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from subprocess import SubprocessError
from typing import Any, Protocol

from benchmarks import machine
from benchmarks.choices import add_places
from benchmarks.graphmill_command import Graphmill
from benchmarks.merged_lines import merged
from benchmarks.reporting.recorded import MACHINE, RUNS

PROJECT = Path(__file__).parents[1]
#: Peers that compile for minutes or bring gigabytes of torch; a small run is over before they are installed.
HEAVY = {"webgraph", "graph_builder", "graphbolt", "dgl", "pyg"}


class Section(Protocol):
    """What a section is to a run: a module with these two functions."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, arguments: argparse.Namespace) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Size:
    """How large a run is."""

    #: What the sections call it.
    scale: str
    #: The only sections that have this scale; None for all.
    sections: tuple[str, ...] | None = None
    #: Runs of each contestant, where a section's own number would take too long.
    repeats: int | None = None
    heavy_peers: bool = True


SIZES = {
    "small": Size("small", repeats=1, heavy_peers=False),
    "medium": Size("full"),
    "quarter-papers": Size("quarter-papers", ("training",)),
    "papers": Size("papers", ("training",)),
}

#: In place of a size: papers where the disk has room for it, else quarter-papers. Whoever starts a run decides.
LARGEST_PAPERS = "largest-papers"


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be chosen on the command line."""
    parser.add_argument(
        "--size",
        choices=[*SIZES, LARGEST_PAPERS],
        default="medium",
        help=f"targets are for medium, the default; {LARGEST_PAPERS} is papers where the disk has room, else a quarter",
    )
    parser.add_argument(
        "--run",
        type=Path,
        dest="folder",
        help="the folder of this run, to go on with an earlier one; benchmarks/runs/DATE-MACHINE-SIZE by default",
    )
    parser.add_argument(
        "--again",
        nargs="*",
        metavar="SECTION[:LINE]",
        help="measure these once more, or all if none is named; otherwise what is there stays",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="SECTION[:LINE]",
        help="leave the other sections and lines for another time",
    )
    parser.add_argument(
        "--peers",
        metavar="all|light|none|NAME,...",
        help="light leaves out those that take minutes; names leave out all others",
    )
    add_places(parser)


def run_all(arguments: argparse.Namespace, sections: Mapping[str, Section]) -> None:
    """Measure what is missing; raises at the end if a section failed, once all others are there."""
    size, work = SIZES[arguments.size], arguments.work.absolute()
    chosen = [name for name in sections if size.sections is None or name in size.sections]
    only = lines_by_section(arguments.only or chosen)
    again = lines_by_section([*only] if arguments.again == [] else arguments.again or [])
    if unknown := sorted({*again, *only} - set(chosen)):
        raise SystemExit(f"{', '.join(unknown)} is not among {', '.join(chosen)}")
    check_peers(arguments, [sections[name] for name in chosen])
    arguments.folder = arguments.folder or default(arguments.size)
    graphmill, folder = Graphmill(arguments.command), arguments.folder
    for place in (folder, work):
        place.mkdir(parents=True, exist_ok=True)
    about = described(folder, arguments.size, work, graphmill)
    # The report keeps to their order, which goes from files to training.
    about["sections"] = chosen
    about["lines"] = {name: lines_of(defaults(sections[name])) for name in chosen}
    write(folder / MACHINE, about)
    failed = []
    for name in only:
        file, own = folder / f"{name}.json", choices(sections[name], arguments, size)
        earlier = json.loads(file.read_text())["result"] if is_measured(file) else {}
        lines = lines_to_measure(name, own, earlier, only[name], again.get(name))
        if lines == []:
            print(f"\n{name}: is in {file}")
            continue
        if lines is not None:
            own.lines = lines
        print(f"\n=== {name} ===", flush=True)
        keeper = Keeper(file, about, earlier, Surroundings(work), graphmill)
        own.after_line = keeper.keep_result
        try:
            keeper.keep_result(sections[name].run(own))
        except (OSError, RuntimeError, SubprocessError, SystemExit) as error:
            failure = f"{type(error).__name__}: {error}"
            print(f"  failed: {failure}", flush=True)
            failed.append(f"{name}: {failure}")
            # What was measured before it failed is better than nothing.
            if not is_measured(file):
                keeper.keep({"failure": failure})
    print(f"\nraw numbers: {folder}\nthe report of them: python -m benchmarks.report {folder}")
    if failed:
        raise SystemExit("\n".join(failed))


def lines_by_section(names: Iterable[str]) -> dict[str, list[str]]:
    """The lines that are named after their section and a colon; none where the whole section is."""
    found: dict[str, list[str]] = {}
    for name in names:
        section, _, line = name.partition(":")
        found.setdefault(section, []).extend([line] if line else [])
    return found


def lines_of(own: argparse.Namespace) -> list[str]:
    """The lines of a section, if it has any."""
    lines: list[str] = getattr(own, "lines", [])
    return lines


def lines_to_measure(
    section: str,
    own: argparse.Namespace,
    earlier: Mapping[str, Any],
    only: list[str],
    again: list[str] | None,
) -> list[str] | None:
    """The lines of a section that are missing or wanted again; None if it has none and is to be measured whole."""
    known = lines_of(own)
    if unknown := sorted({*only, *(again or [])} - set(known)):
        raise SystemExit(
            f"{section}: {', '.join(unknown)} is not among its lines: {', '.join(known) or 'it has none'}"
        )
    if not known:
        return None if not earlier or again is not None else []
    wanted_again = known if again == [] else again or []
    there = earlier.get("lines", {})
    return [line for line in only or known if line not in there or line in wanted_again]


def default(size: str) -> Path:
    """The folder of today's run on this machine."""
    return RUNS / f"{datetime.now(timezone.utc):%Y-%m-%d}-{machine.name()}-{size}"


def described(folder: Path, size: str, work: Path, graphmill: Graphmill) -> dict[str, Any]:
    """The machine of this run, which must be the same when it is gone on with."""
    file = folder / MACHINE
    about = {"size": size, **machine.describe(work, graphmill)}
    if file.exists():
        before: dict[str, Any] = json.loads(file.read_text())
        for key in ("size", "processor", "cores", "memory_bytes", "kernel"):
            if before[key] != about[key]:
                raise SystemExit(
                    f"{folder} has {key} {before[key]}, and here it is {about[key]}: name another folder with --run"
                )
        return before
    versions = machine.versions(graphmill, work / "peers")
    return {**about, "begun": now(), "versions": versions}


def is_measured(file: Path) -> bool:
    """Whether a section was measured to its end."""
    return file.exists() and "failure" not in json.loads(file.read_text())


def defaults(section: Section) -> argparse.Namespace:
    """What a section does if nothing else is asked of it."""
    parser = argparse.ArgumentParser()
    section.add_arguments(parser)
    return parser.parse_args([])


def choices(section: Section, arguments: argparse.Namespace, size: Size) -> argparse.Namespace:
    """A section's own defaults, with those of the run's choices that it knows."""
    own = defaults(section)
    shared = ("work", "command", "folder")
    wanted = {"scale": size.scale, **{name: getattr(arguments, name) for name in shared}}
    if size.repeats is not None:
        wanted["repeats"] = size.repeats
    for name, value in wanted.items():
        if hasattr(own, name):
            setattr(own, name, value)
    peers = arguments.peers or ("all" if size.heavy_peers else "light")
    if hasattr(own, "peers") and peers != "all":
        own.peers = chosen_peers(peers, own.peers)
    return own


def check_peers(arguments: argparse.Namespace, sections: Iterable[Section]) -> None:
    """Refuse the name of a peer that no section has: a typing mistake would leave out whom it meant."""
    if arguments.peers in (None, "all", "light", "none"):
        return
    every = [getattr(defaults(section), "peers", []) for section in sections]
    known = sorted({name for peers in every for name in peers})
    if unknown := sorted({*arguments.peers.split(",")} - {*known}):
        raise SystemExit(f"{', '.join(unknown)} is not among {', '.join(known)}")


def chosen_peers(wanted: str, known: list[str]) -> list[str]:
    """Those of a section's peers that a run is held against."""
    if wanted in ("light", "none"):
        return [name for name in known if wanted == "light" and name not in HEAVY]
    return [name for name in known if name in wanted.split(",")]


@dataclass(frozen=True)
class Keeper:
    """Writes what a section has found so far, beside the lines that earlier runs of it left."""

    file: Path
    about: dict[str, Any]
    earlier: Mapping[str, Any]
    surroundings: Surroundings
    graphmill: Graphmill

    def keep_result(self, result: dict[str, Any]) -> None:
        """Some of its lines, or all that it found."""
        self.about["versions"] = machine.versions(self.graphmill, self.surroundings.work / "peers")
        for line in result.get("lines", {}).values():
            # Those before it have theirs already.
            line |= {"begun": self.surroundings.begun, **self.version, **line}
        has_lines = "lines" in self.earlier
        self.keep({"result": merged(self.earlier, result) if has_lines else result})

    def keep(self, found: Mapping[str, Any]) -> None:
        """A result or a failure."""
        write(self.file.with_name(MACHINE), self.about)
        content = {"section": self.file.stem, "size": self.about["size"], **self.version}
        write(self.file, {**content, **self.surroundings.until_now(), **found})

    @property
    def version(self) -> dict[str, Any]:
        """What is measured."""
        return {key: self.about["versions"][key] for key in ("graphmill", "commit")}


class Surroundings:
    """The page cache, the load and the disk around a section that begins now."""

    def __init__(self, work: Path) -> None:
        """Look at them."""
        self.begun, self.start, self.work = now(), time.perf_counter(), work
        self.load, self.cached = os.getloadavg()[0], machine.page_cache()
        self.counted = machine.disk_counters(work)

    def until_now(self) -> dict[str, Any]:
        """What they were before, and what has become of them."""
        before, after = self.counted, machine.disk_counters(self.work)
        return {
            "begun": self.begun,
            "seconds": time.perf_counter() - self.start,
            "load_before": self.load,
            "page_cache_bytes": {"before": self.cached, "after": machine.page_cache()},
            # Of everybody on this machine, and making the inputs included.
            "disk": before and after and {key: after[key] - before[key] for key in before},
        }


def now() -> str:
    """The time, for the file."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def write(file: Path, content: dict[str, Any]) -> None:
    """Write a file so that it is there whole or not at all. Where the project lies on this machine is left out."""
    aside = file.with_suffix(".unfinished")
    text = json.dumps(content, indent=1) + "\n"
    aside.write_text(text.replace(f"{PROJECT}/", ""))
    os.replace(aside, file)
