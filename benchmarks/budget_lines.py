"""The line about memory: how fast batches come from disk when there is much of it, and when there is little."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from statistics import median

from benchmarks import rates
from benchmarks.child import CORES
from benchmarks.contest import MIB, Contestant, Outcome
from benchmarks.curves import LATER, PACE_BY_MEMORY, Curve, Point, Series
from benchmarks.machine import memory_info
from benchmarks.measure import memory_group
from benchmarks.training_bench import TrainingBench, check_sizes
from benchmarks.training_inputs import Prepared
from benchmarks.training_lines import limit_for, ours_within

#: Percent of the dataset.
SHARES = (100, 50, 25, 10)
#: With less than this, the same is read for every batch, so as few batches as peers make tell what many would.
ENOUGH = 25


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
            batches = None if percent >= ENOUGH else bench.inputs.scale.peer_batches
            [ours] = ours_within(bench, prepared, group, percent, batches)
            contestants[percent] = replace(ours, name=f"graphmill, {percent}%")
        outcomes = bench.hold(title, "batches", list(contestants.values()))
    check_sizes(outcomes)
    series: dict[str, list[Point]] = {"graphmill": [], LATER: []}
    for percent in SHARES:
        if percent in contestants:
            outcome = outcomes[contestants[percent].name]
            note = outcome.failure or f"{limit_for(bench, prepared, percent) / MIB:,.0f} MiB"
            paces = (rates.rate(outcome), later(outcome))
        else:
            note, paces = f"the machine has only {there / MIB:,.0f} MiB", (None, None)
        for points, pace in zip(series.values(), paces, strict=True):
            points.append(Point(percent, pace, note))
    bench.curves.append(memory_curve(bench, prepared, series))


def later(outcome: Outcome) -> float | None:
    """The median of the paces after the first quarter of the batches; None if somebody failed."""
    if outcome.failure is not None:
        return None
    return median(rates.told(run)["steady"] for run in outcome.runs)


def memory_curve(
    bench: TrainingBench, prepared: Prepared, ours: Mapping[str, list[Point]]
) -> Curve:
    """Ours by what it may take; peers, which have everything in memory, by what they did take."""
    series = [Series(name, points) for name, points in ours.items()]
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
            f"{CORES} threads. graphmill: cold, in a cgroup of this size, page cache included, from the opening on; "
            "what memory has room for is read first, so that a long epoch goes as its later part does. Peers: "
            "everything in memory, no limit, at what they took."
        ),
    )
