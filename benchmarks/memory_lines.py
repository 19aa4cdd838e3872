"""Lines about memory: what sampling holds whatever the number of nodes, and how it goes with a file on disk."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from benchmarks import rates
from benchmarks.child import CORES, Command
from benchmarks.contest import MIB, Contestant
from benchmarks.measure import entering, memory_group
from benchmarks.musts import Must
from benchmarks.sampling_bench import SamplingBench
from benchmarks.sampling_inputs import SPREAD
from benchmarks.sampling_lines import SHAPE, batch_of, sized

#: Batches of a run out of memory; each takes seconds where pages come one by one.
COLD_BATCHES = 4


def scratch(bench: SamplingBench) -> None:
    """Anonymous memory of one thread, above that of sampling one neighbour of one node.

    What is counted is more than work memory alone: batches that were made and the seeds belong to it. The second graph
    has the same edges among many more nodes.
    """
    few, many = bench.inputs.graph(), bench.inputs.spread()
    names = {few: "as it is", many: f"{SPREAD} x the nodes"}
    contestants = []
    for graph, name in names.items():
        contestants += [measured(bench, graph, name), next_to_nothing(bench, graph, name)]
    outcomes = bench.hold(f"memory: {SHAPE}, 1 thread", "edges", contestants)
    held: dict[Path, float | None] = {}
    for graph, name in names.items():
        whole, least = outcomes[name], outcomes[f"{name}, one edge"]
        failed = whole.failure or least.failure
        held[graph] = None if failed else (whole.peak_anonymous - least.peak_anonymous) / MIB
        what = f"scratch of a thread: {name}"
        bench.musts.append(Must(what, held[graph], at_most=64.0, unit="MiB"))
    # A page of the allocator more or less is no growth.
    grown = rates.over(held[many], held[few])
    bench.musts.append(Must("scratch: many nodes over few", grown, at_most=1.1))


def measured(bench: SamplingBench, graph: Path, name: str) -> Contestant:
    """One thread of the command."""
    command = bench.ours.command(graph, 1)
    return Contestant(name, "", command, [graph], lambda made: batch_of(sized(made)))


def next_to_nothing(bench: SamplingBench, graph: Path, name: str) -> Contestant:
    """What the command holds when there is nearly nothing to do, and long enough to be looked at."""
    program = bench.ours.graphmill.program
    flags = ["--fanouts", "1", "--batch-size", "1", "--batches", "1M", "--threads", "1", "--json"]
    command = Command([program, "sample", str(graph), *flags])
    return Contestant(f"{name}, one edge", "", command, [graph], lambda made: batch_of(sized(made)))


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
                        check=lambda made: batch_of(sized(made)),
                        cold=True,
                    )
                )
            outcomes = bench.hold(title, "edges", contestants)
            on, off = (rates.rate(outcomes[f"announce {name}"]) for name in ("on", "off"))
            measured = rates.over(on, off)
    bench.musts.append(Must("cold: announced over one by one", measured, at_least=4.0))
