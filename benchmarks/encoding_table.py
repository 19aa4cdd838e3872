"""The table of encodings: every graph in every order and encoding, by size, speed and blocks that cold batches read.

It is printed as Markdown, since `docs/encodings.md` shows it: speeds as multiples of one of them, which carry over to
another machine. The rates themselves are shown by the contests before it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import graphmill as gm
from benchmarks import contest, orders, rates
from benchmarks.child import measure
from benchmarks.orders import ORDERS, Graph
from benchmarks.packed_lines import shape_of
from benchmarks.topology_bench import TopologyBench
from benchmarks.topology_inputs import Stored

#: What all rates of a graph are a multiple of.
YARDSTICK = "none i32"


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    graph: str
    order: str
    encoding: str
    bits: float
    rate: float
    #: Of the rate of the yardstick, which took turns with it.
    times: float
    #: Blocks of 4 KiB that a batch reads when nothing is in memory: of the topology, and of rows of 128 x f32.
    list_blocks: float
    row_blocks: float

    def markdown(self) -> str:
        """The line."""
        return (
            f"| {self.graph} | `{self.order}` | `{self.encoding}` | {self.bits:.1f} "
            f"| {self.times:.2f} | {self.list_blocks:,.0f} | {self.row_blocks:,.0f} |"
        )


HEAD = """
| graph | order | encoding | bits an edge | speed | blocks of lists | blocks of rows |
|---|---|---|--:|--:|--:|--:|"""


def table(bench: TopologyBench) -> None:
    """Measure all, then print them together."""
    rows = [
        row
        for graph in bench.inputs.graphs(bench.graphs)
        for order in ORDERS
        for row in rows_of(bench, graph, order)
    ]
    print(HEAD)
    for row in rows:
        print(row.markdown(), flush=True)
    bench.results["table"] = [asdict(row) for row in rows]


def rows_of(bench: TopologyBench, graph: Graph, order: str) -> list[Row]:
    """The lines of one order: all encodings in turns with the yardstick."""
    row_blocks = blocks_of_rows(bench, graph, order)
    with bench.inputs.encodings(graph, order) as encodings:
        stored = {f"{order} {encoding}": each for encoding, each in encodings.items()}
        in_turns = {YARDSTICK: bench.inputs.plain(graph, "none"), **stored}
        turns = bench.in_turns(f"table: {shape_of(graph)}, {order}", graph, in_turns, "ram")
        return [
            Row(
                graph=graph.name,
                order=order,
                encoding=encoding,
                bits=bench.graphmill.bits_per_edge(each.path),
                rate=turns.rate(f"{order} {encoding}"),
                times=turns.over(f"{order} {encoding}", YARDSTICK),
                list_blocks=blocks_of_lists(bench, graph, each),
                row_blocks=row_blocks,
            )
            for encoding, each in encodings.items()
        ]


def blocks_of_rows(bench: TopologyBench, graph: Graph, order: str) -> float:
    """Blocks that the rows of a batch lie in.

    A function of its own, because pages of a file that is open here could not be forgotten.
    """
    plain, ordered = (gm.open(bench.inputs.dataset(graph, name)) for name in ("none", order))
    return orders.count(plain, ordered, graph).whole


def blocks_of_lists(bench: TopologyBench, graph: Graph, stored: Stored) -> float:
    """Blocks of the topology that a batch makes the kernel fetch."""
    command = bench.ours.cold(graph, stored, bench.inputs.scale.cold_batches)
    found: float = rates.told(measure(command, contest.TIMEOUT))["blocks"]
    if not found:
        raise contest.WrongResult(f"{stored.path} was read and the kernel counted nothing")
    return found
