"""The claim, end to end: a model learns from a graph of many times the memory, beside other ways of trying it."""

from __future__ import annotations

from statistics import median

from benchmarks import rates
from benchmarks.child import CORES, CommandFailed
from benchmarks.contest import MIB, Contestant, Outcomes
from benchmarks.loaders.graphsage import HIDDEN, GraphSage
from benchmarks.measure import memory_group
from benchmarks.model_lines import described, step_memory
from benchmarks.training_bench import TrainingBench
from benchmarks.training_inputs import Prepared

#: Batches that rows by page faults are given, each of which may take a minute.
FAULTED_BATCHES = 3
#: Nodes of papers100M, and those of them that are trained on.
PAPERS, TRAINED = 111_059_956, 1_207_179


def claim(bench: TrainingBench) -> None:
    """An epoch's pace in little memory: our loader, rows of a mapped file, and peers, which want all in memory."""
    prepared, sage = bench.inputs.large(), GraphSage(bench.ours.folder)
    room = bench.inputs.scale.claim
    title = (
        f"claim: GraphSAGE, {HIDDEN} hidden, {CORES} threads; {prepared.rows:,} nodes, {bench.shape}, "
        f"in-lists, packed; cold, {room / MIB:,.0f} MiB and what the model takes, of "
        f"{prepared.bytes / MIB:,.0f} MiB"
    )
    try:
        limit = room + step_memory(bench, prepared, sage)
    except CommandFailed as error:
        bench.skip(title, f"the model alone failed: {error}")
        return
    with memory_group(limit) as group:
        if group is None:
            bench.skip(title, "no cgroup can be made here")
            return
        batch, batches = bench.inputs.scale.batch, bench.inputs.scale.model_batches
        # A tenth is for what is no part of a budget, as everywhere.
        ours = sage.loaded(prepared, batch, batches, group, room * 9 // 10, "auto")
        faults = sage.mapped(prepared, batch, FAULTED_BATCHES, group)
        inputs = [prepared.dataset]
        contestants = [
            Contestant("graphmill", "", ours, inputs, described, cold=True),
            Contestant("rows by page faults", "", faults, inputs, described, cold=True),
        ]
        for loader in bench.peers.values():
            commands = loader.resident(prepared, batch, FAULTED_BATCHES, bench.kept, group)
            contestants += bench.contestants(commands, [], bench.check(prepared))
        outcomes = bench.hold(title, "batches", contestants)
    tell_epochs(bench, prepared, outcomes)


def tell_epochs(bench: TrainingBench, prepared: Prepared, outcomes: Outcomes) -> None:
    """How long an epoch would take whose seeds are as large a share of the nodes as those of papers100M."""
    batches = TRAINED * prepared.rows / PAPERS / bench.inputs.scale.batch
    print(f"  an epoch of {batches:,.0f} batches at the pace after the first quarter:")
    for name, outcome in outcomes.items():
        if outcome.failure is None:
            pace = median(rates.told(run)["steady"] for run in outcome.runs)
            print(f"    {name}: {batches / pace / 60:,.1f} minutes")
