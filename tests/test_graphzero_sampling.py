"""The drop-in's walks and fan-outs: shapes and laws of GraphZero, and errors where it hung, crashed or was wrong."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphmill.graphzero as gz
from tests import original

pytest.importorskip("graphzero", reason="compares with GraphZero itself: pip install graphzero")

STARTS: list[Any] = [
    [0, 8, 5],
    (0, 8, 5),
    np.array([0, 8, 5]),
    np.array([0, 8, 5], dtype=np.uint16),
    np.array([0, 1, 8, 1, 5, 1], dtype=np.int32)[::2],
]


@pytest.mark.parametrize("starts", STARTS)
def test_walks_have_the_shape_of_graphzeros_and_repeat_dead_ends(
    weighted_file: Path, starts: Any
) -> None:
    graph = gz.Graph(weighted_file)
    edges = {(source, destination) for source, destination, _ in original.EDGES}
    for walks in (
        graph.batch_random_walk(starts, 6, p=0.5, q=2.0),
        graph.batch_random_walk(start_nodes=starts, walk_length=6),
        graph.batch_random_walk_uniform(starts, 6),
    ):
        assert walks.shape == (3, 7)
        assert walks.dtype == np.int64
        assert walks[:, 0].tolist() == [0, 8, 5]
        for walk in walks.tolist():
            for here, there in pairwise(walk):
                is_stuck = here == there and graph.get_degree(here) == 0
                assert is_stuck or (here, there) in edges


def test_walks_honour_weights_unless_they_are_uniform(weighted_file: Path) -> None:
    graph = gz.Graph(weighted_file)
    first = graph.batch_random_walk([0] * 4000, 1, seed=1)[:, 1]
    # 6 has a weight of 0.5, and 1 has 1.5 + 0.25.
    assert 790 < (first == 6).sum() < 990
    # The loop of node 8 has no weight.
    assert (graph.batch_random_walk([8] * 500, 1)[:, 1] == 0).all()
    assert 150 < (graph.batch_random_walk_uniform([8] * 500, 1, seed=1)[:, 1] == 0).sum() < 350
    uniform = graph.batch_random_walk_uniform([0] * 4000, 1, seed=1)[:, 1]
    assert 1200 < (uniform == 6).sum() < 1470


def test_the_last_column_of_uniform_walks_is_walked_too(weighted_file: Path) -> None:
    assert gz.Graph(weighted_file).batch_random_walk_uniform([2], 3).tolist() == [[2, 2, 2, 2]]


@pytest.mark.parametrize("kind", ["batch_random_walk", "batch_random_walk_uniform"])
def test_a_seed_makes_calls_repeatable(plain_file: Path, kind: str) -> None:
    call = partial(getattr(gz.Graph(plain_file), kind), [0, 8] * 50, 9)
    assert np.array_equal(call(seed=3), call(seed=3))
    assert not np.array_equal(call(seed=3), call(seed=4))
    assert not np.array_equal(call(), call())


@pytest.mark.parametrize("starts", [*STARTS, np.array([0, 8, 5], dtype=">i8")])
def test_fanouts_are_distinct_edges_then_padding(plain_file: Path, starts: Any) -> None:
    graph = gz.Graph(plain_file)
    rows = graph.batch_random_fanout(starts, 4)
    assert rows.dtype == np.int64
    assert rows.tolist() == [[6, 1, 1, 0], [0, 8, 0, 0], [2, 0, 0, 0]]
    assert graph.batch_random_fanout(starts, 4, pad=-1)[2].tolist() == [2, -1, -1, -1]
    for row in graph.batch_random_fanout([0] * 200, 2).tolist():
        assert sorted(row) in ([1, 6], [1, 1])
    assert (
        len({tuple(sorted(row)) for row in graph.batch_random_fanout([0] * 200, 2).tolist()}) == 2
    )


def test_one_node_is_sampled_without_padding(plain_file: Path) -> None:
    graph = gz.Graph(plain_file)
    for count in (3, 4, 2**31, 2**62):
        assert graph.sample_neighbours(0, count).tolist() == [6, 1, 1]
    assert graph.sample_neighbours(0, 0).shape == (0,)
    assert graph.sample_neighbours(3, 5).shape == (0,)
    assert len(graph.sample_neighbours(0, 2)) == 2


def test_nothing_to_start_from_gives_no_rows(plain_file: Path) -> None:
    graph = gz.Graph(plain_file)
    nothing: list[Any] = [[], (), range(0), np.array([], dtype=np.int64), np.array([])]
    for empty in nothing:
        assert graph.batch_random_walk(empty, 3).shape == (0, 4)
        assert graph.batch_random_walk_uniform(empty, 3).shape == (0, 4)
        assert graph.batch_random_fanout(empty, 3).shape == (0, 3)
    assert graph.batch_random_walk([0], 0).tolist() == [[0]]
    assert graph.batch_random_fanout([0], 0).shape == (1, 0)


@pytest.mark.parametrize("bad", [np.array([0.0]), [0.0], 0, None, [[0]], np.zeros((1, 1), int)])
def test_what_is_no_list_of_nodes_is_a_type_error(plain_file: Path, bad: Any) -> None:
    graph = gz.Graph(plain_file)
    for call in (
        graph.batch_random_walk,
        graph.batch_random_walk_uniform,
        graph.batch_random_fanout,
    ):
        with pytest.raises(TypeError):
            call(bad, 2)


@pytest.mark.parametrize("bad", [9, -1, 2**40])
def test_starts_out_of_range_raise_where_graphzero_crashed(plain_file: Path, bad: int) -> None:
    graph = gz.Graph(plain_file)
    for call in (
        graph.batch_random_walk,
        graph.batch_random_walk_uniform,
        graph.batch_random_fanout,
    ):
        with pytest.raises(RuntimeError, match=str(bad)) as caught:
            call([0, bad], 2)
        assert isinstance(caught.value, IndexError)
    with pytest.raises(RuntimeError, match=str(bad)):
        graph.sample_neighbours(bad, 2)


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf")])
def test_biases_that_made_graphzero_hang_raise(plain_file: Path, bad: float) -> None:
    graph = gz.Graph(plain_file)
    for p, q in ((bad, 1.0), (1.0, bad)):
        with pytest.raises(ValueError, match="expected a number above 0"):
            graph.batch_random_walk([0], 3, p, q)
    for call in (graph.batch_random_walk, graph.batch_random_fanout):
        with pytest.raises(ValueError, match="at least 0"):
            call([0], -1)
