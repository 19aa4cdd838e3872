"""The long runs: what they name exists, their totals add up, and what was not done is not counted."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from torture.report import complete, table
from torture.rows import ROWS, Row
from torture.run import Runner
from torture.state import State
from torture.step import NotCounted, Step, passed

ROOT = Path(__file__).parents[1]
STEPS = [step for row in ROWS for step in row.steps]


def functions_of(crate: Path) -> str:
    text = " ".join(path.read_text() for path in crate.rglob("*.rs"))
    return " ".join(re.findall(r"\bfn (\w+)", text))


def test_rows_and_steps_have_names_of_their_own() -> None:
    # 26 to 35 are kept for promises of capabilities to come.
    assert [row.number for row in ROWS] == [*range(1, 26), *range(36, len(ROWS) + 11)]
    assert len({step.name for step in STEPS}) == len(STEPS)
    assert all(0 < step.piece <= step.asked for step in STEPS if not step.name.startswith("fuzz"))


@pytest.mark.parametrize("step", STEPS, ids=lambda step: str(step.name))
def test_what_a_step_names_exists(step: Step) -> None:
    """A test that was renamed would be tried no more."""
    command = step.command(1, 0)
    if command[:2] == ["cargo", "test"]:
        crate = ROOT / "crates" / command[command.index("--package") + 1]
        known = functions_of(crate)
        assert [name for name in command[command.index("--") + 1 :] if name not in known] == []
    elif "pytest" in command:
        file = next(part for part in command if part.endswith(".py"))
        known = " ".join(re.findall(r"^def (\w+)", (ROOT / file).read_text(), re.MULTILINE))
        assert all(part in known for part in command[-1].split(" or "))
    elif "fuzz" in command:
        assert (ROOT / "fuzz/fuzz_targets" / f"{step.name.split()[1]}.rs").is_file()
    else:
        assert (ROOT / (command[2].replace(".", "/") + ".py")).is_file()


def said(text: str, asked: int = 10, piece: int = 4) -> Step:
    """A step whose pieces print something."""
    return Step(
        *("said", "words", asked, piece),
        lambda rounds, number: [sys.executable, "-c", text],
        lambda output, rounds: min(rounds, 10 * passed(output, 1)),
    )


def runner(folder: Path, deadline: float | None = None) -> Runner:
    return Runner(State(folder / "state.json"), folder / "logs", [], deadline)


def test_pieces_and_runs_add_up(tmp_path: Path) -> None:
    show = "import os; print(os.environ['GRAPHMILL_ROUNDS'], os.environ['GRAPHMILL_PIECE']);"
    step = said(show + f"open({str(tmp_path / 'seen')!r}, 'a').write('x'); print('1 passed')")
    first = runner(tmp_path)
    assert first.run_piece(step, first.state.of("said"), 4)
    # Another run, as after a kill.
    again = runner(tmp_path)
    assert again.state.of("said").reached == 4
    again.run(step)
    total = State(tmp_path / "state.json").of("said")
    assert (total.reached, total.pieces, total.failures) == (10, 3, 0)
    assert (tmp_path / "seen").read_text() == "xxx"
    rows = [Row(1, "words are said", [step])]
    assert complete(rows, again.state)
    assert "| 10    | 10      | 0        |" in table(rows, again.state)


def test_a_failure_is_kept_and_told(tmp_path: Path) -> None:
    one = runner(tmp_path)
    step = said("print('no'); raise SystemExit(3)")
    one.run(step)
    total = one.state.of("said")
    assert (total.reached, total.failures) == (0, 1)
    assert "no" in next((tmp_path / "logs").iterdir()).read_text()
    assert not complete([Row(1, "words are said", [step])], one.state)


def test_what_was_skipped_or_not_run_is_not_counted(tmp_path: Path) -> None:
    for text in ("print('SKIPPED [1] needs a moon')", "print('0 passed')"):
        one = runner(tmp_path / str(len(text)))
        step = said(text)
        one.run(step)
        total = one.state.of("said")
        assert (total.reached, total.failures) == (0, 0)
        assert total.unable
        assert "cannot run here" in table([Row(1, "words are said", [step])], one.state)
    with pytest.raises(NotCounted, match="1 of 2"):
        passed("test result: ok. 1 passed; 0 failed", 2)


def test_no_piece_begins_when_time_is_up(tmp_path: Path) -> None:
    one = runner(tmp_path, deadline=0.0)
    one.run(said("print('1 passed')"))
    assert one.state.of("said").pieces == 0
