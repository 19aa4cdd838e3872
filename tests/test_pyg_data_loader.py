"""What scripts ask PyG's loaders for beside batches: orders of torch's, calls, attributes, and ``loader.data``."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import SequentialSampler, SubsetRandomSampler
from torch_geometric.data import Data
from torch_geometric.loader import NodeLoader
from torch_geometric.nn import GraphSAGE

import graphmill as gm
from graphmill import pyg
from tests.pyg_data import EDGES, NODES, small_data

DATA = small_data()
LINKS = DATA.edge_index[:, :120]


@pytest.fixture(scope="module", params=["none", "hot"])
def ds(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> gm.Dataset:
    folder = tmp_path_factory.mktemp("face") / "ds"
    return gm.from_pyg(DATA, folder, order=request.param, memory="64MiB")


# Labels by position.


def test_labels_without_links_are_those_of_the_columns_of_edge_index(ds: gm.Dataset) -> None:
    labels = torch.arange(EDGES) + 1
    loader = pyg.LinkNeighborLoader(ds, [2], edge_label=labels, batch_size=100, shuffle=True)
    for batch in loader:
        columns = batch.edge_label - 1
        assert torch.equal(batch.n_id[batch.edge_label_index], DATA.edge_index[:, columns])
        assert torch.equal(columns, batch.input_id)


def test_times_without_links_are_those_of_the_columns_of_edge_index(ds: gm.Dataset) -> None:
    loader = pyg.LinkNeighborLoader(
        ds, [2], edge_label_time=DATA.edge_time, time_attr="edge_time", batch_size=100
    )
    for batch in loader:
        assert torch.equal(batch.edge_label_time, DATA.edge_time[batch.input_id])
        ends = batch.n_id[batch.edge_label_index]
        assert torch.equal(ends, DATA.edge_index[:, batch.input_id])


@pytest.mark.parametrize("name", ["edge_label", "edge_label_time", "input_id"])
def test_what_goes_by_position_is_refused_where_positions_are_not_known(
    tmp_path: Path, name: str
) -> None:
    options: dict[str, Any] = {"time_attr": "year"} if name == "edge_label_time" else {}
    given: dict[str, Any] = {name: torch.arange(EDGES)} | options
    tables = {"year": DATA.year}
    without = gm.build(tmp_path / "a", edges=DATA.edge_index, num_nodes=NODES, tables=tables)
    with pytest.raises(ValueError, match=f"{name} without edge_label_index.*edge_ids=True"):
        pyg.LinkNeighborLoader(without, [2], **given)
    twice = gm.build(
        tmp_path / "b",
        edges=DATA.edge_index,
        num_nodes=NODES,
        tables=tables,
        undirected=True,
        edge_ids=True,
    )
    given[name] = torch.arange(2 * EDGES)
    with pytest.raises(ValueError, match=r"undirected.*give edge_label_index"):
        pyg.LinkNeighborLoader(twice, [2], **given)
    # Links are enough.
    pyg.LinkNeighborLoader(without, [2], LINKS, **{name: torch.arange(120)} | options)
    assert len(pyg.LinkNeighborLoader(without, [2])) == EDGES


# What a batch is.


def test_a_batch_counts_its_nodes_and_edges_after_a_transform(ds: gm.Dataset) -> None:
    def without_edges(data: Data) -> Data:
        data.edge_index = data.edge_index[:, :3]
        return data

    def with_a_node(data: Data) -> Data:
        data.x = torch.cat([data.x, data.x[:1]])
        return data

    options: dict[str, Any] = {"num_neighbors": [3], "batch_size": 50}
    assert next(iter(pyg.NeighborLoader(ds, transform=without_edges, **options))).num_edges == 3
    batch = next(iter(pyg.NeighborLoader(ds, transform=with_a_node, **options)))
    assert batch.num_nodes == len(batch.n_id) + 1
    assert list(batch.to_dict())[:2] == ["x", "edge_index"]


def test_ids_of_nodes_are_those_of_the_source_unless_asked_otherwise(ds: gm.Dataset) -> None:
    batch = next(iter(pyg.NeighborLoader(ds, [3], batch_size=20)))
    assert torch.equal(batch.x, DATA.x[batch.n_id])
    internal = next(iter(pyg.NeighborLoader(ds, [3], batch_size=20, original=False)))
    assert torch.equal(internal.x, torch.from_numpy(ds.table("x").numpy()[internal.n_id]))
    assert torch.equal(internal.x, DATA.x[ds.original_ids(internal.n_id)])
    links = next(iter(pyg.LinkNeighborLoader(ds, [3], LINKS, batch_size=20)))
    assert torch.equal(links.x, DATA.x[links.n_id])


@pytest.mark.parametrize("ids", [np.arange(50)[::-1].copy(), np.arange(50) * 7])
def test_mapped_ids_index_tensors_where_they_can(tmp_path: Path, ids: np.ndarray) -> None:
    pandas = pytest.importorskip("pandas")
    is_permutation = ids.max() < 50
    edges = ids[np.random.default_rng(0).integers(50, size=(2, 400))]
    ds = gm.build(
        tmp_path / "ds",
        edges=edges,
        map_ids=True,
        tables={"own": pandas.DataFrame({"id": ids, "own": ids * 2})},
    )
    for batch in pyg.NeighborLoader(ds, [3], ids[:10], batch_size=5):
        # Ids that are no positions stay internal, which index the tables of the dataset.
        own = batch.n_id if is_permutation else ds.original_ids(batch.n_id)
        assert torch.equal(batch.own, torch.as_tensor(own) * 2)


# Orders of torch's.


@pytest.mark.parametrize("kind", ["list", "sequential", "random"])
def test_a_sampler_gives_positions_of_seeds(ds: gm.Dataset, kind: str) -> None:
    seeds = torch.arange(60, 100)
    sampler: Any = {
        "list": [3, 3, 39, 0, -1],
        "sequential": SequentialSampler(range(5)),
        "random": SubsetRandomSampler(range(5, 15)),
    }[kind]
    loader = pyg.NeighborLoader(ds, [3, 2], seeds, batch_size=2, sampler=sampler)
    visited = [batch.n_id[: batch.batch_size] for batch in loader]
    positions = [batch.input_id for batch in loader]
    assert len(loader) == len(visited) == -(-len(sampler) // 2)
    if kind == "random":
        assert sorted(torch.cat(positions).tolist()) == list(range(5, 15))
        assert (
            torch.cat(visited).tolist() != torch.cat([batch.n_id[:2] for batch in loader]).tolist()
        )
    else:
        assert torch.cat(visited).tolist() == seeds[list(sampler)].tolist()
        assert torch.cat(positions).tolist() == [position % 40 for position in sampler]
    dropping = pyg.NeighborLoader(ds, [3], seeds, batch_size=3, sampler=sampler, drop_last=True)
    assert (
        [batch.batch_size for batch in dropping] == [3] * (len(sampler) // 3) == [3] * len(dropping)
    )


def test_a_sampler_of_links_keeps_labels_and_times_with_them(ds: gm.Dataset) -> None:
    labels, chosen = torch.arange(120) * 5, [7, 119, 0, 7]
    loader = pyg.LinkNeighborLoader(
        ds,
        [2],
        LINKS,
        labels,
        DATA.edge_time[:120],
        time_attr="edge_time",
        sampler=chosen,
        batch_size=3,
    )
    batches = list(loader)
    assert [len(batch.input_id) for batch in batches] == [3, 1]
    for name, expected in (
        ("input_id", torch.tensor(chosen)),
        ("edge_label", labels[chosen]),
        ("edge_label_time", DATA.edge_time[chosen]),
    ):
        assert torch.equal(torch.cat([batch[name] for batch in batches]), expected)
    ends = torch.cat([batch.n_id[batch.edge_label_index] for batch in batches], dim=1)
    assert torch.equal(ends, LINKS[:, chosen])


def test_a_batch_sampler_gives_batches_of_any_size(ds: gm.Dataset) -> None:
    sizes = [[4], [0, 1, 2], [9, 9]]
    loader = pyg.NeighborLoader(ds, [2], torch.arange(100, 110), batch_sampler=sizes)
    assert len(loader) == 3
    assert [(batch.n_id[: batch.batch_size] - 100).tolist() for batch in loader] == sizes
    links = pyg.LinkNeighborLoader(ds, [2], LINKS, batch_sampler=sizes)
    assert [batch.input_id.tolist() for batch in links] == sizes


def test_a_sampler_out_of_range_is_told(ds: gm.Dataset) -> None:
    with pytest.raises(IndexError, match="but there are 3 seeds"):
        list(pyg.NeighborLoader(ds, [2], [1, 2, 3], sampler=[3]))
    with pytest.raises(ValueError, match="at least one position"):
        pyg.NeighborLoader(ds, [2])([])
    with pytest.raises(ValueError, match="not ours to repeat"):
        pyg.NeighborLoader(ds, [2], sampler=[1]).state_dict()


# Calls.


@pytest.mark.parametrize("index", [[2, 0], torch.tensor([2, 0]), np.array([2, 0]), (2, 0)])
def test_a_call_gives_the_batch_of_some_seeds(ds: gm.Dataset, index: Any) -> None:
    loader = pyg.NeighborLoader(
        ds, [3, 2], torch.tensor([50, 60, 70]), input_id=torch.tensor([5, 6, 7])
    )
    batch = loader(index)
    assert batch.n_id[:2].tolist() == [70, 50]
    assert batch.input_id.tolist() == [7, 5]
    assert torch.equal(batch.x, DATA.x[batch.n_id])
    by_name = pyg.NeighborLoader(ds, [3, 2], "train")
    train = DATA.train_mask.nonzero().view(-1)
    assert by_name(index).n_id[:2].tolist() == train[[2, 0]].tolist()


def test_a_transform_can_be_set_later_and_filter_fn_overridden(ds: gm.Dataset) -> None:
    class Mine(pyg.NeighborLoader):
        def filter_fn(self, out: Any) -> Any:
            return "mine", super().filter_fn(out)

    loader = Mine(ds, [2], batch_size=50)
    loader.transform = lambda batch: batch.n_id
    for kind, ids in loader:
        assert (kind, ids.dim()) == ("mine", 1)
    assert loader([0])[1][0] == 0
    loader.filter_per_worker = False
    assert isinstance(loader.collate_fn([0]), Data)
    assert loader([0])[1][0] == 0


def test_closing_ends_an_epoch_by_a_sampler_too(ds: gm.Dataset) -> None:
    loader = pyg.NeighborLoader(ds, [2], sampler=range(NODES))
    stream = iter(loader)
    next(stream)
    loader.close()
    with pytest.raises(gm.LoaderError, match="closed"):
        list(stream)
    with pytest.raises(gm.LoaderError, match="closed"):
        loader([0])


# Attributes.


def test_loaders_have_the_attributes_of_pygs(ds: gm.Dataset) -> None:
    generator, train = torch.Generator(), DATA.train_mask.nonzero().view(-1)
    loader = pyg.NeighborLoader(
        ds, [3, 2], DATA.train_mask, batch_size=8, shuffle=True, generator=generator
    )
    assert loader.num_neighbors == list(loader.node_sampler.num_neighbors) == [3, 2]
    assert loader.input_nodes is DATA.train_mask
    assert torch.equal(loader.input_data.node, train)
    assert torch.equal(loader.input_data.input_id, train)
    assert loader.generator is generator
    assert loader.dataset == range(len(train))
    assert (loader.batch_size, loader.drop_last, loader.num_workers) == (8, False, 0)
    assert loader.custom_cls is Data
    for name in ("pin_memory", "timeout", "prefetch_factor", "sampler", "batch_sampler"):
        assert hasattr(loader, name), name
    labels = torch.arange(120)
    links = pyg.LinkNeighborLoader(ds, [3], LINKS, labels, neg_sampling="binary")
    assert links.edge_label_index is LINKS
    assert links.neg_sampling is not None
    assert links.neg_sampling.is_binary()
    assert torch.equal(links.input_data.row, LINKS[0])
    assert torch.equal(links.input_data.label, labels + 1)
    assert links.link_sampler.num_neighbors == [3]


def test_the_sampler_of_a_loader_serves_pygs_own(tmp_path: Path) -> None:
    ds = gm.from_pyg(DATA, tmp_path / "ds")
    loader = pyg.NeighborLoader(ds, [-1], torch.arange(20), batch_size=20)
    theirs = NodeLoader(pyg.stores(ds), loader.node_sampler, loader.input_data.node, batch_size=20)
    [one], [other] = loader, theirs
    assert torch.equal(one.n_id, other.n_id)
    assert torch.equal(one.edge_index, other.edge_index)


def test_a_sampler_that_would_follow_edges_the_other_way_is_refused(ds: gm.Dataset) -> None:
    loader = pyg.NeighborLoader(ds, [-1], sample_direction="backward")
    with pytest.raises(ValueError, match="follows out-edges"):
        _ = loader.node_sampler


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_the_direction_of_sampling_is_pygs(ds: gm.Dataset, direction: str) -> None:
    for batch in pyg.NeighborLoader(ds, [-1], batch_size=50, sample_direction=direction):
        followed = DATA.edge_index[1 if direction == "forward" else 0]
        expected = torch.isin(followed, batch.n_id[:50]).nonzero().view(-1)
        assert torch.equal(batch.e_id.sort().values, expected)


def test_loaders_pickle_with_their_view(ds: gm.Dataset) -> None:
    loader = pyg.NeighborLoader(ds, [2], torch.arange(20), batch_size=10, seed=3)
    del loader.data.y
    loader.data.own = torch.arange(NODES) * 2
    copied = pickle.loads(pickle.dumps(loader))
    for one, other in zip(loader, copied, strict=True):
        assert torch.equal(one.n_id, other.n_id)
        assert torch.equal(other.own, other.n_id * 2)
        assert "y" not in other


def test_inference_of_pygs_models_runs_over_our_loaders(ds: gm.Dataset) -> None:
    torch.manual_seed(0)
    model = GraphSAGE(4, 8, num_layers=2, out_channels=3).eval()
    expected = model(DATA.x, DATA.edge_index)
    for cache in (False, True):
        loader = pyg.NeighborLoader(ds, [-1], batch_size=64)
        torch.testing.assert_close(model.inference(loader, cache=cache), expected)


# The data of a loader.


def test_a_view_has_the_tensors_of_the_data(ds: gm.Dataset) -> None:
    view = pyg.NeighborLoader(ds, [2]).data
    assert (view.num_nodes, view.num_edges) == (NODES, EDGES)
    assert (view.num_features, view.num_node_features, view.num_edge_features) == (4, 4, 2)
    assert set(DATA.to_dict()) <= set(view.keys())
    for name, value in DATA.to_dict().items():
        assert torch.equal(view[name], value), name
        assert torch.equal(getattr(view, name), value), name
    assert "nothing" not in view
    with pytest.raises(AttributeError, match="it has x"):
        _ = view.nothing
    assert view.to("cpu", "x") is view


def test_what_is_deleted_from_the_data_is_not_read_and_what_is_set_is_delivered(
    ds: gm.Dataset,
) -> None:
    shared = pyg.DataView(ds)
    loader = pyg.NeighborLoader(copy.copy(shared), [3], batch_size=50)
    del loader.data.x, loader.data.y, loader.data.edge_attr
    loader.data.num_nodes = NODES
    loader.data.n_id = torch.arange(NODES)
    loader.data.score = torch.arange(NODES) * 3
    loader.data.edge_score = torch.arange(EDGES) * 5
    loader.data.name = "mine"
    for batch in loader:
        for name in ("x", "y", "edge_attr"):
            assert name not in batch, name
        assert batch.num_nodes == len(batch.n_id)
        assert torch.equal(batch.year, DATA.year[batch.n_id])
        assert torch.equal(batch.score, batch.n_id * 3)
        assert torch.equal(batch.edge_score, batch.e_id * 5)
        assert batch.name == "mine"
    assert "x" not in loader([0])
    # A copy is of its own.
    assert "x" in next(iter(pyg.NeighborLoader(shared, [3])))
    with pytest.raises(AttributeError, match="build a dataset"):
        shared.edge_index = DATA.edge_index


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        (DATA, r"gm.from_pyg\(data, folder\)"),
        ((1, 2), "the dataset itself"),
        ("papers/", r"gm.open\(path\)"),
        (3, "gm.open"),
    ],
)
def test_what_is_no_dataset_is_refused_with_the_way_to_make_one(given: Any, remedy: str) -> None:
    with pytest.raises(TypeError, match=remedy):
        pyg.NeighborLoader(given, [2])
    with pytest.raises(TypeError, match=remedy):
        pyg.LinkNeighborLoader(given, [2])


# Names of times and weights.


def test_times_and_weights_go_by_the_name_of_any_table_that_holds_them(tmp_path: Path) -> None:
    data = small_data()
    data.price, data.moment = data.edge_weight, data.edge_time
    data.other = data.edge_weight + 1
    del data.edge_weight, data.edge_time
    ds = gm.from_pyg(data, tmp_path / "ds", weights=data.price, times=data.moment)
    for name in ("price", "edge_weight"):
        assert len(list(pyg.NeighborLoader(ds, [2], [1, 2], weight_attr=name))) == 2
    times = torch.full((2,), 500)
    for name in ("moment", "edge_time"):
        loader = pyg.NeighborLoader(ds, [-1], [1, 2], input_time=times, time_attr=name)
        assert all(bool((batch.moment <= 500).all()) for batch in loader)
    with pytest.raises(ValueError, match=r"tables of edges are .*other.*weights="):
        pyg.NeighborLoader(ds, [2], weight_attr="other")
    with pytest.raises(ValueError, match=r"no table of the nodes.*year.*times="):
        pyg.NeighborLoader(ds, [2], input_time=torch.zeros(NODES), time_attr="other")
