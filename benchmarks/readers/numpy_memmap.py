"""NumPy over a mapped file: what everybody has, one page fault at a time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.child import Command
from benchmarks.feature_inputs import Asked
from benchmarks.readers.reader import Reader

# Without a mode that needs no check, `take` goes through a buffer of its own.
WARM = """
path, rows, ids, kept = sys.argv[1:]
batches, table = np.load(ids), mapped(path, rows, "r", mmap.MADV_NORMAL)
out = buffer(len(batches[0]))

def stream():
    for ids in batches:
        np.take(table, ids, axis=0, out=out, mode="clip")

stream()
_, seconds = timed(lambda: [stream() for _ in range(ROUNDS)])
tell(ROUNDS * batches.size, seconds)
keep(kept, batches[-1], out)
"""

COLD = """
path, rows, ids, kept = sys.argv[1:]
ids, table = np.load(ids), mapped(path, rows, "r", mmap.MADV_RANDOM)
out = buffer(len(ids))
_, seconds = timed(lambda: np.take(table, ids, axis=0, out=out, mode="clip"))
tell(len(ids), seconds)
keep(kept, ids, out)
"""

LIMITED = """
path, rows, ids, group, kept = sys.argv[1:]
batches = np.load(ids)
out = buffer(len(batches[0]))
enter(group)
table = mapped(path, rows, "r", mmap.MADV_RANDOM)

def stream():
    for ids in batches:
        np.take(table, ids, axis=0, out=out, mode="clip")

_, seconds = timed(stream)
tell(batches.size, seconds)
keep(kept, batches[-1], out)
"""

# Reads megabytes for every row, so it gets as far in the first batch as its time allows.
DEFAULT_ADVICE = """
path, rows, ids, group, patience, kept = sys.argv[1:]
ids, part = np.load(ids)[0], 64
out = buffer(len(ids))
enter(group)
table = mapped(path, rows, "r", mmap.MADV_NORMAL)

def stream():
    start = time.perf_counter()
    for begin in range(0, len(ids), part):
        here = slice(begin, begin + part)
        np.take(table, ids[here], axis=0, out=out[here], mode="clip")
        if time.perf_counter() - start > float(patience):
            break
    return min(begin + part, len(ids))

done, seconds = timed(stream)
tell(done, seconds)
keep(kept, ids[:done], out[:done])
"""


class NumpyMemmap(Reader):
    """With the advice that suits random rows, and once without."""

    name = "numpy"

    def install(self) -> None:
        """It is what the benchmarks are written with."""

    def warm(self, asked: Asked, kept: Path) -> Mapping[str, Command]:
        command = self.program(WARM, asked.table, asked.rows, asked.ids, kept)
        return {f"{self.name}, out, 1 thread": command}

    def cold(self, asked: Asked, kept: Path) -> Mapping[str, Command]:
        command = self.program(COLD, asked.table, asked.rows, asked.ids, kept)
        return {f"{self.name}, MADV_RANDOM": command}

    def limited(
        self, asked: Asked, group: Path, patience: float, kept: Path
    ) -> Mapping[str, Command]:
        arguments = (asked.table, asked.rows, asked.ids, group)
        return {
            f"{self.name}, MADV_RANDOM": self.program(LIMITED, *arguments, kept),
            f"{self.name}, default advice": self.program(
                DEFAULT_ADVICE, *arguments, patience, kept
            ),
        }
