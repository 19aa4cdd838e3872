"""What scripts ask a dataset about its contents, against the arrays it was built from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphmill as gm
from tests.command import graphmill

NODES = 40
EDGES = np.random.default_rng(3).integers(0, NODES, size=(2, 300))
WAYS: list[dict[str, Any]] = [
    {},
    {"direction": "in"},
    {"direction": "out", "neighbor_order": "file"},
    {"order": "hot", "edge_ids": True},
    {"encoding": "packed", "order": "bfs"},
]


def built(folder: Path, **options: Any) -> gm.Dataset:
    return gm.build(
        folder / "ds",
        EDGES,
        features=np.arange(NODES * 3, dtype=np.float32).reshape(NODES, 3),
        labels=np.arange(NODES) % 7 - 1,
        splits={"train": [3, 1], "test": [5]},
        num_nodes=NODES,
        memory="64MiB",
        **options,
    )


@pytest.mark.parametrize("options", WAYS, ids=str)
def test_edges_are_those_of_the_source(tmp_path: Path, options: dict[str, Any]) -> None:
    ds = built(tmp_path, **options)
    found = ds.edge_index()
    assert found.dtype == np.int64
    assert sorted(zip(*found.tolist(), strict=True)) == sorted(zip(*EDGES.tolist(), strict=True))
    if ds.graph.has_edge_ids:
        assert np.array_equal(found, EDGES)
    expected = np.zeros((NODES, NODES))
    np.add.at(expected, (EDGES[0], EDGES[1]), 1)
    assert np.array_equal(ds.to_scipy().toarray(), expected)
    src, dst = np.divmod(np.arange(NODES * NODES), NODES)
    assert np.array_equal(ds.has_edge(src, dst), expected.ravel() > 0)
    assert ds.has_edge(int(EDGES[0, 0]), int(EDGES[1, 0])) is True


def test_weights_are_the_entries_of_the_matrix(tmp_path: Path) -> None:
    ds = gm.build(tmp_path / "ds", [[0, 1, 0], [1, 2, 1]], weights=[0.5, 2.0, 0.25])
    assert ds.to_scipy().toarray().tolist() == [[0, 0.75, 0], [0, 0, 2.0], [0, 0, 0]]
    assert ds.graph.to_scipy().nnz == 3


def test_an_edge_that_is_none_of_the_ids_is_refused(tmp_path: Path) -> None:
    ds = built(tmp_path)
    with pytest.raises(IndexError, match="40"):
        ds.has_edge(0, 40)
    with pytest.raises(TypeError, match="both"):
        ds.has_edge(0, [1])
    with pytest.raises(ValueError, match="2 nodes and dst 1"):
        ds.graph.has_edges([0, 1], [1])


def test_words_are_looked_up_as_words(tmp_path: Path) -> None:
    source = tmp_path / "e.csv"
    source.write_text("src,dst\nann,bob\nbob,cid\n")
    graphmill("build", tmp_path / "ds", "--edges", source, "--string-ids", "--quiet")
    ds = gm.open(tmp_path / "ds")
    assert ds.has_edge("ann", "bob") is True
    assert ds.has_edge(["ann", "cid"], ["cid", "ann"]).tolist() == [False, False]
    with pytest.raises(ValueError, match=r"ds\.graph\.edge_index"):
        ds.edge_index()
    with pytest.raises(ValueError, match=r"ds\.graph\.to_scipy"):
        ds.to_scipy()


@pytest.mark.parametrize("options", WAYS[3:], ids=str)
def test_masks_go_by_the_ids_of_the_source(tmp_path: Path, options: dict[str, Any]) -> None:
    ds = built(tmp_path, **options)
    assert np.flatnonzero(ds.mask("train")).tolist() == [1, 3]
    assert np.flatnonzero(ds["test_mask"]).tolist() == [5]


def test_entries_are_found_by_name(tmp_path: Path) -> None:
    ds = built(tmp_path)
    assert ds["x"].shape == (NODES, 3)
    assert "x" in ds
    assert "train_mask" in ds
    assert "train" not in ds
    with pytest.raises(KeyError, match="it has x, y, test_mask, train_mask"):
        ds["z"]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (np.array([0, 4, -1, 2]), 5),
        (np.array([[0, 1, 1], [1, 0, 0], [0, 0, 0], [1, 1, 1]]), 3),
        (np.array([0.5, 1.5, np.nan, 0.5], dtype=np.float32), 2),
        (np.array([True, False, True, True]), 2),
    ],
)
def test_classes_are_counted_as_pyg_counts_them(
    tmp_path: Path, labels: np.ndarray, expected: int
) -> None:
    ds = gm.build(tmp_path / "ds", [[0, 1, 2], [1, 2, 3]])
    assert (ds.num_classes, ds.num_features, ds.num_edge_features) == (0, 0, 0)
    ds.add_table("y", labels)
    assert ds.num_classes == expected


def test_features_are_counted_as_pyg_counts_them(tmp_path: Path) -> None:
    ds = gm.build(tmp_path / "ds", [[0, 1], [1, 2]], edge_features=np.eye(2), features=np.ones(3))
    assert (ds.num_features, ds.num_node_features, ds.num_edge_features) == (1, 1, 2)


def test_tables_of_edges_come_and_go(tmp_path: Path) -> None:
    ds = gm.build(tmp_path / "ds", [[2, 0], [1, 1]], edge_ids=True, undirected=True)
    ds.add_edge_table("kind", np.array([7, 8]))
    sample = ds.graph.sample([1], [-1])
    assert dict(zip(sample.n_id[sample.row], ds["kind"][sample.e_id], strict=True)) == {0: 8, 2: 7}
    with pytest.raises(ValueError, match="3 rows, expected 2, one for each edge"):
        ds.add_edge_table("other", np.zeros(3))
    with pytest.raises(ValueError, match=r"already"):
        ds.add_edge_table("kind", np.zeros(2))
    ds.remove_table("kind")
    assert ds.edge_tables == []
    assert graphmill("verify", ds.path).returncode == 0
    plain = gm.build(tmp_path / "plain", [[0], [1]])
    with pytest.raises(ValueError, match="edge_ids=True"):
        plain.add_edge_table("kind", np.zeros(1))


def test_what_is_removed_leaves_no_file(tmp_path: Path) -> None:
    ds = built(tmp_path)
    old = gm.open(ds.path)
    before = {path.name for path in Path(ds.path).iterdir()}
    ds.add_table("spare", np.zeros(NODES))
    ds.remove_table("spare")
    ds.add_split("spare", [0])
    ds.remove_split("spare")
    assert {path.name for path in Path(ds.path).iterdir()} == before
    assert (ds.tables, ds.splits) == (["x", "y"], ["test", "train"])
    ds.remove_table("x")
    assert ds.features is None
    # A handle that was opened before keeps what it has.
    assert old["x"].numpy()[0, 1] == 1
    with pytest.raises(ValueError, match=r'no "x"; it has y'):
        ds.remove_table("x")
    with pytest.raises(ValueError, match=r'no "x"; it has test, train'):
        ds.remove_split("x")
    # Its name is free again.
    ds.add_table("x", np.ones(NODES))
    assert ds.num_features == 1
