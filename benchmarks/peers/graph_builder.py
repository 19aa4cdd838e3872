"""The Rust crate graph_builder: text to a directed graph in memory, nothing written."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.child import Command, Figures
from benchmarks.peers.installation import cargo_program
from benchmarks.peers.peer import EdgeList, Peer

SOURCE = Path(__file__).parent / "graph_builder"


class GraphBuilder(Peer):
    """The fastest way into memory."""

    name = "graph_builder"
    work = "CSV -> in- and out-lists in memory only"

    def install(self) -> None:
        cargo_program(self.folder, "--path", str(SOURCE))

    def build(self, edges: EdgeList, out: Path) -> Command:
        return Command([str(self.folder / "bin" / "build-in-memory"), str(edges.path)])

    def counts(self, out: Path, figures: Figures) -> tuple[int, int]:
        counts = json.loads(figures.output)
        return counts["nodes"], counts["edges"]
