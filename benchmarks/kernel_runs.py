"""The kernels, each as two runs of different length: of the command where a verb goes through it, else of an example.

One thread, lists and rows from the mapped file. It must not know how instructions are counted.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.child import Command
from benchmarks.instruction_counts import Kernel
from benchmarks.kernel_inputs import POWER, KernelInputs

ONE_THREAD = ["--threads", "1"]


@dataclass(frozen=True)
class Programs:
    """What is run."""

    graphmill: str
    walk_steps: str
    read_lists: str
    gather_rows: str


def kernels(programs: Programs, inputs: KernelInputs, out: Path) -> list[Kernel]:
    """All of them, in the order of the table; `out` is for what conversions write."""

    def sample(graph: Path) -> Callable[[int], Command]:
        flags = ["--fanouts", "15,10,5", "--residency", "mapped", "--announce", "off", "--json"]
        start = [programs.graphmill, "sample", str(graph), *flags, *ONE_THREAD]
        return lambda batches: Command([*start, "--batches", str(batches)])

    def walk(q: float) -> Callable[[int], Command]:
        start = [programs.walk_steps, str(inputs.plain)]
        return lambda walks: Command([*start, str(walks), str(q)])

    def gather(batches: int) -> Command:
        return Command([programs.gather_rows, str(inputs.table), str(batches)])

    def lists(count: int) -> Command:
        return Command([programs.read_lists, str(inputs.packed), str(count)])

    def convert(kind: str, *flags: str) -> Callable[[Path], Command]:
        def command(source: Path) -> Command:
            target = str(out / f"{source.stem}.{kind}")
            start = [programs.graphmill, "convert", str(source), target, "--overwrite", "--quiet"]
            return Command([*start, *flags, *ONE_THREAD])

        return command

    nodes = ["--num-nodes", str(1 << POWER)]
    few, many = inputs.edges
    short, long = inputs.rows
    sample_plain, sample_packed = sample(inputs.plain), sample(inputs.packed)
    uniform, node2vec = walk(1.0), walk(0.5)
    edges, numbers = convert("gl", *nodes), convert("gd")
    return [
        Kernel("sampled edge, i32 lists", sample_plain(1), sample_plain(4), sampled_edges),
        Kernel("sampled edge, packed lists", sample_packed(1), sample_packed(4), sampled_edges),
        Kernel("step of a uniform walk", uniform(5_000), uniform(30_000), told("steps")),
        Kernel("step of a node2vec walk", node2vec(2_000), node2vec(10_000), told("steps")),
        Kernel("row gathered, mapped table", gather(10), gather(100), told("rows")),
        Kernel("edge read from packed lists", lists(10_000), lists(60_000), told("edges")),
        Kernel("edge of a text, parsed and sorted", edges(few), edges(many), named),
        Kernel("number of a text, parsed", numbers(short), numbers(long), named),
    ]


def told(key: str) -> Callable[[Command, str], int]:
    """Units as the program says them."""
    return lambda _, output: int(json.loads(output)[key])


def sampled_edges(_: Command, output: str) -> int:
    """The edges of all batches but the first, which comes in every run."""
    said = json.loads(output)
    return round(said["edges_per_batch"] * said["batches"])


def named(command: Command, _: str) -> int:
    """Units by which a source is named."""
    source = Path(command.arguments[2])
    return int(source.stem.rpartition("-")[2])
