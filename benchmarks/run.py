"""Run sections of the benchmarks and print their tables; ``make bench`` runs all of them.

Figures are medians of interleaved rounds on one machine in one run, so read ratios, not absolute numbers. Raw numbers
go to a JSON file beside the tables.
"""

from __future__ import annotations

import argparse
import json
import platform
from pathlib import Path
from typing import Any

from benchmarks import features, ingest, orders, sampling, stores, topology, training

SECTIONS = {
    "stores": stores,
    "ingest": ingest,
    "sampling": sampling,
    "features": features,
    "orders": orders,
    "topology": topology,
    "training": training,
}


def main() -> None:
    """Run the section that was named, or each with its defaults."""
    arguments = parser().parse_args()
    chosen = [arguments.section] if arguments.section else list(SECTIONS)
    results: dict[str, Any] = {"machine": machine()}
    for name in chosen:
        own = arguments if arguments.section else parser().parse_args([name])
        results[name] = SECTIONS[name].run(own)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n")


def parser() -> argparse.ArgumentParser:
    """The command line; every section adds what is its own."""
    whole = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    whole.add_argument("--json", type=Path, help="write the raw numbers here")
    sections = whole.add_subparsers(dest="section", metavar="SECTION")
    for name, section in SECTIONS.items():
        own = sections.add_parser(name, help=(section.__doc__ or "").splitlines()[0])
        # Not set by default, or it would undo what stands before the section.
        own.add_argument("--json", type=Path, default=argparse.SUPPRESS, help="as above")
        section.add_arguments(own)
    return whole


def machine() -> dict[str, str]:
    """What the figures were taken on."""
    return {
        "system": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "python": platform.python_version(),
    }


if __name__ == "__main__":
    main()
