"""Counts of an earlier run, and how those of today stand beside them.

A run that counted nothing is passed over, and so is the run that is being measured: measured again, it would be its own
judge. It must not know how counts came about.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.musts import Must
from benchmarks.reporting.recorded import MACHINE

FILE = "kernels.json"
#: A count may grow by so much before somebody has to look.
AT_MOST = 1.05


@dataclass(frozen=True)
class Baseline:
    """What was counted then, and with what."""

    run: str
    rustc: str
    valgrind: str
    instructions: dict[str, float]


def named(folder: Path) -> Baseline:
    """The counts of a run that must have some."""
    found = counted_in(folder)
    if found is None:
        raise SystemExit(f"{folder} has no counts in {FILE}: name the folder of a run that has")
    return found


def newest(runs: Path, own: Path | None) -> Baseline | None:
    """Those of the run that was begun last, apart from one's own."""
    others = [
        file.parent
        for file in runs.glob(f"*/{MACHINE}")
        if own is None or file.parent.resolve() != own.resolve()
    ]
    others.sort(key=lambda folder: str(json.loads((folder / MACHINE).read_text())["begun"]))
    found = (counted_in(folder) for folder in reversed(others))
    return next((each for each in found if each is not None), None)


def counted_in(folder: Path) -> Baseline | None:
    """The counts of a run, if it has any."""
    file = folder / FILE
    content: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    result = content.get("result", {})
    if not result.get("instructions"):
        return None
    return Baseline(
        folder.resolve().name, result["rustc"], result["valgrind"], result["instructions"]
    )


def targets(now: Mapping[str, float], baseline: Baseline | None) -> list[Must]:
    """No kernel takes many more instructions than it did. What is new is judged the next time."""
    if baseline is None:
        return []
    return [
        Must(f"{name}: instructions, now over then", ratio(now.get(name), then), at_most=AT_MOST)
        for name, then in baseline.instructions.items()
    ]


def ratio(now: float | None, then: float) -> float | None:
    """How many times as many; None where nothing was counted now."""
    return None if now is None else now / then


def show(now: Mapping[str, float], baseline: Baseline | None) -> None:
    """Print what is counted now, then, and the change."""
    width = max(map(len, now), default=0)
    print(f"\nInstructions a unit{'' if baseline is None else f'; then: {baseline.run}'}")
    print(f"  {'':{width}}  {'now':>10}  {'then':>10}  {'change':>8}")
    for name, count in now.items():
        then = baseline.instructions.get(name) if baseline else None
        beside = "-" if then is None else f"{then:,.1f}"
        change = "-" if then is None else f"{count / then - 1:+.2%}"
        print(f"  {name:{width}}  {count:10,.1f}  {beside:>10}  {change:>8}", flush=True)


def remark(versions: Mapping[str, str], baseline: Baseline | None) -> str:
    """Whether then and now were counted alike."""
    if baseline is None or not versions:
        return ""
    then = {"valgrind": baseline.valgrind, "rustc": baseline.rustc}
    others = [then[key] for key in then if then[key] != versions[key]]
    return f" (then: {', '.join(others)}, which may be all there is to a change)" if others else ""
