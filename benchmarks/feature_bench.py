"""What the lines of the features section share: the tables, who reads them, and whether they read them right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import rates
from benchmarks.child import Figures
from benchmarks.contest import WrongResult
from benchmarks.feature_inputs import Asked, FeatureInputs
from benchmarks.inputs import COLUMNS
from benchmarks.rate_bench import RateBench
from benchmarks.readers import Reader
from benchmarks.readers.graphmill import Ours


@dataclass(kw_only=True)
class FeatureBench(RateBench):
    """One run of the section."""

    ours: Ours
    inputs: FeatureInputs
    peers: dict[str, Reader]

    def all(self) -> Iterator[Reader]:
        """Ours first, then the peers."""
        yield self.ours
        yield from self.peers.values()

    @property
    def kept(self) -> Path:
        """Where a run leaves rows for the witness."""
        return self.out / "kept.npz"

    def check(self, asked: Asked) -> Callable[[Figures], str]:
        """A check that the rows which a run left are those that were asked for."""

        def check(figures: Figures) -> str:
            said = rates.told(figures)
            # Who shows what the disk gives has read no rows, and says what it did instead.
            if "did" in said:
                return str(said["did"])
            looked_at = right_rows(self.kept, asked)
            return f"{looked_at:,} of {said['amount']:,} rows looked at"

        return check


def right_rows(kept: Path, asked: Asked) -> int:
    """How many rows were looked at, once all are right; element (r, c) of every table is r + c."""
    with np.load(kept) as found:
        ids, rows = found["ids"], found["rows"]
    if not len(ids) or not np.isin(ids, asked.load()).all():
        raise WrongResult("rows that nobody asked for")
    expected = ids.astype(np.float32)[:, None] + np.arange(COLUMNS, dtype=np.float32)
    if not np.array_equal(rows, expected):
        wrong = int((rows != expected).any(axis=1).sum()) if rows.shape == expected.shape else "all"
        raise WrongResult(f"{wrong} of {len(ids)} rows are wrong")
    return len(ids)
