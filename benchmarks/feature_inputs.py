"""What the features section reads: two tables, and ids to gather from them.

A row tells its number, so that whoever gathers it can be checked by arithmetic. Ids are drawn with NumPy and given to
everybody alike. It must not know who gathers.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.graphmill_command import Graphmill
from benchmarks.inputs import COLUMNS
from benchmarks.kept_files import KeptFiles
from benchmarks.stores import table

Ids = npt.NDArray[np.int64]

ROW = 4 * COLUMNS
#: Where the rows begin in our file: its first section always begins there.
OFFSET = 4096
#: R-MAT's a + b: how likely each bit of an edge's source is 0.
ZERO_BIT = 0.76


@dataclass(frozen=True)
class FeatureScale:
    """How large everything is."""

    name: str
    #: Rows of the table that stays in memory, and of the one that comes from disk.
    resident_power: int
    power: int
    #: Ids of a batch.
    batch: int
    warm_batches: int
    limited_batches: int
    #: Ids of the sparse gather.
    sparse: int
    #: Memory above what a process has when it begins.
    limit: int
    #: Seconds that one measurement of fio takes.
    fio_seconds: float
    #: Seconds after which somebody who would take many minutes may stop.
    patience: float
    #: Free bytes that the tables ask for, one of them for a while in two layouts.
    disk: int


SCALES = {
    "small": FeatureScale(
        "small", 18, 20, 7_750, 8, 4, 6_250, 1 << 26, fio_seconds=0.5, patience=3, disk=2 * 10**9
    ),
    "full": FeatureScale(
        "full", 22, 24, 124_000, 8, 4, 100_000, 1 << 30, fio_seconds=3, patience=30, disk=21 * 10**9
    ),
}


@dataclass(frozen=True)
class Asked:
    """Ids to gather from a table: one list, or a row of ids for each batch."""

    table: Path
    rows: int
    ids: Path

    @property
    def count(self) -> int:
        """All ids, repeats included."""
        return int(self.load().size)

    def load(self) -> Ids:
        """The ids, mapped."""
        ids: Ids = np.load(self.ids, mmap_mode="r")
        return ids


class FeatureInputs(KeptFiles):
    """The tables of one scale and their ids."""

    def __init__(self, folder: Path, scale: FeatureScale, graphmill: Graphmill) -> None:
        """Know the command that writes tables in another layout."""
        super().__init__(folder, scale.name, scale.disk)
        self.scale, self.graphmill = scale, graphmill

    def resident(self) -> Asked:
        """Batches of any ids of the small table, some of them more than once."""
        rows = 1 << self.scale.resident_power
        shape = self.scale.warm_batches, self.scale.batch
        return self._asked("resident", rows, "warm", lambda random: random.integers(0, rows, shape))

    def sparse(self) -> Asked:
        """Few distinct rows of the large table, far apart."""
        return self._distinct("sparse", self.scale.sparse)

    def dense(self, percent: int) -> Asked:
        """A share of all rows of the large table, in no order."""
        return self._distinct(f"dense-{percent}", (percent << self.scale.power) // 100)

    def _distinct(self, name: str, count: int) -> Asked:
        rows = 1 << self.scale.power
        return self._asked(
            "large", rows, name, lambda random: random.choice(rows, count, replace=False)
        )

    def by_degree(self) -> Asked:
        """Batches of ids of the large table, each as likely as an edge of an R-MAT graph begins there."""
        rows = 1 << self.scale.power
        shape = self.scale.limited_batches, self.scale.batch

        def draw(random: np.random.Generator) -> Ids:
            ids: Ids = np.zeros(shape, dtype=np.int64)
            for bit in range(self.scale.power):
                ids |= (random.random(shape) >= ZERO_BIT).astype(np.int64) << bit
            # Nodes with many edges must not all lie at the front.
            scattered: Ids = random.permutation(rows)[ids]
            return scattered

        return self._asked("large", rows, "by-degree", draw)

    def _asked(
        self, kind: str, rows: int, name: str, draw: Callable[[np.random.Generator], Ids]
    ) -> Asked:
        stored = self._once(f"{kind}.gd", lambda target: table(target, rows * ROW))

        def write(target: Path) -> None:
            np.save(target, draw(np.random.default_rng(list(name.encode()))))

        return Asked(stored, rows, self._once(f"{name}.npy", write))

    @contextmanager
    def graphzero(self, asked: Asked) -> Iterator[Asked]:
        """The same table as GraphZero stores it, for as long as it is needed."""
        path = self.folder / "graphzero.gd"
        flags = ("--to", "graphzero", "--overwrite")
        try:
            command = self.graphmill.convert(asked.table, path, *flags)
            subprocess.run(command.arguments, check=True)
            yield Asked(path, asked.rows, asked.ids)
        finally:
            path.unlink(missing_ok=True)
