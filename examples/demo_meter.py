"""What a process does over time, and a page that shows it: batches, memory and disk."""

from __future__ import annotations

import html
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import graphmill as gm

MIB = 1 << 20
EVERY = 0.1
WIDTH, HEIGHT, LEFT, TOP = 760, 150, 64, 22


def disk_bytes_read() -> int:
    """Bytes that this process made the disk read; 0 where the system does not tell."""
    try:
        lines = Path("/proc/self/io").read_text().splitlines()
    except OSError:
        return 0
    return next(int(line.split()[1]) for line in lines if line.startswith("read_bytes"))


@dataclass(frozen=True)
class Moment:
    """One look at the process."""

    seconds: float
    batches: int
    anonymous: int
    page_cache: int
    disk: int


class Meter:
    """Looks at the process ten times a second, from a thread of its own, while a ``with`` block runs."""

    def __init__(self, batches: Callable[[], int]) -> None:
        """Know who counts batches."""
        self.moments: list[Moment] = []
        self._batches = batches
        self._began = time.perf_counter()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name="meter", daemon=True)

    def __enter__(self) -> Meter:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End, with a last look."""
        self._done.set()
        self._thread.join()
        self._look()

    def _run(self) -> None:
        while not self._done.wait(EVERY):
            self._look()

    def _look(self) -> None:
        memory = gm.memory_in_use()
        seconds = time.perf_counter() - self._began
        anonymous, page_cache = memory["anonymous"] or 0, memory["file"] or 0
        self.moments.append(
            Moment(seconds, self._batches(), anonymous, page_cache, disk_bytes_read())
        )


def rates(moments: Sequence[Moment], count: Callable[[Moment], int]) -> list[float]:
    """How fast a count grew, a second wide, so that a single batch is no spike."""
    wide = max(1, round(1 / EVERY))
    found = []
    for place, moment in enumerate(moments):
        before = moments[max(0, place - wide)]
        passed = max(moment.seconds - before.seconds, EVERY)
        found.append((count(moment) - count(before)) / passed)
    return found


def write_page(path: Path, title: str, table: str, moments: Sequence[Moment], budget: int) -> None:
    """Write one HTML file that needs nothing else: the table, and three charts over time."""
    base = moments[0].anonymous
    seconds = [moment.seconds for moment in moments]
    charts = [
        chart(
            "batches a second", seconds, [("#2563eb", rates(moments, lambda now: now.batches))], []
        ),
        chart(
            "memory of the process above its start, MiB (anonymous; dashed: the budget of the dataset)",
            seconds,
            [("#b45309", [(moment.anonymous - base) / MIB for moment in moments])],
            [budget / MIB],
        ),
        chart(
            "read from disk, MB/s",
            seconds,
            [("#15803d", [rate / 1e6 for rate in rates(moments, lambda now: now.disk)])],
            [],
        ),
    ]
    path.write_text(
        "<!doctype html><html lang='en'><meta charset='utf-8'>"
        f"<title>{html.escape(title)}</title>"
        "<style>body{font:15px/1.5 system-ui,sans-serif;max-width:820px;margin:2rem auto;padding:0 1rem;color:#1f2937}"
        "pre{background:#f3f4f6;padding:1rem;overflow-x:auto}figure{margin:1.5rem 0}figcaption{font-weight:600}"
        "text{font-size:11px;fill:#6b7280}</style>"
        f"<h1>{html.escape(title)}</h1><pre>{html.escape(table)}</pre>{''.join(charts)}</html>\n",
        encoding="utf-8",
    )


def chart(
    title: str,
    seconds: Sequence[float],
    lines: Sequence[tuple[str, Sequence[float]]],
    marks: Sequence[float],
) -> str:
    """One chart as SVG: lines over seconds, and dashed marks across."""
    longest = max(seconds[-1], EVERY)
    highest = max([*marks, *(value for _, values in lines for value in values), 1e-9]) * 1.08

    def x(second: float) -> float:
        return LEFT + (WIDTH - LEFT - 10) * second / longest

    def y(value: float) -> float:
        return TOP + (HEIGHT - 2 * TOP) * (1 - max(value, 0) / highest)

    parts = []
    for share in (0, 0.5, 1):
        level = y(highest * share)
        parts.append(
            f"<line x1='{LEFT}' x2='{WIDTH - 10}' y1='{level:.1f}' y2='{level:.1f}' stroke='#e5e7eb'/>"
            f"<text x='{LEFT - 6}' y='{level + 4:.1f}' text-anchor='end'>{highest * share:,.0f}</text>"
        )
    for mark in marks:
        parts.append(
            f"<line x1='{LEFT}' x2='{WIDTH - 10}' y1='{y(mark):.1f}' y2='{y(mark):.1f}' "
            "stroke='#6b7280' stroke-dasharray='5 4'/>"
        )
    for colour, values in lines:
        points = " ".join(
            f"{x(at):.1f},{y(value):.1f}" for at, value in zip(seconds, values, strict=True)
        )
        parts.append(
            f"<polyline points='{points}' fill='none' stroke='{colour}' stroke-width='1.6'/>"
        )
    for share, anchor in [(0, "start"), (0.5, "middle"), (1, "end")]:
        at = longest * share
        parts.append(
            f"<text x='{x(at):.1f}' y='{HEIGHT - 4}' text-anchor='{anchor}'>{at:.0f} s</text>"
        )
    return (
        f"<figure><figcaption>{html.escape(title)}</figcaption>"
        f"<svg viewBox='0 0 {WIDTH} {HEIGHT}' width='100%' role='img'>{''.join(parts)}</svg></figure>"
    )
