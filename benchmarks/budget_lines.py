"""The line about memory: how fast batches come from disk when there is much of it, and when there is little."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from benchmarks import rates
from benchmarks.child import CORES
from benchmarks.contest import MIB, Contestant, Outcome
from benchmarks.curves import PACE_BY_MEMORY, Curve, Point, Series
from benchmarks.machine import memory_info
from benchmarks.measure import memory_group
from benchmarks.training_bench import TrainingBench, check_sizes
from benchmarks.training_inputs import Prepared
from benchmarks.training_lines import limit_for, ours_within

#: Percent of the dataset.
SHARES = (100, 50, 25, 10)


def memory(bench: TrainingBench) -> None:
    """The pace by the memory there is: all of the dataset's size, half, a quarter, a tenth."""
    prepared = bench.inputs.large()
    title = f"memory: {prepared.rows:,} nodes, {bench.shape}, {CORES} threads, cold"
    there = memory_info("MemTotal")
    contestants: dict[int, Contestant] = {}
    with ExitStack() as groups:
        for percent in SHARES:
            limit = limit_for(bench, prepared, percent)
            # A limit that the machine does not have is none.
            if limit > there:
                continue
            group = groups.enter_context(memory_group(limit))
            if group is None:
                bench.skip(title, "no cgroup can be made here")
                return
            [ours] = ours_within(bench, prepared, group, percent)
            contestants[percent] = replace(ours, name=f"graphmill, {percent}%")
        outcomes = bench.hold(title, "batches", list(contestants.values()))
    check_sizes(outcomes)
    points = [
        point(outcomes[contestants[percent].name], percent, limit_for(bench, prepared, percent))
        if percent in contestants
        else Point(percent, None, f"the machine has only {there / MIB:,.0f} MiB")
        for percent in SHARES
    ]
    bench.curves.append(memory_curve(bench, prepared, points))


def point(outcome: Outcome, percent: int, limit: int) -> Point:
    """Our pace with a share of the dataset as memory."""
    return Point(percent, rates.rate(outcome), outcome.failure or f"{limit / MIB:,.0f} MiB")


def memory_curve(bench: TrainingBench, prepared: Prepared, ours: list[Point]) -> Curve:
    """Ours by what it may take; peers, which have everything in memory, by what they did take."""
    series = [Series("graphmill", ours)]
    for name, outcome in bench.unlimited.items():
        held = max((run.peak_resident for run in outcome.runs), default=0)
        took = outcome.failure or f"{held / MIB:,.0f} MiB held"
        series.append(Series(name, [Point(100 * held / prepared.bytes, rates.rate(outcome), took)]))
    return Curve(
        title=PACE_BY_MEMORY,
        x="memory, % of the dataset",
        y="batches/s",
        series=series,
        remark=(
            f"{prepared.rows:,} nodes, {prepared.bytes / 1e9:,.2f} GB with plain lists; {bench.shape}, "
            f"{CORES} threads. graphmill: cold, in a cgroup of this size, page cache included. Peers: "
            "everything in memory, no limit, at what they took."
        ),
    )
