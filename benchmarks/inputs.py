"""What the ingest section reads: lists of edges, tables and archives, made once and kept.

The edges come from our own generator, the rest from NumPy; facts about the edges are counted with NumPy, so that no
contestant is its own witness. It must not know who reads them.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.graphmill_command import Graphmill
from benchmarks.kept_files import KeptFiles
from benchmarks.peers import EdgeList

COLUMNS = 128
CHUNK = 1 << 26


@dataclass(frozen=True)
class Scale:
    """How large everything is."""

    name: str
    nodes_power: int
    edges: int
    #: Rows of the table as text.
    text_rows: int
    #: Nodes and edges of the archive.
    archive_rows: int
    archive_edges: int
    #: Budget of the build whose features are larger than it.
    tight_memory: str
    #: Free bytes that the inputs and the largest output ask for.
    disk: int


SCALES = {
    "small": Scale("small", 18, 2_000_000, 1 << 14, 1 << 16, 2_000_000, "64MiB", 2 * 10**9),
    "full": Scale("full", 22, 64_000_000, 1 << 18, 1 << 20, 32_000_000, "512MiB", 16 * 10**9),
}


class Inputs(KeptFiles):
    """The inputs of one scale, in a folder of their own."""

    def __init__(self, folder: Path, scale: Scale, graphmill: Graphmill) -> None:
        """Know what makes the edges."""
        super().__init__(folder, scale.name, scale.disk)
        self.scale, self.graphmill = scale, graphmill

    def edges(self) -> EdgeList:
        """An R-MAT graph as text; the header is cut off, which one of the peers would take for an edge."""
        path = self._once("edges.csv", self._write_edges)
        note = self._once("edges.json", lambda target: target.write_text(json.dumps(facts(path))))
        return EdgeList(path=path, **json.loads(note.read_text()))

    def _write_edges(self, target: Path) -> None:
        with_header = target.with_suffix(".generated.csv")
        flags = ["--scale", str(self.scale.nodes_power), "--edges", str(self.scale.edges)]
        self.graphmill.generate("rmat", with_header, *flags)
        with open(with_header, "rb") as source, open(target, "wb") as cut:
            source.readline()
            shutil.copyfileobj(source, cut, CHUNK)
        with_header.unlink()

    def table_text(self) -> Path:
        """A table of floats as text, with ids: the header tells graphmill, GraphZero takes it for granted."""
        return self._once("x.csv", self._write_table_text)

    def _write_table_text(self, target: Path) -> None:
        random = np.random.default_rng(1)
        # Formatting is what takes long, so rows draw from a stock of cells.
        cells = [f"{value:.4f}" for value in random.standard_normal(1 << 16)]
        with open(target, "w") as file:
            file.write(",".join(["id", *(f"f{column}" for column in range(COLUMNS))]) + "\n")
            for row in range(self.scale.text_rows):
                chosen = random.integers(0, len(cells), COLUMNS).tolist()
                file.write(f"{row}," + ",".join([cells[cell] for cell in chosen]) + "\n")

    def table_array(self) -> Path:
        """A table with a row for each node, as `.npy`."""
        return self._once("x.npy", self._write_table_array)

    def _write_table_array(self, target: Path) -> None:
        rows = 1 << self.scale.nodes_power
        shape = (rows, COLUMNS)
        table = np.lib.format.open_memmap(target, "w+", dtype=np.float32, shape=shape)
        random = np.random.default_rng(2)
        for start in range(0, rows, 1 << 16):
            part = table[start : start + (1 << 16)]
            part[:] = random.standard_normal(part.shape, dtype=np.float32)
        table.flush()

    def archive(self) -> Path:
        """A folder in OGB's layout whose `raw/data.npz` holds edges, features and years, deflated."""
        return self._once("ogb", self._write_archive)

    def _write_archive(self, target: Path) -> None:
        random = np.random.default_rng(3)
        rows, edges = self.scale.archive_rows, self.scale.archive_edges
        (target / "raw").mkdir(parents=True)
        np.savez_compressed(
            target / "raw" / "data.npz",
            # Small ids are met more often, as in a citation graph.
            edge_index=(rows * random.random((2, edges)) ** 3).astype(np.int64),
            node_feat=random.standard_normal((rows, COLUMNS), dtype=np.float32),
            node_year=random.integers(1970, 2020, (rows, 1)),
            num_nodes_list=np.array([rows]),
            num_edges_list=np.array([edges]),
        )


def facts(path: Path) -> dict[str, int]:
    """What is true of a list of edges, counted slowly."""
    parts: list[npt.NDArray[np.uint64]] = []
    largest = 0
    with open(path, "rb") as file:
        while text := file.read(CHUNK):
            text += file.readline()
            numbers = np.fromstring(text.replace(b"\n", b",").decode(), dtype=np.uint64, sep=",")
            source, destination = numbers.reshape(-1, 2).T
            largest = max(largest, int(numbers.max()))
            parts.append((source << np.uint64(32)) | destination)
    keys = np.concatenate(parts)
    keys.sort()
    distinct = 1 + int(np.count_nonzero(keys[1:] != keys[:-1]))
    return {"nodes": largest + 1, "edges": len(keys), "distinct_edges": distinct}
