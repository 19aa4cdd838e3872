"""Data objects of PyG as datasets: what is stored, and what is said of the rest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.data import Data, HeteroData

import graphmill as gm


def test_from_pyg_keeps_everything(tmp_path: Path, edges: np.ndarray) -> None:
    x = np.arange(100 * 4, dtype=np.float32).reshape(100, 4)
    mask = torch.arange(100) % 3 == 0
    data = Data(
        x=torch.from_numpy(x),
        edge_index=torch.from_numpy(edges),
        y=torch.arange(100) % 5,
        train_mask=mask,
        val_mask=~mask,
        year=torch.arange(100),
        edge_attr=torch.arange(edges.shape[1], dtype=torch.float32),
    )
    ds = gm.from_pyg(data, tmp_path / "set", order="hot")
    original = torch.from_numpy(ds.original_ids(np.arange(100)))
    assert torch.equal(ds.table("x").torch(), data.x[original])
    assert torch.equal(ds.table("y").torch(), data.y[original])
    assert torch.equal(ds.table("year").torch(), data.year[original])
    assert ds.split("train").tolist() == mask.nonzero().ravel().tolist()
    assert ds.split("val").tolist() == (~mask).nonzero().ravel().tolist()
    assert torch.equal(ds.edge_table("edge_attr").torch(), data.edge_attr)
    with pytest.raises(TypeError, match="HeteroData"):
        gm.from_pyg(HeteroData(), tmp_path / "typed")


def test_from_pyg_names_what_it_cannot_store(tmp_path: Path) -> None:
    data = Data(
        x=torch.eye(3),
        edge_index=torch.tensor([[0, 1], [1, 2]]),
        z=torch.rand(3, 2, 2),
        edge_kind=torch.tensor([5, 6]),
        edge_attr=torch.rand(2, 1, 1),
        y=torch.tensor([1]),
        name="small",
        nothing=None,
    )
    with pytest.warns(UserWarning, match="is not stored") as told:
        ds = gm.from_pyg(data, tmp_path / "set")
    assert all(warning.filename == __file__ for warning in told)
    reasons = dict(str(warning.message).split(" is not stored: ") for warning in told)
    assert reasons.keys() == {"z", "edge_kind", "edge_attr", "y", "name"}
    assert "3 dimensions" in reasons["z"]
    assert "column of edge_attr" in reasons["edge_kind"]
    assert "str" in reasons["name"]
    assert (ds.tables, ds.edge_tables) == (["x"], [])


def test_from_pyg_tells_nodes_from_edges_as_pyg_does(tmp_path: Path) -> None:
    """As many edges as nodes: names decide, not lengths."""
    data = Data(
        num_nodes=2,
        edge_index=torch.tensor([[0, 1], [1, 0]]),
        edge_kind=torch.tensor([5, 6]),
        year=torch.tensor([7, 8]),
    )
    with pytest.warns(UserWarning, match="edge_kind is not stored"):
        ds = gm.from_pyg(data, tmp_path / "set")
    assert ds.tables == ["year"]
