"""Promise 14: handles work on after a fork, and in workers of every kind, and nothing hangs."""

from __future__ import annotations

import hashlib
import os
import pickle
import select
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

import graphmill as gm

WATCHDOG = 20
PIECES = 4

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")


def digest(*arrays: Any) -> str:
    state = hashlib.sha256()
    for array in arrays:
        state.update(np.ascontiguousarray(array).tobytes())
    return state.hexdigest()


def batch_digest(batch: gm.Batch) -> str:
    return digest(*(np.asarray(value) for _, value in batch))


class LoneFiles(torch.utils.data.Dataset[str]):
    """Item i is sampled and gathered through a graph and a table of the parent's."""

    def __init__(self, graph: gm.Graph, features: gm.Features) -> None:
        self.graph = graph
        self.features = features

    def __len__(self) -> int:
        return PIECES

    def __getitem__(self, index: int) -> str:
        sample = self.graph.sample(range(index * 50, index * 50 + 200), [6, 4], seed=index)
        rows = self.features.gather(sample.n_id)
        return digest(sample.n_id, sample.row, sample.col, sample.e_id, rows, self.features[index])


class WholeDataset(torch.utils.data.Dataset[str]):
    """Item i is epoch i of a loader with threads, made where it is used over the parent's dataset."""

    def __init__(self, ds: gm.Dataset) -> None:
        self.ds = ds

    def __len__(self) -> int:
        return PIECES

    def __getitem__(self, index: int) -> str:
        return epoch(self.ds, index)


def epoch(ds: gm.Dataset, index: int, threads: int = 2) -> str:
    loader = gm.NeighborLoader(
        ds, [4, 3], 256, "train", shuffle=True, seed=5, threads=threads, prefetch=2
    )
    loader.set_epoch(index)
    return digest(*(np.frombuffer(batch_digest(batch).encode(), np.uint8) for batch in loader))


def first_item(items: list[str]) -> str:
    return items[0]


@pytest.fixture
def ds(papers: Path) -> gm.Dataset:
    """A dataset that the parent has used in every way, so that pools and threads exist or existed."""
    ds = gm.open(papers, memory="64MiB")
    ds.graph.sample(range(500), [5, 5])
    ds.table("x").gather(range(500))
    ds.table("x").torch().sum()
    epoch(ds, 0, threads=3)
    return ds


@pytest.fixture
def busy(ds: gm.Dataset) -> Iterator[Iterator[gm.Batch]]:
    """An epoch that is under way in the parent, its threads at work while the child is made."""
    iterator = iter(gm.NeighborLoader(ds, [4, 3], 64, threads=2, prefetch=8, seed=1))
    next(iterator)
    yield iterator
    for _ in iterator:
        break


