"""Where the topology is read from changes speed and memory, and no result."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import numpy as np
import pytest

import graphmill as gm
from tests.page_cache import forget


def sampled(graph: gm.Graph) -> list[bytes]:
    """What samples and walks of a graph give, as bytes."""
    s = graph.sample(range(50), [5, 3], seed=1)
    walks = graph.walk(range(50), length=7, seed=2)
    return [array.tobytes() for array in (s.n_id, s.row, s.col, s.e_id, walks)]


def test_cold_warm_and_copied_give_the_same_bytes(graph: gm.Graph) -> None:
    expected = sampled(graph)
    for residency in ("auto", "mapped", "ram"):
        forget(graph.path)
        other = gm.Graph(graph.path, residency=residency)
        assert sampled(other) == expected
        assert sampled(other) == expected


def test_a_handle_says_where_it_reads(graph: gm.Graph) -> None:
    assert graph.residency == "mapped"
    assert "mapped" in repr(graph)
    copied = gm.Graph(graph.path, residency="ram", memory="1MiB")
    assert copied.residency == "ram"
    assert "in RAM" in repr(copied)
    again = pickle.loads(pickle.dumps(copied))
    assert again.residency == "ram"
    assert sampled(again) == sampled(graph)


def test_views_of_a_copied_graph_are_of_the_file(graph: gm.Graph) -> None:
    copied = gm.Graph(graph.path, "ram")
    assert np.array_equal(copied.indices, graph.indices)
    assert not copied.indices.flags.writeable
    assert np.array_equal(copied.neighbors(3), graph.neighbors(3))
    assert np.array_equal(copied.degrees(), graph.degrees())


def test_a_copy_that_does_not_fit_is_refused(graph: gm.Graph) -> None:
    with pytest.raises(gm.MemoryBudgetError, match="the topology in memory"):
        gm.Graph(graph.path, residency="ram", memory=1000)
    with pytest.raises(ValueError, match='expected "auto", "mapped" or "ram"'):
        gm.Graph(graph.path, residency="disk")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        gm.Graph(graph.path, residency="ram", memory=1.5)  # type: ignore[arg-type]


def test_a_dataset_pays_for_its_copy(papers: Path) -> None:
    ds = gm.open(papers, memory="64MiB", residency="ram")
    assert ds.graph.residency == "ram"
    assert "in RAM" in repr(ds)
    copied = (ds.num_nodes + 1) * 8 + ds.num_edges * 4
    with pytest.raises(gm.MemoryBudgetError):
        ds._reserve((64 << 20) - copied + 1, "a test")
    with ds._reserve(32 << 20, "a test"):
        pass
    assert sampled(ds.graph) == sampled(gm.open(papers).graph)
    assert pickle.loads(pickle.dumps(ds)).graph.residency == "ram"
    with pytest.raises(gm.MemoryBudgetError):
        gm.open(papers, memory="10KiB", residency="ram")


def test_a_dataset_keeps_its_copy_when_it_is_added_to(graph: gm.Graph, tmp_path: Path) -> None:
    edges = np.stack([np.arange(1000) % 50, np.arange(1000) % 37])
    build = gm.build(tmp_path / "ds", edges=edges)
    size = os.path.getsize(build.graph.path)
    ds = gm.open(tmp_path / "ds", memory=size + (1 << 20), residency="ram")
    ds.add_table("year", np.arange(ds.num_nodes))
    assert ds.graph.residency == "ram"
    assert sampled_small(ds.graph) == sampled_small(build.graph)


def sampled_small(graph: gm.Graph) -> bytes:
    """The nodes of one sample."""
    return graph.sample([0, 1], [3], seed=0).n_id.tobytes()
