"""What PyG's own tests demand of its loaders and stores, asked of its loaders over our stores.

PyG's samplers are compiled, so that ``pyg_lib`` says in Python what they do. The cases are those of PyG's loaders that
it knows how to serve from stores, its tests of stores, and those of its sampler over stores.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
import torch_geometric.loader
from torch_geometric.data import Data, EdgeAttr, TensorAttr
from torch_geometric.data.feature_store import AttrView
from torch_geometric.sampler import NeighborSampler, NodeSamplerInput

import graphmill as gm
from graphmill import pyg
from tests import pyg_lib
from tests import test_pyg_cases as cases
from tests import test_pyg_sampler_cases as sampler_cases
from tests.test_pyg_cases import on_disk, random_edges
from tests.test_pyg_sampler_cases import FAMILY, check_reversed, family

order = cases.order
BY_TIME = "test_no_negative_is_later_than_its_link"
# Cases of the loaders that PyG cannot ask of stores, and one that is about workers.
NOT_ASKED = (
    "test_edges_of_weight_zero_are_never_followed",
    "test_no_edge_is_later_than_its_seed",
    "test_features_may_be_a_mapped_file",
)
OF_LOADERS = [case for case in sampler_cases.HELD if case[2] not in NOT_ASKED]
HELD = [
    *OF_LOADERS,
    ("test_feature_store", 1, "test_rows_are_reached_in_every_way_of_pygs"),
    ("test_graph_store", 1, "test_lists_are_reached_in_every_layout"),
    ("test_graph_store_conversion", 1, "test_layouts_hold_the_same_edges"),
    ("test_homogeneous_neighbor_sampler_basic", 1, "test_one_neighbour_is_sampled"),
    ("test_homogeneous_neighbor_sampler_backwards", 1, "test_backwards_is_forwards_along_reversed_edges"),
    ("test_homogeneous_neighbor_sampler_weighted_backwards", 1, "test_pyg_refuses_weights_of_stores"),
    ("test_homogeneous_neighbor_sampler_temporal_backwards", 1, "test_no_node_is_later_than_its_seed"),
    ("test_neighbor_sampler_backwards_not_supported", 1, "test_pyg_refuses_times_backwards"),
]  # fmt: skip
NO_WEIGHTS, NO_EDGE_TIMES = (
    "PyG refuses weights over stores",
    "PyG would index times of edges by nodes",
)
NOT_HELD = [
    *sampler_cases.NOT_HELD,
    ("test_weighted_homo_neighbor_loader", 1, NO_WEIGHTS),
    ("test_weighted_hetero_neighbor_loader", 1, NO_WEIGHTS),
    ("test_edge_level_temporal_homo_neighbor_loader", 1, NO_EDGE_TIMES),
    ("test_edge_level_temporal_hetero_neighbor_loader", 1, NO_EDGE_TIMES),
    ("test_homogeneous_neighbor_sampler_temporal_backwards", 1, NO_EDGE_TIMES),
    ("test_feature_store_override", 1, "a store's own way to name its attributes"),
    ("test_bidirectional_neighbor_sampler", 1, "a class of PyG's that samples both ways itself"),
]


def given(ds: gm.Dataset, options: dict[str, Any]) -> Any:
    """Stores for a loader with these options, which PyG wants with times by one name."""
    found = pyg.stores(ds, time_attr=options.get("time_attr"))
    if options.get("time_attr"):
        options["time_attr"] = "time"
    options.setdefault("transform", pyg.AddEdgeFeatures(ds))
    return found


class NeighborLoader(torch_geometric.loader.NeighborLoader):  # type: ignore[misc]
    def __init__(
        self, ds: gm.Dataset, num_neighbors: Any, input_nodes: Any = None, **options: Any
    ) -> None:
        nodes = torch.as_tensor(range(ds.num_nodes) if input_nodes is None else input_nodes)
        super().__init__(given(ds, options), num_neighbors, nodes, **options)


class LinkNeighborLoader(torch_geometric.loader.LinkNeighborLoader):  # type: ignore[misc]
    def __init__(
        self,
        ds: gm.Dataset,
        num_neighbors: Any,
        edge_label_index: Any = None,
        edge_label: Any = None,
        **options: Any,
    ) -> None:
        links = pyg.DataView(ds).edge_index if edge_label_index is None else edge_label_index
        super().__init__(given(ds, options), num_neighbors, (None, links), edge_label, **options)


@pytest.fixture(autouse=True)
def over_stores(monkeypatch: pytest.MonkeyPatch) -> Any:
    pyg_lib.install(monkeypatch)
    monkeypatch.setattr(pyg, "NeighborLoader", NeighborLoader)
    monkeypatch.setattr(pyg, "LinkNeighborLoader", LinkNeighborLoader)
    monkeypatch.setattr(sampler_cases, "LinkNeighborLoader", LinkNeighborLoader)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PyG samples from lists of int64 in memory")
        yield


globals().update({name: getattr(sampler_cases, name) for _, _, name in OF_LOADERS})


def test_70_of_80_cases_hold() -> None:
    """PyG's cases that can be asked of stores at all."""
    held = sum(count for _, count, _ in HELD)
    missing = sum(count for _, count, _ in NOT_HELD)
    assert (held, missing) == (70, 10)
    assert all(test in globals() for _, _, test in HELD)


def test_docs_name_every_case_that_does_not_hold() -> None:
    text = re.sub(r"\s+", " ", (Path(__file__).parents[1] / "docs" / "pyg.md").read_text())
    for case, _, reason in NOT_HELD:
        assert f"`{case}" in text, case
        assert reason in text, reason


