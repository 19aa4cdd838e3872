"""Datasets: what they hold, and how they grow without being rebuilt."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import graphmill as gm
from tests.command import graphmill


@pytest.fixture
def ds(papers: Path, tmp_path: Path) -> gm.Dataset:
    """A dataset of its own for tests that change it."""
    shutil.copytree(papers, tmp_path / "ds")
    return gm.open(tmp_path / "ds")


def test_a_dataset_tells_what_it_holds(papers: Path) -> None:
    ds = gm.open(papers, memory="1GiB")
    assert (ds.num_nodes, ds.num_edges) == (5000, 72500)
    assert ds.memory == 1 << 30
    assert ds.tables == ["x", "y"]
    assert ds.splits == ["test", "train", "valid"]
    assert ds.features is not None
    assert ds.labels is not None
    assert ds.features.shape == (5000, 16)
    assert ds.labels.shape == (5000,)
    assert ds.labels.dtype == np.int64
    splits = [set(ds.split(name).tolist()) for name in ds.splits]
    assert not splits[0] & splits[1]
    assert not splits[1] & splits[2]
    with pytest.raises(KeyError, match="it has x, y"):
        ds.table("z")


def test_tables_are_added_without_rebuilding(ds: gm.Dataset) -> None:
    folder = Path(ds.path)
    graph = next(folder.glob("graph.*.gl"))
    before = graph.stat().st_mtime_ns
    other = gm.open(folder)
    ds.add_table("year", np.arange(5000))
    ds.add_table("half", torch.ones(5000, 3), dtype="f16")
    ds.add_table("parts", (np.full(1000, part) for part in range(5)))
    assert ds.tables == ["half", "parts", "x", "y", "year"]
    assert ds.table("year")[[7, 4999]].tolist() == [7, 4999]
    assert ds.table("half").dtype == np.float16
    assert ds.table("parts").numpy()[4000] == 4
    assert graph.stat().st_mtime_ns == before
    # A handle that was opened before sees what it opened.
    assert other.tables == ["x", "y"]
    assert other.table("x").numpy()[0, 0] == ds.table("x").numpy()[0, 0]
    assert gm.open(folder).tables == ds.tables
    assert graphmill("verify", folder).returncode == 0
    batch = next(iter(gm.NeighborLoader(ds, [2], batch_size=8, seeds="train", columns=["year"])))
    assert batch.year.tolist() == batch.n_id.tolist()


def test_splits_are_added_as_lists_and_as_masks(ds: gm.Dataset) -> None:
    mask = np.zeros(5000, dtype=bool)
    mask[[3, 8]] = True
    ds.add_split("few", mask)
    ds.add_split("listed", torch.tensor([9, 2]))
    ds.add_split("none", [])
    assert ds.split("few").tolist() == [3, 8]
    assert ds.split("listed").tolist() == [9, 2]
    assert ds.split("none").tolist() == []


def test_what_does_not_fit_is_refused_and_changes_nothing(ds: gm.Dataset) -> None:
    folder = Path(ds.path)
    before = sorted(path.name for path in folder.iterdir())
    with pytest.raises(ValueError, match="has 3 rows, expected 5000"):
        ds.add_table("short", np.zeros(3))
    with pytest.raises(gm.GraphmillError):
        ds.add_table("short", (np.zeros(1000) for _ in range(2)))
    with pytest.raises(ValueError, match="x"):
        ds.add_table("x", np.zeros(5000))
    with pytest.raises(ValueError, match="name"):
        ds.add_table("../evil", np.zeros(5000))
    with pytest.raises(gm.SourceError, match="5000"):
        ds.add_split("far", [5000])
    with pytest.raises(ValueError, match="mask"):
        ds.add_split("mask", np.ones(4, dtype=bool))

    def broken():
        yield np.zeros(1000)
        raise RuntimeError("lost the second part")

    with pytest.raises(RuntimeError, match="second part"):
        ds.add_table("broken", broken())
    assert sorted(path.name for path in folder.iterdir()) == before


def test_tables_of_edges_are_found_by_name(tmp_path: Path) -> None:
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    ds = gm.build(tmp_path / "ds", edges=[[2, 0, 1], [0, 1, 1]], edge_features=rows)
    assert ds.edge_tables == ["edge_attr"]
    sample = ds.graph.sample([1], [-1])
    np.testing.assert_array_equal(ds.edge_table("edge_attr")[sample.e_id], rows[sample.e_id])
    assert sorted(sample.e_id) == [1, 2]
    with pytest.raises(KeyError, match="edge_attr"):
        ds.edge_table("edge_time")
    assert gm.build(tmp_path / "plain", edges=[[0], [1]]).edge_tables == []
