"""Many threads and several processes over one dataset: each gets what it would have got alone."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import graphmill as gm
from tests.rounds import piece, rounds
from tests.shared_work import PROCESSES, THREADS, work

WATCHDOG = 120


@pytest.fixture(scope="module")
def expected(papers: Path) -> list[str]:
    """What one thread gets."""
    ds = gm.open(papers, memory="64MiB")
    return [work(ds, number) for number in range(THREADS)]


def test_64_threads_get_what_one_gets(papers: Path, expected: list[str]) -> None:
    for _ in range(rounds(2)):
        # Opened anew, so that all threads are the first to ask for whatever is made on demand.
        ds = gm.open(papers, memory="64MiB")
        start = threading.Barrier(THREADS)
        found: dict[int, str] = {}

        def run(number: int, ds: gm.Dataset = ds, start: threading.Barrier = start) -> None:
            start.wait()
            found[number] = work(ds, number)  # noqa: B023

        threads = [threading.Thread(target=run, args=[n], daemon=True) for n in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=WATCHDOG)
        assert [found.get(number) for number in range(THREADS)] == expected


def test_a_thread_that_gets_something_else_is_seen(papers: Path, expected: list[str]) -> None:
    assert len(set(expected)) == THREADS
    assert work(gm.open(papers), 1) == expected[1] != work(gm.open(papers), 2)


PROCESS = """
import sys
import graphmill as gm
from tests.shared_work import THREADS, work
ds = gm.open(sys.argv[1], memory="64MiB")
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[2]), THREADS, int(sys.argv[3])):
    print(work(ds, number))
"""


def test_8_processes_get_what_one_thread_gets(papers: Path, expected: list[str]) -> None:
    for _ in range(1 if rounds(1) == 1 else -(-rounds(1) // 10)):
        running = [
            subprocess.Popen(
                [sys.executable, "-c", PROCESS, str(papers), str(number), str(PROCESSES)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for number in range(PROCESSES)
        ]
        for process in running:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        found = [""] * THREADS
        for process in running:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        for number, process in enumerate(running):
            printed, problems = process.communicate(timeout=WATCHDOG)
            assert process.returncode == 0, problems
            found[number::PROCESSES] = printed.split()
        assert found == expected


def test_opening_and_dropping_amid_others_disturbs_none(papers: Path, expected: list[str]) -> None:
    """Handles come and go while others read through theirs, and the same threads do both."""
    found: list[tuple[int, str]] = []

    def run(first: int) -> None:
        rng = np.random.default_rng(first + piece())
        for number in rng.integers(0, THREADS, 3).tolist():
            found.append((number, work(gm.open(papers, memory="32MiB"), number)))

    threads = [threading.Thread(target=run, args=[n], daemon=True) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=WATCHDOG)
    assert len(found) == 24
    assert all(digest == expected[number] for number, digest in found)
