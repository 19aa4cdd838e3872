"""Data objects of PyG as datasets: what is stored, and what is said of the rest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.data import Data, HeteroData

import graphmill as gm
from graphmill.pyg import NeighborLoader, to_pyg


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
        edge_weight=torch.rand(edges.shape[1], dtype=torch.float64),
        edge_kind=torch.arange(edges.shape[1]) % 3,
    )
    ds = gm.from_pyg(data, tmp_path / "set", order="hot")
    original = torch.from_numpy(ds.original_ids(np.arange(100)))
    assert torch.equal(ds.table("x").torch(), data.x[original])
    assert torch.equal(ds.table("y").torch(), data.y[original])
    assert torch.equal(ds.table("year").torch(), data.year[original])
    assert ds.split("train").tolist() == mask.nonzero().ravel().tolist()
    assert ds.split("val").tolist() == (~mask).nonzero().ravel().tolist()
    assert ds.graph.has_weights
    for name in ("edge_attr", "edge_weight", "edge_kind"):
        assert torch.equal(ds.edge_table(name).torch(), data[name])
    back = to_pyg(ds)
    assert torch.equal(back.edge_weight, data.edge_weight)
    with pytest.raises(TypeError, match="HeteroData"):
        gm.from_pyg(HeteroData(), tmp_path / "typed")


def test_from_pyg_names_what_it_cannot_store(tmp_path: Path) -> None:
    data = Data(
        x=torch.eye(3),
        edge_index=torch.tensor([[0, 1], [1, 2]]),
        z=torch.rand(3, 2, 2),
        edge_label_index=torch.tensor([[0, 1], [1, 2], [2, 0]]),
        edge_attr=torch.rand(2, 1, 1),
        y=torch.tensor([1]),
        name="small",
        nothing=None,
    )
    with pytest.warns(UserWarning, match="is not stored") as told:
        ds = gm.from_pyg(data, tmp_path / "set")
    assert all(warning.filename == __file__ for warning in told)
    reasons = dict(str(warning.message).split(" is not stored: ") for warning in told)
    assert reasons.keys() == {"z", "edge_label_index", "edge_attr", "y", "name"}
    assert "3 dimensions" in reasons["z"]
    assert "neither for each node" in reasons["edge_label_index"]
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
    ds = gm.from_pyg(data, tmp_path / "set")
    assert (ds.tables, ds.edge_tables) == (["year"], ["edge_kind"])


@pytest.mark.parametrize("order", ["none", "hot"])
def test_batches_have_what_belonged_to_the_edges(
    tmp_path: Path, edges: np.ndarray, order: str
) -> None:
    count = edges.shape[1]
    data = Data(
        num_nodes=100,
        edge_index=torch.from_numpy(edges),
        edge_weight=torch.rand(count),
        edge_time=torch.arange(count),
        edge_kind=torch.arange(count, dtype=torch.int16) % 3,
    )
    ds = gm.from_pyg(data, tmp_path / "set", order=order)
    loader = NeighborLoader(ds, [5, 5], batch_size=10, weight_attr="edge_weight", seed=0)
    for batch in loader:
        for name in ("edge_weight", "edge_time", "edge_kind"):
            assert torch.equal(batch[name], data[name][batch.e_id])
        assert torch.equal(batch.n_id[batch.edge_index], data.edge_index[:, batch.e_id])
    chosen = NeighborLoader(ds, [5], batch_size=10, edge_columns=["edge_kind"])
    batch = next(iter(chosen))
    assert "edge_kind" in batch
    assert "edge_weight" not in batch


def test_weights_that_sampling_cannot_go_by_are_in_batches_all_the_same(tmp_path: Path) -> None:
    data = Data(
        num_nodes=3,
        edge_index=torch.tensor([[0, 1], [1, 2]]),
        edge_weight=torch.tensor([-1.0, 2.0]),
        edge_time=torch.tensor([0.5, 1.5]),
    )
    ds = gm.from_pyg(data, tmp_path / "set")
    assert not ds.graph.has_weights
    batch = next(iter(NeighborLoader(ds, [-1, -1], input_nodes=torch.tensor([2]))))
    assert batch.edge_weight.tolist() == [2.0, -1.0]
    assert batch.edge_time.tolist() == [1.5, 0.5]


def test_edge_ids_are_columns_of_edge_index(tmp_path: Path, edges: np.ndarray) -> None:
    """Also where nothing but the topology is stored: scripts index their own tensors by e_id."""
    data = Data(num_nodes=100, edge_index=torch.from_numpy(edges))
    ds = gm.from_pyg(data, tmp_path / "set")
    assert ds.graph.has_edge_ids
    for batch in NeighborLoader(ds, [5, 5], batch_size=10, seed=0):
        assert torch.equal(batch.n_id[batch.edge_index], data.edge_index[:, batch.e_id])
    assert torch.equal(to_pyg(ds).edge_index, data.edge_index)
    without = gm.from_pyg(data, tmp_path / "without", edge_ids=False)
    assert not without.graph.has_edge_ids
