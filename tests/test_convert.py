"""Edges as text become a `.gl`: what the lines say, or an error that names the line."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphmill as gm
import graphmill.graphzero as gz
from tests.command import graphmill

FACEBOOK = Path(__file__).parents[2] / "shared" / "data" / "facebook" / "facebook_edges.csv"


def links(graph: gm.Graph) -> Counter[tuple[int, int]]:
    indptr, indices = graph.csr()
    owner = np.repeat(np.arange(graph.num_nodes), np.diff(indptr))
    return Counter(zip(owner.tolist(), indices.tolist(), strict=True))


@pytest.mark.parametrize(
    "text",
    [
        "0,1\n1,2\n0,2\n",
        "src,dst\n0,1\n1,2\n0,2",
        "0\t1\n1\t2\n0\t2\n",
        "# a comment\n0 1\n1  2\n\n0 2\n",
        "0;1\r\n1;2\r\n0;2\r\n",
        "\ufeff0, 1\n1 ,2\n0,2\n",
        '"0","1"\n"1","2"\n"0","2"\n',
        "0,1,0.5\n1,2,0.5\n0,2,9\n",
        "0.0,1.0\n1,2\n0,2\n",
    ],
)
def test_text_of_many_kinds_gives_the_same_edges(tmp_path: Path, text: str) -> None:
    source = tmp_path / "edges.csv"
    source.write_bytes(text.encode())
    gm.convert(source, tmp_path / "g.gl")
    g = gm.Graph(tmp_path / "g.gl")
    assert links(g) == Counter({(0, 1): 1, (1, 2): 1, (0, 2): 1})
    assert g.directions == ("out",)
    packed = tmp_path / "edges.csv.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    gm.convert(packed, tmp_path / "packed.gl")
    assert (tmp_path / "packed.gl").read_bytes() == (tmp_path / "g.gl").read_bytes()


def test_a_million_edges_come_out_right_in_a_small_memory(tmp_path: Path) -> None:
    edges = np.random.default_rng(4).integers(0, 50_000, size=(1_000_000, 2))
    np.savetxt(tmp_path / "edges.csv", edges, fmt="%d", delimiter=",")
    graphmill(
        "convert",
        tmp_path / "edges.csv",
        tmp_path / "g.gl",
        "--memory",
        "8MiB",
        "--direction",
        "both",
    )
    g = gm.write_graph(tmp_path / "expected.gl", edges.T, num_nodes=50_000)
    assert g.num_edges == 1_000_000
    assert (tmp_path / "g.gl").read_bytes() == (tmp_path / "expected.gl").read_bytes()
    assert graphmill("verify", tmp_path / "g.gl").returncode == 0


def test_weights_times_and_options(tmp_path: Path) -> None:
    source = tmp_path / "edges.csv"
    source.write_text("a,b,w,when\n0,1,0.5,30\n0,1,2.5,10\n2,2,1,20\n")
    gm.convert(source, tmp_path / "w.gl", weight_column="w", time_column=3, neighbor_order="time")
    g = gm.Graph(tmp_path / "w.gl")
    weights, rows = g.weights(), g.edge_ids()
    assert weights is not None
    assert rows is not None
    assert weights.tolist() == [2.5, 0.5, 1.0]
    assert rows.tolist() == [1, 0, 2]
    gm.convert(source, tmp_path / "d.gl", dedup=True, drop_self_loops=True, num_nodes=9)
    d = gm.Graph(tmp_path / "d.gl")
    assert (d.num_nodes, d.num_edges) == (9, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,1\n1,x\n", r"line 2.*x"),
        ("0,1\n-1,2\n", r"line 2.*-1"),
        ("0,1\n5\n", r"line 2"),
        ("0,1\n1,99999999999999999999999\n", r"line 2"),
        ("0,1\n1,0.5\n", r"line 2.*0\.5"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_written(
    tmp_path: Path, text: str, message: str
) -> None:
    source = tmp_path / "edges.csv"
    source.write_text(text)
    with pytest.raises(gm.SourceError, match=message):
        gm.convert(source, tmp_path / "g.gl")
    assert [path.name for path in tmp_path.iterdir()] == ["edges.csv"]
    with pytest.warns(UserWarning, match="1 rows"):
        gm.convert(source, tmp_path / "g.gl", on_bad_row="skip")
    assert gm.Graph(tmp_path / "g.gl").num_edges == 1


@pytest.mark.skipif(
    not FACEBOOK.exists(), reason="needs the shared facebook data, which is not here"
)
@pytest.mark.parametrize("directed", [True, False])
def test_the_drop_in_makes_of_real_edges_what_the_original_makes(
    tmp_path: Path, directed: bool
) -> None:
    import graphzero

    graphzero.convert_csv_to_gl(str(FACEBOOK), str(tmp_path / "theirs.gl"), directed)
    gz.convert_csv_to_gl(FACEBOOK, tmp_path / "ours.gl", directed)
    theirs, ours = gm.Graph(tmp_path / "theirs.gl"), gm.Graph(tmp_path / "ours.gl")
    np.testing.assert_array_equal(ours.indptr, theirs.indptr)
    np.testing.assert_array_equal(ours.indices, theirs.indices)
    assert ours.indices.dtype == np.int64


def test_what_a_target_has_no_place_for_is_told(tmp_path: Path) -> None:
    edges = np.array([[0, 1], [1, 2]])
    gm.write_graph(tmp_path / "g.gl", edges, weights=np.ones(2, np.float32), times=[3, 4])
    with pytest.warns(UserWarning, match="weights, times and edge ids are left out"):
        gm.convert(tmp_path / "g.gl", tmp_path / "g.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "g.npy"), edges)
    with pytest.warns(UserWarning, match="times and edge ids are left out"):
        gm.convert(tmp_path / "g.gl", tmp_path / "old.gl", to="graphzero")


def test_a_dataset_leaves_with_the_ids_of_its_source_and_comes_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    edges = rng.integers(0, 40, (2, 300)) * 1_000_003
    weights = rng.random(300, np.float32)
    times = rng.integers(-9, 9, 300)
    options: dict[str, Any] = {"map_ids": True, "order": "hot"}
    first = gm.build(tmp_path / "first", edges=edges, weights=weights, times=times, **options)
    for name in ("edges.csv", "edges.parquet"):
        gm.convert(first.path, tmp_path / name)
        again = gm.build(
            tmp_path / f"from {name}",
            edges=tmp_path / name,
            weight_column="weight",
            time_column="time",
            **options,
        )
        for found, expected in [
            (again.original_ids(np.arange(40)), first.original_ids(np.arange(40))),
            (again.graph.indices, first.graph.indices),
            (again.graph.edge_ids("in"), first.graph.edge_ids("in")),
            (again.graph.weights("in"), first.graph.weights("in")),
            (again.graph.times("out"), first.graph.times("out")),
        ]:
            np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))
    with pytest.warns(UserWarning, match="original ids"):
        gm.convert(first.path, tmp_path / "internal.npy", internal_ids=True)
    assert np.load(tmp_path / "internal.npy").max() == 39
    with pytest.raises(gm.GraphmillError, match="no table"):
        gm.convert(first.path, tmp_path / "x.csv", table="x")


def test_an_undirected_file_is_not_made_undirected_twice(tmp_path: Path) -> None:
    edges = np.array([[0, 1, 2, 4], [1, 2, 2, 0]])
    gm.write_graph(tmp_path / "u.gl", edges, undirected=True)
    with pytest.warns(UserWarning, match="the mark as undirected is left out"):
        gm.convert(tmp_path / "u.gl", tmp_path / "old.gl", to="graphzero")
    for name, undirected in [("u.gl", True), ("u.gl", False), ("old.gl", True)]:
        ds = gm.build(tmp_path / "ds", edges=tmp_path / name, undirected=undirected, overwrite=True)
        assert (ds.graph.is_undirected, ds.num_edges) == (True, 8)
    ds = gm.build(tmp_path / "ds", edges=tmp_path / "u.gl", direction="both", overwrite=True)
    assert (ds.graph.is_undirected, ds.num_edges) == (False, 8)


def test_a_graph_without_edges_goes_everywhere(tmp_path: Path) -> None:
    gm.write_graph(tmp_path / "g.gl", np.zeros((2, 0), np.int64), num_nodes=3)
    with pytest.warns(UserWarning, match="3 nodes without edges"):
        gm.convert(tmp_path / "g.gl", tmp_path / "g.npy")
    for source in ("g.gl", "g.npy"):
        ds = gm.build(tmp_path / f"of {source}", edges=tmp_path / source, num_nodes=3)
        assert (ds.num_nodes, ds.num_edges) == (3, 0)
