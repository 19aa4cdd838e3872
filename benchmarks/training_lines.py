"""Lines about whole batches, with their rows: everything in memory, from disk within a limit, and as estimated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import median

from benchmarks import rates, rested_disk
from benchmarks.child import CORES
from benchmarks.contest import MIB, Contestant, Outcome
from benchmarks.measure import memory_group
from benchmarks.musts import Must
from benchmarks.samplers.sampler import FANOUTS
from benchmarks.training_bench import TrainingBench, check_sizes
from benchmarks.training_inputs import SEEDS, Prepared

#: Percent of the dataset that memory holds where nothing else is said.
QUARTER = 25
#: What a process may take beside a tenth above its budget, however small that is: it is promised.
PROMISED = 64 * MIB
#: An estimate is not asked for less: a batch alone takes a hundred megabytes, whatever the dataset.
LEAST_ESTIMATED = 512 * MIB
#: How a peer is named when it has no more memory than we have.
WITHIN = ", within the limit"

#: Figures of the disk's part, by what they are and by the command's name for them.
SAID = {
    "requests a batch": "requests_per_batch",
    "bytes a batch": "bytes_per_batch",
    "batches/s": "batches_per_second",
}


def resident(bench: TrainingBench) -> None:
    """Everything in memory: the page cache for us, tensors for the peers."""
    prepared = bench.inputs.resident()
    contestants: list[Contestant] = []
    for loader in bench.all():
        commands = loader.resident(prepared, *sizes(bench), bench.kept)
        contestants += bench.contestants(commands, inputs_of(prepared), bench.check(prepared))
    title = f"resident: {prepared.rows:,} nodes, {bench.shape}, {CORES} threads"
    outcomes = bench.hold(title, "batches", contestants, rivals=bench.peers)
    check_sizes(outcomes)
    times = rates.over(rates.best(outcomes, ["graphmill"]), rates.best(outcomes, [*bench.peers]))
    must = Must("resident: over the best peer", times, at_least=2.0, headline=True)
    bench.musts.append(must)


def outofcore(bench: TrainingBench) -> None:
    """A cold dataset within a quarter of its size, against peers that have all of it in memory without a limit."""
    prepared = bench.inputs.large()
    limit = limit_for(bench, prepared)
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
                named = {f"{name}{WITHIN}": within[name] for name in within}
                check = bench.check(prepared)
                contestants += bench.contestants({**free, **named}, [], check)
            outcomes = bench.hold(title, "batches", contestants, rivals=bench.peers)
            check_sizes(outcomes)
            bench.unlimited = {
                name: outcome
                for name, outcome in outcomes.items()
                if name != "graphmill" and not name.endswith(WITHIN)
            }
            theirs = rates.best(outcomes, [*bench.peers])
            measured = rates.over(rates.best(outcomes, ["graphmill"]), theirs)
    must = Must("outofcore: over the best peer", measured, at_least=1.5, headline=True)
    bench.musts.append(must)


def estimate(bench: TrainingBench) -> None:
    """What `graphmill estimate` says of graphs of several sizes, beside what the loader counted when it did it."""
    for prepared in bench.inputs.estimated():
        estimate_one(bench, prepared)


def estimate_one(bench: TrainingBench, prepared: Prepared) -> None:
    """One size, from a cold dataset within a quarter of it, and what any process may take besides."""
    percent = max(QUARTER, -(-100 * LEAST_ESTIMATED // prepared.bytes))
    limit = limit_for(bench, prepared, percent) + PROMISED
    size = f"estimate, {prepared.rows:,} nodes"
    title = f"{size}, {bench.shape}, {limit / MIB:,.0f} MiB"
    turns: list[dict[str, dict[str, float]]] = []
    with memory_group(limit) as group:
        if group is None:
            bench.skip(title, "no cgroup can be made here")
        else:
            once, ours = replace(bench, repeats=1), ours_within(bench, prepared, group, percent)
            # The profile reads all places alike, the loader some of them again and again.
            rested_disk.pass_over(prepared.table)
            for number in range(1, bench.repeats + 1):
                # The disk of a shared machine is not as fast now as it was some minutes ago.
                bench.inputs.graphmill.disk(prepared.dataset)
                said = estimated(bench, prepared, percent)
                outcomes = once.hold(f"{title}, turn {number}", "batches", ours)
                turns.append({"said": said, "counted": disk_part(outcomes["graphmill"])})
    bench.results[size] = {f"turn {number}": turn for number, turn in enumerate(turns, 1)}
    for what, name in SAID.items():
        off = []
        for turn in turns:
            if name in turn["counted"] and turn["said"][name]:
                expected, found = turn["said"][name], turn["counted"][name]
                print(f"  {what}: {expected:,.2f} estimated, {found:,.2f} counted")
                off.append(max(expected / found, found / expected))
        measured = median(off) if off else None
        bench.musts.append(Must(f"{size}: {what}, off by", measured, at_most=1.25))


def estimated(bench: TrainingBench, prepared: Prepared, percent: int) -> dict[str, float]:
    """What the command says for what the loader has, its lists in memory too."""
    memory = memory_for(prepared, percent)
    return bench.inputs.graphmill.estimate(
        prepared.dataset,
        *("--fanouts", ",".join(map(str, FANOUTS)), "--batch-size", str(bench.inputs.scale.batch)),
        *("--memory", str(memory), "--residency", "ram", "--split", SEEDS, "--columns", "x"),
        # The first batch decides how many rows stay in memory, so it must be that of the loader.
        "--in-order",
    )


def disk_part(outcome: Outcome) -> dict[str, float]:
    """Medians of what a batch took of the disk, under the names that the command has for it."""
    if outcome.failure is not None:
        return {}
    told = [(said["amount"], said["stats"]) for said in map(rates.told, outcome.runs)]
    return {
        "requests_per_batch": median(stats["requests"] / batches for batches, stats in told),
        "bytes_per_batch": median(stats["bytes_read"] / batches for batches, stats in told),
        # Once windows are long, which is what the estimate is for.
        "batches_per_second": median(rates.told(run)["steady"] for run in outcome.runs),
    }


def ours_within(
    bench: TrainingBench,
    prepared: Prepared,
    group: Path,
    percent: int = QUARTER,
    batches: int | None = None,
) -> list[Contestant]:
    """We, from a cold dataset; as many batches as it has seeds for, unless fewer are asked for."""
    memory, scale = memory_for(prepared, percent), bench.inputs.scale
    number = (scale.batch, batches or scale.batches)
    commands = bench.ours.limited(prepared, *number, bench.kept, group, memory)
    return bench.contestants(commands, [prepared.dataset], bench.check(prepared), cold=True)


def limit_for(bench: TrainingBench, prepared: Prepared, percent: int = QUARTER) -> int:
    """What a process may take after its imports."""
    return prepared.bytes * percent // 100 + bench.inputs.scale.allowance


def memory_for(prepared: Prepared, percent: int = QUARTER) -> int:
    """What a loader gets of it: nine tenths of that share of the dataset.

    The tenth is for what is no part of the budget: page tables, the allocator, Python's objects and the kernel's own.
    """
    return prepared.bytes * percent // 100 * 9 // 10


def sizes(bench: TrainingBench) -> tuple[int, int]:
    """Seeds of a batch, and batches that a peer makes."""
    return bench.inputs.scale.batch, bench.inputs.scale.peer_batches


def inputs_of(prepared: Prepared) -> list[Path]:
    """All files that somebody reads."""
    lists = prepared.lists
    return [prepared.dataset, lists.offsets, lists.neighbours]
