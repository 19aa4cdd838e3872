"""What the lines of a section with rates share: where a run leaves things, and what was found.

A line holds its contests through it and leaves its targets in it. It must not know the lines, nor who takes part.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import contest, rates
from benchmarks.child import Command, Figures
from benchmarks.contest import Contestant, Outcomes
from benchmarks.curves import Curve
from benchmarks.musts import Must


@dataclass(kw_only=True)
class RateBench:
    """One run of a section."""

    #: Peers that could not be installed, and why.
    absent: dict[str, str]
    repeats: int
    #: A folder that is empty when a run begins.
    out: Path
    results: dict[str, Any] = field(default_factory=dict)
    musts: list[Must] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)

    def contestants(
        self,
        commands: Mapping[str, Command],
        inputs: Sequence[Path],
        check: Callable[[Figures], str],
        *,
        cold: bool = False,
    ) -> list[Contestant]:
        """Contestants that are all judged alike."""
        return [
            Contestant(name, "", command, inputs, check, cold) for name, command in commands.items()
        ]

    def hold(
        self,
        title: str,
        unit: str,
        contestants: Sequence[Contestant],
        rivals: Iterable[str] = (),
    ) -> Outcomes:
        """Hold a contest whose first contestant is ours, show it, and keep its numbers.

        Of rivals, whose names begin so, the fastest alone counts: who is far behind after a round is not run again.
        """
        names = [*rivals]
        outcomes = contest.hold(
            contestants,
            self.repeats,
            self.out,
            lambda outcomes: rates.far_behind(outcomes, names) if names else (),
        )
        rates.show(title, unit, outcomes, contestants[0].name)
        sys.stdout.flush()
        self.results[title] = {
            name: rates.record(outcome, unit) for name, outcome in outcomes.items()
        }
        return outcomes

    def skip(self, title: str, reason: str) -> Outcomes:
        """Say why a contest was not held; it has no outcomes."""
        print(f"\n{title}\n  {reason}", flush=True)
        self.results[title] = {"skipped": reason}
        return {}
