"""GraphZero 0.2: text to its `.gl` and `.gd`, one thread, no sorting of neighbours."""

from __future__ import annotations

import struct
from pathlib import Path

from benchmarks.child import Command, Figures
from benchmarks.peers.installation import python_packages, script
from benchmarks.peers.peer import EdgeList, Peer

EDGES = (
    "import graphzero, sys; graphzero.convert_csv_to_gl(sys.argv[1], sys.argv[2], directed=True)"
)
FEATURES = """
import graphzero, sys
graphzero.convert_csv_to_gd(sys.argv[1], sys.argv[2], graphzero.DataType.FLOAT32)
"""


class GraphZero(Peer):
    """The original of the drop-in."""

    name = "graphzero"
    work = "CSV -> .gl, neighbours unsorted"

    def install(self) -> None:
        # It asks for torch as well, which the converters never import and which is several gigabytes.
        python_packages(self.folder, ["numpy"], ["--no-deps", "graphzero==0.2.0"])

    def build(self, edges: EdgeList, out: Path) -> Command:
        return Command(script(self.folder, EDGES, edges.path, out / "graph.gl"))

    def counts(self, out: Path, figures: Figures) -> tuple[int, int]:
        with open(out / "graph.gl", "rb") as file:
            nodes, edges = struct.unpack_from("<QQ", file.read(64), 40)
        return nodes, edges

    def features(self, table: Path, out: Path) -> Command:
        """The command that makes a table of 32-bit floats from text."""
        return Command(script(self.folder, FEATURES, table, out / "x.gd"))

    def shape(self, out: Path) -> tuple[int, int]:
        """Rows and columns of that table."""
        with open(out / "x.gd", "rb") as file:
            rows, columns = struct.unpack_from("<QQ", file.read(32), 16)
        return rows, columns
