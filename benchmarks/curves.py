"""How one figure follows another: what a line leaves for a chart, beside its contests.

Every section gives its curves to the file of raw numbers in this form, and the report draws all that it finds. It must
not know how they are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

#: The title of the curve that a report begins with.
PACE_BY_MEMORY = "Pace by memory"
#: Its series of our pace once memory is filled and windows are long.
LATER = "graphmill, after the first quarter of the batches"


@dataclass(frozen=True)
class Point:
    """One measurement; without a height where it failed, and the note says why."""

    x: float
    y: float | None
    note: str = ""


@dataclass(frozen=True)
class Series:
    """The points of one contestant; the first series of a curve is ours."""

    name: str
    points: Sequence[Point]


@dataclass(frozen=True)
class Curve:
    """A chart, with units in the names of its axes."""

    title: str
    x: str
    y: str
    series: Sequence[Series]
    #: What a reader has to know beside it: cache state, batch size, fan-outs, threads.
    remark: str

    def record(self) -> dict[str, Any]:
        """The curve for the file of raw numbers."""
        return asdict(self)
