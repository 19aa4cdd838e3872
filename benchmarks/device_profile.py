"""What a disk allows, by the profile that `graphmill inspect --disk` measures.

A line gives the rows that it wants and learns how fast the best plan could read them. The plan is made here, with NumPy
alone, so that our planner is not its own witness.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.feature_inputs import OFFSET, ROW, Asked
from benchmarks.graphmill_command import Graphmill

PAGE = 4096
#: Gaps, in pages, that a plan may read over.
GAPS = [0, 1, 2, 4, 8, 16, 32, 64]
LONGEST = 256 << 10


@dataclass(frozen=True)
class DeviceProfile:
    """How long a read takes, by its length, and how many bytes come in a second at most."""

    lengths: list[int]
    seconds: list[float]
    bandwidth: float

    def rate(self, asked: Asked) -> float:
        """Rows in a second by the best plan: pages in ascending order, those with small gaps between them together."""
        ids = np.unique(asked.load())
        pages = np.unique((OFFSET + ids * ROW) // PAGE)
        return len(ids) / min(self._time(reads(pages, gap)) for gap in GAPS)

    def _time(self, lengths: npt.NDArray[np.int64]) -> float:
        beyond = np.maximum(lengths - self.lengths[-1], 0) / self.bandwidth
        each = np.interp(lengths, self.lengths, self.seconds) + beyond
        return max(float(each.sum()), int(lengths.sum()) / self.bandwidth)


def reads(pages: npt.NDArray[np.int64], gap: int) -> npt.NDArray[np.int64]:
    """Lengths of the reads that fetch these pages, over gaps of so many pages, none much longer than the longest."""
    begins = np.append(0, 1 + np.flatnonzero(np.diff(pages) > gap + 1))
    ends = np.append(begins[1:], len(pages)) - 1
    lengths = (pages[ends] - pages[begins] + 1) * PAGE
    parts = -(-lengths // LONGEST)
    return np.repeat(lengths // parts, parts)


def profile(graphmill: Graphmill, asked: Asked) -> DeviceProfile | None:
    """The profile of the disk that holds a table; None where this version does not measure one."""
    if not graphmill.has_flag("inspect", "--disk"):
        return None
    for path in (asked.table, asked.table.parent):
        try:
            told = json.loads(graphmill.disk(path))
        except (RuntimeError, ValueError):
            continue
        for found in [told, *(value for value in told.values() if isinstance(value, dict))]:
            if isinstance(found.get("random"), list) and "sequential" in found:
                return from_points(found["random"], float(found["sequential"]))
    return None


def from_points(points: Iterable[dict[str, Any]], sequential: float) -> DeviceProfile:
    """The fastest of all depths for each length; a longer read never takes less."""
    fastest: dict[int, float] = {}
    bandwidth = sequential
    for point in points:
        length, rate = int(point["bytes"]), float(point["per_second"])
        fastest[length] = min(fastest.get(length, np.inf), 1 / rate)
        bandwidth = max(bandwidth, length * rate)
    lengths = sorted(fastest)
    seconds = np.maximum.accumulate([fastest[length] for length in lengths]).tolist()
    return DeviceProfile(lengths, seconds, bandwidth)
