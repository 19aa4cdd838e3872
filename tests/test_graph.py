"""Topology from Python: what the edges say."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import graphmill as gm


def pairs(graph: gm.Graph, direction: str) -> Counter[tuple[int, int]]:
    """Every stored edge as (source, destination), counted."""
    found: Counter[tuple[int, int]] = Counter()
    for node in range(graph.num_nodes):
        for other in graph.neighbors(node, direction).tolist():
            found[(node, other) if direction == "out" else (other, node)] += 1
    return found


def test_both_directions_hold_the_edges(graph: gm.Graph, edges: np.ndarray) -> None:
    expected = Counter(zip(*edges.tolist(), strict=True))
    assert pairs(graph, "out") == expected
    assert pairs(graph, "in") == expected
    assert (graph.num_nodes, graph.num_edges) == (100, 700)
    assert graph.directions == ("out", "in")
    assert graph.indices.dtype == np.int32
    assert graph.indptr.dtype == np.int64
    np.testing.assert_array_equal(graph.degrees(), np.bincount(edges[0], minlength=100))
    np.testing.assert_array_equal(
        graph.degrees([3, 3, 99]), np.bincount(edges[0], minlength=100)[[3, 3, 99]]
    )
    np.testing.assert_array_equal(
        graph.degrees(direction="in"), np.bincount(edges[1], minlength=100)
    )
    assert all(np.all(np.diff(graph.neighbors(node)) >= 0) for node in range(100))


def test_csr_and_csc_are_zero_copy_in_both_frameworks(graph: gm.Graph) -> None:
    for name in ("csr", "csc"):
        indptr, indices = getattr(graph, name)()
        assert not indptr.flags.writeable
        assert not indices.flags.owndata
        torch_indptr, torch_indices = getattr(graph, name)("torch")
        np.testing.assert_array_equal(torch_indptr.numpy(), indptr)
        np.testing.assert_array_equal(torch_indices.numpy(), indices)
        assert torch_indptr.dtype == torch.int64
    with pytest.raises(ValueError, match="framework"):
        graph.csr("jax")  # type: ignore[arg-type]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=60), st.booleans())
def test_any_edges_come_back(
    tmp_path_factory, links: list[tuple[int, int]], undirected: bool
) -> None:
    path = tmp_path_factory.mktemp("any") / "g.gl"
    array = np.array(links, dtype=np.int64).reshape(-1, 2).T
    g = gm.write_graph(path, array, num_nodes=13, undirected=undirected)
    expected = Counter(links)
    if undirected:
        expected += Counter((b, a) for a, b in links)
    assert pairs(g, "out") == expected
    assert pairs(g, "in") == expected
    assert g.num_edges == len(links) * (2 if undirected else 1)


def test_weights_times_and_edge_ids_follow_their_edges(tmp_path: Path, edges: np.ndarray) -> None:
    weights = np.random.default_rng(2).random(700).astype(np.float32)
    g = gm.write_graph(
        tmp_path / "w.gl", torch.from_numpy(edges), weights=torch.from_numpy(weights)
    )
    assert g.has_weights
    assert g.has_edge_ids
    for direction in ("out", "in"):
        rows, values = g.edge_ids(direction), g.weights(direction)
        assert rows is not None
        assert values is not None
        np.testing.assert_array_equal(values, weights[rows])
        indptr, indices = g.csr() if direction == "out" else g.csc()
        owner = np.repeat(np.arange(g.num_nodes), np.diff(indptr))
        ends = edges if direction == "out" else edges[::-1]
        np.testing.assert_array_equal(ends[0][rows], owner)
        np.testing.assert_array_equal(ends[1][rows], indices)


def test_file_order_is_kept_when_asked_for(tmp_path: Path) -> None:
    g = gm.write_graph(
        tmp_path / "f.gl", [[0, 0, 0], [5, 2, 9]], neighbor_order="file", encoding="i64"
    )
    assert g.neighbors(0).tolist() == [5, 2, 9]
    assert g.indices.dtype == np.int64
    assert g.neighbor_order == "file"
    t = gm.write_graph(
        tmp_path / "t.gl", [[0, 0, 0], [5, 2, 9]], times=[3, 1, 2], neighbor_order="time"
    )
    assert t.neighbors(0).tolist() == [2, 9, 5]


def test_a_direction_that_is_not_stored_names_the_remedy(tmp_path: Path) -> None:
    g = gm.write_graph(tmp_path / "o.gl", [[0, 1], [1, 0]], direction="out")
    with pytest.raises(ValueError, match="direction both"):
        g.sample([0], [1])
    with pytest.raises(ValueError, match="stores out-edges only"):
        g.csc()


def test_bad_edges_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "bad.gl"
    with pytest.raises(gm.SourceError, match="edge 1, destination: found -3"):
        gm.write_graph(path, [[0, 1], [1, -3]])
    with pytest.raises(gm.SourceError, match="edge 1, source: found -1"):
        gm.write_graph(path, [[0, -1], [1, 7]], num_nodes=5)
    with pytest.raises(TypeError, match="integers"):
        gm.write_graph(path, [[0.5], [1.0]])
    with pytest.raises(ValueError, match=r"shape \[2, E\]"):
        gm.write_graph(path, np.zeros((3, 4), dtype=np.int64))
    with pytest.raises(gm.SourceError, match="weight"):
        gm.write_graph(path, [[0], [1]], weights=[np.nan])
    with pytest.raises(gm.SourceError):
        gm.write_graph(path, [[0, 1], [1, 0]], weights=[1.0])
    with pytest.raises(ValueError, match="direction"):
        gm.write_graph(path, [[0], [1]], direction="sideways")
    with pytest.raises(gm.MemoryBudgetError, match="memory"):
        gm.write_graph(path, np.zeros((2, 100_000), dtype=np.int64), memory="10KiB")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_there_are_as_many_nodes_as_were_asked_for_or_ids_demand(
    tmp_path: Path, dtype: type
) -> None:
    edges: np.ndarray = np.array([[0, 1, 6], [1, 7, 0]], dtype=dtype)
    (tmp_path / "e.csv").write_text("0,1\n1,7\n6,0\n")
    for asked, expected in ((None, 8), (0, 8), (5, 8), (7, 8), (8, 8), (9, 9), (100, 100)):
        g = gm.write_graph(tmp_path / "g.gl", edges, num_nodes=asked, overwrite=True)
        assert g.num_nodes == expected
        assert pairs(g, "out") == Counter(zip(*edges.tolist(), strict=True))
        gm.convert(tmp_path / "e.csv", tmp_path / "c.gl", num_nodes=asked, overwrite=True)
        assert gm.Graph(tmp_path / "c.gl").num_nodes == expected


def test_numbers_of_nodes_that_cannot_be_are_value_errors(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("0,1\n")
    edges = np.array([[0], [1]])
    for call in (
        lambda bad: gm.write_graph(tmp_path / "g.gl", edges, num_nodes=bad),
        lambda bad: gm.convert(tmp_path / "e.csv", tmp_path / "c.gl", num_nodes=bad),
        lambda bad: gm.build(tmp_path / "ds", edges=edges, num_nodes=bad),
    ):
        for bad in (-1, -(2**70), 2**70):
            with pytest.raises(ValueError, match=f"num_nodes is {bad}, expected at"):
                call(bad)
        with pytest.raises(ValueError, match=r"num_nodes is 2\^127 or more, expected at most"):
            call(2**200)
    for threads in (0, -2, 2**70):
        with pytest.raises(ValueError, match=f"threads is {threads}, expected at"):
            gm.build(tmp_path / "ds", edges=edges, threads=threads)
    assert [path.name for path in tmp_path.iterdir()] == ["e.csv"]


def test_ids_out_of_range_are_index_errors(graph: gm.Graph) -> None:
    for call in (
        lambda: graph.neighbors(100),
        lambda: graph.neighbors(-1),
        lambda: graph.neighbors(2**63),
        lambda: graph.neighbors(2**70),
        lambda: graph.neighbors(-(2**200)),
        lambda: graph.list_range(2**70),
        lambda: graph.neighbor_lists([0, 100]),
        lambda: graph.neighbor_lists([-1]),
        lambda: graph.degrees([0, 100]),
        lambda: graph.degrees([-1]),
        lambda: graph.sample([100], [2]),
        lambda: graph.sample([-5], [2]),
    ):
        with pytest.raises(IndexError):
            call()
    with pytest.raises(ValueError, match="fan-out"):
        graph.sample([0], [-2])
    with pytest.raises(ValueError, match="direction"):
        graph.sample([0], [2], direction="up")


def test_lists_of_many_nodes_come_in_one_call(graph: gm.Graph) -> None:
    torch = pytest.importorskip("torch")
    for direction in ("out", "in"):
        asked = [3, 99, 3, 0]
        indptr, indices = graph.neighbor_lists(asked, direction)
        for place, node in enumerate(asked):
            found = indices[indptr[place] : indptr[place + 1]]
            np.testing.assert_array_equal(found, graph.neighbors(node, direction))
        tensors = graph.neighbor_lists(torch.tensor(asked), direction, threads=1)
        assert [tensor.dtype for tensor in tensors] == [torch.int64, torch.int64]
        assert [tensor.tolist() for tensor in tensors] == [indptr.tolist(), indices.tolist()]
    indptr, indices = graph.neighbor_lists([])
    assert indptr.tolist() == [0]
    assert indices.tolist() == []


def test_handles_pickle_by_path(graph: gm.Graph, features: gm.Features, papers: Path) -> None:
    copy = pickle.loads(pickle.dumps(graph))
    assert copy.num_edges == 700
    assert pickle.loads(pickle.dumps(features)).shape == (1000, 16)
    ds = pickle.loads(pickle.dumps(gm.open(papers, memory="77MiB")))
    assert ds.memory == 77 << 20
    assert ds.num_nodes == 5000


def test_repr_tells_what_it_is(graph: gm.Graph, papers: Path) -> None:
    text = repr(graph)
    assert "num_nodes=100, num_edges=700, out+in" in text
    assert "on disk" in text
    text = repr(gm.open(papers, memory="1GiB"))
    assert "num_nodes=5000" in text
    assert "x=[5000, 16] float32" in text
    assert "memory=1" in text


def oracle(edges: np.ndarray, sample: gm.Sample, fanouts: list[int], direction: str) -> None:
    """Check a sample against the edges themselves."""
    n_id, row, col, e_id = (
        np.asarray(a) for a in (sample.n_id, sample.row, sample.col, sample.e_id)
    )
    sources, destinations = n_id[row], n_id[col]
    found = Counter(zip(sources.tolist(), destinations.tolist(), strict=True))
    assert not found - Counter(zip(*edges.tolist(), strict=True))
    assert len(set(e_id.tolist())) == len(e_id)
    hops = np.repeat(np.arange(len(sample.nodes_per_hop)), sample.nodes_per_hop)
    expanded = col if direction == "in" else row
    degree = np.bincount(edges[1] if direction == "in" else edges[0], minlength=100)
    picks = np.bincount(expanded, minlength=len(n_id))
    for local, node in enumerate(n_id.tolist()):
        hop = hops[local]
        wanted = fanouts[hop] if hop < len(fanouts) else 0
        assert picks[local] == (degree[node] if wanted == -1 else min(wanted, degree[node]))
    assert sum(sample.edges_per_hop) == len(row)


@pytest.mark.parametrize("direction", ["in", "out"])
@pytest.mark.parametrize("fanouts", [[2], [3, 2], [-1, 1], [0, 4], [20, 20, 20], []])
def test_samples_obey_the_graph(
    graph: gm.Graph, edges: np.ndarray, direction: str, fanouts: list[int]
) -> None:
    for seed in range(5):
        sample = graph.sample([5, 0, 17], fanouts, direction=direction, seed=seed)
        assert np.asarray(sample.n_id)[:3].tolist() == [5, 0, 17]
        assert len(set(sample.n_id.tolist())) == len(sample.n_id)
        oracle(edges, sample, fanouts, direction)


def test_the_same_seed_gives_the_same_sample(graph: gm.Graph) -> None:
    def drawn(seed: int | None) -> list[int]:
        s = graph.sample(range(50), [3, 3], seed=seed)
        return [*s.n_id.tolist(), *s.row.tolist(), *s.e_id.tolist()]

    assert drawn(1) == drawn(1) != drawn(2)
    assert drawn(-7) == drawn(-7)
    assert drawn(2**64 + 1) == drawn(2**200 + 1) == drawn(1)
    assert drawn(None) != drawn(None)


def test_torch_seeds_give_torch_samples(graph: gm.Graph) -> None:
    s = graph.sample(torch.tensor([1, 2]), [2], seed=0)
    assert isinstance(s.n_id, torch.Tensor)
    assert s.n_id.dtype == torch.int64
    edge_index = torch.stack([s.row, s.col])
    assert edge_index.shape[0] == 2
    assert "Sample(nodes=" in repr(s)


@pytest.mark.parametrize("direction", ["out", "in"])
def test_what_edges_have_is_seen_without_a_copy(tmp_path: Path, direction: str) -> None:
    edges = np.random.default_rng(0).integers(0, 50, size=(2, 300))
    weights = np.linspace(0.5, 2.0, 300, dtype=np.float32)
    times = np.arange(300)[::-1] * 7
    g = gm.write_graph(tmp_path / "g.gl", edges, weights=weights, times=times)
    ids = g.edge_ids(direction)
    for framework in ("numpy", "torch"):
        expected = {"edge_ids": ids, "weights": weights[ids], "times": times[ids]}
        for name, values in expected.items():
            found = getattr(g, name)(direction, framework)
            assert type(found).__module__ == framework
            np.testing.assert_array_equal(np.asarray(found), values)
    assert not g.times(direction).flags.writeable
    plain = gm.write_graph(tmp_path / "plain.gl", edges)
    assert plain.times(direction) is plain.weights(direction) is plain.edge_ids(direction) is None
    with pytest.raises(ValueError, match="framework"):
        g.times(direction, "jax")  # type: ignore[arg-type]
