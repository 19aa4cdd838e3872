"""WebGraph in Rust: text to a compressed BvGraph, sorted on disk."""

from __future__ import annotations

from pathlib import Path

from benchmarks.child import Command, Figures
from benchmarks.peers.installation import cargo_program
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
        flags = ["--num-nodes", str(edges.nodes), "--separator", ",", "--num-threads", "2"]
        program = str(self.folder / "bin" / "webgraph")
        return Command(
            [program, "from", "arcs", str(out / "graph"), *flags],
            stdin=edges.path,
            environment={"TMPDIR": str(out)},
        )

    def counts(self, out: Path, figures: Figures) -> tuple[int, int]:
        lines = (out / "graph.properties").read_text().splitlines()
        properties = dict(line.split("=", 1) for line in lines if "=" in line)
        return int(properties["nodes"]), int(properties["arcs"])
