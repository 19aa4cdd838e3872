"""A whole run of the benchmarks keeps what it measured, goes on where it stopped, and tells what failed."""

from __future__ import annotations

import argparse
import copy
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import machine, rates, whole
from benchmarks.child import Command, CommandFailed, measure
from benchmarks.contest import Contestant
from benchmarks.curves import Curve
from benchmarks.graphmill_command import Graphmill
from benchmarks.machine import block_device
from benchmarks.musts import Must, show
from benchmarks.rate_bench import RateBench
from benchmarks.run import SECTIONS
from benchmarks.run import parser as command_line
from benchmarks.sections import run_lines
from benchmarks.training_inputs import largest_papers
from benchmarks.whole import SIZES

MIB = 1 << 20
#: A command that tells its version and cannot measure a disk, which would take seconds.
COMMAND = '#!/bin/sh\n[ "$1" = --version ] && echo "graphmill 9.9"\nexit 0\n'


class Counted:
    """A section that counts how often it was measured."""

    def __init__(self, measure: Callable[[argparse.Namespace], dict[str, Any]]) -> None:
        self.measure, self.times = measure, 0

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--scale", default="full")
        parser.add_argument("--peers", default=["pandas", "webgraph"])

    def run(self, arguments: argparse.Namespace) -> dict[str, Any]:
        self.times += 1
        return self.measure(arguments)


def seen(arguments: argparse.Namespace) -> dict[str, Any]:
    return {"scale": arguments.scale, "peers": arguments.peers, "musts": []}


def broken(_: argparse.Namespace) -> dict[str, Any]:
    raise OSError("no disk here")


@pytest.fixture
def asked(tmp_path: Path) -> Callable[..., argparse.Namespace]:
    """The choices of a run in a temporary folder."""
    command = tmp_path / "graphmill"
    command.write_text(COMMAND)
    command.chmod(0o755)
    places = ["--run", str(tmp_path / "run"), "--work", str(tmp_path / "work")]

    def ask(*more: str) -> argparse.Namespace:
        return command_line().parse_args(["all", *places, "--command", str(command), *more])

    return ask


def told(folder: Path, name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "run" / f"{name}.json").read_text())
    return content


def test_a_run_goes_on_where_it_stopped(
    asked: Callable[..., argparse.Namespace], tmp_path: Path
) -> None:
    sections = {"first": Counted(seen), "second": Counted(broken), "third": Counted(seen)}
    small = ("--size", "small")
    with pytest.raises(SystemExit, match="second: OSError: no disk here"):
        whole.run_all(asked(*small), sections)
    assert told(tmp_path, "second")["failure"] == "OSError: no disk here"
    assert "result" not in told(tmp_path, "second")
    sections["second"].measure = seen
    whole.run_all(asked(*small), sections)
    assert [section.times for section in sections.values()] == [1, 2, 1]
    whole.run_all(asked(*small, "--again", "third"), sections)
    assert [section.times for section in sections.values()] == [1, 2, 2]
    whole.run_all(asked(*small, "--again"), sections)
    assert [section.times for section in sections.values()] == [2, 3, 3]
    whole.run_all(asked(*small, "--only", "third", "first", "--again", "third"), sections)
    assert [section.times for section in sections.values()] == [2, 3, 4]
    assert told(tmp_path, "machine")["sections"] == ["first", "second", "third"]
    with pytest.raises(SystemExit, match="fourth is not among"):
        whole.run_all(asked(*small, "--again", "fourth"), sections)


