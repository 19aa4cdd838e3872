"""Run rows of promises for long: ``python -m torture [--rows 2,4]``; what earlier runs reached is kept."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from pathlib import Path

from torture.report import complete, table
from torture.rows import ROWS
from torture.run import Runner
from torture.state import State
from torture.step import TARGET


def main() -> int:
    """Parse, run, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("--rows", default="", help="numbers, such as 2,4; all without it")
    parser.add_argument("--state", type=Path, default=TARGET / "torture" / "state.json")
    parser.add_argument("--under", default="", help="a command before every other, such as nice")
    parser.add_argument("--for", dest="seconds", type=float, help="begin no piece after so long")
    parser.add_argument("--report", action="store_true", help="run nothing, print the table")
    options = parser.parse_args()
    asked = [int(number) for number in options.rows.split(",") if number]
    unknown = set(asked) - {row.number for row in ROWS}
    if unknown:
        parser.error(f"there is no row {min(unknown)}")
    rows = [row for row in ROWS if not asked or row.number in asked]
    state = State(options.state)
    if not options.report:
        deadline = None if options.seconds is None else time.monotonic() + options.seconds
        logs = options.state.parent / "logs"
        runner = Runner(state, logs, shlex.split(options.under), deadline)
        for row in rows:
            for step in row.steps:
                print(f"{row.number}: {step.name}", flush=True)
                runner.run(step)
    print(table(rows, state))
    return 0 if complete(rows, state) else 1


if __name__ == "__main__":
    sys.exit(main())
