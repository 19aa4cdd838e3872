"""Instructions of the hot kernels are counted without what surrounds them, and held against an earlier run."""

from __future__ import annotations

import itertools
import json
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from benchmarks import (
    compiled_programs,
    kernel_baseline,
    kernel_inputs,
    kernel_runs,
    kernels,
    whole,
)
from benchmarks.child import Command, CommandFailed
from benchmarks.graphmill_command import Graphmill
from benchmarks.instruction_counts import Callgrind, Counted, Kernel, per_unit
from benchmarks.kernel_runs import Programs, named, sampled_edges
from benchmarks.run import parser as command_line

COUNTED = {"rustc": "rustc 1.0", "valgrind": "valgrind-3.0"}
LOOP = 'i=0; while [ "$i" -lt "$0" ]; do i=$((i+1)); done; echo "$i"'


class Arithmetic:
    """Counts what it is told: a start, and so much for each unit, which is the command's only argument."""

    def __init__(self, start: Iterable[int], unit: int) -> None:
        self.start, self.unit = iter(start), unit

    def count(self, command: Command) -> Counted:
        [units] = command.arguments
        return Counted(next(self.start) + self.unit * int(units), units)


def counting(shorter: int, longer: int) -> Kernel:
    return Kernel(
        "unit", Command([str(shorter)]), Command([str(longer)]), lambda _, said: int(said)
    )


def test_the_start_of_a_program_is_not_counted() -> None:
    found = per_unit(Arithmetic(itertools.repeat(1_000_000), 7), counting(10, 30))
    assert (found.instructions, found.spread) == (7.0, 0.0)


def test_the_lower_of_two_counts_is_taken_and_their_distance_told() -> None:
    # The second time, the longer run does 14 instructions on the side.
    found = per_unit(Arithmetic([5, 5, 5, 19], 7), counting(10, 30))
    assert found.instructions == 7.0
    assert found.spread == pytest.approx(0.1)


@pytest.mark.parametrize(("shorter", "longer", "unit"), [(30, 30, 7), (30, 10, 7), (10, 30, 0)])
def test_runs_that_do_not_grow_are_refused(shorter: int, longer: int, unit: int) -> None:
    with pytest.raises(RuntimeError, match="unit: the longer run did"):
        per_unit(Arithmetic(itertools.repeat(5), unit), counting(shorter, longer))


@pytest.fixture
def callgrind() -> Callgrind:
    if shutil.which("valgrind") is None:
        pytest.skip("needs valgrind on the path")
    return Callgrind()


def looping(shorter: int, longer: int) -> Kernel:
    """Turns of a loop, which the shell counts itself."""
    start = ["sh", "-c", LOOP]
    fewer, more = Command([*start, str(shorter)]), Command([*start, str(longer)])
    return Kernel("turn", fewer, more, lambda _, said: int(said))


def test_a_turn_of_a_loop_takes_as_much_however_long_the_loop_is(callgrind: Callgrind) -> None:
    few, many = (per_unit(callgrind, looping(1000, longer)) for longer in (2000, 5000))
    assert max(few.spread, many.spread) <= 0.001
    assert many.instructions == pytest.approx(few.instructions, rel=0.01)
    # What a shell takes to start is many turns, and in none of them.
    start = callgrind.count(looping(0, 1).shorter).instructions
    assert 0 < few.instructions < start / 5
    assert callgrind.version().startswith("valgrind-3.")


def test_a_program_that_fails_under_valgrind_is_told(callgrind: Callgrind) -> None:
    with pytest.raises(CommandFailed, match="sh under valgrind, exit code 3: gone"):
        callgrind.count(Command(["sh", "-c", "echo gone >&2; exit 3"]))


def test_units_are_those_of_the_run() -> None:
    assert sampled_edges(Command([]), '{"edges_per_batch": 2.3333333333, "batches": 3}') == 7
    text = Command(["graphmill", "convert", "/some/edges-4000.csv", "edges-4000.gl"])
    assert named(text, "") == 4000


def test_texts_hold_as_many_units_as_they_are_named_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_inputs, "TEXT_EDGES", (300, 900))
    monkeypatch.setattr(kernel_inputs, "TEXT_ROWS", (2, 5))
    program = tmp_path / "graphmill"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m graphmill "$@"\n')
    program.chmod(0o755)
    graphmill = Graphmill(str(program))
    inputs = kernel_inputs.made(graphmill, tmp_path)
    for text in (*inputs.edges, *inputs.rows):
        _, *lines = text.read_text().splitlines()
        fields = 1 if text in inputs.edges else kernel_inputs.COLUMNS
        assert len(lines) * fields == named(Command(["", "", str(text)]), "")
    assert graphmill.counts(inputs.plain) == graphmill.counts(inputs.packed)
    assert graphmill.shape(inputs.table) == (1 << kernel_inputs.POWER, kernel_inputs.COLUMNS)
    programs = Programs("graphmill", "walk_steps", "read_lists", "gather_rows")
    every = kernel_runs.kernels(programs, inputs, tmp_path)
    assert len({kernel.name for kernel in every}) == len(every)
    for kernel in every:
        for command in (kernel.shorter, kernel.longer):
            if command.arguments[0] == "graphmill":
                assert command.arguments[command.arguments.index("--threads") + 1] == "1"


