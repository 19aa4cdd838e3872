"""The line about a model: how much longer an epoch takes because of the loader."""

from __future__ import annotations

import numpy as np

from benchmarks import rates
from benchmarks.child import CORES, CommandFailed, Figures, measure
from benchmarks.contest import MIB, TIMEOUT, Contestant, Outcomes, WrongResult
from benchmarks.loaders.graphsage import HIDDEN, GraphSage
from benchmarks.measure import memory_group
from benchmarks.musts import Must
from benchmarks.training_bench import TrainingBench
from benchmarks.training_inputs import Prepared
from benchmarks.training_lines import limit_for, memory_for


def model(bench: TrainingBench) -> None:
    """An epoch through our loader over the same batches in memory, from the page cache and within a limit."""
    resident(bench)
    outofcore(bench)


def resident(bench: TrainingBench) -> None:
    """The dataset in the page cache."""
    prepared, sage = bench.inputs.resident(), GraphSage(bench.ours.folder)
    loaded = sage.loaded(prepared, *sizes(bench))
    contestants = [
        Contestant("loader", "", loaded, [prepared.dataset], described),
        preloaded(bench, prepared, sage),
    ]
    outcomes = bench.hold(title(bench, prepared, "in memory"), "batches", contestants)
    bench.musts.append(Must("model, resident: time over preloaded", longer(outcomes), at_most=1.10))


def outofcore(bench: TrainingBench) -> None:
    """A cold dataset within a quarter of its size and what the model itself takes."""
    prepared, sage = bench.inputs.large(), GraphSage(bench.ours.folder)
    measured = None
    try:
        limit = limit_for(bench, prepared) + step_memory(bench, prepared, sage)
    except CommandFailed as error:
        bench.skip(title(bench, prepared, "cold"), f"the model alone failed: {error}")
    else:
        measured = within(bench, prepared, sage, limit)
    bench.musts.append(Must("model, outofcore: time over preloaded", measured, at_most=1.25))


def within(bench: TrainingBench, prepared: Prepared, sage: GraphSage, limit: int) -> float | None:
    """How many times as long an epoch takes with the loader and a limit."""
    heading = title(bench, prepared, f"cold, {limit / MIB:,.0f} MiB")
    with memory_group(limit) as group:
        if group is None:
            bench.skip(heading, "no cgroup can be made here")
            return None
        loaded = sage.loaded(prepared, *sizes(bench), group, memory_for(prepared))
        contestants = [
            Contestant("loader", "", loaded, [prepared.dataset], described, cold=True),
            preloaded(bench, prepared, sage),
        ]
        return longer(bench.hold(heading, "batches", contestants))


def step_memory(bench: TrainingBench, prepared: Prepared, sage: GraphSage) -> int:
    """What the model takes for a step, which two batches tell."""
    rehearsal = measure(sage.preloaded(prepared, bench.inputs.scale.batch, 2), TIMEOUT)
    return int(rates.told(rehearsal)["held"])


def preloaded(bench: TrainingBench, prepared: Prepared, sage: GraphSage) -> Contestant:
    """The model alone."""
    return Contestant("preloaded", "", sage.preloaded(prepared, *sizes(bench)), [], described)


def longer(outcomes: Outcomes) -> float | None:
    """How many times as long an epoch takes with the loader, once both have learnt the same."""
    runs = [run for outcome in outcomes.values() if not outcome.failure for run in outcome.runs]
    losses = [rates.told(run)["losses"] for run in runs]
    # Sums of floats differ by their order, batches do not.
    if losses and not np.allclose(losses, losses[0], rtol=1e-3):
        raise WrongResult(f"models that learnt different things: {losses}")
    return rates.over(rates.rate(outcomes["preloaded"]), rates.rate(outcomes["loader"]))


def described(figures: Figures) -> str:
    """What a run did, for the table."""
    said = rates.told(figures)
    return (
        f"{said['amount']} batches of {said['nodes'] / said['amount']:,.0f} nodes, "
        f"last loss {said['losses'][-1]:.3f}"
    )


def title(bench: TrainingBench, prepared: Prepared, where: str) -> str:
    """What is timed, for people."""
    return (
        f"model: GraphSAGE, {HIDDEN} hidden, {CORES} threads; {prepared.rows:,} nodes, "
        f"{bench.shape}, {where}"
    )


def sizes(bench: TrainingBench) -> tuple[int, int]:
    """Seeds of a batch, and batches of an epoch."""
    return bench.inputs.scale.batch, bench.inputs.scale.model_batches
