"""Walks and negative edges from Python: shapes, what starts may be, laws on a small graph, errors."""

from __future__ import annotations

import threading
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import graphmill as gm

EDGES = np.array([[0, 0, 1, 2, 2, 3, 3, 4], [1, 2, 2, 0, 3, 4, 0, 2]])


def edge_set(graph: gm.Graph, direction: str = "out") -> set[tuple[int, int]]:
    indptr, indices = graph.csr() if direction == "out" else graph.csc()
    owners = np.repeat(np.arange(graph.num_nodes), np.diff(indptr))
    return set(zip(owners.tolist(), indices.tolist(), strict=True))


def assert_walks(graph: gm.Graph, walks: np.ndarray, direction: str = "out") -> None:
    """Every step is an edge, and -1 follows dead ends and nothing else."""
    edges = edge_set(graph, direction)
    degrees = graph.degrees(direction=direction)
    for walk in walks.tolist():
        for here, there in pairwise(walk):
            if there == -1:
                assert here == -1 or degrees[here] == 0
            else:
                assert (here, there) in edges


@pytest.mark.parametrize("direction", ["out", "in"])
@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (1.0, 0.5), (0.1, 4.0), (1e-9, 1e9)])
def test_every_step_is_an_edge(graph: gm.Graph, direction: str, p: float, q: float) -> None:
    starts = np.arange(100).repeat(5)
    walks = graph.walk(starts, length=12, p=p, q=q, direction=direction, seed=1)
    assert walks.shape == (500, 13)
    assert walks.dtype == np.int64
    assert walks.flags.c_contiguous
    assert (walks[:, 0] == starts).all()
    assert_walks(graph, walks, direction)


def test_a_seed_gives_the_same_walks_for_any_threads(graph: gm.Graph) -> None:
    starts = np.arange(90).repeat(300)
    kinds: list[dict[str, Any]] = [{}, {"p": 0.5, "q": 2.0}, {"restart": 0.3}]
    for options in kinds:
        one = graph.walk(starts, seed=7, threads=1, **options)
        for threads in (2, 4, None):
            assert np.array_equal(one, graph.walk(starts, seed=7, threads=threads, **options))
        assert not np.array_equal(one, graph.walk(starts, seed=8, **options))
        assert not np.array_equal(graph.walk(starts, **options), graph.walk(starts, **options))
    assert len({tuple(walk) for walk in graph.walk([0] * 50, seed=3).tolist()}) > 40


@pytest.mark.parametrize(
    "starts",
    [
        [3, 1, 4],
        (3, 1, 4),
        np.array([3, 1, 4], dtype=np.uint8),
        np.array([3, 1, 4], dtype=np.int32),
        np.array([3, 1, 4], dtype=np.uint64),
        np.array([3, 9, 1, 9, 4, 9])[::2],
        torch.tensor([3, 1, 4]),
        torch.tensor([3, 1, 4], dtype=torch.int32),
    ],
)
def test_starts_may_be_any_integers(graph: gm.Graph, starts: Any) -> None:
    walks = graph.walk(starts, length=5, seed=2)
    assert isinstance(walks, torch.Tensor) == isinstance(starts, torch.Tensor)
    assert np.array_equal(np.asarray(walks), graph.walk([3, 1, 4], length=5, seed=2))
    negatives = graph.negative_edges(2, src=starts, seed=2)
    assert isinstance(negatives, torch.Tensor) == isinstance(starts, torch.Tensor)
    assert tuple(negatives.shape) == (3, 2)


def test_the_obvious_answers(graph: gm.Graph) -> None:
    assert graph.walk([], length=4).shape == (0, 5)
    assert graph.walk(range(3), length=0).tolist() == [[0], [1], [2]]
    assert graph.walk([95], length=3).tolist() == [[95, -1, -1, -1]]
    assert graph.walk([95], length=3, stay=True).tolist() == [[95, 95, 95, 95]]
    assert graph.walk([5], length=3, restart=1.0).tolist() == [[5, 5, 5, 5]]
    assert graph.negative_edges(0).shape == (2, 0)
    assert graph.negative_edges(0, src=[1, 2]).shape == (2, 0)
    assert graph.negative_edges(4, src=[]).shape == (0, 4)


def test_weights_count_where_there_are_any(tmp_path: Path) -> None:
    graph = gm.write_graph(
        tmp_path / "w.gl",
        [[0, 0, 0], [1, 2, 3]],
        num_nodes=4,
        weights=np.array([1, 0, 3], dtype=np.float32),
    )
    weighted = Counter(graph.walk([0] * 4000, length=1, seed=1)[:, 1].tolist())
    assert weighted[2] == 0
    assert 2800 < weighted[3] < 3200
    uniform = Counter(graph.walk([0] * 4000, length=1, weighted=False, seed=1)[:, 1].tolist())
    assert all(1200 < uniform[node] < 1470 for node in (1, 2, 3))
    plain = gm.write_graph(tmp_path / "p.gl", [[0], [1]])
    with pytest.raises(ValueError, match="no weights"):
        plain.walk([0], weighted=True)


@pytest.mark.parametrize("bad", [np.nan, -1.0, np.inf])
def test_bad_weights_are_an_error(tmp_path: Path, bad: float) -> None:
    edges = [[0, 0, 1, 1], [1, 0, 0, 1]]
    weights = np.array([1, bad, 1, 1], dtype=np.float32)
    try:
        graph = gm.write_graph(tmp_path / "w.gl", edges, weights=weights)
    except (ValueError, gm.GraphmillError):
        return  # refused even earlier
    with pytest.raises(ValueError, match="weight"):
        graph.walk([0] * 100, p=0.5, q=2.0, seed=0)


