"""Run every section of the benchmarks and print their tables; ``make bench`` calls this.

Figures are medians of interleaved rounds on one machine in one run, so read ratios, not absolute numbers. Raw numbers
go to a JSON file beside the tables.
"""

from __future__ import annotations

import argparse
import json
import platform
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import stores

SECTIONS = {"stores": stores.run}
SIZES = {"small": 1 << 28, "medium": 1 << 33}


def main() -> None:
    """Parse the choice of sections and size, run them, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "sections", nargs="*", default=list(SECTIONS), help="which sections; all by default"
    )
    parser.add_argument("--size", choices=SIZES, default="medium", help="how much data is made")
    parser.add_argument(
        "--folder", type=Path, help="where data is made; a temporary folder by default"
    )
    parser.add_argument("--json", type=Path, help="write the raw numbers here")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        results: dict[str, Any] = {"machine": machine(), "size": arguments.size}
        for section in arguments.sections:
            results[section] = SECTIONS[section](Path(folder), SIZES[arguments.size])
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n")


def machine() -> dict[str, str]:
    """What the figures were taken on."""
    return {
        "system": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "python": platform.python_version(),
    }


if __name__ == "__main__":
    main()
