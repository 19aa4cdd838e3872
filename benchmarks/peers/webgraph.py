"""WebGraph in Rust: text to a compressed BvGraph, sorted on disk."""

from __future__ import annotations

from pathlib import Path

from benchmarks.child import Command, Figures
from benchmarks.peers.installation import cargo_program, run
from benchmarks.peers.peer import EdgeList, Peer


class WebGraph(Peer):
    """The nearest relative: out of core, and compressed."""

    name = "webgraph"
    work = "CSV -> BvGraph, compressed"
    # A list of successors in its format is a set.
    keeps_duplicates = False

    def install(self) -> None:
        cargo_program(
            self.folder, "webgraph-cli", "--version", "0.5.0", "--locked", "--bin", "webgraph"
        )

    def build(self, edges: EdgeList, out: Path) -> Command:
        # It must be told the number of nodes, and its own default of memory is the faster one.
        return Command(
            self._from_arcs(edges.nodes, out / "graph"),
            stdin=edges.path,
            environment={"TMPDIR": str(out)},
        )

    def _from_arcs(self, nodes: int, base: Path, *flags: str) -> list[str]:
        shape = ["--num-nodes", str(nodes), "--separator", ",", "--num-threads", "2"]
        return [self.program, "from", "arcs", str(base), *shape, *flags]

    @property
    def program(self) -> str:
        """The program that was installed."""
        return str(self.folder / "bin" / "webgraph")

    def counts(self, out: Path, figures: Figures) -> tuple[int, int]:
        return self.stored(out)

    def stored(self, out: Path) -> tuple[int, int]:
        """Nodes and arcs of the graph in a folder."""
        lines = (out / "graph.properties").read_text().splitlines()
        properties = dict(line.split("=", 1) for line in lines if "=" in line)
        return int(properties["nodes"]), int(properties["arcs"])

    def store_in_lists(self, text: Path, nodes: int, out: Path) -> None:
        """Store `src,dst` below a header as lists of sources, and make what random access needs."""
        swapped = ("--lines-to-skip", "1", "--source-column", "1", "--target-column", "0")
        with open(text, "rb") as arcs:
            run(self._from_arcs(nodes, out / "graph", *swapped), stdin=arcs, TMPDIR=out)
        run([self.program, "build", "ef", str(out / "graph")])

    def random_lists(self, base: Path, count: int, rounds: int, *flags: str) -> Command:
        """The command that reads the lists of random nodes and prints nanoseconds for an arc, a line for each round."""
        sizes = ("--random", str(count), "--repeats", str(rounds))
        return Command([self.program, "bench", "bvgraph", str(base), *sizes, "--static", *flags])