def in_child(work: Callable[[], Any]) -> Any:
    """Run ``work`` in a forked child and return its result; a child that hangs is killed, and fails."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            try:
                answer = True, work()
            except BaseException as error:
                answer = False, repr(error)
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(answer, pipe)
        finally:
            os._exit(0)
    os.close(writing)
    data, deadline = b"", time.monotonic() + WATCHDOG
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        while select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
            piece = pipe.read(1 << 16)
            if not piece:
                break
            data += piece
        else:
            os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert status == 0, f"the child hung or died: wait status {status}"
    succeeded, result = pickle.loads(data)
    assert succeeded, result
    return result


@needs_fork
def test_the_watchdog_sees_a_child_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.test_fork.WATCHDOG", 0.2)
    with pytest.raises(AssertionError, match="hung"):
        in_child(lambda: time.sleep(60))
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        in_child(lambda: 1 // 0)


@needs_fork
@pytest.mark.usefixtures("busy")
def test_forked_children_sample_and_gather_as_the_parent_does(ds: gm.Dataset) -> None:
    files = LoneFiles(ds.graph, ds.table("x"))
    expected = [files[index] for index in range(PIECES)]
    for _ in range(5):
        assert in_child(lambda: [files[index] for index in range(PIECES)]) == expected
    assert [files[index] for index in range(PIECES)] == expected


@needs_fork
@pytest.mark.usefixtures("busy")
def test_forked_children_load_as_the_parent_does(ds: gm.Dataset) -> None:
    expected = [epoch(ds, index) for index in range(2)]
    for _ in range(3):
        assert in_child(lambda: [epoch(ds, index) for index in range(2)]) == expected


@needs_fork
@pytest.mark.usefixtures("busy")
def test_forked_children_iterate_a_loader_of_the_parents(ds: gm.Dataset) -> None:
    loader = gm.NeighborLoader(ds, [4, 3], 256, "train", shuffle=True, seed=2, threads=2)
    expected = [batch_digest(batch) for batch in loader]

    def again() -> list[str]:
        loader.set_epoch(0)
        return [batch_digest(batch) for batch in loader]

    assert in_child(again) == expected
    assert again() == expected


@needs_fork
def test_views_of_the_parent_are_seen_by_its_children(ds: gm.Dataset) -> None:
    x = ds.table("x")
    views = [x.numpy(), x.torch().numpy(), ds.graph.indptr, ds.graph.neighbors(7)]
    assert in_child(lambda: digest(*views)) == digest(*views)


@needs_fork
def test_what_a_child_writes_to_a_view_stays_in_the_child(ds: gm.Dataset) -> None:
    tensor = ds.table("x").numpy(writable=True)
    before = float(tensor[0, 0])

    def write() -> float:
        tensor[0, 0] = 1234.0
        return float(tensor[0, 0])

    assert in_child(write) == 1234.0 != before
    assert float(tensor[0, 0]) == before


@needs_fork
def test_children_of_children_work(ds: gm.Dataset) -> None:
    assert in_child(lambda: in_child(lambda: epoch(ds, 1))) == epoch(ds, 1)


@needs_fork
def test_an_epoch_that_a_child_inherits_goes_on_or_says_why_not(
    ds: gm.Dataset, busy: Iterator[gm.Batch], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.test_fork.WATCHDOG", 5)

    def go_on() -> str:
        try:
            return f"{sum(1 for _ in busy)} batches"
        except gm.LoaderError as error:
            return str(error)

    remaining = -(-ds.num_nodes // 64) - 1
    answer = in_child(go_on)
    assert answer == f"{remaining} batches" or "fork" in answer


@needs_fork
def test_a_child_may_drop_an_epoch_that_it_inherits(
    ds: gm.Dataset, busy: Iterator[gm.Batch]
) -> None:
    def drop() -> str:
        busy.close()  # type: ignore[attr-defined]
        return epoch(ds, 1)

    assert in_child(drop) == epoch(ds, 1)


@needs_fork
def test_without_a_seed_forked_children_draw_different_samples(ds: gm.Dataset) -> None:
    graph = ds.graph

    def draw() -> str:
        sample = graph.sample(range(1000), [3, 3], seed=None)
        return digest(sample.n_id, sample.e_id)

    def load() -> str:
        loader = gm.NeighborLoader(ds, [3], 512, seeds="train", shuffle=True, seed=None)
        return batch_digest(next(iter(loader)))

    for work in (draw, load):
        assert len({in_child(work) for _ in range(4)} | {work()}) == 5


@pytest.mark.timeout(14 * WATCHDOG)
@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
@pytest.mark.parametrize("num_workers", [1, 2])
@pytest.mark.parametrize("kind", [LoneFiles, WholeDataset])
def test_workers_of_a_data_loader_answer_as_the_parent_does(
    ds: gm.Dataset, method: Any, num_workers: int, kind: type
) -> None:
    if method not in torch.multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    items = LoneFiles(ds.graph, ds.table("x")) if kind is LoneFiles else WholeDataset(ds)
    expected = [items[index] for index in range(PIECES)]
    loader = DataLoader(
        items,
        batch_size=1,
        num_workers=num_workers,
        multiprocessing_context=method,
        collate_fn=first_item,
        # A worker that is not forked imports torch first, which a busy machine may take long for.
        timeout=WATCHDOG if method == "fork" else 6 * WATCHDOG,
    )
    assert list(loader) == expected
