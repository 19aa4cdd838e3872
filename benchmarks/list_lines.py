"""Lines about single lists: all neighbours of random nodes, and one neighbour of a hub."""

from __future__ import annotations

import json
from collections.abc import Callable

from benchmarks import contest
from benchmarks.child import Figures
from benchmarks.contest import Contestant, Outcome, Outcomes
from benchmarks.list_speed import LISTS, ROUNDS, compiled, read_lists
from benchmarks.musts import Must
from benchmarks.topology_bench import TopologyBench
from benchmarks.topology_inputs import HUB_DEGREE, RMAT


def lists(bench: TopologyBench) -> None:
    """Random lists against webgraph's, in one thread: nanoseconds for a neighbour, in the best round of all."""
    title = f"lists: {LISTS:,} of random nodes of {RMAT.name}, hot order, distinct edges, 1 thread"
    program, packed, plain = compiled(), bench.inputs.distinct(), bench.inputs.distinct_plain()
    # Plain lists tell what memory allows: there is nothing to decode in them.
    ways = [("mapped", packed), ("ram", packed), ("mapped, i32", plain), ("ram, i32", plain)]
    contestants = [
        Contestant(
            name=f"graphmill, {way}",
            work="",
            command=read_lists(program, graph, way.split(",")[0]),
            inputs=[graph],
            check=lambda figures: f"{ours(figures):.2f} ns, {ours_at_once(figures):.2f} at once",
        )
        for way, graph in ways
    ]
    if bench.webgraph is not None:
        base = bench.inputs.bv(bench.webgraph)
        # By default compressed offsets tell where a list begins; the other has plain numbers in memory for that.
        for name, flags in (("webgraph", ()), ("webgraph, plain offsets", ("--slice",))):
            contestants.append(
                Contestant(
                    name=name,
                    work="",
                    command=bench.webgraph.random_lists(base, LISTS, ROUNDS, *flags),
                    inputs=[base.parent],
                    check=lambda figures: f"{theirs(figures):.2f} ns",
                )
            )
    outcomes = contest.hold(contestants, bench.repeats, bench.out)
    found: dict[str, float | None] = {}
    for name, outcome in outcomes.items():
        own = name.startswith("graphmill")
        found[name] = nanoseconds(outcome, ours if own else theirs)
        if own:
            found[f"{name}, many at once"] = nanoseconds(outcome, ours_at_once)
    print(f"\n{title}")
    for name, taken in found.items():
        said = f"{taken:7.2f} ns a neighbour" if taken else failure(outcomes, name)
        print(f"  {name:32} {said}", flush=True)
    bench.results[title] = found
    best = min((it for name, it in found.items() if it and name.startswith("webgraph")), default=0)
    for name in ("graphmill, mapped", "graphmill, mapped, many at once"):
        taken = found[name]
        times = best / taken if best and taken else None
        bench.musts.append(Must(f"lists: {name} over webgraph", times, at_least=5.0))


def ours(figures: Figures) -> float:
    """Nanoseconds for a neighbour by our program, each list asked for by itself."""
    return float(json.loads(figures.output)["neighbour_ns"])


def ours_at_once(figures: Figures) -> float:
    """The same when one call asks for all lists, so that it can look for several at a time."""
    return float(json.loads(figures.output)["neighbour_at_once_ns"])


def theirs(figures: Figures) -> float:
    """The same by webgraph's program, in its best round."""
    lines = [line for line in figures.output.splitlines() if line.startswith("Random:")]
    return min(float(line.split()[1]) for line in lines)


def nanoseconds(outcome: Outcome, read: Callable[[Figures], float]) -> float | None:
    """The least of all runs, if they went well: what else a machine does only adds to it."""
    if outcome.failure is not None:
        return None
    return min(map(read, outcome.runs))


def failure(outcomes: Outcomes, name: str) -> str:
    """What went wrong, for the table."""
    found = outcomes.get(name)
    return f"failed: {found.failure}" if found and found.failure else ""


def hub(bench: TopologyBench) -> None:
    """The k-th neighbour of one node with very many, asked for when the one before is known."""
    title = f"hub: one neighbour of {HUB_DEGREE:,}, packed, 1 thread"
    program, graph = compiled(), bench.inputs.hub()
    contestants = [
        Contestant(
            name=residency,
            work="",
            command=read_lists(program, graph, residency),
            inputs=[graph],
            check=lambda figures: f"{kth(figures):.0f} ns",
        )
        for residency in ("mapped", "ram")
    ]
    outcomes = contest.hold(contestants, bench.repeats, bench.out)
    print(f"\n{title}")
    found = {name: nanoseconds(outcome, kth) for name, outcome in outcomes.items()}
    for name, taken in found.items():
        print(f"  {name:24} {failure(outcomes, name) or f'{taken:7.1f} ns'}", flush=True)
    bench.results[title] = found
    slowest = None if None in found.values() else max(it for it in found.values() if it)
    bench.musts.append(Must("hub: its k-th neighbour", slowest, at_most=1000.0, unit="ns"))


def kth(figures: Figures) -> float:
    """Nanoseconds for one neighbour, once the hub is the one that was made."""
    said = json.loads(figures.output)
    if said["hub_degree"] != HUB_DEGREE:
        raise contest.WrongResult(f"the hub has {said['hub_degree']:,} neighbours")
    return float(said["kth_of_hub_ns"])