class Lined(Counted):
    """A section of two lines."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--lines", default=["warm", "cold"])


def lined(arguments: argparse.Namespace) -> dict[str, Any]:
    """What a section leaves; its figures are the number of lines that were measured with them."""
    number = len(arguments.lines)
    return {
        "absent": {},
        "contests": {f"{line}: rows": number for line in arguments.lines},
        "musts": [{"name": f"{line}, fast", "measured": number} for line in arguments.lines],
        "curves": [],
        "lines": {
            line: {"contests": [f"{line}: rows"], "musts": [f"{line}, fast"], "curves": []}
            for line in arguments.lines
        },
    }


def test_a_line_that_is_measured_again_replaces_itself_alone(
    asked: Callable[..., argparse.Namespace], tmp_path: Path
) -> None:
    sections = {"first": Lined(lined), "second": Counted(seen)}
    small = ("--size", "small")
    # A section that was never measured is measured whole.
    whole.run_all(asked(*small, "--again", "first:warm"), sections)
    assert told(tmp_path, "first")["result"]["contests"] == {"warm: rows": 2, "cold: rows": 2}
    whole.run_all(asked(*small, "--again", "first:warm"), sections)
    assert [section.times for section in sections.values()] == [2, 1]
    result = told(tmp_path, "first")["result"]
    assert result["contests"] == {"warm: rows": 1, "cold: rows": 2}
    assert [(must["name"], must["measured"]) for must in result["musts"]] == [
        ("warm, fast", 1),
        ("cold, fast", 2),
    ]
    assert all(line["graphmill"] == "graphmill 9.9" for line in result["lines"].values())
    # A line that fails leaves what there was.
    sections["first"].measure = broken
    with pytest.raises(SystemExit, match="first: OSError"):
        whole.run_all(asked(*small, "--again", "first:cold"), sections)
    assert told(tmp_path, "first")["result"] == result
    # A line that was left for another time is measured when nothing is asked for again.
    sections["first"] = Lined(lined)
    (tmp_path / "run" / "first.json").unlink()
    whole.run_all(asked(*small, "--only", "first:cold"), sections)
    assert told(tmp_path, "first")["result"]["contests"] == {"cold: rows": 1}
    whole.run_all(asked(*small), sections)
    assert told(tmp_path, "first")["result"]["contests"] == {"cold: rows": 1, "warm: rows": 1}
    whole.run_all(asked(*small), sections)
    assert sections["first"].times == 2
    for wrong in ("first:hot", "second:warm"):
        with pytest.raises(SystemExit, match="is not among its lines"):
            whole.run_all(asked(*small, "--again", wrong), sections)


def test_lines_before_one_that_fails_are_kept(
    asked: Callable[..., argparse.Namespace], tmp_path: Path
) -> None:
    def fails_in_the_second(arguments: argparse.Namespace) -> dict[str, Any]:
        arguments.after_line(lined(argparse.Namespace(lines=["warm"])))
        raise OSError("no disk here")

    section = Lined(fails_in_the_second)
    with pytest.raises(SystemExit, match="first: OSError: no disk here"):
        whole.run_all(asked("--size", "small"), {"first": section})
    assert [*told(tmp_path, "first")["result"]["lines"]] == ["warm"]
    assert "failure" not in told(tmp_path, "first")
    assert told(tmp_path, "machine")["lines"] == {"first": ["warm", "cold"]}
    # Gone on with, it measures what is missing alone.
    section.measure = lined
    whole.run_all(asked("--size", "small"), {"first": section})
    assert told(tmp_path, "first")["result"]["contests"] == {"warm: rows": 1, "cold: rows": 1}


def test_a_section_tells_which_line_left_what(
    asked: Callable[..., argparse.Namespace], tmp_path: Path
) -> None:
    class Bench:
        def __init__(self) -> None:
            self.absent: dict[str, str] = {}
            self.results: dict[str, Any] = {}
            self.musts: list[Must] = []
            self.curves: list[Curve] = []

    def warm(bench: Bench) -> None:
        bench.results["warm: rows"] = 1

    def cold(bench: Bench) -> None:
        time.sleep(0.05)
        bench.results["cold: rows"] = 2
        bench.musts.append(Must("cold, fast", 3.0, at_least=2.0))

    arguments = argparse.Namespace(work=tmp_path, lines=["cold", "warm"], scale="full", repeats=1)
    kept: list[dict[str, Any]] = []
    arguments.after_line = lambda result: kept.append(copy.deepcopy(result))
    graphmill = Graphmill(asked().command)
    result = run_lines(arguments, graphmill, {"warm": warm, "cold": cold}, lambda _: Bench())
    assert result["contests"] == {"cold: rows": 2, "warm: rows": 1}
    took = {name: line["seconds"] for name, line in result["lines"].items()}
    assert took["cold"] >= 0.05
    assert took["warm"] >= 0
    assert {
        name: {kind: line[kind] for kind in line if kind != "seconds"}
        for name, line in result["lines"].items()
    } == {
        "cold": {"contests": ["cold: rows"], "musts": ["cold, fast"], "curves": []},
        "warm": {"contests": ["warm: rows"], "musts": [], "curves": []},
    }
    # After each line what there is so far.
    assert [[*found["lines"]] for found in kept] == [["cold"], ["cold", "warm"]]
    assert kept[0]["contests"] == {"cold: rows": 2}
    assert kept[1] == result


def test_a_run_tells_the_machine_and_what_surrounds_a_section(
    asked: Callable[..., argparse.Namespace], tmp_path: Path
) -> None:
    whole.run_all(asked("--size", "small"), {"only": Counted(seen)})
    machine, section = told(tmp_path, "machine"), told(tmp_path, "only")
    assert machine["size"] == section["size"] == "small"
    assert machine["memory_bytes"] > 0
    assert machine["versions"]["graphmill"] == section["graphmill"] == "graphmill 9.9"
    assert machine["disk_profile"] is None, "this command has no --disk"
    assert set(section["page_cache_bytes"]) == {"before", "after"}
    # A small run leaves out who takes minutes to install.
    assert section["result"] == {"scale": "small", "peers": ["pandas"], "musts": []}
    assert sorted(file.name for file in (tmp_path / "run").iterdir()) == [
        "machine.json",
        "only.json",
    ]


def test_a_clone_is_changed_by_its_files_and_not_by_the_runs_in_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def git(*arguments: str) -> None:
        who = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost")
        subprocess.run(["git", "-C", str(tmp_path), *who, *arguments], check=True)

    code, run = tmp_path / "code.py", tmp_path / "benchmarks" / "runs" / "machine.json"
    run.parent.mkdir(parents=True)
    for file in (code, run):
        file.write_text("before")
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "all")
    monkeypatch.setattr(machine, "ROOT", tmp_path)
    clean = machine.commit()
    run.write_text("after")
    assert machine.commit() == clean
    code.write_text("after")
    assert machine.commit() == f"{clean}+"


@pytest.mark.parametrize(
    ("wanted", "found"),
    [("none", []), ("light", ["pandas"]), ("webgraph", ["webgraph"])],
)
def test_a_run_is_held_against_the_peers_that_are_named(
    asked: Callable[..., argparse.Namespace], tmp_path: Path, wanted: str, found: list[str]
) -> None:
    whole.run_all(asked("--size", "small", "--peers", wanted), {"only": Counted(seen)})
    assert told(tmp_path, "only")["result"]["peers"] == found


def test_a_run_knows_the_peers_that_are_named(asked: Callable[..., argparse.Namespace]) -> None:
    section = Counted(seen)
    with pytest.raises(SystemExit, match="webgaph is not among pandas, webgraph"):
        whole.run_all(asked("--size", "small", "--peers", "pandas,webgaph"), {"only": section})
    assert section.times == 0


def test_a_run_does_not_tell_where_the_project_lies(
    asked: Callable[..., argparse.Namespace], tmp_path: Path
) -> None:
    path = Path(whole.__file__).parent / "data" / "graph.gl"
    whole.run_all(asked("--size", "small"), {"only": Counted(lambda _: {"path": str(path)})})
    assert told(tmp_path, "only")["result"] == {"path": "benchmarks/data/graph.gl"}


def test_a_run_is_of_one_size(asked: Callable[..., argparse.Namespace]) -> None:
    sections = {"only": Counted(seen)}
    whole.run_all(asked("--size", "small"), sections)
    with pytest.raises(SystemExit, match="size small, and here it is medium"):
        whole.run_all(asked("--size", "medium"), sections)


def test_a_size_that_the_disk_cannot_hold_is_refused_before_anything_is_written(
    asked: Callable[..., argparse.Namespace], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = SimpleNamespace(total=100 * 10**9, used=53 * 10**9, free=47 * 10**9)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    for size, wanted in (("quarter-papers", 48), ("papers", 190)):
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        with pytest.raises(SystemExit, match=f"--scale {size} takes {wanted} GB"):
            whole.run_all(asked("--size", size), SECTIONS)
    assert [path for path in (tmp_path / "work").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("free", "size"), [(189 * 10**9, "quarter-papers"), (190 * 10**9, "papers")]
)
def test_as_much_of_papers_is_tried_as_the_disk_has_room_for(
    free: int, size: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free - MIB))
    # What a run before this one has made counts as room.
    made = tmp_path / "training-papers" / "made"
    made.parent.mkdir()
    made.write_bytes(bytes(MIB))
    assert largest_papers(tmp_path) == size


@pytest.mark.parametrize("size", SIZES)
def test_every_section_knows_the_scales_of_the_sizes_that_name_it(
    asked: Callable[..., argparse.Namespace], size: str
) -> None:
    for name, section in SECTIONS.items():
        if name in (SIZES[size].sections or SECTIONS):
            own = whole.choices(section, asked("--size", size), SIZES[size])
            # Counts need no size.
            if name == "kernels":
                assert not hasattr(own, "scale")
                continue
            assert command_line().parse_args([name, "--scale", own.scale]).scale == own.scale


def test_targets_have_one_form() -> None:
    assert Must("speed", 3.0, at_least=2.0, headline=True).record() == {
        "name": "speed",
        "measured": 3.0,
        "at_least": 2.0,
        "at_most": None,
        "unit": "x",
        "met": True,
        "headline": True,
    }
    assert Must("memory", 3.0, at_most=2.0, unit="MiB").record()["met"] is False
    assert Must("never", None, at_least=1.0).record()["met"] is None


def test_lines_without_a_target_have_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    show([], "")
    assert capsys.readouterr().out == ""
    show([Must("speed", 3.0, at_least=2.0)], " (small)")
    assert "speed" in capsys.readouterr().out


def test_a_process_tells_the_memory_it_held_and_what_it_read(tmp_path: Path) -> None:
    file = tmp_path / "table"
    file.write_bytes(bytes(32 * MIB))
    code = """
