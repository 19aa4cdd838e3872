"""Promise 18: what is closed is gone, whether opening succeeded or failed, and epochs do not add up."""

from __future__ import annotations

import gc
import mmap
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphmill as gm
import graphmill.graphzero as gz
from tests.process import anonymous_memory, maps_of, needs_proc, open_files
from tests.rounds import rounds

pytestmark = needs_proc

ROUNDS = rounds(100)
EPOCHS = rounds(10)
WARM_UP = 10
GROWTH = 8 << 20


def footprint() -> tuple[int, int]:
    """Open descriptors and mappings of graphmill's files."""
    gc.collect()
    return open_files(), maps_of(".gl") + maps_of(".gd")


def assert_leaves_nothing(work: Callable[[], Any]) -> None:
    """Run ``work`` many times: descriptors and maps are exactly as before, memory nearly so."""
    for _ in range(5):
        work()
    before, memory = footprint(), anonymous_memory()
    for _ in range(ROUNDS):
        work()
    assert footprint() == before
    assert anonymous_memory() - memory <= GROWTH


def test_the_measures_see_a_leak(papers: Path) -> None:
    kept: list[Any] = []
    with pytest.raises(AssertionError):
        assert_leaves_nothing(lambda: kept.append(gm.open(papers)))
    kept.clear()

    def keep_pages() -> None:
        # A map of its own: what malloc gives may be memory that was freed before.
        pages = mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        pages.write(b"\1" * len(pages))
        kept.append(pages)

    with pytest.raises(AssertionError):
        assert_leaves_nothing(keep_pages)
    kept.clear()
    assert_leaves_nothing(lambda: gm.open(papers))


def test_graphs_leave_nothing(graph: gm.Graph) -> None:
    path = graph.path

    def work() -> None:
        g = gm.Graph(path)
        g.sample(range(50), [3, 3])
        g.degrees()
        _ = g.csr(), g.csc("torch"), g.neighbors(3)

    assert_leaves_nothing(work)


def test_tables_leave_nothing(features: gm.Features) -> None:
    path = features.path

    def work() -> None:
        x = gm.Features(path)
        x.gather(range(100))
        _ = x.numpy(), x.torch(), x[3], x.numpy(writable=True)

    assert_leaves_nothing(work)


def test_datasets_and_their_loaders_leave_nothing(papers: Path) -> None:
    def work() -> None:
        ds = gm.open(papers, memory="64MiB")
        ds.split("train")
        for _ in gm.NeighborLoader(ds, [3, 2], batch_size=64, seeds="train", threads=2):
            break

    assert_leaves_nothing(work)


def test_the_drop_in_leaves_nothing(graph: gm.Graph, features: gm.Features) -> None:
    def work() -> None:
        gz.Graph(graph.path).get_neighbours(5)
        gz.FeatureStore(features.path).get_tensor().sum()

    assert_leaves_nothing(work)


def test_writers_leave_nothing(tmp_path: Path, edges: np.ndarray, rows: np.ndarray) -> None:
    def work() -> None:
        gm.write_graph(tmp_path / "again.gl", edges, overwrite=True)
        gm.write_features(tmp_path / "again.gd", rows, overwrite=True)
        gm.convert(tmp_path / "again.gd", tmp_path / "again.npy", overwrite=True)

    assert_leaves_nothing(work)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.gd", "again.gl", "again.npy"]


def test_failed_opens_leave_nothing(tmp_path: Path, papers: Path, graph: gm.Graph) -> None:
    whole = Path(graph.path).read_bytes()
    broken = {
        "short.gl": whole[:5000],
        "header.gl": whole[:100] + b"\xff" + whole[101:],
        "empty.gd": b"",
        "zero.gl": b"graphlit" + bytes(200),
        "text.gd": b"x" * 10_000,
    }
    for name, data in broken.items():
        (tmp_path / name).write_bytes(data)
    folder = tmp_path / "ds"
    folder.mkdir()
    for path in papers.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    # The last table is damaged, so that everything before it was opened.
    last = sorted(folder.glob("y*.gd"))[0]
    last.write_bytes(last.read_bytes()[:-1])
    openers: list[Callable[[], Any]] = [
        lambda: gm.open(folder),
        lambda: gm.open(tmp_path),
        lambda: gm.Graph(tmp_path),
        lambda: gm.Features(graph.path),
    ]
    for name in [*broken, "missing.gl"]:
        for opener in (gm.Graph, gm.Features, gz.Graph):
            openers.append(partial(opener, tmp_path / name))

    def work() -> None:
        for opener in openers:
            with pytest.raises((gm.GraphmillError, OSError)):
                opener()

    assert_leaves_nothing(work)


def test_failed_calls_leave_nothing(papers: Path) -> None:
    ds = gm.open(papers, memory="20KiB")
    x = ds.table("x")

    def work() -> None:
        with pytest.raises(gm.MemoryBudgetError):
            next(iter(gm.NeighborLoader(ds, [10, 10], batch_size=256, seeds="train")))
        with pytest.raises(IndexError):
            x.gather([5000])
        with pytest.raises(IndexError):
            ds.graph.sample([-1], [3])

    assert_leaves_nothing(work)


def test_epochs_do_not_add_up(papers: Path) -> None:
    ds = gm.open(papers, memory="64MiB")
    loader = gm.NeighborLoader(ds, [5, 3], batch_size=128, shuffle=True, threads=2, prefetch=3)

    def epoch() -> int:
        return sum(int(batch.x.shape[0]) for batch in loader)

    for _ in range(WARM_UP):
        epoch()
    before, memory = footprint(), anonymous_memory()
    for _ in range(EPOCHS):
        assert epoch() >= 5000
    assert footprint() == before
    assert anonymous_memory() - memory <= GROWTH