def recorded(runs: Path, name: str, begun: str, content: dict[str, Any] | None) -> Path:
    """The folder of a run, with what its section left."""
    folder = runs / name
    folder.mkdir(parents=True)
    (folder / "machine.json").write_text(json.dumps({"begun": begun}))
    if content is not None:
        (folder / "kernels.json").write_text(json.dumps(content))
    return folder


def result(**instructions: float) -> dict[str, Any]:
    return {"result": {**COUNTED, "absent": {}, "instructions": instructions}}


def test_the_newest_other_run_with_counts_is_compared_with(tmp_path: Path) -> None:
    assert kernel_baseline.newest(tmp_path, None) is None
    old = recorded(tmp_path, "z-old", "2026-01-01", result(edge=1.0))
    new = recorded(tmp_path, "a-new", "2026-01-02", result(edge=2.0))
    recorded(tmp_path, "without", "2026-01-03", None)
    failed = recorded(tmp_path, "failed", "2026-01-04", {"failure": "OSError: gone"})
    absent = {"result": {"absent": {"valgrind": "none here"}, "instructions": {}}}
    recorded(tmp_path, "absent", "2026-01-05", absent)
    found = kernel_baseline.newest(tmp_path, None)
    assert found == kernel_baseline.Baseline("a-new", **COUNTED, instructions={"edge": 2.0})
    # A run that is measured again is not its own judge.
    found = kernel_baseline.newest(tmp_path, new)
    assert found is not None
    assert found.run == "z-old"
    assert kernel_baseline.named(old).instructions == {"edge": 1.0}
    with pytest.raises(SystemExit, match="has no counts in"):
        kernel_baseline.named(failed)


def test_a_count_may_grow_by_a_twentieth(capsys: pytest.CaptureFixture[str]) -> None:
    then = {"same": 100.0, "little": 100.0, "much": 100.0, "gone": 100.0}
    baseline = kernel_baseline.Baseline("before", **COUNTED, instructions=then)
    now = {"same": 100.0, "little": 104.9, "much": 105.1, "new": 3.0}
    targets = kernel_baseline.targets(now, baseline)
    assert [target.met for target in targets] == [True, True, False, None]
    assert {(target.at_most, target.unit) for target in targets} == {(1.05, "x")}
    assert kernel_baseline.targets(now, None) == []
    kernel_baseline.show(now, baseline)
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["much", "105.1", "100.0", "+5.10%"] in rows
    assert ["new", "3.0", "-", "-"] in rows


def test_another_compiler_is_told() -> None:
    baseline = kernel_baseline.Baseline("before", **COUNTED, instructions={"edge": 1.0})
    assert kernel_baseline.remark(COUNTED, baseline) == ""
    assert "rustc 1.0" in kernel_baseline.remark(COUNTED | {"rustc": "rustc 2.0"}, baseline)


def test_without_valgrind_the_section_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = recorded(tmp_path, "before", "2026-01-01", result(edge=1.0))
    monkeypatch.setattr(shutil, "which", lambda _: None)

    def never() -> str:
        raise AssertionError("nothing is compiled where nothing can be counted")

    monkeypatch.setattr(compiled_programs, "command", never)
    flags = ["kernels", "--baseline", str(before), "--work", str(tmp_path / "work")]
    found = kernels.run(command_line().parse_args(flags))
    assert found["absent"] == {"valgrind": "no command `valgrind` here: install valgrind"}
    assert found["instructions"] == {}
    assert [must["met"] for must in found["musts"]] == [None, None]
    assert "install valgrind" in capsys.readouterr().out


def test_a_whole_run_tells_the_section_where_it_belongs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole, "default", lambda _: tmp_path / "run")
    monkeypatch.setattr(kernels, "run", lambda own: {"folder": str(own.folder)})
    command = shutil.which("true") or ""
    flags = ["all", "--size", "small", "--work", str(tmp_path / "work"), "--command", command]
    whole.run_all(command_line().parse_args(flags), {"kernels": kernels})
    content = json.loads((tmp_path / "run" / "kernels.json").read_text())
    assert content["result"] == {"folder": str(tmp_path / "run")}
