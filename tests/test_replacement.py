"""Promises 12 and 20: datasets may be replaced under their readers, and only one writer wins."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import graphmill as gm
from tests.command import graphmill
from tests.rounds import rounds

REPLACEMENTS = rounds(20)
RACES = rounds(10)


class Reader:
    """Calls ``look`` in a thread until it is stopped; what it raised is raised again then."""

    def __init__(self, look: Callable[[], None]) -> None:
        self.look = look
        self.rounds = 0
        self.problem: BaseException | None = None
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        try:
            while not self.stopping.is_set():
                self.look()
                self.rounds += 1
        except BaseException as problem:
            self.problem = problem

    def stop(self) -> None:
        self.stopping.set()
        self.thread.join(timeout=20)
        assert not self.thread.is_alive(), "the reader hangs"
        if self.problem is not None:
            raise self.problem
        assert self.rounds > 0, "the reader never read anything"


def test_a_reader_that_meets_wrong_rows_fails() -> None:
    def look() -> None:
        np.testing.assert_array_equal([1], [2])

    reader = Reader(look)
    with pytest.raises(AssertionError, match="not equal"):
        reader.stop()


@pytest.mark.filterwarnings("ignore:rows were read without io_uring")
def test_readers_of_a_replaced_dataset_keep_what_they_opened(
    replace: Callable[[int], Path],
) -> None:
    folder = replace(0)
    # What each seed makes, so that rows can be told apart by their generation.
    old = gm.open(folder, memory="64MiB")
    tables, backends = {0: old.table("x").numpy().copy()}, ("pread", "mapped", "ring")
    labels = old.table("y").numpy().copy()
    neighbours = [old.graph.neighbors(node).copy() for node in range(0, 500, 10)]
    views = old.table("x").numpy(), old.table("x").torch(), old.table("y").numpy()
    ids = np.random.default_rng(0).integers(0, 500, 200)

    def look_through_views() -> None:
        np.testing.assert_array_equal(views[0], tables[0])
        np.testing.assert_array_equal(views[1].numpy()[ids], tables[0][ids])
        np.testing.assert_array_equal(views[2], labels)
        np.testing.assert_array_equal(old.table("x").gather(ids), tables[0][ids])
        for node, expected in zip(range(0, 500, 10), neighbours, strict=True):
            np.testing.assert_array_equal(old.graph.neighbors(node), expected)

    def look_through_loaders() -> None:
        for backend in backends:
            for batch in gm.NeighborLoader(old, [4, 3], 100, threads=2, seed=1, backend=backend):
                np.testing.assert_array_equal(batch.x.numpy(), tables[0][batch.n_id.numpy()])
                np.testing.assert_array_equal(batch.y.numpy(), labels[batch.n_id.numpy()])

    opened: dict[int, np.ndarray] = {}

    def look_at_the_newest() -> None:
        ds = gm.open(folder)
        rows = ds.table("x").gather(ids)
        if ds.generation in opened:
            np.testing.assert_array_equal(rows, opened[ds.generation])
        opened[ds.generation] = rows
        np.testing.assert_array_equal(rows, ds.table("x").numpy()[ids])

    readers = [Reader(look_through_views), Reader(look_through_loaders), Reader(look_at_the_newest)]
    generations = []
    for seed in range(1, REPLACEMENTS + 1):
        replace(seed)
        ds = gm.open(folder)
        tables[seed] = ds.table("x").numpy().copy()
        generations.append(ds.generation)
    for reader in readers:
        reader.stop()
    assert generations == sorted(set(generations))
    assert old.generation < generations[0]
    # The rows that the third reader saw are of one seed each, and never of two.
    written = [rows[ids].tobytes() for rows in tables.values()]
    assert len(set(written)) == REPLACEMENTS + 1
    assert all(rows.tobytes() in written for rows in opened.values())
    look_through_views()


def test_files_of_old_generations_are_removed(replace: Callable[[int], Path]) -> None:
    folder = replace(0)
    count = len(list(folder.iterdir()))
    for seed in range(1, 4):
        replace(seed)
    assert len(list(folder.iterdir())) == count
    graphmill("verify", folder, "--quiet")


def race(script: str, *runs: list[str]) -> list[tuple[int, str]]:
    """Let all runs of ``script`` pass its signal together; their exit codes and what went to stderr."""
    pipe = subprocess.PIPE
    running = [
        subprocess.Popen(
            [sys.executable, "-c", script, *run], stdin=pipe, stdout=pipe, stderr=pipe, text=True
        )
        for run in runs
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    printed = [process.communicate(timeout=120)[1] for process in running]
    return [(process.returncode, text) for process, text in zip(running, printed, strict=True)]


COMMAND = """
import sys
from graphmill._native import run_command
print("ready", flush=True)
sys.stdin.readline()
sys.exit(run_command(["graphmill", *sys.argv[1:]]))
"""

WRITER = """
import sys
import numpy as np
import graphmill as gm
edges = np.full((2, 200_000), int(sys.argv[2]))
print("ready", flush=True)
sys.stdin.readline()
gm.write_graph(sys.argv[1], edges)
"""


def assert_one_won(outcomes: list[tuple[int, str]]) -> None:
    assert sorted(code for code, _ in outcomes) == [0, 1], outcomes
    message = next(printed for code, printed in outcomes if code == 1)
    assert "already exists" in message or "is being written by another build" in message, message


def test_of_two_builds_for_one_name_exactly_one_wins(tmp_path: Path) -> None:
    for round in range(RACES):
        out = tmp_path / f"ds{round}"
        options = ["generate", "sbm", str(out), "--nodes", "2000", "--features", "32", "--quiet"]
        assert_one_won(race(COMMAND, [*options, "--seed", "1"], [*options, "--seed", "2"]))
        graphmill("verify", out, "--quiet")
        assert not [path for path in out.iterdir() if "partial" in path.name]
        assert {path.name for path in tmp_path.iterdir()} == {f"ds{n}" for n in range(round + 1)}


def test_of_two_writers_for_one_file_exactly_one_wins(tmp_path: Path) -> None:
    for round in range(RACES):
        out = tmp_path / f"graph{round}.gl"
        outcomes = race(WRITER, [str(out), "1"], [str(out), "2"])
        assert_one_won(outcomes)
        winner = [code for code, _ in outcomes].index(0) + 1
        assert gm.Graph(out).num_nodes == winner + 1
        assert [path.name for path in tmp_path.iterdir() if not path.name.startswith("graph")] == []


def test_of_two_threads_that_write_one_file_exactly_one_wins(tmp_path: Path) -> None:
    for round in range(RACES):
        out, barrier = tmp_path / f"graph{round}.gl", threading.Barrier(2)
        won: list[int] = []
        told: list[str] = []

        def write(value: int, out: Path = out, barrier: threading.Barrier = barrier) -> None:
            edges = np.full((2, 50_000), value)
            barrier.wait()
            try:
                gm.write_graph(out, edges)
                won.append(value)  # noqa: B023
            except gm.DiskError as error:
                told.append(str(error))  # noqa: B023

        threads = [threading.Thread(target=write, args=(value,)) for value in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
        assert (len(won), len(told)) == (1, 1)
        assert "already exists" in told[0] or "is being written by another build" in told[0]
        assert gm.Graph(out).num_nodes == won[0] + 1
