"""What the kernels read: a small graph, its edges as text, and rows, the same for the same seed.

They take a second to make, so they are made anew each time, in the formats of today. It must not know what is counted.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.graphmill_command import Graphmill

#: Nodes as a power of two. Counts need no size: what memory costs is not in them.
POWER = 16
EDGES = 1 << 20
COLUMNS = 128
#: Edges and rows of the two texts.
TEXT_EDGES = (1_000_000, 2_000_000)
TEXT_ROWS = (1_000, 5_000)


@dataclass(frozen=True)
class KernelInputs:
    """Files by what they hold; texts are pairs of a shorter and a longer one, each named after its units."""

    plain: Path
    packed: Path
    table: Path
    edges: tuple[Path, Path]
    rows: tuple[Path, Path]


def made(graphmill: Graphmill, folder: Path) -> KernelInputs:
    """Write them all."""
    plain, packed, dataset = folder / "plain.gl", folder / "packed.gl", folder / "dataset"
    shape = ["--scale", str(POWER)]
    graphmill.generate("rmat", plain, *shape, "--edges", str(EDGES), "--direction", "both")
    subprocess.run(graphmill.convert(plain, packed, "--encoding", "packed").arguments, check=True)
    graphmill.generate("rmat", dataset, *shape, "--edges", "1000", "--features", str(COLUMNS))
    [table] = dataset.glob("x.*.gd")

    def edges_as_text(count: int) -> Path:
        path = folder / f"edges-{count}.csv"
        graphmill.generate("rmat", path, *shape, "--edges", str(count))
        return path

    def rows_as_text(count: int) -> Path:
        path = folder / f"numbers-{count * COLUMNS}.csv"
        numbers = np.random.default_rng(1).standard_normal((count, COLUMNS))
        names = ",".join(f"f{column}" for column in range(COLUMNS))
        np.savetxt(path, numbers, fmt="%.4f", delimiter=",", header=names, comments="")
        return path

    (few, many), (short, long) = TEXT_EDGES, TEXT_ROWS
    return KernelInputs(
        plain=plain,
        packed=packed,
        table=table,
        edges=(edges_as_text(few), edges_as_text(many)),
        rows=(rows_as_text(short), rows_as_text(long)),
    )
