"""Lines about bytes: what packed lists take beside other forms of the same lists, and what packing takes of a build."""

from __future__ import annotations

from pathlib import Path

from benchmarks.child import Figures
from benchmarks.contest import Contestant, WrongResult, ratio
from benchmarks.musts import Must
from benchmarks.topology_bench import TopologyBench
from benchmarks.topology_inputs import RMAT, topology_of


def size(bench: TopologyBench) -> None:
    """Bits of an edge by everything that a file has beside original ids, which no other form stores."""
    whole, distinct = bench.inputs.packed(RMAT, "hot").path, bench.inputs.distinct()
    plain = bench.inputs.plain(RMAT, "hot").path
    nodes, edges = bench.graphmill.counts(whole)
    found = {
        "packed": 8 * bench.graphmill.lists_bytes(whole) / edges,
        "packed, with original ids": 8 * whole.stat().st_size / edges,
        "i32, offsets of 64 bits": 8 * bench.graphmill.lists_bytes(plain) / edges,
        "graphzero, by its layout": 64 * (edges + nodes + 9) / edges,
    }
    show(bench, f"size: {RMAT.name}, hot order, {nodes:,} nodes, {edges:,} edges", found)
    bench.musts.append(
        Must("size: the whole .gl", found["packed"], at_most=22.0, unit="bits an edge")
    )

    _, edges = bench.graphmill.counts(distinct)
    ours = 8 * bench.graphmill.lists_bytes(distinct) / edges
    found, over = {"packed": ours}, None
    if bench.webgraph is not None:
        base = bench.inputs.bv(bench.webgraph)
        of = {
            name: base.with_suffix(f".{name}").stat().st_size for name in ("graph", "offsets", "ef")
        }
        found["webgraph BV, graph and offsets"] = 8 * (of["graph"] + of["offsets"]) / edges
        found["webgraph BV, ready for random access"] = 8 * (of["graph"] + of["ef"]) / edges
        over = ours / found["webgraph BV, graph and offsets"]
    show(bench, f"size: the same without repeated edges, {edges:,} edges", found)
    bench.musts.append(Must("size: over webgraph's BV with its offsets", over, at_most=1.25))


def show(bench: TopologyBench, title: str, found: dict[str, float]) -> None:
    """Print and keep what was found."""
    print(f"\n{title}")
    for name, bits in found.items():
        print(f"  {name:40} {bits:6.2f} bits an edge", flush=True)
    bench.results[title] = found


def build(bench: TopologyBench) -> None:
    """A dataset with plain lists against one with packed lists: from text, as users have it, and from lists.

    The target is for text. From lists there is next to nothing to do but to store them, so packing shows most.
    """
    text, lists = bench.inputs.text(), topology_of(bench.inputs.dataset(RMAT, "none"))
    counts = bench.graphmill.counts(lists)
    times = {}
    for kind, source in (("text", text), ("lists", lists)):
        contestants = [building(bench, source, counts, encoding) for encoding in ("packed", "i32")]
        title = f"build: {counts[1]:,} edges from {kind}, {bench.inputs.scale.memory} of memory"
        times[kind] = ratio(bench.times(title, "packed", contestants), "packed", "i32")
    what = "build from text: time of packed over i32"
    bench.musts.append(Must(what, times["text"], at_most=1.3))


def building(
    bench: TopologyBench, source: Path, counts: tuple[int, int], encoding: str
) -> Contestant:
    """One build of a dataset with in-lists."""
    target = bench.out / "dataset"

    def check(_: Figures) -> str:
        if (found := bench.graphmill.counts(target)) != counts:
            raise WrongResult(f"made {found}, must be {counts}")
        return f"{topology_of(target).stat().st_size / 1e6:,.0f} MB"

    return Contestant(
        name=encoding,
        work="dataset of in-lists, synced",
        command=bench.graphmill.build(
            target, source, "--encoding", encoding, *bench.inputs.build_flags()
        ),
        inputs=[source],
        check=check,
    )
