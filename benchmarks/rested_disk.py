"""A disk at rest: what was written, deleted or read a moment ago is not charged to whoever reads next.

Disks of rented machines are rationed: who has just written gigabytes reads at a fraction of the speed until the ration
has grown again, and the disk gives no other sign of it. And the host below may remember what was read, so that one part
of a file is several times as fast as another. It must not know what is measured.
"""

from __future__ import annotations

import mmap
import os
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

PIECE, PIECES = 1 << 20, 64
#: A disk that gained less than this in a pause is as fast as it gets.
GAIN = 1.1
PAUSE, LONGEST = 3.0, 120.0


def wait(file: Path) -> float:
    """Wait until random reads of a file past the page cache no longer become faster; gives their bytes a second."""
    deadline = time.monotonic() + LONGEST
    best = probe(file)
    while best and time.monotonic() < deadline:
        time.sleep(PAUSE)
        again = probe(file)
        if again < best * GAIN:
            return max(best, again)
        print(f"  the disk recovers: {best / 1e6:,.0f} to {again / 1e6:,.0f} MB/s", file=sys.stderr)
        best = again
    return best


def probe(file: Path) -> float:
    """Bytes a second of some random reads; 0 where files cannot be read past the page cache or are too small."""
    places = file.stat().st_size // PIECE
    return read(file, random.sample(range(places), PIECES)) if places >= PIECES else 0.0


def pass_over(file: Path) -> float:
    """Read all of a file past the page cache, so that a host remembers every part of it alike; gives bytes a second."""
    return read(file, range(file.stat().st_size // PIECE))


def read(file: Path, places: Sequence[int]) -> float:
    """Bytes a second of reading pieces past the page cache; 0 where that cannot be done."""
    if not hasattr(os, "O_DIRECT"):
        return 0.0
    try:
        source = os.open(file, os.O_RDONLY | os.O_DIRECT)
    except OSError:
        return 0.0
    try:
        # Memory of its own begins with a page, which is what such reads want.
        with mmap.mmap(-1, PIECE) as memory:
            start = time.perf_counter()
            for place in places:
                os.preadv(source, [memory], place * PIECE)
            return len(places) * PIECE / (time.perf_counter() - start)
    finally:
        os.close(source)
