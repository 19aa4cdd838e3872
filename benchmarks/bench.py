"""What the lines of the ingest section share: who takes part, where things are, and what was found.

A line asks it for our own contestants, holds its contests through it, and leaves its targets in it. It must not know
the lines.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import contest
from benchmarks.child import Figures
from benchmarks.contest import Contestant, Outcomes, WrongResult
from benchmarks.curves import Curve
from benchmarks.graphmill_command import Graphmill, Traits
from benchmarks.inputs import Inputs
from benchmarks.musts import Must
from benchmarks.peers import Peer

#: MiB that our commands may use unless a line says otherwise.
MEMORY = 512


@dataclass
class Bench:
    """One run of the section."""

    graphmill: Graphmill
    inputs: Inputs
    peers: dict[str, Peer]
    #: Peers that could not be installed, and why.
    absent: dict[str, str]
    repeats: int
    out: Path
    results: dict[str, Any] = field(default_factory=dict)
    musts: list[Must] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)

    def hold(self, title: str, ours: str, contestants: Sequence[Contestant]) -> Outcomes:
        """Hold a contest, show it, and keep its numbers."""
        outcomes = contest.hold(contestants, self.repeats, self.out)
        contest.show(title, outcomes, ours)
        sys.stdout.flush()
        self.results[title] = {name: outcome.record() for name, outcome in outcomes.items()}
        return outcomes

    def skip(self, title: str, reason: str) -> Outcomes:
        """Say why a contest was not held; it has no outcomes."""
        print(f"\n{title}\n  {reason}", flush=True)
        self.results[title] = {"skipped": reason}
        return {}

    def datasets(self, title: str, contestants: Callable[[], Sequence[Contestant]]) -> Outcomes:
        """Hold a contest that needs `graphmill build`, if this version has it."""
        if not self.graphmill.has("build"):
            return self.skip(title, "graphmill build: not in this version")
        return self.hold(title, "build", contestants())

    def convert(
        self, edges: Path, wanted: tuple[int | None, int], memory: int = MEMORY
    ) -> Contestant:
        """Text to a topology with lists in one direction."""
        target = self.out / "graph.gl"
        return Contestant(
            name="graphmill",
            work=f"CSV -> .gl, sorted out-lists, synced, --memory {memory}MiB",
            command=self.graphmill.convert(edges, target, "--memory", f"{memory}MiB"),
            inputs=[edges],
            check=lambda _: agreed(self.graphmill.counts(target), wanted),
        )

    def build(
        self,
        edges: Path,
        wanted: tuple[int, int],
        traits: Traits,
        memory: str = f"{MEMORY}MiB",
        features: Path | None = None,
    ) -> Contestant:
        """Edges, and features if there are any, to a dataset with lists in both directions."""
        target = self.out / "dataset"
        flags = ["--memory", memory, "--order", traits.order]
        if features is not None:
            flags += ["--features", str(features)]

        def check(_: Figures) -> str:
            if (made := self.graphmill.traits(target)) != traits:
                raise WrongResult(f"made {made}, must be {traits}")
            return agreed(self.graphmill.counts(target), wanted)

        return Contestant(
            name="build" if traits.order == "none" else f"build {traits.order}",
            work=f"dataset, both directions, order {traits.order}, synced, --memory {memory}",
            command=self.graphmill.build(target, edges, *flags),
            inputs=[edges, features] if features else [edges],
            check=check,
        )


def agreed(found: tuple[int, int], wanted: tuple[int | None, int]) -> str:
    """Nodes and edges for the table, once they are what they must be; None stands for any number."""
    if found[1] != wanted[1] or wanted[0] not in (None, found[0]):
        raise WrongResult(f"made {found[0]:,} nodes, {found[1]:,} edges, must be {wanted}")
    return f"{found[0]:,} nodes, {found[1]:,} edges"


def size(path: Path) -> str:
    """The size of a file for people."""
    return f"{path.stat().st_size / 1e6:,.0f} MB"
