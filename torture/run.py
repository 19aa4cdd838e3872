"""Pieces of a step, one after the other, until what was asked is reached."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import IO

from torture.state import State, Total
from torture.step import ROOT, NotCounted, Step

LONGEST_PIECE = 3600


class Runner:
    """Runs steps and keeps their totals."""

    def __init__(self, state: State, logs: Path, under: list[str], deadline: float | None) -> None:
        self.state = state
        self.logs = logs
        self.under = under
        self.deadline = deadline

    def out_of_time(self) -> bool:
        """Whether no further piece should begin."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def run(self, step: Step) -> None:
        """Run pieces until all is reached, one fails, or time is up."""
        total = self.state.of(step.name)
        total.unable = step.lacks()
        while total.reached < step.asked and total.unable is None and not self.out_of_time():
            rounds = min(step.piece, step.asked - total.reached)
            if not self.run_piece(step, total, rounds):
                break
        self.state.save()

    def run_piece(self, step: Step, total: Total, rounds: int) -> bool:
        """Run one piece, count it, and tell whether another one may follow."""
        number = total.pieces + total.failures
        command = [*self.under, *step.command(rounds, number)]
        variables = {"GRAPHMILL_ROUNDS": str(rounds), "GRAPHMILL_PIECE": str(number)}
        if step.asked == 1:
            # What tries everything has no rounds; its tests keep their own numbers.
            variables = {}
        started = time.perf_counter()
        log = self.logs / f"{step.name.replace(' ', '-').replace('/', '-')[:80]}.{number}.txt"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w") as output:
            print(f"{variables} {command}", file=output, flush=True)
            code = outcome(command, variables, output)
        total.seconds += time.perf_counter() - started
        text = log.read_text(errors="replace")
        if code != 0:
            total.failures += 1
            print(f"  FAILED, {'it hangs' if code is None else f'exit {code}'}: {log}")
        else:
            try:
                total.reached += step.count(text, rounds)
                total.pieces += 1
                log.unlink()
            except NotCounted as why:
                total.unable = str(why)
                print(f"  not counted: {why}: {log}")
        self.state.save()
        return code == 0 and total.unable is None


def outcome(command: list[str], variables: dict[str, str], output: IO[str]) -> int | None:
    """Exit code of a command, or nothing if it had to be ended."""
    try:
        return subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | variables,
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=LONGEST_PIECE,
        ).returncode
    except subprocess.TimeoutExpired:
        return None
