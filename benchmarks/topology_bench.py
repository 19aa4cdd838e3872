"""What the lines of the topology section share: the graphs, who reads them, and samples taken in turns."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks import contest, rates
from benchmarks.child import measure
from benchmarks.contest import Contestant, WrongResult
from benchmarks.graphmill_command import Graphmill
from benchmarks.orders import Graph
from benchmarks.peers.webgraph import WebGraph
from benchmarks.rate_bench import RateBench
from benchmarks.topology_inputs import Stored, TopologyInputs
from benchmarks.topology_programs import Ours


@dataclass(frozen=True)
class Turns:
    """Edges in a second by name, from runs in which all took turns."""

    runs: list[dict[str, float]]

    def rate(self, name: str) -> float:
        """The median of all runs."""
        return statistics.median(run[name] for run in self.runs)

    def over(self, name: str, to: str) -> float:
        """How many times as fast one is as another: the median of what each run says by itself."""
        return statistics.median(run[name] / run[to] for run in self.runs)

    def show(self, title: str) -> None:
        """Print a table: ratios to the first beside the rates."""
        print(f"\n{title}")
        first, *_ = names = list(self.runs[0])
        for name in names:
            times = [run[name] / run[first] for run in self.runs]
            print(
                f"  {name:16} {self.rate(name) / 1e6:8.2f} M edges/s   {self.over(name, first):.2f} "
                f"of {first} ({min(times):.2f} to {max(times):.2f})",
                flush=True,
            )


@dataclass(kw_only=True)
class TopologyBench(RateBench):
    """One run of the section."""

    graphmill: Graphmill
    ours: Ours
    inputs: TopologyInputs
    #: None where it cannot be had or was not asked for.
    webgraph: WebGraph | None
    #: Names of those that the table is for.
    graphs: list[str]

    def in_turns(
        self, title: str, graph: Graph, stored: Mapping[str, Stored], residency: str
    ) -> Turns:
        """Sample from all, in every run by turns within one process.

        Those whose names begin with the same word hold the same lists, and must give the same samples.
        """
        command = self.ours.in_turns(graph, stored, residency)
        runs: list[dict[str, float]] = []
        for number in range(1, self.repeats + 1):
            for each in stored.values():
                contest.warm(each.path)
            told = rates.told(measure(command, contest.TIMEOUT))
            same_samples(told["digests"])
            runs.append(told["rates"])
            print(f"  {title}, run {number} of {self.repeats}", file=sys.stderr)
        found = Turns(runs)
        self.results[title] = runs
        found.show(title)
        return found

    def times(self, title: str, ours: str, contestants: list[Contestant]) -> contest.Outcomes:
        """Hold a contest about the time of whole processes, show it, and keep its numbers."""
        outcomes = contest.hold(contestants, self.repeats, self.out)
        contest.show(title, outcomes, ours)
        sys.stdout.flush()
        self.results[title] = {name: outcome.record() for name, outcome in outcomes.items()}
        return outcomes


def same_samples(digests: Mapping[str, str]) -> None:
    """Raise unless the same lists gave the same samples."""
    by_order: dict[str, set[str]] = {}
    for name, digest in digests.items():
        by_order.setdefault(name.split()[0], set()).add(digest)
    if different := [order for order, found in by_order.items() if len(found) > 1]:
        raise WrongResult(f"encodings gave different samples: {', '.join(different)}")