import mmap, os, sys, time
with open(sys.argv[1], "rb") as file:
    os.fsync(file.fileno())
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    held, seen = bytearray(b"x" * (48 << 20)), sum(mapped[::4096])
    time.sleep(0.2)
"""
    figures = measure(Command(["python3", "-c", code, str(file)]), timeout=60)
    assert 48 * MIB <= figures.peak_anonymous < 200 * MIB
    assert 32 * MIB <= figures.peak_file < 200 * MIB
    assert figures.peak_resident >= 80 * MIB
    # A file system in memory has no disk to read from.
    if block_device(tmp_path) is not None:
        assert 32 * MIB <= figures.read_bytes < 200 * MIB
    with pytest.raises(CommandFailed, match="exit code 3: gone"):
        measure(Command(["sh", "-c", "echo gone >&2; exit 3"]), timeout=60)


def test_a_run_that_is_interrupted_takes_its_process_with_it(tmp_path: Path) -> None:
    note = tmp_path / "process"

    def interrupt() -> None:
        # Its timer tells that the process is being waited for.
        while not any(isinstance(thread, threading.Timer) for thread in threading.enumerate()):
            time.sleep(0.01)
        while not note.exists() or not note.read_text():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    # A shell lets what runs in its background ignore interrupts, and this test with it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        watcher = threading.Thread(target=interrupt)
        watcher.start()
        with pytest.raises(KeyboardInterrupt):
            measure(Command(["sh", "-c", 'echo $$ > "$0"; exec sleep 60', str(note)]), timeout=60)
        watcher.join()
    finally:
        signal.signal(signal.SIGINT, before)
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


def test_a_peer_that_is_far_behind_is_run_once(tmp_path: Path) -> None:
    def contestant(name: str, rate: int) -> Contestant:
        said = json.dumps({"amount": rate, "seconds": 1.0})
        command = Command([sys.executable, "-c", f"print('{said}')"])
        return Contestant(name, "", command, [], lambda _: "")

    rates_of = {"graphmill": 1, "fast peer": 100, "near peer": 51, "slow peer": 49, "fio": 2}
    bench = RateBench(absent={}, repeats=3, out=tmp_path / "out")
    contestants = [contestant(name, rate) for name, rate in rates_of.items()]
    rivals = ("fast", "near", "slow")
    outcomes = bench.hold("contest", "batches", contestants, rivals)
    runs = {name: len(outcome.runs) for name, outcome in outcomes.items()}
    assert runs == {"graphmill": 3, "fast peer": 3, "near peer": 3, "slow peer": 1, "fio": 3}
    assert rates.best(outcomes, [*rivals]) == 100
    everybody = bench.hold("everybody", "batches", contestants)
    assert {len(outcome.runs) for outcome in everybody.values()} == {3}
