"""Loaders that have ended give their memory back, so that a script may have any number of them, one after the other."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphmill as gm

NODES = 20_000
BUDGET = 24 << 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    generator = np.random.default_rng(0)
    edges = generator.integers(0, NODES, size=(2, 10 * NODES))
    rows = generator.normal(size=(NODES, 64)).astype(np.float32)
    path = tmp_path_factory.mktemp("budget") / "ds"
    ds = gm.build(path, edges=edges, features=rows, memory="256MiB")
    for name in "abcdef":
        ds.add_table(name, rows)
    return path


def free(ds: gm.Dataset, loaders: int = 0) -> bool:
    """Whether all of the budget can be had, but for the seeds of some loaders."""
    with ds._reserve(BUDGET - 8 * NODES * loaders, "all there is"):
        return True


def loaders(ds: gm.Dataset, **options: Any) -> Iterator[gm.NeighborLoader]:
    """Loaders with rows of their own, so that none can use what another one keeps."""
    for name in "abcdef" * 2:
        yield gm.NeighborLoader(
            ds, [5, 5], batch_size=500, columns=[name], shuffle=True, seed=0, **options
        )


@pytest.mark.parametrize("prefetch", [0, 2])
@pytest.mark.parametrize("end", ["finished", "left", "closed", "garbage", "suspended"])
def test_any_number_of_loaders_fit_one_after_the_other(
    folder: Path, end: str, prefetch: int
) -> None:
    ds = gm.open(folder, memory=BUDGET)
    kept: list[Any] = []
    for loader in loaders(ds, prefetch=prefetch):
        batches = iter(loader)
        for number, batch in enumerate(batches):
            assert batch.batch_size == 500
            if end != "finished" and number == 5:
                break
        del batch
        if end == "finished":
            kept.append(loader)
        elif end == "left":
            batches.close()  # type: ignore[attr-defined]
            kept.append(loader)
        elif end == "closed":
            loader.close()
            kept.append(loader)
        elif end == "suspended":
            loader.close()
            kept.append((loader, batches))
        del loader, batches
        gc.collect()
        assert free(ds, len(kept) if end in ["finished", "left"] else 0)


def test_batches_that_are_alive_keep_theirs(folder: Path) -> None:
    ds = gm.open(folder, memory=BUDGET)
    loader = next(loaders(ds))
    batches = []
    for batch in loader:
        batches.append(batch)
        if len(batches) == 2:
            break
    del batch
    loader.close()
    gc.collect()
    with pytest.raises(gm.MemoryBudgetError):
        free(ds)
    before = [batch.a.clone() for batch in batches]
    for other in loaders(ds):
        next(iter(other))
        other.close()
    assert all((batch.a == rows).all() for batch, rows in zip(batches, before, strict=True))
    batches.clear()
    del before
    gc.collect()
    assert free(ds)


def test_hot_rows_stay_for_the_next_epoch_unless_somebody_needs_their_memory(folder: Path) -> None:
    ds = gm.open(folder, memory=BUDGET)
    loader = gm.NeighborLoader(
        *(ds, [3], 50, list(range(2000)), True),
        columns=["a"],
        seed=0,
        backend="pread",
        hot_memory="2MiB",
    )

    def epoch() -> tuple[list[Any], int]:
        before = loader.stats()["bytes_read"]
        loader.set_epoch(0)
        nodes = [batch.n_id.tolist() for batch in loader]
        return nodes, loader.stats()["bytes_read"] - before

    first, read = epoch()
    assert loader.stats()["hot_rows"] > 0
    second, again = epoch()
    assert second == first
    assert again < read
    assert free(ds, 1)
    third, anew = epoch()
    assert third == first
    assert anew > again
