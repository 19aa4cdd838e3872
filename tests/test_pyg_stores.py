"""Datasets as PyG's stores: what its own loaders ask for, right and without copies."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data, EdgeAttr, TensorAttr
from torch_geometric.data.graph_store import EdgeLayout
from torch_geometric.loader import NodeLoader
from torch_geometric.loader.utils import filter_custom_store

import graphmill as gm
from graphmill import pyg
from tests.pyg_data import EDGES, NODES, small_data

Build = Callable[..., gm.Dataset]


@pytest.fixture
def data() -> Data:
    return small_data()


@pytest.fixture
def build(tmp_path: Path, data: Data) -> Build:
    def make(**options: Any) -> gm.Dataset:
        return gm.from_pyg(data, tmp_path / "ds", **({"encoding": "i64"} | options))

    return make


def test_rows_come_by_any_index(build: Build, data: Data) -> None:
    features, _ = pyg.stores(build())
    ids = torch.tensor([5, 0, 5, 199])
    for index in (ids, ids.numpy(), ids.to(torch.int32), slice(3, 9), slice(None), 7, None):
        # PyG's own check of the attribute stumbles over arrays.
        found = features._get_tensor(TensorAttr(group_name=None, attr_name="x", index=index))
        taken = slice(None) if index is None else index
        expected = data.x[torch.as_tensor(taken).long() if hasattr(taken, "shape") else taken]
        assert index is not ids or features.get_tensor(None, "x", index).equal(expected)
        assert torch.equal(found, expected), index
    mask = torch.arange(NODES) % 7 == 0
    assert torch.equal(features.get_tensor(None, "y", mask), data.y[mask])
    assert features[None, "x", ids].equal(data.x[ids])
    with pytest.raises(IndexError, match="200"):
        features.get_tensor(None, "x", torch.tensor([NODES]))
    with pytest.raises(KeyError, match=r"'z'; there are .*edge_attr"):
        features.get_tensor(None, "z", ids)


def test_an_index_that_torch_refuses_is_refused(build: Build) -> None:
    features, _ = pyg.stores(build())
    for wrong in (torch.tensor([1.7]), np.array([1.0]), torch.tensor([1j])):
        for ask in (features._get_tensor, lambda attr: features._multi_get_tensor([attr])):
            with pytest.raises(TypeError, match="integers"):
                ask(TensorAttr(None, "x", wrong))
    for length in (5, NODES + 1):
        with pytest.raises(IndexError, match=rf"expected \({NODES},\)"):
            features.get_tensor(None, "x", torch.ones(length, dtype=torch.bool))
    # The mask of a table of edges has their number.
    mask = torch.ones(EDGES, dtype=torch.bool)
    assert features.get_tensor(None, "edge_attr", mask).shape == (EDGES, 2)
    assert features.get_tensor(None, "x", []).shape == (0, 4)


def test_sizes_are_those_of_what_an_index_gives(build: Build) -> None:
    features, _ = pyg.stores(build())
    mask = torch.arange(NODES) % 7 == 0
    for index in (None, slice(3, 9), slice(-3, None), 7, torch.tensor([5, 0, 5]), mask):
        for name in ("x", "y"):
            attribute = TensorAttr(None, name, index)
            expected = tuple(features._get_tensor(attribute).shape)
            assert features._get_tensor_size(attribute) == expected, index
    assert features.get_tensor_size(group_name=None, attr_name="x") == (NODES, 4)
    assert features.get_tensor_size(group_name=None, attr_name="z") is None
    assert features.get_tensor_size(group_name="paper", attr_name="x") is None


def test_types_that_a_dataset_does_not_have_are_key_errors(build: Build) -> None:
    features, graph = pyg.stores(build())
    with pytest.raises(KeyError, match="group 'paper'"):
        features.get_tensor("paper", "x", None)
    with pytest.raises(KeyError, match="group 'paper'"):
        features.multi_get_tensor([TensorAttr("paper", "x", None)])
    kind = ("paper", "cites", "paper")
    for layout in ("csc", "csr", "coo"):
        with pytest.raises(KeyError, match="cites"):
            graph.get_edge_index(edge_type=kind, layout=layout)
        with pytest.raises(KeyError, match="cites"):
            getattr(graph, layout)([kind])
        assert len(getattr(graph, layout)([None])) == 3


def test_all_attributes_are_tables_of_nodes_and_fresh_each_time(build: Build) -> None:
    features, _ = pyg.stores(build())
    attributes = features.get_all_tensor_attrs()
    assert sorted(attribute.attr_name for attribute in attributes) == ["x", "y", "year"]
    attributes[0].index = torch.tensor([1])
    assert not any(attribute.is_set("index") for attribute in features.get_all_tensor_attrs())
    assert features.get_tensor_size(TensorAttr(None, "x", None)) == (NODES, 4)
    chosen, _ = pyg.stores(build(overwrite=True), columns=["y"])
    assert [attribute.attr_name for attribute in chosen.get_all_tensor_attrs()] == ["y"]
    with pytest.raises(KeyError, match="z"):
        pyg.stores(build(overwrite=True), columns=["z"])


def test_a_loaders_request_is_answered_for_all_tables(build: Build, data: Data) -> None:
    stores = pyg.stores(build())
    node, row, col = torch.tensor([9, 3, 4]), torch.tensor([1, 2]), torch.tensor([0, 0])
    batch = filter_custom_store(*stores, node, row, col, torch.tensor([0, 1]))
    assert torch.equal(batch.x, data.x[node])
    assert torch.equal(batch.y, data.y[node])
    assert torch.equal(batch.year, data.year[node])
    assert batch.num_nodes == 3


def test_rows_of_edges_are_found_by_edge_id(build: Build, data: Data) -> None:
    ds = build()
    features, graph = pyg.stores(ds)
    row, colptr, ids = graph.csc()
    # What PyG calls the permutation leads from a place in the lists to the edge.
    assert ids is not None
    col = torch.arange(NODES).repeat_interleave(colptr.diff())
    assert torch.equal(data.edge_index[:, ids], torch.stack([row, col]))
    edge_attr = features.get_tensor(group_name=None, attr_name="edge_attr", index=ids)
    assert torch.equal(edge_attr, data.edge_attr[ids])
    batch = pyg.AddEdgeFeatures(ds)(Data(e_id=ids[:10]))
    assert torch.equal(batch.edge_attr, data.edge_attr[ids[:10]])
    assert "edge_attr" in repr(pyg.AddEdgeFeatures(ds))


def test_lists_of_int64_are_views_of_the_file(build: Build, data: Data) -> None:
    ds = build()
    _, graph = pyg.stores(ds)
    row, colptr, _ = graph.csc()
    rowptr, col, _ = graph.csr()
    again = graph.csc()
    assert row.data_ptr() == again[0].data_ptr()
    assert colptr.data_ptr() == again[1].data_ptr()
    # Nothing of the budget was taken.
    with ds._reserve(ds.memory, "everything"):
        pass
    dense = torch.zeros(NODES, NODES).index_put_(
        tuple(data.edge_index), torch.ones(EDGES), accumulate=True
    )
    for found in (
        (row, torch.arange(NODES).repeat_interleave(colptr.diff())),
        (torch.arange(NODES).repeat_interleave(rowptr.diff()), col),
        graph.coo()[:2],
        graph.get_edge_index(EdgeAttr(None, EdgeLayout.COO)),
    ):
        made = torch.zeros(NODES, NODES).index_put_(found, torch.ones(EDGES), accumulate=True)
        assert torch.equal(made, dense)
    attributes = graph.get_all_edge_attrs()
    assert [attribute.layout for attribute in attributes] == [EdgeLayout.CSC, EdgeLayout.CSR]
    assert all(a.edge_type is None and a.size == (NODES, NODES) for a in attributes)


def test_lists_of_int32_are_copied_within_the_budget_and_said(build: Build, data: Data) -> None:
    ds = build(encoding="i32", memory="64MiB")
    _, graph = pyg.stores(ds)
    with pytest.warns(UserWarning, match=rf"{8 * EDGES} bytes .* encoding='i64'"):
        row, _, _ = graph.csc()
    assert row.dtype == torch.int64
    assert graph.csc()[0] is row
    with pytest.raises(gm.MemoryBudgetError):
        ds._reserve(ds.memory, "everything")
    del graph, row
    with ds._reserve(ds.memory, "everything"):
        pass


def test_lists_that_do_not_fit_are_refused(build: Build) -> None:
    build(encoding="i32")
    ds = gm.open(build(encoding="i32", overwrite=True).path, memory=8 * EDGES - 1)
    _, graph = pyg.stores(ds)
    with pytest.raises(gm.MemoryBudgetError, match="encoding='i64'"):
        graph.csc()


def test_a_direction_that_is_not_stored_is_made_within_the_budget(build: Build, data: Data) -> None:
    ds = build(direction="out", memory="1MiB")
    _, graph = pyg.stores(ds)
    assert [attribute.layout for attribute in graph.get_all_edge_attrs()] == [EdgeLayout.CSR]
    kept = 16 * EDGES + 8 * (NODES + 1)
    with pytest.warns(UserWarning, match=f"stores no in-edges: {kept} bytes"):
        row, colptr, ids = graph.csc()
    col = torch.arange(NODES).repeat_interleave(colptr.diff())
    assert torch.equal(data.edge_index[:, ids], torch.stack([row, col]))
    with ds._reserve(ds.memory - kept, "everything else"), pytest.raises(gm.MemoryBudgetError):
        ds._reserve(1, "one byte")
    _, another = pyg.stores(gm.open(ds.path, memory=64 * EDGES))
    with (
        pytest.raises(gm.MemoryBudgetError, match="larger memory"),
        pytest.warns(UserWarning, match="stores no in-edges"),
    ):
        another.csc()


def test_stores_refuse_to_be_written_and_pickle_by_path(build: Build, data: Data) -> None:
    features, graph = pyg.stores(build(), columns=["x"])
    with pytest.raises(NotImplementedError, match="add_table"):
        features.put_tensor(torch.zeros(3), group_name=None, attr_name="z", index=None)
    with pytest.raises(NotImplementedError, match="add_table"):
        features.remove_tensor(group_name=None, attr_name="x", index=None)
    with pytest.raises(NotImplementedError, match="build another"):
        graph.put_edge_index((data.edge_index[0], data.edge_index[1]), EdgeAttr(None, "coo"))
    with pytest.raises(NotImplementedError, match="build another"):
        graph.remove_edge_index(EdgeAttr(None, "csc"))
    copies = pickle.loads(pickle.dumps((features, graph)))
    assert repr(copies) == repr((features, graph))
    assert torch.equal(copies[0].get_tensor(None, "x", None), data.x)
    assert torch.equal(copies[1].csc()[0], graph.csc()[0])


def test_edge_tables_without_edge_ids_are_an_error(tmp_path: Path, build: Build) -> None:
    ds = gm.build(tmp_path / "plain", edges=[[0], [1]])
    with pytest.raises(KeyError, match="edge_attr"):
        pyg.AddEdgeFeatures(ds, ["edge_attr"])(Data(e_id=torch.tensor([0])))


@pytest.mark.parametrize("options", [{}, {"order": "hot"}, {"encoding": "i32"}], ids=str)
def test_a_dataset_becomes_the_data_it_was_made_from(
    build: Build, data: Data, options: dict[str, Any]
) -> None:
    ds = build(**options)
    back = pyg.to_pyg(ds)
    assert back.num_nodes == NODES
    number_of = torch.from_numpy(np.asarray(ds.node_ids(np.arange(NODES))))
    assert torch.equal(back.edge_index, number_of[data.edge_index])
    for name in ("edge_attr", "edge_weight", "edge_time"):
        assert torch.equal(back[name], data[name]), name
    for name in ("x", "y", "year", "train_mask"):
        assert torch.equal(back[name][number_of], data[name]), name
    if "order" in options:
        assert torch.equal(back.n_id[number_of], torch.arange(NODES))
    else:
        assert "n_id" not in back


def test_undirected_edges_come_twice_and_edges_without_ids_by_their_ends(tmp_path: Path) -> None:
    ends = [[2, 0], [1, 2]]
    plain = pyg.to_pyg(gm.build(tmp_path / "plain", edges=ends))
    assert plain.edge_index.tolist() == [[2, 0], [1, 2]]
    both = pyg.to_pyg(gm.build(tmp_path / "both", edges=ends, undirected=True))
    assert sorted(map(tuple, both.edge_index.t().tolist())) == [(0, 2), (1, 2), (2, 0), (2, 1)]
    outward = gm.build(tmp_path / "out", edges=ends, direction="out", string_ids=False)
    assert pyg.to_pyg(outward).edge_index.tolist() == [[0, 2], [2, 1]]


def test_a_graph_too_large_for_memory_is_no_data_object(build: Build) -> None:
    ds = gm.open(build().path, memory="16KiB")
    with pytest.raises(gm.MemoryBudgetError, match="edges of a Data object"):
        pyg.to_pyg(ds)


def test_pygs_own_neighbor_loader_samples_from_the_stores(build: Build, data: Data) -> None:
    pytest.importorskip(
        "torch_sparse",
        reason="PyG's NeighborLoader needs torch-sparse, which `make test-peers` compiles",
        exc_type=ImportError,
    )
    from torch_geometric.loader import NeighborLoader

    ds = build()
    nodes = torch.tensor(ds.split("train"))
    with pytest.warns(UserWarning, match="pyg-lib"):
        loader = NeighborLoader(
            pyg.stores(ds), [4, 3], nodes, batch_size=16, transform=pyg.AddEdgeFeatures(ds)
        )
    seen = 0
    for batch in loader:
        assert torch.equal(batch.x, data.x[batch.n_id])
        assert torch.equal(data.edge_index[:, batch.e_id], batch.n_id[batch.edge_index])
        assert torch.equal(batch.edge_attr, data.edge_attr[batch.e_id])
        seen += batch.batch_size
    assert seen == len(nodes)


def test_stores_cross_to_workers(build: Build, data: Data) -> None:
    ds = build()
    nodes = torch.tensor(ds.split("train"))
    for context in ("fork", "spawn"):
        loader = NodeLoader(
            pyg.stores(ds),
            pyg.Sampler(ds, [3]),
            nodes,
            batch_size=64,
            num_workers=2,
            multiprocessing_context=context,
        )
        found = torch.cat([batch.x[: batch.batch_size] for batch in loader])
        assert torch.equal(found, data.x[nodes])
