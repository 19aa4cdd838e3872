"""Ways to leave an epoch: each ends its threads at once, harms nobody, and lets the loader go on."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import graphmill as gm
from tests.process import needs_proc

pytestmark = needs_proc

STAGES = {"graphmill-sampl", "graphmill-readi", "graphmill-assem"}


def stage_threads() -> list[str]:
    """Names of the threads that make batches ahead; the system cuts them at 15 characters."""
    names = []
    for task in Path("/proc/self/task").iterdir():
        try:
            names.append((task / "comm").read_text().strip())
        except FileNotFoundError:
            continue
    return [name for name in names if name in STAGES]


def threads_left() -> list[str]:
    """Threads that are there although they should have ended.

    The system wakes whoever joins a thread a little before it takes the thread off its list.
    """
    deadline = time.monotonic() + 5
    while (names := stage_threads()) and time.monotonic() < deadline:
        time.sleep(0.001)
    return names


def loader(papers: Path, **options: Any) -> gm.NeighborLoader:
    defaults: dict[str, Any] = {"fanouts": [5, 3], "batch_size": 16, "seed": 3, "backend": "ring"}
    return gm.NeighborLoader(gm.open(papers, memory="64MiB"), **(defaults | options))


def breaks(loader: gm.NeighborLoader) -> None:
    for _ in loader:
        break


def raises(loader: gm.NeighborLoader) -> None:
    def train() -> None:
        for _ in loader:
            raise RuntimeError("model")

    with pytest.raises(RuntimeError, match="model"):
        train()


def forgets(loader: gm.NeighborLoader) -> None:
    iterator = iter(loader)
    next(iterator)
    del iterator
    gc.collect()


def ends_the_generator(loader: gm.NeighborLoader) -> None:
    iterator: Any = iter(loader)
    next(iterator)
    iterator.close()


def never_begins(loader: gm.NeighborLoader) -> None:
    iter(loader)


def fails_in_the_transform(loader: gm.NeighborLoader) -> None:
    def fail(batch: gm.Batch) -> None:
        raise RuntimeError(f"no use for {batch.batch_size} seeds")

    loader.transform = fail
    with pytest.raises(RuntimeError, match="no use"):
        next(iter(loader))
    loader.transform = None


@pytest.mark.parametrize("prefetch", [0, 3])
@pytest.mark.parametrize(
    "leave", [breaks, raises, forgets, ends_the_generator, never_begins, fails_in_the_transform]
)
def test_leaving_ends_the_threads_and_the_loader_goes_on(
    papers: Path, leave: Callable[[gm.NeighborLoader], None], prefetch: int
) -> None:
    one = loader(papers, prefetch=prefetch)
    leave(one)
    assert threads_left() == []
    one.set_epoch(0)
    assert sum(batch.batch_size for batch in one) == 5000
    assert threads_left() == []


def test_threads_are_there_while_an_epoch_is(papers: Path) -> None:
    iterator = iter(loader(papers))
    next(iterator)
    assert set(stage_threads()) == STAGES


def test_closing_ends_every_epoch_under_way(papers: Path) -> None:
    one = loader(papers)
    iterators = [iter(one), iter(one)]
    for iterator in iterators:
        next(iterator)
    one.close()
    assert threads_left() == []
    for iterator in iterators:
        with pytest.raises(gm.LoaderError, match="closed"):
            next(iterator)
    with pytest.raises(gm.LoaderError, match="closed"):
        iter(one)


def test_closing_by_another_thread_ends_a_waiting_loop(papers: Path) -> None:
    one = loader(papers)
    iterator = iter(one)
    next(iterator)
    closer = threading.Thread(target=one.close)
    closer.start()
    with pytest.raises(gm.LoaderError, match="closed"):
        for _ in iterator:
            pass
    closer.join()


def test_two_loops_over_one_loader_get_their_own_batches(papers: Path) -> None:
    one = loader(papers, shuffle=True)
    expected = [[batch.input_id.tolist() for batch in one] for _ in range(2)]
    one.set_epoch(0)
    pairs = zip(iter(one), iter(one), strict=True)
    both = [[first.input_id.tolist(), second.input_id.tolist()] for first, second in pairs]
    assert [list(each) for each in zip(*both, strict=True)] == expected


def in_python(script: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


EXIT = """
import sys
import graphmill as gm
loader = gm.NeighborLoader(gm.open(sys.argv[1]), [5, 3], 16, backend="ring", prefetch=4)
iterator = iter(loader)
next(iterator)
print("begun", flush=True)
if sys.argv[2] == "error":
    raise RuntimeError("model")
