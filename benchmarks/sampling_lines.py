"""Lines about speed: fan-outs, threads, one hop and walks, against every peer that can do the same."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from benchmarks import rates, witness
from benchmarks.child import CORES, Command, Figures
from benchmarks.contest import Contestant, Outcomes, WrongResult
from benchmarks.curves import Curve, Point, Series
from benchmarks.musts import Must
from benchmarks.samplers import LENGTH, NEIGHBOURS
from benchmarks.samplers.sampler import FANOUTS
from benchmarks.sampling_bench import SamplingBench
from benchmarks.sampling_inputs import BATCH, BATCHES

SHAPE = f"fan-outs {','.join(map(str, FANOUTS))} of {BATCH} seeds"
#: Edges and nodes of a batch may differ so much between those who expand a node once and those who do it at each layer.
PLAUSIBLE = 1.35


def fanout(bench: SamplingBench) -> None:
    """A stream of batches on all cores."""
    kept = bench.out / "kept.npz"
    contestants: list[Contestant] = []
    for sampler in bench.all():
        contestants += stream(bench, sampler.fanout(bench.inputs, kept), kept)
    contestants.insert(1, by_command(bench, CORES))
    outcomes = bench.hold(f"{SHAPE}, {CORES} threads", "edges", contestants)
    plausible = [run for each in outcomes.values() if not each.failure for run in each.runs]
    sizes = [said["nodes_per_batch"] for said in map(sized, plausible)]
    if sizes and max(sizes) > PLAUSIBLE * min(sizes):
        raise WrongResult(f"batches of {min(sizes):,.0f} to {max(sizes):,.0f} nodes")
    theirs = rates.best(outcomes, ["graphbolt"])
    for name in ("graphmill", f"graphmill sample, {CORES}"):
        what = f"fan-outs: edges/s of {name} over graphbolt"
        times = rates.over(rates.rate(outcomes[name]), theirs)
        bench.musts.append(Must(what, times, at_least=3.0, headline=name == "graphmill"))


def threads(bench: SamplingBench) -> None:
    """One thread of ours against two."""
    kept = bench.out / "kept.npz"
    contestants: list[Contestant] = []
    for count in (CORES, 1):
        commands = bench.ours.stream(bench.inputs, kept, count)
        named = {f"{name}, {count}": command for name, command in commands.items()}
        contestants += [*stream(bench, named, kept), by_command(bench, count)]
    outcomes = bench.hold(f"{SHAPE}, by threads", "edges", contestants)
    for name in ("graphmill", "graphmill sample"):
        one, two = (rates.rate(outcomes[f"{name}, {count}"]) for count in (1, CORES))
        what = f"threads: {name}, {CORES} over 1"
        bench.musts.append(Must(what, rates.over(two, one), at_least=1.8))
    bench.curves.append(threads_curve(outcomes))


def threads_curve(outcomes: Outcomes) -> Curve:
    """How the pace grows with threads."""
    series = []
    for name in ("graphmill", "graphmill sample"):
        found = {count: outcomes[f"{name}, {count}"] for count in range(1, CORES + 1)}
        points = [
            Point(
                count,
                None if (pace := rates.rate(each)) is None else pace / 1e6,
                each.failure or "",
            )
            for count, each in found.items()
        ]
        series.append(Series(name, points))
    remark = f"{SHAPE}, graph in the page cache, so nothing comes from disk."
    return Curve("Sampling by threads", "threads", "million edges/s", series, remark)


def stream(bench: SamplingBench, commands: Mapping[str, Command], kept: Path) -> list[Contestant]:
    """Contestants that sample the seeds of the inputs."""
    lists, seeds = bench.inputs.lists("in"), np.load(bench.inputs.seeds())

    def check(figures: Figures) -> str:
        said = sized(figures)
        rounds = said["seeds"] / len(seeds)
        if rounds not in (1, 3) or said["batches"] != rounds * -(-len(seeds) // BATCH):
            raise WrongResult(f"{said['seeds']:,} seeds in {said['batches']} batches")
        witness.right_fanout(kept, lists, seeds[:BATCH], FANOUTS)
        return batch_of(said)

    inputs = [bench.inputs.graph(), lists.offsets, lists.neighbours]
    return bench.contestants(commands, inputs, check)


def by_command(bench: SamplingBench, count: int) -> Contestant:
    """Our command, which draws seeds of its own; as many batches go before the clock starts as in Python."""
    graph = bench.inputs.graph()
    command = bench.ours.command(graph, count, "--warm-up", str(BATCHES))
    return Contestant(
        f"graphmill sample, {count}", "", command, [graph], lambda made: batch_of(sized(made))
    )


def sized(figures: Figures) -> dict[str, float]:
    """What a run of fan-outs said, with edges and nodes of a batch."""
    said = rates.told(figures)
    if "nodes" in said:
        said["nodes_per_batch"] = said["nodes"] / said["batches"]
        said["edges_per_batch"] = said["amount"] / said["batches"]
    return said


def batch_of(said: dict[str, float]) -> str:
    """Size of a batch for the table."""
    return f"{said['edges_per_batch']:,.0f} edges, {said['nodes_per_batch']:,.0f} nodes a batch"


def onehop(bench: SamplingBench) -> None:
    """Rows of neighbours, by GraphZero's name for it."""
    kept = bench.out / "kept.npy"
    lists, starts = bench.inputs.lists("out"), np.load(bench.inputs.starts())

    def check(_: Figures) -> str:
        witness.right_rows(kept, lists, starts, NEIGHBOURS)
        return f"{NEIGHBOURS} neighbours of {len(starts):,} nodes"

    contestants: list[Contestant] = []
    for sampler in bench.all():
        commands = sampler.onehop(bench.inputs, kept)
        contestants += bench.contestants(commands, [bench.inputs.graph()], check)
    outcomes = bench.hold(f"batch_random_fanout, K = {NEIGHBOURS}", "seeds", contestants)
    ours, theirs = rates.best(outcomes, ["graphmill"]), rates.best(outcomes, ["graphzero"])
    bench.musts.append(Must("one hop: over graphzero", rates.over(ours, theirs), at_least=5.0))


