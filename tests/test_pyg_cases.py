"""What PyG's own tests demand of its loaders, asked of ours.

PyG's files test/loader/test_neighbor_loader.py, test_link_neighbor_loader.py, test_zip_loader.py, test_cache.py and
test_imbalanced_sampler.py (2.8) have 72 cases, each value of a parameter counted, that concern one type of node and one
of edge. ``HELD`` says which test below asks for the same, ``NOT_HELD`` which cases do not hold and why, and
docs/pyg.md repeats the latter.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.datasets import KarateClub
from torch_geometric.loader import CachedLoader, ImbalancedSampler, ZipLoader
from torch_geometric.nn import GraphConv
from torch_geometric.utils import to_undirected

import graphmill as gm
from graphmill import pyg

TYPES = ["directional", "bidirectional", "induced"]
FILTERS = [None, True, False]

# PyG's case, how many there are of it, and the test that asks for the same.
HELD = [
    ("test_homo_neighbor_loader_basic", 18, "test_batches_start_with_their_seeds"),
    ("test_homo_neighbor_loader_on_karate", 3, "test_whole_neighbourhoods_give_the_rows_of_the_whole_graph"),
    ("test_hetero_neighbor_loader_on_karate", 3, "test_whole_neighbourhoods_give_the_rows_of_the_whole_graph"),
    ("test_temporal_hetero_neighbor_loader_on_karate", 1, "test_no_node_is_later_than_its_seed"),
    ("test_custom_neighbor_loader", 1, "test_batches_are_those_of_the_graph_in_memory"),
    ("test_custom_hetero_neighbor_loader_duplicate", 1, "test_a_batch_of_all_nodes_has_every_edge_once"),
    ("test_temporal_custom_neighbor_loader_on_karate", 1, "test_lists_ordered_by_time_give_the_same_nodes"),
    ("test_pyg_lib_and_torch_sparse_homo_equality", 1, "test_whole_neighbourhoods_come_in_the_order_of_pygs_samplers"),
    ("test_memmap_neighbor_loader", 1, "test_features_may_be_a_mapped_file"),
    ("test_homo_neighbor_loader_sampled_info", 1, "test_nodes_and_edges_are_counted_by_hop"),
    ("test_neighbor_loader_mapping", 1, "test_edge_ids_are_columns_of_edge_index"),
    ("test_weighted_homo_neighbor_loader", 1, "test_edges_of_weight_zero_are_never_followed"),
    ("test_weighted_hetero_neighbor_loader", 1, "test_edges_of_weight_zero_are_never_followed"),
    ("test_edge_level_temporal_homo_neighbor_loader", 1, "test_no_edge_is_later_than_its_seed"),
    ("test_edge_level_temporal_hetero_neighbor_loader", 1, "test_no_edge_is_later_than_its_seed"),
    ("test_neighbor_loader_input_id", 1, "test_input_ids_of_a_mask_are_the_nodes"),
    ("test_homo_link_neighbor_loader_basic", 12, "test_links_and_their_labels_stay_together"),
    ("test_link_neighbor_loader_edge_label", 1, "test_labels_keep_their_type"),
    ("test_temporal_homo_link_neighbor_loader", 1, "test_no_node_is_later_than_its_link"),
    ("test_homo_link_neighbor_loader_no_edges", 1, "test_links_need_no_edges"),
    ("test_hetero_link_neighbor_loader_no_edges", 1, "test_links_need_no_edges"),
    # PyG returns at once where trees are shared and times are given.
    ("test_homo_link_neighbor_loader_triplet", 6, "test_triplets_come_in_the_order_of_pyg"),
    ("test_temporal_hetero_link_neighbor_loader", 1, "test_negatives_are_no_later_than_their_link"),
    ("test_link_neighbor_loader_mapping", 1, "test_edge_ids_are_columns_of_edge_index"),
    ("test_zip_loader", 2, "test_loaders_can_be_zipped"),
    ("test_cached_loader", 1, "test_batches_can_be_cached"),
    ("test_cached_loader_transform", 1, "test_transformed_batches_can_be_cached"),
    ("test_neighbor_loader_with_imbalanced_sampler", 1, "test_a_sampler_of_torch_decides_which_seeds_come"),
    ("test_hetero_neighbor_loader_with_imbalanced_sampler", 1, "test_a_sampler_of_torch_decides_which_seeds_come"),
]  # fmt: skip
NOT_HELD = [
    ("test_neighbor_loader_with_tensor_frame", 1, "a dataset has no place for a TensorFrame"),
    ("test_dataloader_with_imbalanced_sampler", 1, "a dataset is one graph, not a list of graphs"),
    ("test_in_memory_dataset_imbalanced_sampler", 1, "a dataset is one graph, not a list of graphs"),
]  # fmt: skip
# Cases that return before they ask for anything.
EMPTY = 2


def cases_of(name: str) -> int:
    """How many cases a test of this file has."""
    marks = getattr(globals()[name], "pytestmark", [])
    return math.prod(len(mark.args[1]) for mark in marks if mark.name == "parametrize")


def test_69_of_72_cases_hold() -> None:
    held = sum(count for _, count, _ in HELD)
    assert held + sum(count for _, count, _ in NOT_HELD) + EMPTY == 72
    assert held + EMPTY == 69
    for case, count, test in HELD:
        assert cases_of(test) >= count, (case, test)


def test_docs_name_every_case_that_does_not_hold() -> None:
    text = (Path(__file__).parents[1] / "docs" / "pyg.md").read_text()
    for case, _, reason in NOT_HELD:
        assert f"`{case}" in text, case
        assert reason in re.sub(r"\s+", " ", text), reason


def random_edges(nodes: int, edges: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(nodes, (2, edges), generator=torch.Generator().manual_seed(seed))


def pairs_of(edge_index: torch.Tensor) -> set[tuple[int, ...]]:
    return set(map(tuple, edge_index.t().tolist()))


def on_disk(data: Data, folder: Path, **options: Any) -> gm.Dataset:
    return gm.from_pyg(data, folder / "ds", memory="64MiB", **options)


@pytest.fixture(scope="module", params=["none", "hot"])
def order(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("filter_per_worker", FILTERS)
@pytest.mark.parametrize("subgraph_type", TYPES)
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_batches_start_with_their_seeds(
    tmp_path: Path, order: str, dtype: Any, subgraph_type: str, filter_per_worker: bool | None
) -> None:
    data = Data(x=torch.arange(100), edge_index=random_edges(100, 500), edge_attr=torch.arange(500))
    ds = on_disk(
        Data.from_dict(data.to_dict() | {"edge_index": data.edge_index.to(dtype)}),
        tmp_path,
        order=order,
    )
    options: dict[str, Any] = {"filter_per_worker": filter_per_worker, "batch_size": 20}
    loader = pyg.NeighborLoader(ds, [5] * 2, subgraph_type=subgraph_type, **options)
    assert (str(loader), len(loader)) == ("NeighborLoader()", 5)
    one = loader([0])
    assert isinstance(one, Data)
    assert one.n_id[:1].tolist() == [0]
    known = pairs_of(data.edge_index)
    batches = list(loader)
    assert len(batches) == 5
    for number, batch in enumerate(batches):
        assert isinstance(batch, Data)
        assert batch.n_id.shape == (batch.num_nodes,)
        assert len(batch.input_id) == batch.batch_size == 20
        assert torch.equal(batch.x, batch.n_id)
        assert batch.x[:20].tolist() == list(range(20 * number, 20 * number + 20))
        assert int(batch.edge_index.min()) >= 0
        assert int(batch.edge_index.max()) < batch.num_nodes
        assert len(batch.edge_attr) == batch.edge_index.shape[1]
        if subgraph_type != "bidirectional":
            assert batch.e_id.shape == (batch.num_edges,)
            assert torch.equal(batch.edge_attr, batch.e_id)
            assert torch.equal(data.edge_index[:, batch.e_id], batch.n_id[batch.edge_index])
            assert pairs_of(batch.x[batch.edge_index]) <= known


@pytest.mark.parametrize("subgraph_type", TYPES)
def test_whole_neighbourhoods_give_the_rows_of_the_whole_graph(
    tmp_path: Path, order: str, subgraph_type: str
) -> None:
    data = KarateClub()[0]
    once = data.edge_index[:, data.edge_index[0] < data.edge_index[1]]
    data.edge_index, data.edge_weight = to_undirected(once, torch.rand(once.shape[1]))
    seeds = torch.arange(5, 8)
    ds = on_disk(data, tmp_path, order=order)
    loader = pyg.NeighborLoader(ds, [-1, -1], seeds, batch_size=3, subgraph_type=subgraph_type)
    [batch] = loader
    torch.manual_seed(0)
    first, second = GraphConv(data.num_features, 16), GraphConv(16, 4)

    def rows(of: Data, weight: torch.Tensor | None) -> torch.Tensor:
        return second(first(of.x, of.edge_index, weight).relu(), of.edge_index, weight)

    for weights in ((data.edge_weight, batch.edge_weight), (None, None)):
        expected, found = rows(data, weights[0])[seeds], rows(batch, weights[1])[:3]
        torch.testing.assert_close(found, expected)


def test_no_node_is_later_than_its_seed(tmp_path: Path, order: str) -> None:
    data = KarateClub()[0]
    data.time = torch.arange(data.num_nodes, 0, -1)
    ds = on_disk(data, tmp_path, order=order)
    loader = pyg.NeighborLoader(ds, [-1, -1], time_attr="time", batch_size=1)
    followed = 0
    for batch in loader:
        assert bool((batch.time <= batch.time[0]).all())
        followed += batch.num_edges
    assert followed > 100


def test_batches_are_those_of_the_graph_in_memory(tmp_path: Path, order: str) -> None:
    values = torch.arange(100, 300)
    edge_index = random_edges(100, 500).unique(dim=1)
    edge_index = edge_index[:, torch.randperm(edge_index.shape[1])]
    ds = on_disk(Data(x=values, y=values, edge_index=edge_index), tmp_path, order=order)
    loader = pyg.NeighborLoader(ds, [-1, -1], torch.arange(100), batch_size=20)
    assert len(loader) == 5
    for number, batch in enumerate(loader):
        reached = set(range(20 * number, 20 * number + 20))
        edges: set[int] = set()
        for _ in range(2):
            into = torch.isin(edge_index[1], torch.tensor(sorted(reached)))
            edges |= set(into.nonzero().view(-1).tolist())
            reached |= set(edge_index[0, into].tolist())
        assert (
            sorted(batch.x.tolist())
            == sorted(batch.y.tolist())
            == [100 + id for id in sorted(reached)]
        )
        assert sorted(batch.e_id.tolist()) == sorted(edges)
        assert (batch.num_nodes, batch.num_edges) == (len(reached), len(edges))


def test_a_batch_of_all_nodes_has_every_edge_once(tmp_path: Path, order: str) -> None:
    edge_index = random_edges(10, 20).unique(dim=1)
    ds = on_disk(Data(x=torch.arange(10), edge_index=edge_index), tmp_path, order=order)
    [batch] = pyg.NeighborLoader(ds, [-1, -1], range(10), batch_size=10)
    assert (batch.num_nodes, batch.num_edges) == (10, edge_index.shape[1])


def test_lists_ordered_by_time_give_the_same_nodes(tmp_path: Path) -> None:
    data = KarateClub()[0]
    data.time = torch.arange(data.num_nodes, 0, -1)
    row, col = data.edge_index
    by_time = (col * (data.num_nodes + 1) + data.time[row]).argsort()
    sorted_data = Data.from_dict(data.to_dict() | {"edge_index": data.edge_index[:, by_time]})
    loaders = [
        pyg.NeighborLoader(on_disk(each, tmp_path / name), [-1, -1], time_attr="time", batch_size=128, is_sorted=flag)
        for name, each, flag in (("a", data, False), ("b", sorted_data, True))
    ]  # fmt: skip
    for one, other in zip(*loaders, strict=True):
        assert torch.equal(one.time.sort().values, other.time.sort().values)
        assert one.num_edges == other.num_edges


def test_whole_neighbourhoods_come_in_the_order_of_pygs_samplers(tmp_path: Path) -> None:
    """PyG compares its two samplers node by node; a few lines of Python say what both of them do."""
    edge_index = random_edges(20, 100).unique(dim=1)
    # Lists in the order of ids, as both samplers get them.
    edge_index = edge_index[:, (edge_index[1] * 20 + edge_index[0]).argsort()]
    ds = on_disk(Data(x=torch.arange(20), edge_index=edge_index), tmp_path)
    [batch] = pyg.NeighborLoader(ds, [-1, -1], torch.arange(10), batch_size=10)
    nodes, pairs, begin = list(range(10)), [], 0
    for _ in range(2):
        end = len(nodes)
        for local in range(begin, end):
            for source in edge_index[0, edge_index[1] == nodes[local]].tolist():
                if source not in nodes:
                    nodes.append(source)
                pairs.append((nodes.index(source), local))
        begin = end
    assert batch.n_id.tolist() == nodes
    assert batch.edge_index.t().tolist() == [list(pair) for pair in pairs]


def test_features_may_be_a_mapped_file(tmp_path: Path, order: str) -> None:
    rows = np.memmap(tmp_path / "x", dtype=np.float32, mode="w+", shape=(100, 32))
    rows[:] = np.random.default_rng(0).standard_normal((100, 32))
    mapped = np.memmap(tmp_path / "x", dtype=np.float32, mode="r", shape=(100, 32))
    ds = gm.build(tmp_path / "ds", random_edges(100, 500), features=mapped, order=order)
    with pytest.warns(UserWarning, match="num_workers had no effect"):
        loader = pyg.NeighborLoader(ds, [5] * 2, batch_size=20, num_workers=2)
    batch = next(iter(loader))
    assert isinstance(batch.x, torch.Tensor)
    np.testing.assert_array_equal(batch.x, np.asarray(rows)[batch.n_id])


HOPS = torch.tensor([[2, 3, 4, 5, 7, 7, 10, 11, 12, 13], [0, 1, 2, 3, 2, 3, 7, 7, 7, 7]])


def test_nodes_and_edges_are_counted_by_hop(tmp_path: Path, order: str) -> None:
    ds = on_disk(Data(edge_index=HOPS, num_nodes=14), tmp_path, order=order)
    batch = next(iter(pyg.NeighborLoader(ds, [1, 2, 4], batch_size=2, shuffle=False)))
    assert batch.num_sampled_nodes == [2, 2, 3, 4]
    assert batch.num_sampled_edges == [2, 4, 4]


def test_edge_ids_are_columns_of_edge_index(tmp_path: Path, order: str) -> None:
    edge_index = torch.tensor(
        [[0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 5], [1, 2, 3, 4, 5, 8, 6, 7, 9, 10, 6, 11]]
    )
    ds = on_disk(Data(edge_index=edge_index, num_nodes=12), tmp_path, order=order)
    options: dict[str, Any] = {"num_neighbors": [1], "batch_size": 2, "shuffle": True}
    nodes = pyg.NeighborLoader(ds, **options)
    links = pyg.LinkNeighborLoader(ds, edge_label_index=edge_index, **options)
    for loader in (nodes, links):
        for batch in loader:
            assert torch.equal(batch.n_id[batch.edge_index], edge_index[:, batch.e_id])


@pytest.mark.parametrize("name", ["edge_weight", "price"])
def test_edges_of_weight_zero_are_never_followed(tmp_path: Path, name: str) -> None:
    edge_index = torch.tensor([[1, 3, 0, 4], [2, 2, 1, 3]])
    weights = torch.tensor([0.0, 1.0, 0.0, 1.0])
    data = Data(num_nodes=5, edge_index=edge_index)
    data[name] = weights
    ds = on_disk(data, tmp_path, weights=weights)
    loader = pyg.NeighborLoader(ds, [1] * 2, torch.tensor([2]), weight_attr=name)
    [batch] = loader
    assert batch.n_id.tolist() == [2, 3, 4]
    assert batch.n_id[batch.edge_index].tolist() == [[3, 4], [2, 3]]
    assert (batch.num_nodes, batch.num_edges) == (3, 2)


@pytest.mark.parametrize("name", ["edge_time", "moment"])
def test_no_edge_is_later_than_its_seed(tmp_path: Path, name: str) -> None:
    edge_index = torch.tensor([[0, 1, 1, 2, 2, 3, 3, 4], [1, 0, 2, 1, 3, 2, 4, 3]])
    data = Data(num_nodes=5, edge_index=edge_index)
    data[name] = torch.arange(8)
    ds = on_disk(data, tmp_path, times=torch.arange(8))
    followed = 0
    for batch in pyg.NeighborLoader(ds, [-1, -1], input_time=torch.full((5,), 4), time_attr=name):
        assert batch[name].shape == (batch.num_edges,)
        assert bool((batch[name] <= 4).all())
        followed += batch.num_edges
    assert followed > 0


def test_input_ids_of_a_mask_are_the_nodes(tmp_path: Path, order: str) -> None:
    mask = torch.arange(10) > 0
    ds = on_disk(Data(num_nodes=10, edge_index=random_edges(10, 40)), tmp_path, order=order)
    found = [
        batch.input_id.tolist() for batch in pyg.NeighborLoader(ds, [2, 2], mask, batch_size=2)
    ]
    assert found == [[1, 2], [3, 4], [5, 6], [7, 8], [9]]


@pytest.mark.parametrize("filter_per_worker", FILTERS)
@pytest.mark.parametrize("ratio", [None, 1.0])
@pytest.mark.parametrize("subgraph_type", TYPES[:2])
def test_links_and_their_labels_stay_together(
    tmp_path: Path,
    order: str,
    subgraph_type: str,
    ratio: float | None,
    filter_per_worker: bool | None,
) -> None:
    edges, others = random_edges(50, 500), random_edges(50, 500, seed=1) + 50
    links = torch.cat([edges, others], dim=1)
    labels = torch.cat([torch.ones(500), torch.zeros(500)])
    ds = on_disk(
        Data(x=torch.arange(100), edge_index=edges, edge_attr=torch.arange(500)),
        tmp_path,
        order=order,
    )
    loader = pyg.LinkNeighborLoader(
        ds, [-1] * 2, links, labels if ratio is None else None, batch_size=20, shuffle=True,
        subgraph_type=subgraph_type, neg_sampling_ratio=ratio, filter_per_worker=filter_per_worker,
    )  # fmt: skip
    assert (str(loader), len(loader)) == ("LinkNeighborLoader()", 50)
    one = loader([0])
    assert set(links[:, 0].tolist()) <= set(one.n_id.tolist())
    for batch in loader:
        assert torch.equal(batch.x, batch.n_id)
        assert batch.n_id.shape == (batch.num_nodes,)
        assert batch.e_id.shape == batch.edge_attr.shape == (batch.num_edges,)
        assert len(batch.input_id) == 20
        asked = batch.n_id[batch.edge_label_index]
        assert torch.equal(asked[:, :20], links[:, batch.input_id])
        if ratio is None:
            assert torch.equal(batch.edge_label, labels[batch.input_id])
            inside = pairs_of(batch.edge_index)
            assert pairs_of(batch.edge_label_index[:, batch.edge_label == 1]) <= inside
            assert not pairs_of(batch.edge_label_index[:, batch.edge_label == 0]) & inside
        else:
            assert batch.edge_label.tolist() == [1.0] * 20 + [0.0] * 20


def test_labels_keep_their_type(tmp_path: Path, order: str) -> None:
    data = Data(x=torch.arange(100), edge_index=random_edges(100, 500))
    ds = on_disk(data, tmp_path, order=order)
    options: dict[str, Any] = {
        "num_neighbors": [-1] * 2,
        "batch_size": 10,
        "neg_sampling_ratio": 1.0,
    }
    for batch in pyg.LinkNeighborLoader(ds, **options):
        assert batch.edge_label.dtype == torch.float32
        assert batch.edge_label.tolist() == [1.0] * 10 + [0.0] * 10
    for batch in pyg.LinkNeighborLoader(
        ds, edge_label=torch.ones(500, dtype=torch.int64), **options
    ):
        assert batch.edge_label.dtype == torch.int64
        assert batch.edge_label.tolist() == [1] * 10 + [0] * 10


def test_no_node_is_later_than_its_link(tmp_path: Path, order: str) -> None:
    data = Data(x=torch.randn(10, 5), edge_index=random_edges(10, 123), time=torch.arange(10))
    times = data.time[data.edge_index].amax(dim=0)
    labels = torch.arange(123.0)
    ds = on_disk(data, tmp_path, order=order)
    loader = pyg.LinkNeighborLoader(
        ds, [-1], edge_label=labels, edge_label_time=times, time_attr="time", shuffle=True
    )
    for batch in loader:
        assert torch.equal(batch.edge_label, labels[batch.input_id])
        assert torch.equal(batch.edge_label_time, times[batch.input_id])
        assert torch.equal(batch.n_id[batch.edge_label_index], data.edge_index[:, batch.input_id])
        assert bool((batch.time <= batch.edge_label_time).all())


def test_links_by_time_need_times_of_their_own(tmp_path: Path) -> None:
    data = Data(num_nodes=10, edge_index=random_edges(10, 123), time=torch.arange(10))
    with pytest.raises(ValueError, match="'edge_label_time' is not set"):
        pyg.LinkNeighborLoader(on_disk(data, tmp_path), [-1], time_attr="time")


def test_links_need_no_edges(tmp_path: Path, order: str) -> None:
    links = random_edges(100, 100)
    ds = on_disk(
        Data(num_nodes=100, edge_index=torch.empty(2, 0, dtype=torch.int64)), tmp_path, order=order
    )
    for batch in pyg.LinkNeighborLoader(ds, [], links, batch_size=20):
        assert len(batch.input_id) == batch.edge_label_index.shape[1] == 20
        assert batch.num_nodes == len(batch.edge_label_index.unique())


# Trees of temporal loaders are disjoint, asked for or not.
@pytest.mark.parametrize(("disjoint", "temporal"), [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("amount", [1, 2])
def test_triplets_come_in_the_order_of_pyg(
    tmp_path: Path, order: str, disjoint: bool, temporal: bool, amount: int
) -> None:
    data = Data(x=torch.arange(100), edge_index=random_edges(100, 400), edge_attr=torch.arange(400))
    links, size = random_edges(100, 500, seed=1), 20
    options: dict[str, Any] = {}
    if temporal:
        data.time = torch.arange(100)
        times = data.time[links].amax(dim=0) + 50
        options = {"edge_label_time": times, "time_attr": "time"}
    ds = on_disk(data, tmp_path, order=order)
    loader = pyg.LinkNeighborLoader(
        ds, [-1] * 2, links, batch_size=size, disjoint=disjoint, shuffle=True,
        neg_sampling={"mode": "triplet", "amount": amount}, **options,
    )  # fmt: skip
    assert len(loader) == 25
    for batch in loader:
        assert torch.equal(batch.x[batch.src_index], links[0, batch.input_id])
        assert torch.equal(batch.x[batch.dst_pos_index], links[1, batch.input_id])
        assert batch.dst_neg_index.shape == ((size,) if amount == 1 else (size, amount))
        assert int(batch.dst_neg_index.min()) >= 0
        assert int(batch.dst_neg_index.max()) < batch.num_nodes
        if disjoint:
            # Seeds come first: sources, destinations, and then one negative of every link after the other.
            assert batch.src_index.tolist() == list(range(size))
            assert batch.dst_pos_index.tolist() == list(range(size, 2 * size))
            negatives = torch.arange(2 * size, (2 + amount) * size).view(amount, size)
            assert torch.equal(batch.dst_neg_index.view(size, -1).t(), negatives)
            seeds = batch.batch[: (2 + amount) * size]
            assert torch.equal(seeds, torch.arange(size).repeat(2 + amount))
            assert int(batch.batch.max()) == size - 1
        if temporal:
            assert torch.equal(batch.seed_time, times[batch.input_id])
            assert bool((batch.time <= batch.seed_time[batch.batch]).all())


@pytest.mark.parametrize("ratio", [0.5, 2.0])
def test_negatives_are_no_later_than_their_link(tmp_path: Path, order: str, ratio: float) -> None:
    """They were drawn from all nodes, so a model saw nodes of the future as counterexamples."""
    links = random_edges(100, 200, seed=1)
    data = Data(x=torch.arange(100), edge_index=random_edges(100, 500), time=torch.arange(100) - 50)
    times = data.time[links].amax(dim=0)
    ds = on_disk(data, tmp_path, order=order)
    loader = pyg.LinkNeighborLoader(
        ds, [-1] * 2, links, edge_label_time=times, time_attr="time", batch_size=32,
        neg_sampling_ratio=ratio, drop_last=True, strict=False,
    )  # fmt: skip
    for batch in loader:
        assert int(batch.batch.max()) + 1 == 32
        assert torch.equal(batch.edge_label_time[:32], times[batch.input_id])
        ends = batch.time[batch.edge_label_index]
        assert ends.shape[1] == 32 + int(32 * ratio)
        assert bool((ends <= batch.edge_label_time).all())
        assert bool((batch.time <= batch.edge_label_time[:32][batch.batch]).all())
    # Nodes so early that there is no other are refused in words.
    early = pyg.LinkNeighborLoader(
        ds, [2], links, edge_label_time=times * 0 - 51, time_attr="time", neg_sampling="binary"
    )
    with pytest.raises(ValueError, match="no negative can be drawn for a link of time -51"):
        next(iter(early))


@pytest.mark.parametrize("filter_per_worker", [True, False])
def test_loaders_can_be_zipped(tmp_path: Path, order: str, filter_per_worker: bool) -> None:
    ds = on_disk(
        Data(x=torch.arange(100), edge_index=random_edges(100, 1000)), tmp_path, order=order
    )
    loaders = [
        pyg.NeighborLoader(ds, [5], torch.arange(0, 50)),
        pyg.NeighborLoader(ds, [5], torch.arange(50, 95)),
    ]
    loader = ZipLoader(loaders, batch_size=10, filter_per_worker=filter_per_worker)
    assert isinstance(loader(torch.arange(5)), tuple)
    assert len(loader(torch.arange(5))) == 2
    assert str(loader) == "ZipLoader(loaders=[NeighborLoader(), NeighborLoader()])"
    assert (len(loader), loader.dataset) == (5, range(45))
    for number, batches in enumerate(loader):
        size = 10 if number < 4 else 5
        for batch, first in zip(batches, (0, 50), strict=True):
            start = first + 10 * number
            assert batch.batch_size == size
            assert batch.n_id[:size].tolist() == list(range(start, start + size))
            assert torch.equal(batch.x, batch.n_id)


def test_batches_can_be_cached(tmp_path: Path, order: str) -> None:
    ds = on_disk(Data(x=torch.randn(14, 16), edge_index=HOPS), tmp_path, order=order)
    loader = pyg.NeighborLoader(ds, [2], batch_size=10, shuffle=False)
    cached = CachedLoader(loader, device="cpu")
    assert (len(cached), len(cached._cache)) == (len(loader), 0)
    kept = []
    for number, batch in enumerate(cached):
        assert len(cached._cache) == number + 1
        kept.append(batch)
    assert all(one is other for one, other in zip(cached, kept, strict=True))
    cached.clear()
    assert not cached._cache


def test_transformed_batches_can_be_cached(tmp_path: Path, order: str) -> None:
    ds = on_disk(Data(x=torch.randn(14, 16), edge_index=HOPS), tmp_path, order=order)
    loader = pyg.NeighborLoader(ds, [2], batch_size=10, shuffle=False)
    cached = CachedLoader(loader, device="cpu", transform=lambda batch: batch.edge_index)
    kept = list(cached)
    assert [edges.shape[0] for edges in kept] == [2] * len(loader)
    assert all(torch.equal(one, other) for one, other in zip(cached, kept, strict=True))


def test_a_sampler_of_torch_decides_which_seeds_come(tmp_path: Path, order: str) -> None:
    y = torch.tensor([0] * 10 + [1] * 90)
    data = Data(edge_index=torch.empty(2, 0, dtype=torch.int64), y=y, num_nodes=100)
    ds = on_disk(data, tmp_path, order=order)

    def labels(sampler: Any) -> torch.Tensor:
        loader = pyg.NeighborLoader(ds, [-1], batch_size=10, sampler=sampler)
        assert len(loader) == 10
        return torch.cat([batch.y[: batch.batch_size] for batch in loader])

    torch.manual_seed(12345)
    found = labels(ImbalancedSampler(data))
    share = found.bincount() / len(found)
    assert len(found) == 100
    assert float(share.min()) > 0.4
    torch.manual_seed(12345)
    assert torch.equal(labels(ImbalancedSampler(data.y)), found)
