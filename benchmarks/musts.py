"""Targets, and whether they are met: the table at the end of a section, and one form of them for the raw numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Must:
    """One line that has to be reached: a number that may not be too small, or too large."""

    what: str
    measured: float | None
    at_least: float | None = None
    at_most: float | None = None
    unit: str = "x"
    #: Whether it is among the few that a reader with a minute should see.
    headline: bool = False

    @property
    def met(self) -> bool | None:
        """Whether it is reached; None where nothing was measured."""
        if self.measured is None:
            return None
        enough = self.at_least is None or self.measured >= self.at_least
        return enough and (self.at_most is None or self.measured <= self.at_most)

    @property
    def target(self) -> str:
        """The target, for people."""
        if self.at_least is not None:
            return f">= {self.at_least:g} {self.unit}"
        return f"<= {self.at_most:g} {self.unit}"

    def record(self) -> dict[str, Any]:
        """The line for the file of raw numbers, the same in every section."""
        return {
            "name": self.what,
            "measured": self.measured,
            "at_least": self.at_least,
            "at_most": self.at_most,
            "unit": self.unit,
            "met": self.met,
            "headline": self.headline,
        }


def show(musts: Sequence[Must], remark: str) -> None:
    """Print the table, if any line had a target."""
    if not musts:
        return
    print(f"\nMust reach{remark}")
    width = max(len(must.what) for must in musts)
    verdicts = {True: "met", False: "NOT MET", None: "not measured"}
    for must in musts:
        measured = "-" if must.measured is None else f"{must.measured:.2f} {must.unit}"
        print(f"  {must.what:{width}}  {must.target:>12}  {measured:>12}  {verdicts[must.met]}")
