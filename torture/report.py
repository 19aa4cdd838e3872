"""The table at the end: what was promised, asked, reached."""

from __future__ import annotations

from collections.abc import Iterable

from torture.rows import Row
from torture.state import State

HEADER = ("row", "promise", "tried", "asked", "reached", "failures", "seconds", "")


def table(rows: Iterable[Row], state: State) -> str:
    """A Markdown table with a line for every step."""
    lines = []
    for row in rows:
        promise = row.promise
        for step in row.steps:
            total = state.of(step.name)
            remark = f"cannot run here: {total.unable}" if total.unable else ""
            asked, reached = f"{step.asked:,}", f"{total.reached:,}"
            numbers = (asked, reached, f"{total.failures}", f"{total.seconds:,.0f}")
            lines.append((str(row.number), promise, f"{step.name} ({step.unit})", *numbers, remark))
            promise = ""
    widths = [max(len(line[place]) for line in [HEADER, *lines]) for place in range(len(HEADER))]
    dashes = tuple("-" * width for width in widths)
    return "\n".join(
        "| "
        + " | ".join(text.ljust(width) for text, width in zip(line, widths, strict=True))
        + " |"
        for line in [HEADER, dashes, *lines]
    )


def complete(rows: Iterable[Row], state: State) -> bool:
    """Whether everything that can run here was reached without a failure."""
    totals = [(step, state.of(step.name)) for row in rows for step in row.steps]
    return all(
        total.failures == 0 and (total.unable is not None or total.reached >= step.asked)
        for step, total in totals
    )
