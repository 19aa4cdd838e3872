"""What `Graph.sample` and `Graph.sample_edges` promise beyond plain fan-outs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import graphmill as gm


@pytest.fixture
def weights() -> np.ndarray:
    """A weight for every edge, some of them 0."""
    return np.random.default_rng(1).integers(0, 5, 700).astype(np.float32)


@pytest.fixture
def times() -> np.ndarray:
    """A time for every edge."""
    return np.random.default_rng(2).integers(0, 100, 700)


@pytest.fixture
def full(tmp_path: Path, edges: np.ndarray, weights: np.ndarray, times: np.ndarray) -> gm.Graph:
    """The shared edges with weights and times."""
    return gm.write_graph(tmp_path / "full.gl", edges, num_nodes=100, weights=weights, times=times)


def edges_of(sample: gm.Sample) -> list[tuple[int, int]]:
    n_id = np.asarray(sample.n_id)
    sources, targets = n_id[np.asarray(sample.row)], n_id[np.asarray(sample.col)]
    return list(zip(sources.tolist(), targets.tolist(), strict=True))


def content(sample: gm.Sample) -> list[Any]:
    lists = [sample.n_id, sample.row, sample.col, sample.e_id]
    batch = [] if sample.batch is None else sample.batch.tolist()
    return [[each.tolist() for each in lists], batch, sample.nodes_per_hop, sample.edges_per_hop]


@pytest.mark.parametrize(
    "seeds",
    [
        [5, 17, 3],
        (5, 17, 3),
        np.array([5, 17, 3], dtype=np.uint8),
        np.array([5, 17, 3], dtype=np.int16),
        np.array([5, 17, 3], dtype=np.uint64),
        np.array([5, 0, 17, 0, 3, 0])[::2],
        torch.tensor([5, 17, 3]),
        torch.tensor([5, 17, 3], dtype=torch.int32),
        torch.tensor([5, 0, 17, 0, 3, 0])[::2],
    ],
)
def test_seeds_may_be_any_integers(graph: gm.Graph, seeds: Any) -> None:
    found = graph.sample(seeds, [3, 2], seed=1)
    assert content(found) == content(graph.sample([5, 17, 3], [3, 2], seed=1))
    assert isinstance(found.n_id, torch.Tensor) == isinstance(seeds, torch.Tensor)


def test_a_range_and_nothing_are_seeds_too(graph: gm.Graph) -> None:
    assert content(graph.sample(range(20), [3], seed=1)) == content(
        graph.sample(list(range(20)), [3], seed=1)
    )
    kinds: list[Any] = [[], np.array([], dtype=np.int64), torch.tensor([], dtype=torch.int64)]
    for nothing in kinds:
        found = graph.sample(nothing, [3, 2])
        assert (len(found.n_id), found.nodes_per_hop) == (0, [0, 0, 0])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"replace": True},
        {"weighted": True},
        {"disjoint": True},
        {"method": "labor"},
        {"method": "labor", "layer_dependency": True},
        {"subgraph": "induced"},
        {"subgraph": "bidirectional"},
        {"time": np.arange(100)},
        {"time": np.arange(100), "node_time": np.arange(100)[::-1], "temporal": "last"},
    ],
)
def test_threads_change_nothing(full: gm.Graph, options: dict[str, Any]) -> None:
    alone = content(full.sample(range(100), [4, 3], seed=3, threads=1, **options))
    for threads in (2, 4, 8):
        assert content(full.sample(range(100), [4, 3], seed=3, threads=threads, **options)) == alone
    assert content(full.sample(range(100), [4, 3], seed=3, **options)) == alone


def test_weighted_picks_have_weight_and_follow_it(
    full: gm.Graph, edges: np.ndarray, weights: np.ndarray
) -> None:
    assert full.has_weights
    node = int(np.argmax(np.bincount(edges[1])))
    rows = np.flatnonzero(edges[1] == node)
    expected = weights[rows] / weights[rows].sum()
    drawn = full.sample([node], [20_000], replace=True, weighted=True, seed=1)
    counts = np.bincount(np.asarray(drawn.e_id), minlength=700)[rows]
    likely = expected > 0
    assert not counts[~likely].any()
    chi_square = ((counts - 20_000 * expected)[likely] ** 2 / (20_000 * expected[likely])).sum()
    assert chi_square < 2.5 * likely.sum() + 10
    every = full.sample([node], [-1], weighted=True)
    assert sorted(every.e_id.tolist()) == rows[weights[rows] > 0].tolist()


def test_trees_are_named_and_share_nothing(graph: gm.Graph) -> None:
    found = graph.sample([5, 5, 9], [4, 4], disjoint=True, seed=1)
    assert found.batch.tolist()[:3] == [0, 1, 2]
    pairs = list(zip(found.batch.tolist(), found.n_id.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    batch = np.asarray(found.batch)
    np.testing.assert_array_equal(batch[found.row], batch[found.col])
    assert graph.sample([5], [4]).batch is None
    assert isinstance(graph.sample(torch.tensor([5]), [4], disjoint=True).batch, torch.Tensor)


@pytest.mark.parametrize("order", ["id", "time", "file"])
@pytest.mark.parametrize("temporal", ["uniform", "last"])
def test_no_edge_is_later_than_its_seed(
    tmp_path: Path, edges: np.ndarray, times: np.ndarray, order: str, temporal: Any
) -> None:
    graph = gm.write_graph(
        tmp_path / "times.gl", edges, num_nodes=100, times=times, neighbor_order=order
    )
    seed_times = np.arange(90) + 5
    found = graph.sample(range(90), [3, 2], time=seed_times, temporal=temporal, window=40, seed=1)
    latest = seed_times[np.asarray(found.batch)[found.col]]
    edge_times = times[np.asarray(found.e_id)]
    assert len(edge_times) > 50
    assert (edge_times <= latest).all()
    assert (edge_times >= latest - 40).all()
    if temporal == "last":
        for place in range(90):
            rows = np.flatnonzero(edges[1] == place)
            passing = times[rows][(times[rows] <= place + 5) & (times[rows] >= place - 35)]
            picked = edge_times[np.asarray(found.col) == place]
            assert sorted(picked) == sorted(passing)[-3:]


def test_nodes_may_have_the_times(graph: gm.Graph) -> None:
    node_time = np.arange(100) % 10
    found = graph.sample([3, 50], [-1, 4], time=[4, 7], node_time=node_time, seed=0)
    latest = np.array([4, 7])[np.asarray(found.batch)[found.col]]
    assert (node_time[np.asarray(found.n_id)[found.row]] <= latest).all()


def test_labor_keeps_its_number_on_average_with_fewer_nodes(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    edges = np.stack([rng.integers(0, 200, 40_000), rng.integers(0, 1000, 40_000)])
    graph = gm.write_graph(tmp_path / "shared.gl", edges, num_nodes=1000)
    labor, uniform = (
        [graph.sample(range(500, 900), [5], method=method, seed=seed) for seed in range(20)]
        for method in ("labor", "uniform")
    )
    edges_of_labor, edges_of_uniform = (
        sum(len(each.row) for each in found) for found in (labor, uniform)
    )
    assert abs(edges_of_labor / edges_of_uniform - 1) < 0.1
    assert sum(len(each.n_id) for each in labor) < sum(len(each.n_id) for each in uniform)


def test_an_induced_subgraph_has_every_edge_among_its_nodes(
    graph: gm.Graph, edges: np.ndarray
) -> None:
    for direction in ("in", "out"):
        found = graph.sample([1, 2, 3], [3, 3], direction, subgraph="induced", seed=1)
        nodes = set(found.n_id.tolist())
        expected = Counter(
            (s, t) for s, t in zip(*edges.tolist(), strict=True) if s in nodes and t in nodes
        )
        assert Counter(edges_of(found)) == expected
        assert found.edges_per_hop == [len(found.row)]


@pytest.mark.parametrize("kind", [np.asarray, torch.tensor, lambda pairs: pairs])
def test_links_are_hidden_and_found(graph: gm.Graph, edges: np.ndarray, kind: Any) -> None:
    links = edges[:, :20].tolist()
    asked = list(zip(*links, strict=True))
    plain = graph.sample_edges(kind(links), [-1])
    label = np.asarray(plain.edge_label_index)
    assert label.shape == (2, 20)
    np.testing.assert_array_equal(np.asarray(plain.n_id)[label], links)
    assert set(asked) <= set(edges_of(plain))
    seeds = plain.n_id.tolist()[: plain.nodes_per_hop[0]]
    assert seeds == sorted(set(seeds))
    hidden = graph.sample_edges(kind(links), [-1], exclude="edges")
    assert not set(asked) & set(edges_of(hidden))
    both = graph.sample_edges(kind(links), [-1], exclude="both")
    assert not (set(asked) | {(t, s) for s, t in asked}) & set(edges_of(both))
    trees = graph.sample_edges(kind(links), [2], disjoint=True)
    assert trees.edge_label_index.tolist() == [list(range(20)), list(range(20, 40))]
    assert isinstance(plain.edge_label_index, torch.Tensor) == (kind is torch.tensor)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"weighted": True}, "no weights.*--weight-column"),
        ({"time": [1]}, "no edge times.*--time-column"),
        ({"time": [1, 2], "node_time": [0] * 100}, "2 seed times.*expected 1"),
        ({"time": [1], "node_time": [0]}, "1 node times.*expected 100"),
        ({"window": 5}, "times of the seeds"),
        ({"temporal": "last"}, "times of the seeds"),
        ({"temporal": "first"}, "temporal is"),
        ({"method": "magic"}, "method is"),
        ({"subgraph": "whole"}, "subgraph is"),
        ({"layer_dependency": True}, "labor"),
        ({"method": "labor", "replace": True}, "LABOR with replacement"),
        ({"threads": 0}, "threads is 0, expected at least 1"),
        ({"threads": -1}, "threads is -1, expected at least 1"),
        ({"threads": 2**70}, f"threads is {2**70}, expected at most 1024"),
        ({"window": -1}, "window is -1, expected at least 0"),
        ({"window": 2**70}, "expected at most 18446744073709551615"),
    ],
)
def test_what_makes_no_sense_is_a_value_error(
    graph: gm.Graph, options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        graph.sample([0], [2], **options)


def test_fan_outs_that_fit_no_graph_are_value_errors(graph: gm.Graph) -> None:
    for call in (graph.sample, graph.sample_edges):
        start: Any = [0] if call == graph.sample else [[0], [1]]
        with pytest.raises(ValueError, match=rf"fanouts\[1\] is {2**70}, expected at most"):
            call(start, [2, 2**70])
        with pytest.raises(ValueError, match=r"fanouts\[0\] is -2\^127 or less, expected at least"):
            call(start, [-(2**200)])
        with pytest.raises(ValueError, match="hops, expected at most 1000"):
            call(start, range(2**70))
        with pytest.raises(TypeError):
            call(start, [1.5])  # type: ignore[list-item]


def test_bad_seeds_and_links_are_refused(graph: gm.Graph) -> None:
    with pytest.raises(IndexError, match="seed 100 at position 1"):
        graph.sample([0, 100], [2])
    for bad in (3, None, "abc", [0.5], np.zeros((2, 2), dtype=np.int64), np.zeros(2)):
        with pytest.raises(TypeError):
            graph.sample(bad, [2])
    with pytest.raises(TypeError):
        graph.sample([0], [2], time=[0.5])
    with pytest.raises(ValueError, match="two rows"):
        graph.sample_edges([[0], [1], [2]], [2])
    with pytest.raises(ValueError, match="1 sources and 2 destinations"):
        graph.sample_edges([[0], [1, 2]], [2])
    with pytest.raises(ValueError, match="exclude is"):
        graph.sample_edges([[0], [1]], [2], exclude="all")  # type: ignore[arg-type]
    with pytest.raises(IndexError):
        graph.sample_edges([[0], [100]], [2])


def test_arrays_stay_what_they_are_while_others_are_freed_and_made(graph: gm.Graph) -> None:
    kept: list[tuple[gm.Sample, list[Any]]] = []
    views: list[tuple[np.ndarray, np.ndarray]] = []
    for number in range(60):
        sample = graph.sample(range(number % 7, 40), [4, 3], seed=number)
        if number % 3 == 0:
            kept.append((sample, content(sample)))
        if number % 3 == 1:
            # The view alone has to keep the memory from being used again.
            views.append((sample.row[2:9], sample.row[2:9].copy()))
        sample.n_id[:] = -5 if number % 3 == 2 else sample.n_id
    for sample, before in kept:
        assert content(sample) == before
    for view, copied in views:
        assert np.array_equal(view, copied)
    assert content(graph.sample(range(40), [4, 3], seed=0)) == kept[0][1]
