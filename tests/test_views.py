"""Views: no copy, no memory, alive as long as they are held, and harmless to the file."""

from __future__ import annotations

import gc
import hashlib
import os
import random
import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import graphmill as gm
from tests.process import anonymous_memory, maps_of, needs_proc
from tests.rounds import piece, rounds

DTYPES = ["int8", "int16", "int32", "int64", "uint8", "bool", "float16", "float32", "float64"]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("align_rows", [False, True])
def test_views_show_what_was_written(tmp_path: Path, dtype: str, align_rows: bool) -> None:
    array = np.random.default_rng(1).integers(0, 2, size=(50, 7)).astype(dtype)
    x = gm.write_features(tmp_path / "x.gd", array, align_rows=align_rows)
    assert x.dtype == np.dtype(dtype)
    assert x.shape == (50, 7)
    np.testing.assert_array_equal(x.numpy(), array)
    assert x.numpy().dtype == array.dtype
    tensor = x.torch()
    assert str(tensor.dtype) == f"torch.{dtype}"
    np.testing.assert_array_equal(tensor.numpy(), array)


def test_bfloat16_is_seen_by_torch_and_explained_by_numpy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tensor = torch.randn(20, 5).to(torch.bfloat16)
    x = gm.write_features(tmp_path / "x.gd", tensor)
    assert torch.equal(x.torch(), tensor)
    assert torch.equal(x.gather(torch.tensor([3, 1])), tensor[[3, 1]])
    if find_spec("ml_dtypes") is not None:
        assert x.numpy().dtype.name == "bfloat16"
        np.testing.assert_array_equal(x.numpy().astype(np.float32), tensor.float().numpy())
    # Without the library that gives NumPy such a type, whether it is installed or not.
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(TypeError, match=r"use .torch\(\)"):
        x.numpy()


def test_numpy_views_are_read_only(features: gm.Features) -> None:
    view = features.numpy()
    with pytest.raises(ValueError, match="read-only"):
        view[0, 0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        view.setflags(write=True)


def test_torch_views_are_private(features: gm.Features, rows: np.ndarray) -> None:
    path = Path(features.path)
    before = digest(path)
    tensor = features.torch()
    tensor[3] = -1.0
    tensor.add_(0)
    assert torch.equal(features.torch()[3], torch.full((16,), -1.0))
    np.testing.assert_array_equal(features.numpy(), rows)
    np.testing.assert_array_equal(gm.Features(path).torch().numpy(), rows)
    assert digest(path) == before


@needs_proc
def test_views_are_maps_and_not_copies(tmp_path: Path) -> None:
    # 64 MiB, of which the views may not take a page each for the asking.
    rows = np.ones((1 << 17, 128), dtype=np.float32)
    x = gm.write_features(tmp_path / "x.gd", rows)
    del rows
    torch.zeros(1)
    gc.collect()
    before = anonymous_memory()
    views = [x.numpy(), x.torch(), x.numpy(writable=True)]
    total = sum(float(view[::97].sum()) for view in views)
    assert total == 3 * 128 * len(range(0, 1 << 17, 97))
    assert anonymous_memory() - before < 4 << 20


@needs_proc
def test_views_outlive_every_handle_whatever_dies_first(tmp_path: Path) -> None:
    rng = random.Random(5 + piece())
    array = np.arange(4096, dtype=np.int64).reshape(512, 8)
    path, graph_path = tmp_path / "outlive.gd", tmp_path / "outlive.gl"
    edges = np.array([[0, 1, 2, 3], [1, 2, 3, 0]])
    for round in range(rounds(200)):
        if round % 20 == 0:
            gm.write_features(path, array, overwrite=round > 0)
            gm.write_graph(graph_path, edges, encoding="i64", overwrite=round > 0)
        x, g = gm.Features(path), gm.Graph(graph_path)
        alive = {
            "handle": x,
            "graph": g,
            "numpy": x.numpy(),
            "torch": x.torch(),
            "slice": x.numpy()[100:200],
            "row": x[7],
            "indptr": g.indptr,
            "list": g.neighbors(2),
            "csc": g.csc("torch")[1],
        }
        del x, g
        names = list(alive)
        rng.shuffle(names)
        for name in names:
            del alive[name]
            gc.collect(0)
            for kept, view in alive.items():
                if kept in ("numpy", "torch"):
                    assert int(view[300, 4]) == 300 * 8 + 4
                elif kept == "slice":
                    assert int(view[1, 1]) == 101 * 8 + 1
                elif kept == "row":
                    assert int(view[2]) == 58
                elif kept == "list":
                    assert int(view[0]) == 3
                elif kept == "indptr":
                    assert int(view[4]) == 4
                elif kept == "csc":
                    assert int(view[0]) == 3
        del view
    assert maps_of("outlive") == 0


def test_a_view_of_a_replaced_file_keeps_its_content(tmp_path: Path) -> None:
    path = tmp_path / "x.gd"
    old = gm.write_features(path, np.zeros((100, 4)))
    views = old.numpy(), old.torch()
    for value in range(1, 21):
        new = gm.write_features(path, np.full((100, 4), float(value)), overwrite=True)
        assert float(new.numpy()[99, 3]) == value
        assert all(float(view.sum()) == 0 for view in views)
        assert float(old.torch().sum()) == 0
        assert float(old.gather([5]).sum()) == 0


def test_no_view_is_made_of_a_truncated_graph(tmp_path: Path) -> None:
    edges = np.random.default_rng(0).integers(0, 500, size=(2, 4000))
    options: dict[str, Any] = {"weights": np.ones(4000), "times": np.arange(4000)}
    path = tmp_path / "cut.gl"
    for length in (0, 100, 4096, 20_000):
        g = gm.write_graph(path, edges, overwrite=True, **options)
        # Once before: a map that is there already must be no reason not to look again.
        views: dict[str, Callable[[], Any]] = {
            "indptr": partial(getattr, g, "indptr"),
            "indices": partial(getattr, g, "indices"),
            "neighbors": partial(g.neighbors, 3),
        }
        for framework in ("numpy", "torch"):
            views[f"csr {framework}"] = partial(g.csr, framework)
            views[f"csc {framework}"] = partial(g.csc, framework)
            for name in ("weights", "times", "edge_ids"):
                views[f"{name} {framework}"] = partial(getattr(g, name), "in", framework)
        for view in views.values():
            view()
        g.check()
        os.truncate(path, length)
        for name, view in views.items():
            with pytest.raises(gm.CorruptError, match=r"cut\.gl"):
                pytest.fail(f"{name} gave {type(view())}")


def test_empty_tables_have_views(tmp_path: Path) -> None:
    x = gm.write_features(tmp_path / "a.gd", np.zeros((0, 5), dtype=np.float32))
    assert x.numpy().shape == (0, 5) == tuple(x.torch().shape)
    y = gm.write_features(tmp_path / "b.gd", np.zeros((3, 0), dtype=np.float32))
    assert y.numpy().shape == (3, 0) == y.gather([0, 1, 2]).shape


def test_asarray_takes_the_view(features: gm.Features, rows: np.ndarray) -> None:
    view = np.asarray(features)
    np.testing.assert_array_equal(view, rows)
    assert not view.flags.owndata
    np.testing.assert_array_equal(np.asarray(features, dtype=np.float64), rows)
    assert len(features) == 1000
    assert "shape=(1000, 16), dtype=float32" in repr(features)
