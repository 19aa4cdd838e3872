"""Run one section of the benchmarks, or all of them as ``make bench`` does, and print their tables.

Figures are medians of interleaved rounds on one machine in one run, so read ratios, not absolute numbers. Raw numbers
go to JSON files: for one section to the one that is named, for all into the folder of the run.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks import features, ingest, kernels, orders, sampling, stores, topology, training
from benchmarks.training_inputs import largest_papers
from benchmarks.whole import LARGEST_PAPERS, add_run_arguments, run_all

SECTIONS = {
    "stores": stores,
    "ingest": ingest,
    "sampling": sampling,
    "features": features,
    "orders": orders,
    "topology": topology,
    "kernels": kernels,
    "training": training,
}


def main() -> None:
    """Run the section that was named, or all of them."""
    arguments = parser().parse_args()
    if arguments.section == "all":
        if arguments.size == LARGEST_PAPERS:
            arguments.size = largest_papers(arguments.work)
            print(f"size {arguments.size}: the largest that this disk has room for")
        run_all(arguments, SECTIONS)
        return
    result = SECTIONS[arguments.section].run(arguments)
    if arguments.json:
        arguments.json.write_text(json.dumps({arguments.section: result}, indent=2) + "\n")


def parser() -> argparse.ArgumentParser:
    """The command line; every section adds what is its own."""
    every = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    sections = every.add_subparsers(dest="section", metavar="SECTION", required=True)
    add_run_arguments(sections.add_parser("all", help="every section, into the folder of a run"))
    for name, section in SECTIONS.items():
        own = sections.add_parser(name, help=(section.__doc__ or "").splitlines()[0])
        own.add_argument("--json", type=Path, help="write the raw numbers here")
        section.add_arguments(own)
    return every


if __name__ == "__main__":
    main()
