"""Contests in which a process tells itself how much it did in which time, because loading the graph is not the matter.

The frame is that of every contest; only the figure that is compared comes from what a contestant printed: a line of
JSON with `amount` and `seconds`. It must not know what is counted.
"""

from __future__ import annotations

import json
import statistics
from typing import Any

from benchmarks.child import Figures
from benchmarks.contest import MIB, Outcome, Outcomes

#: Prefixes of units, and the rate below which each is used.
PREFIXES = [("", 1e0, 1e3), ("k ", 1e3, 1e5), ("M ", 1e6, float("inf"))]

#: Who has less than this share of the fastest peer's rate is far behind: runs spread by less than that.
FAR_BEHIND = 0.5


def told(figures: Figures) -> dict[str, Any]:
    """What a run said about itself, with `amount` and `seconds`; our command speaks of edges."""
    text = figures.output.strip()
    said: dict[str, Any] = json.loads(text if text.startswith("{\n") else text.splitlines()[-1])
    if "edges_per_second" in said:
        said["amount"] = said["edges_per_second"] * said["seconds"]
    return said


def rate(outcome: Outcome | None) -> float | None:
    """The median of what was done in a second, if every run went well."""
    if outcome is None or outcome.failure is not None or not outcome.runs:
        return None
    rates = (told(run) for run in outcome.runs)
    return statistics.median(run["amount"] / run["seconds"] for run in rates)


def highest(outcome: Outcome | None) -> float | None:
    """The most that any run did in a second, if every run went well."""
    if rate(outcome) is None or outcome is None:
        return None
    return max(run["amount"] / run["seconds"] for run in map(told, outcome.runs))


def best(outcomes: Outcomes, prefixes: list[str]) -> float | None:
    """The highest rate among contestants whose names begin so."""
    rates = [
        rate(outcome) for name, outcome in outcomes.items() if name.startswith(tuple(prefixes))
    ]
    return max((each for each in rates if each is not None), default=None)


def far_behind(outcomes: Outcomes, prefixes: list[str]) -> set[str]:
    """Those among contestants whose names begin so that chance does not make the fastest of them."""
    best_rate = best(outcomes, prefixes) or 0.0
    rated = {name: rate(outcome) for name, outcome in outcomes.items()}
    return {
        name
        for name, its in rated.items()
        if name.startswith(tuple(prefixes)) and its is not None and its < FAR_BEHIND * best_rate
    }


def over(above: float | None, below: float | None) -> float | None:
    """How many times as fast one is as another, where both were measured."""
    return None if above is None or below is None else above / below


def show(title: str, unit: str, outcomes: Outcomes, ours: str) -> None:
    """Print a table: ratios to ours first, since only they carry over to another machine."""
    print(f"\n{title}")
    width = max([len("who"), *map(len, outcomes)])
    found = [each for each in map(rate, outcomes.values()) if each is not None]
    slowest = min(found, default=1.0)
    prefix, size = next((prefix, size) for prefix, size, below in PREFIXES if slowest < below)
    print(f"  {'who':{width}}   ours x   {prefix + unit + '/s':11}   spread   anon MiB   result")
    own = rate(outcomes[ours])
    for name, outcome in outcomes.items():
        its = rate(outcome)
        if its is None:
            print(f"  {name:{width}}   failed: {outcome.failure}")
            continue
        times = over(own, its)
        each = [run["amount"] / run["seconds"] for run in map(told, outcome.runs)]
        spread = f"{(max(each) - min(each)) / its:.0%}" if len(each) > 1 else "one run"
        print(
            f"  {name:{width}} {'-' if times is None else f'{times:.2f}':>8}"
            f" {its / size:10.2f}      {spread:>7} {outcome.peak_anonymous / MIB:10.0f}"
            f"   {outcome.result}"
        )


def record(outcome: Outcome, unit: str) -> dict[str, Any]:
    """All there is to know, for the file of raw numbers."""
    said = [told(run) for run in outcome.runs]
    return {**outcome.record(), "unit": unit, "rate": rate(outcome), "told": said}
