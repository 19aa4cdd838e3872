"""The table of a section that counted instructions: now, in an earlier run, and the change.

It must not know how counts came about.
"""

from __future__ import annotations

import html
from typing import Any

from benchmarks.reporting import tables
from benchmarks.reporting.svg import element

TITLE = "Instructions a unit"
READING = (
    "Instructions of one edge, step, row or number, by callgrind: counts do not vary from run to run as times do, so "
    "a change of one per cent is one of the code or its compiler; how long memory is waited for is not in them."
)


def kernel_table(result: dict[str, Any]) -> str:
    """Every kernel with its counts; an earlier run that knew more has them too."""
    now, spread, baseline = result["instructions"], result["spread"], result["baseline"]
    then = baseline["instructions"] if baseline else {}
    rows = [
        [
            name,
            count_words(now.get(name)),
            count_words(then.get(name)),
            f"{now[name] / then[name] - 1:+.2%}" if name in now and name in then else "-",
            f"{spread[name]:.3%}" if name in spread else "-",
        ]
        for name in [*now, *(name for name in then if name not in now)]
    ]
    head = ["kernel", "now", "then", "change", "spread of two"]
    words = f"{READING} {counted_with(result, baseline)}"
    return (
        element("h4", TITLE)
        + element("p", html.escape(words), class_="remark")
        + tables.table(head, rows, numbers=range(1, 5))
    )


def count_words(count: float | None) -> str:
    """A count, or that there is none."""
    return "-" if count is None else f"{count:,.1f}"


def counted_with(result: dict[str, Any], baseline: dict[str, Any] | None) -> str:
    """The tools of now, and of then where there was a then."""
    now = f"Now: {result['rustc']}, {result['valgrind']}"
    if baseline is None:
        return f"{now}; no earlier run has counts."
    return f"{now}; then: {baseline['run']}, {baseline['rustc']}, {baseline['valgrind']}."
