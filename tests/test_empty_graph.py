"""A graph without edges is a graph: every call answers, wherever lists are read from, and datasets are made of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import graphmill as gm
from tests.command import graphmill

NOBODY = np.zeros((2, 0), dtype=np.int64)
OPTIONS: list[dict[str, Any]] = [
    {},
    {"undirected": True},
    {"edge_ids": True},
    {"encoding": "packed"},
    {"direction": "in"},
]


@pytest.mark.parametrize("residency", ["mapped", "ram", "auto"])
@pytest.mark.parametrize("nodes", [0, 3])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_call_answers(
    tmp_path: Path, options: dict[str, Any], nodes: int, residency: Literal["mapped", "ram", "auto"]
) -> None:
    gm.write_graph(tmp_path / "g.gl", NOBODY, num_nodes=nodes, **options)
    g = gm.Graph(tmp_path / "g.gl", residency=residency)
    ids = np.arange(nodes)
    for direction in g.directions:
        assert g.degrees(direction=direction).tolist() == [0] * nodes
        assert g.degrees(ids, direction).tolist() == [0] * nodes
        indptr, indices = g.neighbor_lists(ids, direction)
        assert (indptr.tolist(), indices.tolist()) == ([0] * (nodes + 1), [])
        assert all(len(g.neighbors(node, direction)) == 0 for node in range(nodes))
        sample = g.sample(ids, [2, -1], direction=direction, seed=0)
        assert (sample.n_id.tolist(), sample.row.tolist()) == (ids.tolist(), [])
        links = g.sample_edges([ids, ids], [2], direction=direction, seed=0)
        assert links.row.tolist() == []
        walks = g.walk(ids, length=2, direction=direction, seed=0)
        assert walks.tolist() == [[node, -1, -1] for node in range(nodes)]
    if nodes:
        assert g.negative_edges(4, seed=0).shape == (2, 4)
    repr(g)


@pytest.mark.parametrize("residency", ["mapped", "ram"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_datasets_are_built_converted_and_reordered(
    tmp_path: Path, options: dict[str, Any], residency: Literal["mapped", "ram", "auto"]
) -> None:
    gm.write_graph(tmp_path / "g.gl", NOBODY, num_nodes=3, **options)
    x = np.arange(6.0).reshape(3, 2)
    gm.build(tmp_path / "ds", edges=tmp_path / "g.gl", features=x, splits={"train": [0, 2]})
    ds = gm.open(tmp_path / "ds", residency=residency, memory="64MiB")
    assert (ds.num_nodes, ds.num_edges) == (3, 0)
    loader = gm.NeighborLoader(ds, [2], batch_size=1, seeds="train", seed=0)
    assert [batch.x.tolist() for batch in loader] == [[[0.0, 1.0]], [[4.0, 5.0]]]
    graphmill("verify", tmp_path / "ds")
    graphmill("inspect", tmp_path / "ds")
    gm.convert(tmp_path / "g.gl", tmp_path / "again.gl")
    assert gm.Graph(tmp_path / "again.gl", residency=residency).num_nodes == 3
    graphmill("reorder", tmp_path / "ds", tmp_path / "hot", "--order", "hot", "--quiet")
    again = gm.open(tmp_path / "hot", residency=residency, memory="64MiB")
    assert (again.num_nodes, again.num_edges) == (3, 0)
