"""Lines about sampling from packed lists: when plain ones fit into memory, and when they do not."""

from __future__ import annotations

from benchmarks import rates
from benchmarks.child import CORES, Figures
from benchmarks.contest import MIB, Contestant, WrongResult
from benchmarks.measure import memory_group
from benchmarks.musts import Must
from benchmarks.orders import Graph
from benchmarks.topology_bench import TopologyBench
from benchmarks.topology_inputs import RMAT

#: What two threads take for themselves while they sample, batches that wait included.
ROOM = 64 * MIB


def sampling(bench: TopologyBench) -> None:
    """Packed lists against plain ones, both in memory: copied to huge pages, and in the page cache."""
    stored = {
        "hot i32": bench.inputs.plain(RMAT, "hot"),
        "hot packed": bench.inputs.packed(RMAT, "hot"),
    }
    for residency in ("ram", "mapped"):
        title = f"sampling: {shape_of(RMAT)}, residency {residency}"
        turns = bench.in_turns(title, RMAT, stored, residency)
        what = f"sampling, {residency}: packed over i32"
        bench.musts.append(Must(what, turns.over("hot packed", "hot i32"), at_least=0.7))


def limited(bench: TopologyBench) -> None:
    """Both in memory that is enough for packed lists and what sampling takes, and too little for plain ones."""
    packed, plain = bench.inputs.packed(RMAT, "hot"), bench.inputs.plain(RMAT, "hot")
    limit = bench.graphmill.lists_bytes(packed.path) + ROOM
    title = f"limited: {shape_of(RMAT)}, in a cgroup of {limit / MIB:,.0f} MiB"
    digests: set[str] = set()

    def check(figures: Figures) -> str:
        said = rates.told(figures)
        digests.add(said["digest"])
        if len(digests) > 1:
            raise WrongResult("encodings gave different samples")
        return f"{said['batches']} batches, {said['batches'] / said['seconds']:.1f} batches/s"

    measured = None
    with memory_group(limit) as group:
        if group is None:
            bench.skip(title, "no cgroup can be made here")
        else:
            count = bench.inputs.scale.cold_batches
            contestants = [
                Contestant(
                    name=name,
                    work="",
                    command=bench.ours.limited(RMAT, stored, count, group),
                    inputs=[stored.path],
                    check=check,
                    cold=True,
                )
                for name, stored in (("packed", packed), ("i32", plain))
            ]
            outcomes = bench.hold(title, "edges", contestants)
            measured = rates.over(rates.rate(outcomes["packed"]), rates.rate(outcomes["i32"]))
    bench.musts.append(Must("limited: packed over i32", measured, at_least=5.0))


def shape_of(graph: Graph) -> str:
    """What a batch is, for people."""
    fanouts = ",".join(map(str, graph.fanouts))
    return f"{graph.name}, fan-outs {fanouts} of {graph.batch} seeds, {CORES} threads"