def walk(bench: SamplingBench) -> None:
    """Uniform walks."""
    title = f"uniform walks of {LENGTH} steps, {CORES} threads"
    outcomes = walks(bench, title, bench.inputs.starts(), is_uniform=True)
    ours, peers = rates.best(outcomes, ["graphmill"]), rates.best(outcomes, list(bench.peers))
    times = rates.over(ours, peers)
    bench.musts.append(Must("walks: over the best peer", times, at_least=4.0, headline=True))


def node2vec(bench: SamplingBench) -> None:
    """node2vec from any node, and from hubs, whose lists are the longest."""
    for where, starts in [("", bench.inputs.starts()), (" from hubs", bench.inputs.hubs())]:
        title = f"node2vec{where}, p = 1, q = 0.5, {LENGTH} steps, {CORES} threads"
        outcomes = walks(bench, title, starts, is_uniform=False)
        ours, theirs = rates.best(outcomes, ["graphmill"]), rates.best(outcomes, ["dgl"])
        what = f"node2vec{where}: over DGL"
        bench.musts.append(Must(what, rates.over(ours, theirs), at_least=8.0))


def walks(bench: SamplingBench, title: str, starts: Path, *, is_uniform: bool) -> Outcomes:
    """Hold one contest about walks."""
    kept, inputs = bench.out / "kept.npy", bench.inputs
    lists, ids = inputs.lists("out"), np.load(starts)
    contestants: list[Contestant] = []
    for sampler in bench.all():
        commands = (
            sampler.walk(inputs, kept) if is_uniform else sampler.node2vec(inputs, starts, kept)
        )
        last = not (is_uniform and sampler.name == "graphzero")

        def check(figures: Figures, last: bool = last) -> str:
            real = witness.right_walks(kept, lists, ids, LENGTH, last=last)
            return f"{rates.told(figures)['starts']:,} starts, {real}"

        contestants += bench.contestants(commands, [inputs.graph()], check)
    return bench.hold(title, "steps", contestants)