@pytest.fixture
def ds(tmp_path: Path, order: str) -> gm.Dataset:
    return on_disk(
        Data(x=torch.arange(300.0).view(100, 3), edge_index=random_edges(100, 300)),
        tmp_path,
        order=order,
    )


def test_rows_are_reached_in_every_way_of_pygs(ds: gm.Dataset) -> None:
    store, x = pyg.DatasetFeatureStore(ds), torch.arange(300.0).view(100, 3)
    index = torch.tensor([0, 1, 2])
    attr = TensorAttr(None, "x", index)
    assert torch.equal(store.get_tensor(attr), x[index])
    assert torch.equal(store.get_tensor(None, "x", index=torch.tensor([0, 2])), x[[0, 2]])
    view = store.view(group_name=None)
    view.attr_name = "x"
    view["index"] = index
    assert view == AttrView(store, attr)
    assert torch.equal(view(), x[index])
    nodes = store.view(group_name=None)
    for rows in (store[None, "x", None], store[None, "x", :], nodes["x"][:], nodes.x[:]):
        assert torch.equal(rows, x)
    assert torch.equal(nodes.x[3:9:2], x[3:9:2])
    assert torch.equal(store[None, "x", 7], x[7])
    assert nodes == store.view(TensorAttr(group_name=None))
    # What is on disk is not changed by a store.
    with pytest.raises(NotImplementedError, match="add_table"):
        store[None, "x", index] = x
    with pytest.raises(NotImplementedError, match="remove_table"):
        del store[None, "x", index]
    with pytest.raises(KeyError, match="'z'"):
        store[None, "z", index]


def test_lists_are_reached_in_every_layout(tmp_path: Path) -> None:
    """The graph of PyG's test, 0 -> 1 -> 2."""
    store = pyg.DatasetGraphStore(
        on_disk(Data(num_nodes=3, edge_index=torch.tensor([[0, 1], [1, 2]])), tmp_path)
    )
    expected = {
        "coo": ([0, 1], [1, 2]),
        "csr": ([0, 1, 2, 2], [1, 2]),
        "csc": ([0, 1], [0, 0, 1, 2]),
    }
    for layout, lists in expected.items():
        assert tuple(part.tolist() for part in store[EdgeAttr(None, layout)]) == lists
        assert tuple(part.tolist() for part in store.get_edge_index(None, layout)) == lists
    with pytest.raises(NotImplementedError, match="build another one"):
        del store[EdgeAttr(None, "coo")]
    with pytest.raises(KeyError, match="type_2"):
        store[EdgeAttr("type_2", "coo")]


@pytest.mark.parametrize("direction", ["both", "in", "out"])
@pytest.mark.parametrize("encoding", ["i32", "i64", "packed"])
def test_layouts_hold_the_same_edges(
    tmp_path: Path, order: str, direction: str, encoding: str
) -> None:
    edge_index = random_edges(100, 300)
    options = {"order": order, "direction": direction, "encoding": encoding}
    store = pyg.DatasetGraphStore(
        on_disk(Data(num_nodes=100, edge_index=edge_index), tmp_path, **options)
    )
    by_row, by_col = (
        edge_index[:, edge_index[0].mul(100).add(edge_index[1]).argsort()],
        edge_index[:, edge_index[1].mul(100).add(edge_index[0]).argsort()],
    )
    row, col, ids = store.coo()
    assert torch.equal(edge_index[:, ids], torch.stack([row, col]))
    assert ids is not None
    assert torch.equal(ids.sort().values, torch.arange(300))
    offsets, col, ids = store.csr()
    assert torch.equal(offsets.diff(), edge_index[0].bincount(minlength=100))
    assert torch.equal(edge_index[1, ids], col)
    assert torch.equal(edge_index[0, ids], by_row[0])
    row, offsets, ids = store.csc()
    assert torch.equal(offsets.diff(), edge_index[1].bincount(minlength=100))
    assert torch.equal(edge_index[0, ids], row)
    assert torch.equal(edge_index[1, ids], by_col[1])


def sampled(ds: gm.Dataset, fanouts: list[int], seed: int, **options: Any) -> Any:
    sampler = NeighborSampler(pyg.stores(ds), fanouts, **options)
    out = sampler.sample_from_nodes(NodeSamplerInput(None, torch.tensor([seed])))
    out.edge = out.edge if sampler.edge_permutation is None else sampler.edge_permutation[out.edge]
    return out


def test_one_neighbour_is_sampled(tmp_path: Path, order: str) -> None:
    found = sampled(family(tmp_path, FAMILY, order), [1], 1)
    parts = (found.node, found.row, found.col, found.edge)
    assert [part.tolist() for part in parts] == [[1, 0], [1], [0], [0]]


def test_backwards_is_forwards_along_reversed_edges(tmp_path: Path, order: str) -> None:
    ds, back = family(tmp_path / "a", FAMILY, order), family(tmp_path / "b", FAMILY.flip(0), order)
    forward, backward = sampled(ds, [1], 2), sampled(ds, [1], 2, sample_direction="backward")
    assert (forward.node.tolist(), backward.node.tolist()) == ([2, 0], [2, 3])
    check_reversed(forward, sampled(back, [1], 2, sample_direction="backward"))
    check_reversed(backward, sampled(back, [1], 2))


def test_pyg_refuses_weights_of_stores(ds: gm.Dataset) -> None:
    with pytest.raises(NotImplementedError, match="weight_attr"):
        NeighborSampler(pyg.stores(ds), [1], weight_attr="edge_weight")


def test_pyg_refuses_times_backwards(tmp_path: Path) -> None:
    stores = pyg.stores(family(tmp_path, FAMILY), time_attr="time")
    with pytest.raises(NotImplementedError, match="Temporal"):
        NeighborSampler(stores, [1], time_attr="time", sample_direction="backward")