def test_node2vec_follows_its_law(tmp_path: Path) -> None:
    graph = gm.write_graph(tmp_path / "g.gl", EDGES)
    edges, (p, q) = edge_set(graph), (0.25, 4.0)
    seen: Counter[tuple[int, int]] = Counter()
    for _, here, there in graph.walk([2] * 40_000, length=2, p=p, q=q, seed=5).tolist():
        seen[here, there] += 1
    for here in (0, 3):
        bias = {
            there: 1 / p if there == 2 else 1.0 if (2, there) in edges else 1 / q
            for owner, there in edges
            if owner == here
        }
        total = sum(seen[here, there] for there in bias)
        for there, factor in bias.items():
            share = factor / sum(bias.values())
            assert abs(seen[here, there] / total - share) < 4 * (share / total) ** 0.5


@pytest.mark.parametrize("direction", ["out", "in", "both"])
@pytest.mark.parametrize("weighted", [False, True])
def test_negative_edges_are_no_edges(tmp_path: Path, direction: Any, weighted: bool) -> None:
    edges = np.random.default_rng(1).integers(0, 40, size=(2, 600))
    graph = gm.write_graph(tmp_path / "g.gl", edges, direction=direction)
    there_are = set(zip(*edges.tolist(), strict=True))
    pairs = graph.negative_edges(3000, weighted=weighted, seed=1)
    assert pairs.shape == (2, 3000)
    drawn = list(zip(*pairs.tolist(), strict=True))
    assert not there_are.intersection(drawn)
    assert all(source != destination for source, destination in drawn)
    assert np.array_equal(pairs, graph.negative_edges(3000, weighted=weighted, seed=1, threads=1))
    sources = np.arange(40)
    for source, row in enumerate(graph.negative_edges(7, weighted, src=sources, seed=2).tolist()):
        assert len(row) == 7
        assert not there_are.intersection((source, destination) for destination in row)
    anything = graph.negative_edges(3000, weighted, strict=False, seed=1)
    assert there_are.intersection(zip(*anything.tolist(), strict=True))


def test_complete_graphs_have_no_negative_edges(tmp_path: Path) -> None:
    sources, destinations = np.divmod(np.arange(100), 10)
    graph = gm.write_graph(tmp_path / "g.gl", [sources, destinations])
    with pytest.raises(ValueError, match="strict=False"):
        graph.negative_edges(5)
    assert graph.negative_edges(5, strict=False).shape == (2, 5)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"starts": [100]}, IndexError),
        ({"starts": [0, -1]}, IndexError),
        ({"starts": [2**63]}, IndexError),
        ({"starts": [0.0]}, TypeError),
        ({"starts": 0}, TypeError),
        ({"starts": None}, TypeError),
        ({"starts": [[0]]}, TypeError),
        ({"starts": [0], "length": -1}, ValueError),
        ({"starts": [0], "p": 0.0}, ValueError),
        ({"starts": [0], "q": -1.0}, ValueError),
        ({"starts": [0], "p": float("nan")}, ValueError),
        ({"starts": [0], "q": float("inf")}, ValueError),
        ({"starts": [0], "restart": 1.5}, ValueError),
        ({"starts": [0], "restart": float("nan")}, ValueError),
        ({"starts": [0], "direction": "up"}, ValueError),
        ({"starts": [0], "threads": 0}, ValueError),
        ({"starts": [0], "threads": 10**6}, ValueError),
        ({"starts": [0], "threads": -1}, ValueError),
        ({"starts": [0], "threads": 2**70}, ValueError),
        ({"starts": [0], "length": 2**63 - 1}, (MemoryError, ValueError)),
        ({"starts": [0], "length": 2**63 - 2}, (MemoryError, ValueError)),
        ({"starts": [0], "length": 2**70}, ValueError),
        ({"starts": [0], "length": -(2**70)}, ValueError),
        ({"starts": [0], "length": 1.5}, TypeError),
        ({"starts": [0, 1], "length": 2**62}, (MemoryError, ValueError)),
    ],
)
def test_bad_arguments_are_told(graph: gm.Graph, arguments: dict[str, Any], error: Any) -> None:
    with pytest.raises(error):
        graph.walk(**arguments)


def test_bad_requests_for_negative_edges_are_told(graph: gm.Graph, tmp_path: Path) -> None:
    requests: list[tuple[dict[str, Any], Any]] = [
        ({"n": -1}, ValueError),
        ({"n": 1.5}, TypeError),
        ({"n": 1, "src": [100]}, IndexError),
        ({"n": 1, "src": [0.5]}, TypeError),
        ({"n": 2**62}, (MemoryError, ValueError)),
        ({"n": 2**63 - 1}, (MemoryError, ValueError)),
        ({"n": 2**70}, ValueError),
        ({"n": 1, "threads": -1}, ValueError),
    ]
    for arguments, error in requests:
        with pytest.raises(error):
            graph.negative_edges(**arguments)
    inward = gm.write_graph(tmp_path / "in.gl", EDGES, direction="in")
    with pytest.raises(ValueError, match="out-edges"):
        inward.walk([0])


def test_walking_releases_the_gil(graph: gm.Graph) -> None:
    done = threading.Event()
    counted = 0

    def walk() -> None:
        graph.walk(np.zeros(200_000, dtype=np.int64), length=50, p=0.5, q=2.0, threads=1)
        done.set()

    walker = threading.Thread(target=walk)
    walker.start()
    while not done.wait(0.0):
        counted += 1
    walker.join()
    assert counted > 100
