"""PyG's NeighborLoader by our name: its arguments, its attributes, and none of its copies."""

from __future__ import annotations

import gc
import inspect
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch_geometric.loader
from torch_geometric.data import Data
from torch_geometric.nn import GraphSAGE
from torch_geometric.sampler import NumNeighbors
from torch_geometric.sampler.base import SubgraphType

import graphmill as gm
from graphmill import pyg
from tests.pyg_data import NODES, small_data

DATA = small_data()
TRAIN = DATA.train_mask.nonzero().view(-1)


@pytest.fixture(scope="module", params=["none", "hot"])
def ds(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> gm.Dataset:
    folder = tmp_path_factory.mktemp("loader") / "ds"
    return gm.from_pyg(DATA, folder, order=request.param, memory="64MiB")


def check_batch(ds: gm.Dataset, batch: Data) -> torch.Tensor:
    """Nodes, edges and their rows belong together; returns the ids in the source."""
    ids = batch.n_id
    assert torch.equal(batch.x, DATA.x[ids])
    assert torch.equal(batch.y, DATA.y[ids])
    assert torch.equal(batch.year, DATA.year[ids])
    assert torch.equal(DATA.edge_index[:, batch.e_id], ids[batch.edge_index])
    assert torch.equal(batch.edge_attr, DATA.edge_attr[batch.e_id])
    assert batch.num_nodes == len(ids)
    assert batch.validate(raise_on_error=True)
    return ids


def test_batches_have_what_pygs_have(ds: gm.Dataset) -> None:
    loader = pyg.NeighborLoader(ds, [3, 2], "train", batch_size=32, shuffle=True)
    assert len(loader) == -(-len(TRAIN) // 32)
    seen = []
    for batch in loader:
        assert type(batch) is Data
        ids = check_batch(ds, batch)
        seeds = ids[: batch.batch_size]
        assert torch.equal(seeds, TRAIN[batch.input_id])
        assert sum(batch.num_sampled_nodes) == batch.num_nodes
        assert sum(batch.num_sampled_edges) == batch.num_edges
        assert "batch" not in batch
        assert "seed_time" not in batch
        seen += seeds.tolist()
    assert sorted(seen) == TRAIN.tolist()
    assert seen != sorted(seen)


def test_seeds_come_as_ids_masks_names_or_all(ds: gm.Dataset) -> None:
    def seeds(nodes: Any, **options: Any) -> tuple[list[int], list[int]]:
        loader = pyg.NeighborLoader(ds, [2], nodes, batch_size=NODES, **options)
        [batch] = loader
        ids = batch.n_id[: batch.batch_size]
        return ids.tolist(), batch.input_id.tolist()

    places = list(range(len(TRAIN)))
    assert seeds("train") == seeds(TRAIN) == seeds(TRAIN.numpy()) == (TRAIN.tolist(), places)
    assert seeds(TRAIN.tolist()) == seeds((None, TRAIN)) == seeds("train")
    # PyG delivers the ids of a mask as input_id.
    assert seeds(DATA.train_mask) == seeds(DATA.train_mask.numpy()) == (TRAIN.tolist(),) * 2
    assert seeds(None) == (list(range(NODES)),) * 2
    assert seeds(TRAIN, input_id=TRAIN * 3)[1] == (TRAIN * 3).tolist()
    with pytest.raises(ValueError, match="mask has shape"):
        seeds(DATA.train_mask[:7])


def test_one_seed_is_the_default_batch_as_in_pyg(ds: gm.Dataset) -> None:
    loader = pyg.NeighborLoader(ds, NumNeighbors([-1]), TRAIN)
    assert len(loader) == len(TRAIN)
    degrees = torch.bincount(DATA.edge_index[1], minlength=NODES)
    for seed, batch in zip(TRAIN.tolist(), loader, strict=True):
        assert batch.batch_size == 1
        assert batch.num_edges == int(degrees[seed])


def test_trimmed_layers_give_the_same_rows(ds: gm.Dataset) -> None:
    torch.manual_seed(0)
    model = GraphSAGE(4, 8, num_layers=2, out_channels=3).eval()
    for batch in pyg.NeighborLoader(ds, [4, 3], batch_size=64):
        whole = model(batch.x, batch.edge_index)[: batch.batch_size]
        trimmed = model(
            batch.x,
            batch.edge_index,
            num_sampled_nodes_per_hop=batch.num_sampled_nodes,
            num_sampled_edges_per_hop=batch.num_sampled_edges,
        )[: batch.batch_size]
        torch.testing.assert_close(trimmed, whole)


def test_subgraphs_of_all_types(ds: gm.Dataset) -> None:
    for batch in pyg.NeighborLoader(ds, [3, 2], batch_size=50, subgraph_type="bidirectional"):
        pairs = set(map(tuple, batch.edge_index.t().tolist()))
        assert pairs == {(b, a) for a, b in pairs}
        assert "num_sampled_edges" not in batch
    induced = pyg.NeighborLoader(ds, [3], batch_size=50, subgraph_type=SubgraphType.induced)
    with pytest.warns(UserWarning, match="subgraph_type='induced'"):
        old = pyg.NeighborLoader(ds, [3], batch_size=50, directed=False)
    for loader in (induced, old):
        for batch in loader:
            ids = check_batch(ds, batch)
            inside = torch.isin(DATA.edge_index, ids).all(dim=0)
            assert torch.equal(batch.e_id.sort().values, inside.nonzero().view(-1))


def test_disjoint_trees_are_named_by_batch(ds: gm.Dataset) -> None:
    for batch in pyg.NeighborLoader(ds, [3, 2], batch_size=50, disjoint=True, replace=True):
        check_batch(ds, batch)
        row, col = batch.edge_index
        assert torch.equal(batch.batch[: batch.batch_size], torch.arange(batch.batch_size))
        assert torch.equal(batch.batch[row], batch.batch[col])


@pytest.mark.parametrize("strategy", ["uniform", "last"])
def test_nothing_later_than_its_seed_enters_a_tree(ds: gm.Dataset, strategy: str) -> None:
    times = torch.randint(1000, (NODES,), generator=torch.Generator().manual_seed(1))
    options: dict[str, Any] = {"temporal_strategy": strategy, "batch_size": 50}
    met = 0
    for batch in pyg.NeighborLoader(ds, [5, 5], input_time=times, time_attr="year", **options):
        check_batch(ds, batch)
        assert torch.equal(batch.seed_time, times[batch.input_id])
        found = slice(batch.batch_size, None)
        assert bool((batch.year[found] <= batch.seed_time[batch.batch][found]).all())
        met += batch.num_edges
    for batch in pyg.NeighborLoader(ds, [5, 5], input_time=times, time_attr="edge_time", **options):
        limits = batch.seed_time[batch.batch[batch.edge_index[1]]]
        assert bool((DATA.edge_time[batch.e_id] <= limits).all())
        met += batch.num_edges
    for batch in pyg.NeighborLoader(ds, [5], time_attr="year", **options):
        # Without times of seeds, those of the nodes count.
        assert bool((batch.year <= batch.year[: batch.batch_size][batch.batch]).all())
        met += batch.num_edges
    assert met > 1000


def test_weights_decide_which_edges_are_picked(tmp_path: Path) -> None:
    data = small_data()
    data.edge_weight = (torch.arange(data.num_edges) % 2).float()
    weighted = gm.from_pyg(data, tmp_path / "ds")
    loader = pyg.NeighborLoader(weighted, [4, 4], batch_size=50, weight_attr="edge_weight")
    picked = torch.cat([batch.e_id for batch in loader])
    assert len(picked) > 100
    assert bool((picked % 2 == 1).all())


def test_torchs_seed_makes_epochs_reproducible(ds: gm.Dataset) -> None:
    def ids(**options: Any) -> list[torch.Tensor]:
        loader = pyg.NeighborLoader(ds, [2, 2], batch_size=64, shuffle=True, **options)
        return [batch.n_id for _ in range(2) for batch in loader]

    def same(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
        return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))

    torch.manual_seed(0)
    first = ids()
    other = ids()
    torch.manual_seed(0)
    assert same(first, ids())
    assert not same(first, other)
    assert not same(first[: len(first) // 2], first[len(first) // 2 :])
    made = [ids(generator=torch.Generator().manual_seed(seed)) for seed in (3, 3, 4)]
    assert same(made[0], made[1])
    assert not same(made[0], made[2])
    assert same(ids(seed=7), ids(seed=7))


def test_transforms_classes_and_columns(ds: gm.Dataset) -> None:
    class Mine(Data):  # type: ignore[misc]
        pass

    def mark(data: Data) -> Data:
        data.marked = True
        return data

    options: dict[str, Any] = {"custom_cls": Mine, "transform": mark, "columns": ["y"]}
    batch = next(iter(pyg.NeighborLoader(ds, [2], batch_size=8, drop_last=True, **options)))
    assert type(batch) is Mine
    assert batch.marked
    assert batch.x is None
    assert batch.y.shape == batch.n_id.shape
    copy = pickle.loads(pickle.dumps(next(iter(pyg.NeighborLoader(ds, [2], batch_size=8)))))
    assert torch.equal(copy.x, DATA.x[copy.n_id])


def test_a_batch_holds_its_memory_as_long_as_it_lives(ds: gm.Dataset) -> None:
    loader = pyg.NeighborLoader(ds, [3], batch_size=64, prefetch=0, hot_memory=0)
    stream = iter(loader)
    batch = next(stream)
    stream.close()  # type: ignore[attr-defined]
    gc.collect()
    with pytest.raises(gm.MemoryBudgetError), ds._reserve(ds.memory, "everything"):
        pass
    del batch, loader, stream
    gc.collect()
    with ds._reserve(ds.memory, "everything"):
        pass


@pytest.mark.parametrize("kind", [tuple, list, dict])
def test_a_transform_may_deliver_anything_and_what_it_kept_counts(
    ds: gm.Dataset, kind: Any
) -> None:
    def chosen(data: Data) -> Any:
        pairs = [("x", data.x), ("edge_index", data.edge_index)]
        return dict(pairs) if kind is dict else kind(value for _, value in pairs)

    loader = pyg.NeighborLoader(
        ds, [3], batch_size=64, prefetch=0, hot_memory=0, transform=chosen, seed=0
    )
    stream = iter(loader)
    batch = next(stream)
    assert type(batch) is kind
    stream.close()  # type: ignore[attr-defined]
    rows, lists = batch.values() if kind is dict else batch
    del batch, rows
    # The lists alone are enough.
    gc.collect()
    with pytest.raises(gm.MemoryBudgetError), ds._reserve(ds.memory, "everything"):
        pass
    del lists, loader, stream
    gc.collect()
    with ds._reserve(ds.memory, "everything"):
        pass


@pytest.mark.parametrize("result", [7, None, "done"])
def test_a_transform_that_keeps_nothing_gives_the_memory_back(ds: gm.Dataset, result: Any) -> None:
    loader = pyg.NeighborLoader(
        ds, [3], batch_size=64, prefetch=0, hot_memory=0, transform=lambda data: result
    )
    assert list(loader) == [result] * len(loader)
    del loader
    gc.collect()
    with ds._reserve(ds.memory, "everything"):
        pass


def test_what_a_transform_delivers_is_moved_to_the_device(ds: gm.Dataset) -> None:
    def chosen(data: Data) -> Any:
        return data.x, {"ids": [data.n_id], "count": data.num_nodes}

    x, rest = next(iter(pyg.NeighborLoader(ds, [2], transform=chosen, device="meta")))
    assert x.device.type == rest["ids"][0].device.type == "meta"
    assert isinstance(rest["count"], int)


@pytest.mark.parametrize(
    ("nodes", "count"),
    [(None, NODES), ("train", len(TRAIN)), (DATA.train_mask, len(TRAIN)), ([3, 3], 2)],
)
def test_a_loader_answers_as_a_data_loader_does(ds: gm.Dataset, nodes: Any, count: int) -> None:
    loader = pyg.NeighborLoader(ds, [2], nodes, batch_size=2, drop_last=True)
    assert isinstance(loader.dataset, range)
    assert len(loader.dataset) == count
    assert loader.drop_last is True
    assert pyg.NeighborLoader(ds, [2], nodes).drop_last is False
    assert loader.num_workers == 0
    assert loader.batch_size == 2
    assert isinstance(loader, torch.utils.data.DataLoader)
    assert isinstance(loader, torch_geometric.loader.NeighborLoader)


def test_options_of_workers_are_one_warning(ds: gm.Dataset) -> None:
    options: dict[str, Any] = {"persistent_workers": True, "prefetch_factor": 4, "num_workers": 2}
    with pytest.warns(UserWarning, match="num_workers had no effect") as told:
        loader = pyg.NeighborLoader(ds, [2], batch_size=64, **options)
    assert len(told) == 1
    assert told[0].filename == __file__
    assert sum(batch.batch_size for batch in loader) == NODES
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pyg.NeighborLoader(ds, [2], num_workers=0, pin_memory=False, is_sorted=True, shuffle=None)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"nonsense": 1}, TypeError, "unexpected keyword argument 'nonsense'"),
        ({"sampler": 3}, TypeError, "positions"),
        ({"sampler": [1], "shuffle": True}, ValueError, "leave out shuffle"),
        ({"batch_sampler": [[1]], "batch_size": 2}, ValueError, "leave out sampler, batch_size"),
        ({"sample_direction": "sideways"}, ValueError, "'forward' or 'backward'"),
        ({"sample_direction": "forward", "direction": "out"}, ValueError, "contradict"),
        ({"neighbor_sampler": object()}, TypeError, "stores"),
        ({"transform_sampler_output": print}, TypeError, "Sampler"),
        ({"input_time": torch.zeros(NODES)}, ValueError, "time_attr"),
        ({"time_attr": "edge_time"}, ValueError, "input_time"),
        ({"time_attr": "month"}, ValueError, "it has .*year"),
        ({"temporal_strategy": "first"}, ValueError, "first"),
        ({"weight_attr": "price"}, ValueError, "edge_weight"),
        ({"subgraph_type": "upward"}, ValueError, "upward"),
        ({"num_neighbors": {("a", "to", "b"): [1]}}, TypeError, "one type of edge"),
        ({"num_neighbors": [2.5]}, TypeError, "integers"),
        ({"num_neighbors": "32"}, TypeError, "integers"),
        ({"num_neighbors": torch.tensor([2.0])}, TypeError, "integers"),
        ({"batch_size": None}, TypeError, "batch_size"),
        ({"seed": 1.5}, TypeError, "seed"),
        ({"input_id": torch.arange(NODES - 1)}, ValueError, f"each of {NODES} seeds"),
        ({"input_nodes": [1, 2], "input_id": torch.arange(NODES)}, ValueError, "each of 2 seeds"),
        ({"input_nodes": "trian"}, KeyError, "it has"),
        ({"input_nodes": [NODES]}, IndexError, str(NODES)),
    ],
)
def test_mistakes_are_told_before_the_first_batch(
    ds: gm.Dataset, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        pyg.NeighborLoader(ds, **({"num_neighbors": [2]} | options))


def test_masks_need_ids_that_are_positions(tmp_path: Path) -> None:
    mapped = gm.build(tmp_path / "ds", edges=[[70, 10**12], [10**12, 70]], map_ids=True)
    with pytest.raises(ValueError, match="list of ids"):
        pyg.NeighborLoader(mapped, [1], np.array([True, False]))
    [batch] = pyg.NeighborLoader(mapped, [1], [10**12])
    assert mapped.original_ids(batch.n_id).tolist() == [10**12, 70]


@pytest.mark.parametrize("name", ["NeighborLoader", "LinkNeighborLoader"])
def test_names_order_and_defaults_are_pygs(name: str) -> None:
    theirs = inspect.signature(getattr(torch_geometric.loader, name)).parameters
    ours = inspect.signature(getattr(pyg, name)).parameters
    kept = [key for key in ours if key in theirs]
    assert kept == list(theirs)
    for key in kept:
        assert ours[key].default == theirs[key].default, key
    # What PyG's class takes by position, ours takes in the same place.
    assert list(ours)[: len(theirs) - 1] == list(theirs)[:-1]
