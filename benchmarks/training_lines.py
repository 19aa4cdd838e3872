"""Lines about whole batches, with their rows: everything in memory, and from a disk within a limit."""

from __future__ import annotations

from pathlib import Path

from benchmarks import rates
from benchmarks.child import CORES
from benchmarks.contest import MIB, Contestant
from benchmarks.measure import memory_group
from benchmarks.musts import Must
from benchmarks.training_bench import TrainingBench, check_sizes
from benchmarks.training_inputs import Prepared


def resident(bench: TrainingBench) -> None:
    """Everything in memory: the page cache for us, tensors for the peers."""
    prepared = bench.inputs.resident()
    contestants: list[Contestant] = []
    for loader in bench.all():
        commands = loader.resident(prepared, *sizes(bench), bench.kept)
        contestants += bench.contestants(commands, inputs_of(prepared), bench.check(prepared))
    title = f"resident: {prepared.rows:,} nodes, {bench.shape}, {CORES} threads"
    outcomes = bench.hold(title, "batches", contestants)
    check_sizes(outcomes)
    times = rates.over(rates.best(outcomes, ["graphmill"]), rates.best(outcomes, [*bench.peers]))
    bench.musts.append(Must("resident: over the best peer", times, at_least=2.0))


def outofcore(bench: TrainingBench) -> None:
    """A cold dataset within a quarter of its size, against peers that have all of it in memory without a limit."""
    prepared = bench.inputs.large()
    limit = limit_for(prepared)
    title = (
        f"outofcore: {prepared.rows:,} nodes, {bench.shape}, {CORES} threads, "
        f"{limit / MIB:,.0f} MiB for us"
    )
    measured = None
    with memory_group(limit) as group:
        if group is None:
            bench.skip(title, "no cgroup can be made here")
        else:
            contestants = ours_within(bench, prepared, group)
            for loader in bench.peers.values():
                free = loader.resident(prepared, *sizes(bench), bench.kept)
                # Who is killed is not tried again.
                within = loader.resident(prepared, *sizes(bench), bench.kept, group)
                named = {f"{name}, within the limit": within[name] for name in within}
                check = bench.check(prepared)
                contestants += bench.contestants({**free, **named}, [], check)
            outcomes = bench.hold(title, "batches", contestants)
            check_sizes(outcomes)
            theirs = rates.best(outcomes, [*bench.peers])
            measured = rates.over(rates.best(outcomes, ["graphmill"]), theirs)
    bench.musts.append(Must("outofcore: over the best peer", measured, at_least=1.5))


def ours_within(bench: TrainingBench, prepared: Prepared, group: Path) -> list[Contestant]:
    """We, from a cold dataset."""
    memory = memory_within(limit_for(prepared), prepared)
    commands = bench.ours.limited(prepared, bench.inputs.scale.batch, bench.kept, group, memory)
    return bench.contestants(commands, [prepared.dataset], bench.check(prepared), cold=True)


def limit_for(prepared: Prepared) -> int:
    """A quarter of what the dataset takes on disk."""
    return prepared.bytes // 4


def memory_within(limit: int, prepared: Prepared) -> int:
    """What a loader gets of a limit: all but a tenth, and but room for the neighbour lists in the page cache.

    The tenth is for what is no part of the budget: page tables, the allocator, and the kernel's own.
    """
    return limit * 9 // 10 - prepared.topology


def sizes(bench: TrainingBench) -> tuple[int, int]:
    """Seeds of a batch, and batches that a peer makes."""
    return bench.inputs.scale.batch, bench.inputs.scale.peer_batches


def inputs_of(prepared: Prepared) -> list[Path]:
    """All files that somebody reads."""
    lists = prepared.lists
    return [prepared.dataset, lists.offsets, lists.neighbours]
