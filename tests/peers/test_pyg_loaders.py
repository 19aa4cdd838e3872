"""Our loaders beside PyG's own over the same data in memory: with all neighbours, batch for batch the same."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch_geometric.loader
from torch_geometric.data import Data

import graphmill as gm
from graphmill import pyg
from tests.pyg_data import small_data

pytest.importorskip(
    "torch_sparse",
    reason="PyG's loaders need torch-sparse, which `make test-peers` compiles",
    exc_type=ImportError,
)

DATA = small_data()
LINKS = DATA.edge_index[:, :120]
# torch-sparse does not count by hop, and a batch of data in memory has its number of nodes from its rows.
OURS_ALONE = {"num_sampled_nodes", "num_sampled_edges", "num_nodes"}
# A dataset has it as a split, which is no part of a batch.
THEIRS_ALONE = {"train_mask"}


@pytest.fixture(scope="module", params=["none", "hot"])
def ds(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> gm.Dataset:
    folder: Path = tmp_path_factory.mktemp("peer") / "ds"
    return gm.from_pyg(DATA, folder, order=request.param, memory="64MiB")


def theirs(kind: str, *arguments: Any, **options: Any) -> Iterable[Data]:
    with warnings.catch_warnings():
        # It would rather have pyg-lib.
        warnings.simplefilter("ignore")
        return getattr(torch_geometric.loader, kind)(DATA, *arguments, **options)


def check_same(ds: gm.Dataset, ours: Data, other: Data, per_seed: tuple[str, ...]) -> None:
    """Nodes may come in another order, so that they are compared by their ids in the source."""
    names = set(ours.keys()) - OURS_ALONE
    assert names == set(other.keys()) - THEIRS_ALONE
    ids = ds.original_ids(ours.n_id)
    assert sorted(ids.tolist()) == sorted(other.n_id.tolist())
    assert sorted(ours.e_id.tolist()) == sorted(other.e_id.tolist())
    for batch, n_id in ((ours, ids), (other, other.n_id)):
        assert torch.equal(n_id[batch.edge_index], DATA.edge_index[:, batch.e_id])
        for name in ("edge_attr", "edge_weight", "edge_time"):
            assert torch.equal(batch[name], DATA[name][batch.e_id]), name
        for name in ("x", "y", "year"):
            assert torch.equal(batch[name], DATA[name][n_id]), name
    for name in per_seed:
        assert torch.equal(ours[name], other[name]), name


@pytest.mark.parametrize("subgraph_type", ["directional", "induced"])
def test_all_neighbours_of_nodes_are_the_same(ds: gm.Dataset, subgraph_type: str) -> None:
    nodes = torch.arange(0, 200, 3)
    options: dict[str, Any] = {"batch_size": 8, "subgraph_type": subgraph_type}
    ours = pyg.NeighborLoader(ds, [-1, -1], nodes, **options)
    peer = theirs("NeighborLoader", [-1, -1], nodes, **options)
    for one, other in zip(ours, peer, strict=True):
        check_same(ds, one, other, ("input_id",))
        assert one.batch_size == other.batch_size
        size = one.batch_size
        assert torch.equal(ds.original_ids(one.n_id)[:size], other.n_id[:size])


@pytest.mark.parametrize("labels", [None, torch.arange(120) % 3])
def test_all_neighbours_of_links_are_the_same(ds: gm.Dataset, labels: Any) -> None:
    options: dict[str, Any] = {"edge_label": labels, "batch_size": 7}
    ours = pyg.LinkNeighborLoader(ds, [-1, -1], LINKS, **options)
    peer = theirs("LinkNeighborLoader", [-1, -1], LINKS, **options)
    for one, other in zip(ours, peer, strict=True):
        check_same(ds, one, other, ("input_id",) if labels is None else ("input_id", "edge_label"))
        ends = ds.original_ids(one.n_id)[one.edge_label_index]
        assert torch.equal(ends, other.n_id[other.edge_label_index])


@pytest.mark.parametrize("negatives", ["binary", ("binary", 0.5), "triplet", ("triplet", 3)])
def test_negatives_come_as_pygs_do(ds: gm.Dataset, negatives: Any) -> None:
    options: dict[str, Any] = {"neg_sampling": negatives, "batch_size": 7}
    ours = pyg.LinkNeighborLoader(ds, [2], LINKS, **options)
    peer = theirs("LinkNeighborLoader", [2], LINKS, **options)
    for one, other in zip(ours, peer, strict=True):
        assert set(one.keys()) - OURS_ALONE == set(other.keys()) - THEIRS_ALONE
        if "triplet" in str(negatives):
            for name in ("src_index", "dst_pos_index", "dst_neg_index"):
                assert (one[name].shape, one[name].dtype) == (other[name].shape, other[name].dtype)
        else:
            assert torch.equal(one.edge_label, other.edge_label)
            assert one.edge_label_index.shape == other.edge_label_index.shape