"""


@pytest.mark.parametrize("end", ["plain", "error"])
def test_a_process_ends_with_an_epoch_under_way(papers: Path, end: str) -> None:
    with in_python(EXIT, papers, end) as child:
        out, err = child.communicate(timeout=60)
    assert out == "begun\n"
    assert child.returncode == (0 if end == "plain" else 1), err
    assert end == "plain" or "RuntimeError: model" in err


WAIT = """
import sys, time
import graphmill as gm
from tests.test_loader_stopping import threads_left
ds = gm.open(sys.argv[1], memory="64MiB")
loader = gm.NeighborLoader(ds, [5, 3], 16, backend="ring", prefetch=int(sys.argv[2]))
try:
    while True:
        for batch in loader:
            print("going", flush=True)
except KeyboardInterrupt:
    del batch
    print("interrupted", threads_left(), flush=True)
"""


@pytest.mark.parametrize("prefetch", [0, 2])
def test_ctrl_c_ends_an_epoch_wherever_it_is(papers: Path, prefetch: int) -> None:
    lines: list[str] = []
    with in_python(WAIT, papers, prefetch) as child:
        assert child.stdout is not None
        for _ in range(20):
            assert child.stdout.readline() == "going\n"
        # Its output is read on, so that it cannot be waiting for that.
        reader = threading.Thread(target=lines.extend, args=(child.stdout,))
        reader.start()
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=60) == 0
        reader.join()
    # A line that was being printed may have lost its end.
    assert lines[-1].endswith("interrupted []\n")


def test_a_dataset_replaced_under_an_epoch_is_read_to_its_end(
    replace: Callable[[int], Path],
) -> None:
    ds = gm.open(replace(1))
    before = ds.table("x").numpy().copy()
    seen = 0
    for batch in gm.NeighborLoader(ds, [3, 3], 50, backend="pread", seed=0):
        if seen == 0:
            replace(2)
        assert (batch.x.numpy() == before[batch.n_id.numpy()]).all()
        seen += batch.batch_size
    assert seen == 500


def test_a_table_cut_short_ends_the_epoch_with_an_error_once(
    replace: Callable[[int], Path],
) -> None:
    folder = replace(1)
    ds = gm.open(folder)
    one = gm.NeighborLoader(ds, [3, 3], 10, backend="pread", seed=0, hot_memory=0, window=2)
    iterator: Iterator[Any] = iter(one)
    next(iterator)
    table = next(folder.glob("x.*.gd"))
    whole = table.read_bytes()
    with table.open("r+b") as file:
        file.truncate(5000)
    with pytest.raises(gm.CorruptError, match=r"x\..*gd"):
        for _ in iterator:
            pass
    assert list(iterator) == []
    assert threads_left() == []
    with table.open("r+b") as file:
        file.write(whole)
    assert sum(batch.batch_size for batch in one) == 500


def test_waiting_is_not_busy(papers: Path) -> None:
    iterator = iter(loader(papers, prefetch=2))
    next(iterator)
    deadline = time.monotonic() + 30
    # Once all is ready that may be, no thread takes processor time any more.
    while time.monotonic() < deadline:
        before = time.process_time()
        time.sleep(0.25)
        if time.process_time() - before < 0.02:
            return
    raise AssertionError("threads are still at work though nobody takes batches")
