"""pandas and SciPy: what a script does that reads text with pandas and trains on a CSC matrix."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from benchmarks.child import Command, Figures
from benchmarks.peers.installation import python_packages, script
from benchmarks.peers.peer import EdgeList, Peer

CODE = """
import sys
import numpy as np, pandas as pd, scipy.sparse

edges = pd.read_csv(sys.argv[1], header=None, names=["src", "dst"], dtype=np.int64)
nodes = int(edges.to_numpy().max()) + 1
ones = np.ones(len(edges), dtype=bool)
matrix = scipy.sparse.coo_array((ones, (edges["src"], edges["dst"])), shape=(nodes, nodes)).tocsc()
scipy.sparse.save_npz(sys.argv[2], matrix, compressed=False)
"""


class Pandas(Peer):
    """The road without any graph library."""

    name = "pandas"
    work = "CSV -> SciPy CSC, saved; all in memory"
    # SciPy adds up equal entries when it changes to CSC.
    keeps_duplicates = False

    def install(self) -> None:
        python_packages(self.folder, ["pandas", "scipy"])

    def build(self, edges: EdgeList, out: Path) -> Command:
        return Command(script(self.folder, CODE, edges.path, out / "matrix.npz"))

    def counts(self, out: Path, figures: Figures) -> tuple[int, int]:
        with np.load(out / "matrix.npz") as matrix:
            nodes = int(matrix["shape"][0])
        with zipfile.ZipFile(out / "matrix.npz") as archive, archive.open("indices.npy") as file:
            version = np.lib.format.read_magic(file)
            assert version == (1, 0)
            shape, _, _ = np.lib.format.read_array_header_1_0(file)
        return nodes, shape[0]
