"""Write the report of a run: one HTML page, and a table for the README.

    python -m benchmarks.report                               # the newest run below benchmarks/runs
    python -m benchmarks.report benchmarks/runs/2026-11-16-... --readme README.md

The page stands beside the raw numbers that it was made from, and needs nothing else to be read.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.reporting import readme, recorded
from benchmarks.reporting.page import page


def main() -> None:
    """Read a run, write its page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report", description=__doc__)
    parser.add_argument("run", type=Path, nargs="?", help="the folder of a run; the newest")
    parser.add_argument("--html", type=Path, help="where to write; report.html in the folder")
    parser.add_argument("--readme", type=Path, help="rewrite the table in this file, too")
    arguments = parser.parse_args()
    run = recorded.read(arguments.run or recorded.newest(recorded.RUNS))
    target = arguments.html or run.folder / "report.html"
    target.write_text(page(run), encoding="utf-8")
    print(f"wrote {target}")
    if arguments.readme and run.size == "small":
        print(
            f"left {arguments.readme} alone: a small run tries the benchmark, its figures say nothing"
        )
    elif arguments.readme and run.left_out:
        print(f"left {arguments.readme} alone: the run has no {', '.join(run.left_out)}")
    elif arguments.readme:
        readme.rewrite(arguments.readme, run)
        print(f"wrote the table in {arguments.readme}")


if __name__ == "__main__":
    main()
