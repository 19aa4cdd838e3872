"""Lines about rows in memory: a table that stays there, and one that is far larger than memory."""

from __future__ import annotations

import statistics
from contextlib import ExitStack
from pathlib import Path

from benchmarks import rates
from benchmarks.child import CORES, Figures
from benchmarks.contest import MIB, Contestant, Outcome
from benchmarks.feature_bench import FeatureBench
from benchmarks.measure import memory_group
from benchmarks.musts import Must
from benchmarks.readers import GraphZero


def warm(bench: FeatureBench) -> None:
    """Batches from a table in the page cache, into a buffer and into fresh memory."""
    asked, scale = bench.inputs.resident(), bench.inputs.scale
    right = bench.check(asked)

    def check(figures: Figures) -> str:
        said = rates.told(figures)
        if "over_rival" not in said:
            return right(figures)
        return f"{right(figures)}, {said['over_rival']:.2f}x mapped in turns"

    contestants: list[Contestant] = []
    for reader in bench.all():
        commands = reader.warm(asked, bench.kept)
        contestants += bench.contestants(commands, [asked.table], check)
    title = f"warm: {scale.batch:,} of {asked.rows:,} rows a batch, {CORES} threads"
    outcomes = bench.hold(title, "rows", contestants)
    # As loaders call it: index_select makes its result. The one that is given a buffer is shown beside it; it reads
    # from huge pages at two thirds of what memory gives, so nobody can be twice as fast.
    plain = rates.best(outcomes, ["torch, fresh"])
    for into, target in [("out", 2.0), ("fresh", 1.3)]:
        ours = outcomes[f"graphmill auto, {into}"]
        times = rates.over(rates.rate(ours), plain)
        what = f"warm, {into}: over torch.index_select"
        bench.musts.append(Must(what, times, at_least=target))
        what = f"warm, {into}: auto over mapped"
        bench.musts.append(Must(what, over_rival(ours), at_least=0.95))


def over_rival(outcome: Outcome) -> float | None:
    """How many times as fast as the one that it took turns with in the same process."""
    if outcome.failure is not None or not outcome.runs:
        return None
    said = map(rates.told, outcome.runs)
    return statistics.median(run["over_rival"] for run in said)


def limited(bench: FeatureBench) -> None:
    """Batches of ids drawn by degree, in memory that is much smaller than the table."""
    scale = bench.inputs.scale
    title = (
        f"limited: {scale.limited_batches} batches of {scale.batch:,} ids by degree, "
        f"{scale.limit / MIB:,.0f} MiB above the baseline, {CORES} threads"
    )
    measured = None
    with memory_group(scale.limit) as group:
        if group is None:
            bench.skip(title, "no cgroup can be made here")
        else:
            measured = limited_in(bench, title, group)
    bench.musts.append(Must("limited: over the best MADV_RANDOM", measured, at_least=8.0))


def limited_in(bench: FeatureBench, title: str, group: Path) -> float | None:
    """How many times as fast ours is as the better of those with the advice that suits random rows."""
    plain = bench.inputs.by_degree()
    contestants: list[Contestant] = []
    with ExitStack() as stack:
        for reader in bench.all():
            asked = plain
            if isinstance(reader, GraphZero):
                asked = stack.enter_context(bench.inputs.graphzero(plain))
            patience = bench.inputs.scale.patience
            commands = reader.limited(asked, group, patience, bench.kept)
            contestants += bench.contestants(commands, [asked.table], bench.check(asked), cold=True)
        outcomes = bench.hold(title, "rows", contestants)
    theirs = rates.best(outcomes, ["numpy, MADV_RANDOM", "torch, MADV_RANDOM"])
    return rates.over(rates.best(outcomes, ["graphmill"]), theirs)
