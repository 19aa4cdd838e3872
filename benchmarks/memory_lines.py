"""Lines about memory: what sampling holds whatever the number of nodes, and how it goes with a file on disk."""

from __future__ import annotations

import dataclasses

from benchmarks import rates
from benchmarks.child import CORES, Figures
from benchmarks.contest import MIB, Contestant
from benchmarks.measure import entering, memory_group
from benchmarks.musts import Must
from benchmarks.sampling_bench import SamplingBench
from benchmarks.sampling_inputs import SPREAD
from benchmarks.sampling_lines import SHAPE, batch_of, sized

#: Batches of a run out of memory; each takes seconds where pages come one by one.
COLD_BATCHES = 4


def scratch(bench: SamplingBench) -> None:
    """Anonymous memory of the command with one thread, on two graphs of the same shape, one with many more nodes.

    Work memory is only a part of it: seeds, batches that were made and the program itself are counted too. Lists stay
    in the mapped file, because a copy of them would hide everything else.
    """
    mapped = ("--residency", "mapped")
    graphs = {"few nodes": bench.inputs.graph(), "many nodes": bench.inputs.spread()}
    contestants = [
        Contestant(name, "", bench.ours.command(graph, 1, *mapped), [graph], described)
        for name, graph in graphs.items()
    ]
    title = f"memory: {SHAPE}, 1 thread, {SPREAD} times as many nodes"
    outcomes = bench.hold(title, "edges", contestants)
    held: dict[str, float | None] = {}
    for name, outcome in outcomes.items():
        held[name] = None if outcome.failure else outcome.peak_anonymous / MIB
        what = f"memory of one thread, {name}"
        bench.musts.append(Must(what, held[name], at_most=64.0, unit="MiB"))
    # A page of the allocator more or less is no growth.
    grown = rates.over(held["many nodes"], held["few nodes"])
    bench.musts.append(Must("memory: many nodes over few", grown, at_most=1.1))


def described(figures: Figures) -> str:
    """What a run of the command made, for the table."""
    return batch_of(sized(figures))


def cold(bench: SamplingBench) -> None:
    """Pages announced in bulk against pages that come one by one, in a quarter of the memory that the file takes."""
    title = f"cold: {SHAPE}, {CORES} threads, in a cgroup of a quarter of the file"
    graph = bench.inputs.graph()
    measured = None
    with memory_group(graph.stat().st_size // 4) as group:
        if group is None:
            bench.skip(title, "no cgroup can be made here")
        elif not bench.ours.graphmill.has_flag("sample", "--announce"):
            bench.skip(title, "graphmill sample --announce: not in this version")
        else:
            contestants = []
            for announce in ("on", "off"):
                flags = ("--announce", announce)
                plain = bench.ours.command(graph, CORES, *flags, batches=COLD_BATCHES)
                command = dataclasses.replace(plain, arguments=entering(group, plain.arguments))
                contestants.append(
                    Contestant(
                        name=f"announce {announce}",
                        work="",
                        command=command,
                        inputs=[graph],
                        check=described,
                        cold=True,
                    )
                )
            outcomes = bench.hold(title, "edges", contestants)
            on, off = (rates.rate(outcomes[f"announce {name}"]) for name in ("on", "off"))
            measured = rates.over(on, off)
    bench.musts.append(Must("cold: announced over one by one", measured, at_least=4.0))
