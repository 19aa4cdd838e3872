"""How rows are read changes how fast they come and what is counted, and never which."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import graphmill as gm
from tests.page_cache import forget

BACKENDS = ["auto", "mapped", "pread", "ring"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend_gives_the_same_rows(
    features: gm.Features, rows: np.ndarray, backend: Any
) -> None:
    x = gm.Features(features.path, backend)
    assert x.backend == backend
    for ids in ([], [999], [0, 999, 0, 5, 5], range(1000), np.arange(1000)[::-1].copy()):
        forget(x.path)
        for _ in range(2):
            assert np.array_equal(x.gather(ids), rows[list(ids)])
    out = torch.empty(3, 16)
    assert x.gather([1, 2, 1], out) is out
    assert np.array_equal(out.numpy(), rows[[1, 2, 1]])
    with pytest.raises(IndexError):
        x.gather([0, 1000])
    with pytest.raises(IndexError):
        x.gather([-1])


def test_a_backend_that_nobody_knows_is_refused(features: gm.Features) -> None:
    with pytest.raises(ValueError, match="floppy"):
        gm.Features(features.path, "floppy")  # type: ignore[arg-type]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_half_rows_are_widened_if_asked(tmp_path: Path, backend: Any, dtype: str) -> None:
    half = torch.randn(300, 7).to(getattr(torch, dtype))
    path = tmp_path / "half.gd"
    gm.write_features(path, half)
    x = gm.Features(path, backend)
    ids = torch.tensor([299, 0, 17, 17])
    forget(path)
    wide = x.gather(ids, widen=True)
    assert wide.dtype == torch.float32
    assert torch.equal(wide, half[ids].float())
    assert torch.equal(x.gather(ids), half[ids])
    with pytest.raises(TypeError, match="float32"):
        x.gather(ids, out=torch.empty(4, 7, dtype=torch.float64), widen=True)


def test_statistics_count_what_was_read(features: gm.Features) -> None:
    x = gm.Features(features.path, "pread")
    assert x.stats()["rows"] == 0
    x.gather([5, 5, 6, 900])
    stats = x.stats()
    assert (stats["rows"], stats["distinct"], stats["from_disk"]) == (4, 3, 3)
    assert stats["bytes_used"] == 3 * 64
    assert 0 < stats["requests"] <= 3
    assert stats["bytes_read"] >= stats["bytes_used"]
    assert stats["backend"] == "pread"
    mapped = gm.Features(features.path, "mapped")
    mapped.gather([5, 5, 6, 900])
    stats = mapped.stats()
    assert (stats["from_page_cache"], stats["requests"], stats["backend"]) == (4, 0, None)


def test_a_handle_is_pickled_with_its_backend(features: gm.Features, rows: np.ndarray) -> None:
    again = pickle.loads(pickle.dumps(gm.Features(features.path, "pread", "64MiB")))
    assert again.backend == "pread"
    assert np.array_equal(again[[3]], rows[[3]])


def test_gathering_asks_the_budget_first(features: gm.Features) -> None:
    x = gm.Features(features.path, "pread", memory=9000)
    with pytest.raises(gm.MemoryBudgetError, match="gathering rows"):
        x.gather(range(1000))


def content(batch: Any) -> list[Any]:
    return [batch.n_id.tolist(), batch.edge_index.tolist(), batch.x.tolist(), batch.y.tolist()]


def test_batches_do_not_depend_on_how_they_are_read(papers: Path) -> None:
    ds = gm.open(papers, memory="256MiB")

    def epoch(**how: Any) -> list[Any]:
        for name in ("x", "y"):
            forget(ds.table(name).path)
        choices: dict[str, Any] = {
            "batch_size": 100,
            "seeds": range(1000),
            "shuffle": True,
            "seed": 3,
        }
        loader = gm.NeighborLoader(ds, [5, 3], **choices, **how)
        return [content(batch) for batch in loader]

    expected = epoch(backend="mapped")
    assert len(expected) == 10
    for backend in BACKENDS:
        assert epoch(backend=backend) == expected
    others: list[dict[str, Any]] = [{"window": 1}, {"window": 4}, {"hot_memory": 0}]
    for how in others:
        assert epoch(backend="ring", **how) == expected
    assert epoch(prefetch=0, threads=3) == expected


def test_keywords_of_a_loader_are_refused_by_their_names(papers: Path) -> None:
    ds = gm.open(papers, memory="256MiB")
    mistakes: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"shuffle": "yes"}, TypeError, "shuffle: 'str' object"),
        ({"method": 3}, TypeError, "method: 'int' object"),
        ({"batch_size": 2**70}, ValueError, f"batch_size is {2**70}, expected at most"),
        ({"time_window": 2**70}, ValueError, "time_window is"),
        ({"fanouts": [2**70]}, ValueError, r"fanouts\[0\] is"),
    ]
    for options, error, message in mistakes:
        with pytest.raises(error, match=message):
            gm.NeighborLoader(ds, **{"fanouts": [2]} | options)
    loader = gm.NeighborLoader(ds, [2], seeds="train", seed=2**200)
    loader.set_epoch(2**70)
    with pytest.raises(ValueError, match=f"epoch is {2**70}, expected at most"):
        next(iter(loader))
    links = [[0, 1], [1, 2]]
    with pytest.raises(ValueError, match="neg_ratio is"):
        gm.LinkNeighborLoader(ds, [2], links, negatives="triplet", neg_ratio=2**70)


def test_a_loader_tells_where_its_rows_came_from(papers: Path) -> None:
    ds = gm.open(papers, memory="256MiB")
    loader = gm.NeighborLoader(
        ds, [5, 3], batch_size=100, seeds=range(1000), seed=0, columns=["x"], backend="pread"
    )
    rows = sum(len(batch.n_id) for batch in loader)
    stats = loader.stats()
    assert (stats["batches"], stats["rows"]) == (10, rows)
    assert stats["windows"] > 0
    assert stats["largest_window"] > 1
    assert stats["requests"] > 0
    assert 0 < stats["bytes_used"] <= stats["bytes_read"]
    assert 0 < stats["peak_memory"] <= ds.memory
    assert stats["anonymous_memory"] is None or stats["anonymous_memory"] > 0
    for told in (stats["device_utilisation"], stats["queue_depth"]):
        assert told is None or told > 0
    with pytest.raises(ValueError, match="window"):
        gm.NeighborLoader(ds, [5], window=0)


def test_half_features_of_a_batch_are_widened(tmp_path: Path) -> None:
    edges = np.random.default_rng(0).integers(0, 50, (2, 300))
    x = np.random.default_rng(1).standard_normal((50, 8)).astype(np.float16)
    ds = gm.build(tmp_path / "ds", edges=edges, features=x)
    for batch in gm.NeighborLoader(ds, [3], batch_size=20, widen=True, seed=0):
        assert batch.x.dtype == torch.float32
        assert np.array_equal(batch.x.numpy(), x[batch.n_id.numpy()].astype(np.float32))
