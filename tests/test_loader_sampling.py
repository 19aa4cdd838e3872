"""The ways of sampling that a loader offers, held against the edges themselves."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphmill as gm

NODES, EDGES = 200, 2000


@pytest.fixture
def edges() -> np.ndarray:
    """Sources and destinations; parallel edges and loops among them."""
    return np.random.default_rng(0).integers(0, NODES, size=(2, EDGES))


@pytest.fixture
def weights() -> np.ndarray:
    """Every third edge has no weight."""
    return (np.arange(EDGES) % 3).astype(np.float32)


@pytest.fixture
def times() -> np.ndarray:
    """The time of each edge, from 0 to 99."""
    return np.arange(EDGES, dtype=np.int64) % 100


@pytest.fixture
def ds(tmp_path: Path, edges: np.ndarray, weights: np.ndarray, times: np.ndarray) -> gm.Dataset:
    """Edges with weights, times and features; the features tell which edge it is."""
    return gm.build(
        tmp_path / "ds",
        edges,
        features=np.arange(NODES * 2, dtype=np.float32).reshape(NODES, 2),
        edge_features=np.arange(EDGES, dtype=np.float32).reshape(EDGES, 1),
        tables={"year": np.arange(NODES, dtype=np.int64) % 7, "half": np.zeros(NODES, np.float32)},
        weights=weights,
        times=times,
    )


def first(ds: gm.Dataset, **options: Any) -> gm.Batch:
    defaults: dict[str, Any] = {"fanouts": [4, 3], "batch_size": 50, "shuffle": True, "seed": 1}
    batch: gm.Batch = next(iter(gm.NeighborLoader(ds, **(defaults | options))))
    n_id, e_id = batch.n_id.numpy(), batch.e_id.numpy()
    np.testing.assert_array_equal(batch.x[:, 0].numpy(), 2 * n_id)
    np.testing.assert_array_equal(batch.edge_attr[:, 0].numpy(), e_id)
    return batch


def test_edges_without_weight_are_never_picked(ds: gm.Dataset, weights: np.ndarray) -> None:
    plain, weighted = first(ds), first(ds, weighted=True)
    assert (weights[plain.e_id.numpy()] == 0).any()
    assert (weights[weighted.e_id.numpy()] > 0).all()


def test_disjoint_trees_are_told_by_batch(ds: gm.Dataset) -> None:
    assert "batch" not in first(ds)
    batch = first(ds, disjoint=True)
    tree = batch.batch
    assert tree[: batch.batch_size].tolist() == list(range(batch.batch_size))
    source, destination = batch.edge_index
    assert tree[source].equal(tree[destination])
    pairs = list(zip(tree.tolist(), batch.n_id.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)


def test_labor_finds_fewer_nodes(ds: gm.Dataset) -> None:
    def nodes(**options: Any) -> int:
        loader = gm.NeighborLoader(ds, [3], 100, seed=2, **options)
        return sum(len(batch.n_id) for _ in range(20) for batch in loader)

    assert nodes(method="labor") < nodes()
    assert nodes(method="labor", layer_dependency=True) < nodes()


@pytest.mark.parametrize("temporal", ["uniform", "last"])
@pytest.mark.parametrize("window", [None, 20])
def test_no_edge_comes_from_the_future(
    ds: gm.Dataset, times: np.ndarray, temporal: Any, window: int | None
) -> None:
    seed_times = np.arange(NODES) % 80
    batch = first(ds, time=seed_times, temporal=temporal, time_window=window)
    np.testing.assert_array_equal(batch.seed_time.numpy(), seed_times[batch.input_id.numpy()])
    latest = batch.seed_time[batch.batch[batch.edge_index[1]]].numpy()
    age = latest - times[batch.e_id.numpy()]
    assert len(age) > 50
    assert (age >= 0).all()
    assert window is None or (age <= window).all()


def test_times_may_come_from_tables(ds: gm.Dataset) -> None:
    year = ds.table("year").numpy()
    batch = first(ds, time="year", node_time="year", fanouts=[5, 5])
    np.testing.assert_array_equal(batch.seed_time, year[batch.n_id[: batch.batch_size]])
    latest = batch.seed_time[batch.batch[batch.edge_index[1]]].numpy()
    assert (year[batch.n_id[batch.edge_index[0]].numpy()] <= latest).all()
    assert (first(ds, time=year + 1, node_time="year").seed_time > 0).all()


def test_a_bidirectional_subgraph_has_each_edge_both_ways_and_once(ds: gm.Dataset) -> None:
    batch = first(ds, subgraph="bidirectional")
    pairs = list(zip(*batch.edge_index.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    assert {(t, s) for s, t in pairs} == set(pairs)
    followed = zip(*first(ds).edge_index.tolist(), strict=True)
    assert set(followed) <= set(pairs)
    assert batch.num_sampled_edges == [len(pairs)]


def test_an_induced_subgraph_has_every_edge_among_its_nodes(
    ds: gm.Dataset, edges: np.ndarray
) -> None:
    batch = first(ds, subgraph="induced", batch_size=5)
    nodes = set(batch.n_id.tolist())
    expected = Counter(
        (s, t) for s, t in zip(*edges.tolist(), strict=True) if s in nodes and t in nodes
    )
    assert Counter(zip(*batch.n_id[batch.edge_index].tolist(), strict=True)) == expected


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"time": [1, 2]}, ValueError, "2 seed times.*expected 200"),
        ({"time": "decade"}, KeyError, "it has"),
        ({"time": "half"}, ValueError, "vector of float32.*int64"),
        ({"time": "year", "node_time": "x"}, ValueError, "matrix of float32"),
        ({"time": [0.5] * NODES}, TypeError, "time"),
        ({"node_time": "year"}, ValueError, "times of the seeds"),
        ({"temporal": "last"}, ValueError, "times of the seeds"),
        ({"temporal": "first", "time": "year"}, ValueError, "temporal is"),
        ({"time_window": -1, "time": "year"}, ValueError, "time_window"),
        ({"method": "magic"}, ValueError, "method is"),
        ({"layer_dependency": True}, ValueError, "labor"),
        ({"method": "labor", "weighted": True}, ValueError, "LABOR by weight"),
        ({"subgraph": "whole"}, ValueError, "subgraph is"),
    ],
)
def test_what_makes_no_sense_is_told_before_the_first_batch(
    ds: gm.Dataset, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        gm.NeighborLoader(ds, [2], **options)


def test_weights_that_are_not_stored_cannot_be_used(papers: Path) -> None:
    with pytest.raises(ValueError, match=r"no weights.*--weight-column"):
        gm.NeighborLoader(gm.open(papers), [2], weighted=True)
