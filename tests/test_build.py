"""Datasets from raw sources: what comes out is what went in, whatever it came in."""

from __future__ import annotations

import gzip
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import graphmill as gm
from tests.command import graphmill

FACEBOOK = Path(__file__).parents[2] / "shared" / "data" / "facebook"


@pytest.fixture
def x() -> np.ndarray:
    """Features of 100 nodes in which every value is different."""
    return np.arange(100 * 4, dtype=np.float32).reshape(100, 4)


def in_lists(ds: gm.Dataset) -> list[list[int]]:
    """The in-neighbours of every node."""
    indptr, indices = ds.graph.csc()
    return [indices[a:b].tolist() for a, b in itertools.pairwise(indptr)]


def expected_in_lists(edges: np.ndarray, num_nodes: int) -> list[list[int]]:
    lists: list[list[int]] = [[] for _ in range(num_nodes)]
    for source, destination in edges.T.tolist():
        lists[destination].append(source)
    return [sorted(neighbours) for neighbours in lists]


def write_csv(path: Path, edges: np.ndarray, delimiter: str = ",", header: str = "") -> Path:
    lines = [delimiter.join(map(str, row)) for row in edges.T.tolist()]
    path.write_text("\n".join([header, *lines] if header else lines) + "\n")
    return path


def test_the_example_of_the_contract(tmp_path: Path, edges: np.ndarray, x: np.ndarray) -> None:
    write_csv(tmp_path / "edges.csv", edges, header="src,dst")
    labels = np.arange(100) % 7
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", labels)
    np.save(tmp_path / "train.npy", np.array([5, 3, 99]))
    ds = gm.build(
        tmp_path / "set",
        edges=tmp_path / "edges.csv",
        features=tmp_path / "x.npy",
        labels=tmp_path / "y.npy",
        splits={"train": tmp_path / "train.npy"},
        undirected=True,
        order="hot",
        memory="64MiB",
    )
    assert (ds.num_nodes, ds.num_edges) == (100, 2 * edges.shape[1])
    original = ds.original_ids(np.arange(100))
    degrees = np.bincount(edges.ravel(), minlength=100)
    expected = sorted(range(100), key=lambda node: (-degrees[node], node))
    assert original.tolist() == expected
    np.testing.assert_array_equal(ds.table("x").numpy(), x[original])
    np.testing.assert_array_equal(ds.table("y").numpy(), labels[original])
    assert ds.split("train").tolist() == [5, 3, 99]
    assert ds.node_ids([5, 3, 99]).tolist() == [expected.index(node) for node in (5, 3, 99)]


@pytest.mark.parametrize(
    "kind", ["csv", "tsv", "space", "gz", "npy", "npz", "parquet", "gl", "zst"]
)
def test_edges_from_every_kind_of_file(tmp_path: Path, edges: np.ndarray, kind: str) -> None:
    path = tmp_path / f"edges.{kind}"
    if kind == "npy":
        np.save(path, edges)
    elif kind == "npz":
        np.savez_compressed(path, edge_index=edges)
    elif kind == "gl":
        gm.write_graph(path, edges, direction="out")
    elif kind == "parquet":
        arrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(arrow.table({"src": edges[0], "dst": edges[1]}), path)
    elif kind == "gz":
        write_csv(tmp_path / "plain", edges)
        path.write_bytes(gzip.compress((tmp_path / "plain").read_bytes()))
    elif kind == "zst":
        zstandard = pytest.importorskip("zstandard")
        write_csv(tmp_path / "plain", edges)
        path.write_bytes(zstandard.compress((tmp_path / "plain").read_bytes()))
    else:
        write_csv(path, edges, {"csv": ",", "tsv": "\t", "space": " "}[kind], "# a comment")
    ds = gm.build(tmp_path / "set", edges=path, num_nodes=100)
    assert in_lists(ds) == expected_in_lists(edges, 100)


def frames(edges: np.ndarray) -> dict[str, Any]:
    columns = {"src": edges[0], "dst": edges[1], "w": np.ones(edges.shape[1])}
    made: dict[str, Any] = {}
    for name, make in {
        "pandas": lambda module: module.DataFrame(columns),
        "polars": lambda module: module.DataFrame(columns),
        "pyarrow": lambda module: module.table(columns),
    }.items():
        try:
            made[name] = make(__import__(name))
        except ImportError:
            continue
    return made


def test_edges_from_memory_of_every_kind(tmp_path: Path, edges: np.ndarray) -> None:
    sources = {
        "numpy": edges,
        "int32": edges.astype(np.int32),
        "uint64": edges.astype(np.uint64),
        "strided": np.repeat(edges, 2, axis=1)[:, ::2],
        "torch": torch.from_numpy(edges),
        "pair": (edges[0], torch.from_numpy(edges[1])),
        "lists": edges.tolist(),
        **frames(edges),
    }
    assert {"pandas", "pyarrow"} <= set(sources), "the test group installs them"
    for name, source in sources.items():
        ds = gm.build(tmp_path / name, edges=source, num_nodes=100)
        assert in_lists(ds) == expected_in_lists(edges, 100), name


def test_weights_and_times_follow_their_edges(tmp_path: Path, edges: np.ndarray) -> None:
    weights = np.arange(edges.shape[1], dtype=np.float32)
    for name, source in frames(edges).items():
        ds = gm.build(tmp_path / name, edges=source, weight_column="w")
        assert ds.graph.has_weights
    ds = gm.build(tmp_path / "set", edges=edges, weights=weights, times=weights.astype(np.int64))
    sample = ds.graph.sample(np.arange(90), [-1], direction="in")
    pairs = np.stack([sample.n_id[sample.row], sample.n_id[sample.col]])
    np.testing.assert_array_equal(edges[:, sample.e_id], pairs)


def test_tables_with_ids_in_any_order(tmp_path: Path, edges: np.ndarray, x: np.ndarray) -> None:
    shuffled = np.random.default_rng(1).permutation(100)[:95]
    lines = [f"{node}," + ",".join(map(str, x[node].tolist())) for node in shuffled.tolist()]
    (tmp_path / "x.csv").write_text("node_id,a,b,c,d\n" + "\n".join(lines) + "\n")
    expected = np.zeros_like(x)
    expected[shuffled] = x[shuffled]
    for order in ("none", "hot"):
        with pytest.warns(UserWarning, match="95 rows for 100 nodes: 5 nodes without a row"):
            ds = gm.build(
                tmp_path / order,
                edges=edges,
                features=tmp_path / "x.csv",
                order=order,
                num_nodes=100,
            )
        original = ds.original_ids(np.arange(ds.num_nodes))
        np.testing.assert_array_equal(ds.table("x").numpy(), expected[original])


def test_missing_rows_are_told_of(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("0,1\n1,5\n")
    (tmp_path / "x.csv").write_text("id,a\n4,4.5\n0,0.5\n")
    done = graphmill(
        *("build", tmp_path / "set", "--edges", tmp_path / "edges.csv"),
        *("--features", tmp_path / "x.csv"),
    )
    assert "4 rows without a source, filled" in done.stdout
    x = gm.open(tmp_path / "set").table("x").numpy()
    assert x.tolist() == [[0.5], [0], [0], [0], [4.5], [0]]


def test_files_side_by_side_and_one_after_another(
    tmp_path: Path, edges: np.ndarray, x: np.ndarray
) -> None:
    np.save(tmp_path / "left.npy", x[:, :3])
    np.save(tmp_path / "right.npy", x[:, 3:])
    np.save(tmp_path / "top.npy", x[:40])
    np.save(tmp_path / "bottom.npy", x[40:])
    np.save(tmp_path / "half.npy", x[:, :2])
    np.save(tmp_path / "rest.npy", x[:, 2:])
    names = {
        "widths": (["left", "right"], False),
        "said": (["half", "rest"], True),
        "after": (["top", "bottom"], False),
    }
    for name, (parts, side_by_side) in names.items():
        paths = [tmp_path / f"{part}.npy" for part in parts]
        for order in ("none", "hot"):
            ds = gm.build(
                tmp_path / f"{name}-{order}",
                edges=edges,
                features=paths,
                side_by_side=side_by_side,
                order=order,
            )
            original = ds.original_ids(np.arange(100))
            np.testing.assert_array_equal(ds.table("x").numpy(), x[original], err_msg=name)


def test_labels_as_words_are_numbered_by_name(tmp_path: Path) -> None:
    (tmp_path / "y.csv").write_text("id,kind\n2,tv show\n0,company\n1,\n")
    ds = gm.build(tmp_path / "set", edges=[[0, 1], [1, 2]], labels=tmp_path / "y.csv")
    assert ds.table("y").numpy().tolist() == [0, -1, 1]
    assert ds.classes == {"y": ["company", "tv show"]}
    ds = gm.build(tmp_path / "memory", edges=[[0, 1], [1, 2]], labels=["b", "a", "b"])
    assert ds.table("y").numpy().tolist() == [1, 0, 1]


def test_missing_labels_are_minus_one(tmp_path: Path) -> None:
    labels = np.array([[2.0], [np.nan], [0.0]], dtype=np.float32)
    with pytest.warns(UserWarning, match="3 rows for 4 nodes: 1 node without a row filled with -1"):
        ds = gm.build(tmp_path / "set", edges=[[0, 1], [1, 3]], labels=labels)
    assert ds.table("y").numpy().dtype == np.int64
    assert ds.table("y").numpy().tolist() == [2, -1, 0, -1]


@pytest.mark.parametrize("dtype", ["float16", "bf16", "float64"])
def test_features_change_their_type_on_the_way(
    tmp_path: Path, edges: np.ndarray, dtype: str
) -> None:
    x = np.random.default_rng(0).normal(size=(100, 5)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    ds = gm.build(tmp_path / "set", edges=edges, features=tmp_path / "x.npy", dtype=dtype)
    wanted = {"float16": torch.float16, "bf16": torch.bfloat16, "float64": torch.float64}[dtype]
    assert torch.equal(ds.table("x").torch(), torch.from_numpy(x).to(wanted))


def test_scattered_ids_stop_the_build_and_can_be_mapped(tmp_path: Path) -> None:
    ids = np.array([7_000_000_000, 12, 9_000_000_000_000_000_000 - 1, 500])
    edges = ids[np.array([[0, 1, 2, 0], [1, 2, 3, 0]])]
    with pytest.raises(gm.SourceError, match="map-ids"):
        gm.build(tmp_path / "set", edges=edges)
    assert not (tmp_path / "set").exists()
    for order in ("none", "hot"):
        ds = gm.build(tmp_path / order, edges=edges, map_ids=True, order=order)
        assert ds.num_nodes == 4
        original = ds.original_ids(np.arange(4))
        assert sorted(original.tolist()) == sorted(ids.tolist())
        np.testing.assert_array_equal(ds.node_ids(original), np.arange(4))
        pairs = {
            (int(original[neighbour]), int(original[node]))
            for node, neighbours in enumerate(in_lists(ds))
            for neighbour in neighbours
        }
        assert pairs == set(map(tuple, edges.T.tolist()))
        with pytest.raises((KeyError, IndexError, ValueError)):
            ds.node_ids([13])


def test_mapped_rows_need_ids(tmp_path: Path) -> None:
    edges = np.array([[10**12, 5], [5, 10**12]])
    with pytest.raises((gm.SourceError, ValueError), match="id"):
        gm.build(tmp_path / "set", edges=edges, features=np.zeros((2, 3)), map_ids=True)
    (tmp_path / "x.csv").write_text("id,a\n1000000000000,1\n77,7\n5,5\n")
    (tmp_path / "train.csv").write_text("77\n1000000000000\n")
    ds = gm.build(
        tmp_path / "set",
        edges=edges,
        features=tmp_path / "x.csv",
        splits={"train": tmp_path / "train.csv"},
        map_ids=True,
    )
    assert ds.num_nodes == 3, "a row of features is a node even without edges"
    assert ds.original_ids([0, 1, 2]).tolist() == [5, 77, 10**12]
    assert ds.table("x").numpy().ravel().tolist() == [5, 7, 1]
    assert ds.split("train").tolist() == [77, 10**12]


def test_words_as_ids(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("src,dst\nzoe,adam\nadam,änne\nzoe,änne\n")
    (tmp_path / "x.csv").write_text("id,a\nänne,3\nzoe,1\nadam,2\n")
    (tmp_path / "train.csv").write_text("zoe\nadam\n")
    for order in ("none", "hot"):
        ds = gm.build(
            tmp_path / order,
            edges=tmp_path / "edges.csv",
            features=tmp_path / "x.csv",
            splits={"train": tmp_path / "train.csv"},
            string_ids=True,
            order=order,
        )
        names = ds.original_ids(np.arange(3)).tolist()
        assert sorted(names) == ["adam", "zoe", "änne"]
        values = {"adam": 2, "zoe": 1, "änne": 3}
        assert ds.table("x").numpy().ravel().tolist() == [values[name] for name in names]
        assert ds.node_ids(["zoe"]).tolist() == [names.index("zoe")]
        assert ds.split("train").tolist() == ["zoe", "adam"]
        if order == "hot":
            assert names[0] == "zoe", "it occurs twice as an in-neighbour"


def test_masks_and_lists_make_the_same_split(tmp_path: Path, edges: np.ndarray) -> None:
    mask = np.zeros(100, dtype=bool)
    mask[[3, 50, 99]] = True
    np.save(tmp_path / "mask.npy", mask)
    (tmp_path / "mask.csv").write_text("".join(f"{value}\n" for value in mask.tolist()))
    (tmp_path / "list.csv").write_text("node_id\n3\n50\n99\n")
    splits: dict[str, Any] = {
        "array": mask,
        "tensor": torch.from_numpy(mask),
        "file": tmp_path / "mask.npy",
        "text": tmp_path / "mask.csv",
        "list": tmp_path / "list.csv",
        "ids": [3, 50, 99],
        "none": [],
    }
    for order in ("none", "hot"):
        ds = gm.build(tmp_path / order, edges=edges, splits=splits, num_nodes=100, order=order)
        for name in splits:
            expected = [] if name == "none" else [3, 50, 99]
            assert ds.split(name).tolist() == expected, name


def test_edge_features_join_by_edge_id(tmp_path: Path, edges: np.ndarray) -> None:
    rows = np.stack([edges[0], edges[1]], axis=1).astype(np.float32)
    for order in ("none", "hot"):
        ds = gm.build(tmp_path / order, edges=edges, edge_features=rows, num_nodes=100, order=order)
        assert ds.graph.has_edge_ids
        loader = gm.NeighborLoader(ds, fanouts=[-1], batch_size=100, seeds=np.arange(100))
        (batch,) = list(loader)
        ends = ds.original_ids(np.asarray(batch.n_id))[np.asarray(batch.edge_index)]
        np.testing.assert_array_equal(np.asarray(batch.edge_attr), ends.T)
    with pytest.raises(gm.SourceError, match="one for each row of the edges"):
        gm.build(tmp_path / "short", edges=edges, edge_features=rows[:-1])


def test_tables_of_edges_join_by_edge_id(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("10,20\n20,30\n30,10\n")
    (tmp_path / "kind.csv").write_text("kind\n4\n5\n6\n")
    tables = {"kind": tmp_path / "kind.csv", "cost": np.array([0.5, 1.5, 2.5])}
    edges = tmp_path / "edges.csv"
    ds = gm.build(tmp_path / "set", edges, edge_tables=tables, map_ids=True, order="hot")
    assert ds.edge_tables == ["cost", "kind"]
    assert ds.edge_table("kind").numpy().ravel().tolist() == [4, 5, 6]
    (batch,) = gm.NeighborLoader(ds, fanouts=[-1], batch_size=3, original=True)
    sources = np.asarray(batch.n_id)[np.asarray(batch.edge_index)[0]]
    assert (sources // 10 + 3).tolist() == np.ravel(batch.kind).tolist()
    assert (sources / 10 - 0.5).tolist() == np.ravel(batch.cost).tolist()
    (batch,) = gm.NeighborLoader(ds, fanouts=[-1], batch_size=3, edge_columns=["cost"])
    assert "cost" in batch
    assert "kind" not in batch


def test_tables_of_edges_are_refused_where_they_cannot_be_right(tmp_path: Path) -> None:
    edges, values = [[0, 1], [1, 2]], np.array([1, 2])
    with pytest.raises(gm.SourceError, match="one for each row of the edges"):
        gm.build(tmp_path / "short", edges, edge_tables={"kind": values[:1]})
    with pytest.raises(ValueError, match="self loops"):
        gm.build(tmp_path / "loops", edges, edge_tables={"kind": values}, add_self_loops=True)
    for taken in ({"tables": {"kind": [1, 2, 3]}}, {"labels": [0, 1, 0]}):
        name = "kind" if "tables" in taken else "y"
        with pytest.raises(ValueError, match="already"):
            gm.build(tmp_path / "taken", edges, edge_tables={name: values}, **taken)
    (tmp_path / "words.csv").write_text("kind\ncites\nmentions\n")
    with pytest.raises(gm.SourceError, match="cites"):
        gm.build(tmp_path / "words", edges, edge_tables={"kind": tmp_path / "words.csv"})
    assert not list(tmp_path.glob("*/dataset.json"))


def test_dedup_and_self_loops(tmp_path: Path) -> None:
    edges = [[0, 0, 1, 2, 0], [1, 1, 1, 0, 1]]
    ds = gm.build(tmp_path / "set", edges=edges, dedup=True, drop_self_loops=True)
    assert in_lists(ds) == [[2], [0], []]
    ds = gm.build(tmp_path / "loops", edges=edges, dedup=True, add_self_loops=True)
    assert [1 in neighbours for neighbours in in_lists(ds)][1]
    assert all(node in neighbours for node, neighbours in enumerate(in_lists(ds)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0,1\n1,x\n", ["line 2", "x"]),
        ("0,1\n1\n", ["line 2"]),
        ("0,1\n-1,2\n", ["line 2", "-1"]),
        ("0,1\n1,99999999999999999999\n", ["line 2", "99999999999999999999"]),
        ("0,1\n0,1.5\n", ["line 2", "1.5"]),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_written(
    tmp_path: Path, text: str, words: list[str]
) -> None:
    (tmp_path / "edges.csv").write_text(text)
    done = graphmill(
        "build", tmp_path / "set", "--edges", tmp_path / "edges.csv", "--num-nodes", 10, check=False
    )
    assert done.returncode == 1
    for word in ["edges.csv", *words]:
        assert word in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.csv"]


@pytest.mark.parametrize("text", ["", "src,dst\n"])
def test_a_text_without_edges_needs_the_number_of_nodes(tmp_path: Path, text: str) -> None:
    (tmp_path / "edges.csv").write_text(text)
    build = ["build", tmp_path / "set", "--edges", tmp_path / "edges.csv"]
    done = graphmill(*build, check=False)
    assert done.returncode == 1
    assert "edges.csv" in done.stderr
    assert "no edge" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.csv"]
    graphmill(*build, "--num-nodes", 10)
    ds = gm.open(tmp_path / "set")
    assert (ds.num_nodes, ds.num_edges) == (10, 0)


def test_bad_rows_are_skipped_and_counted_on_request(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("0,1\nx,2\n1,2\n2\n")
    done = graphmill(
        *("build", tmp_path / "set", "--edges", tmp_path / "edges.csv"),
        *("--on-bad-row", "skip"),
    )
    assert "2 rows of edges skipped" in done.stderr
    assert "line 2" in done.stderr
    assert gm.open(tmp_path / "set").num_edges == 2


@pytest.mark.parametrize("weight", ["nan", "-1", "inf", "heavy"])
def test_weights_must_be_weights(tmp_path: Path, weight: str) -> None:
    (tmp_path / "edges.csv").write_text(f"s,d,w\n0,1,1.5\n1,2,{weight}\n")
    with pytest.raises(gm.SourceError, match="line 3"):
        gm.build(tmp_path / "set", edges=tmp_path / "edges.csv", weight_column="w")


def test_what_cannot_be_read_is_an_error_and_the_old_dataset_stays(tmp_path: Path) -> None:
    edges = [[0, 1], [1, 2]]
    gm.build(tmp_path / "set", edges=edges, features=np.ones((3, 1)))
    (tmp_path / "ragged.csv").write_text("1,2\n3\n")
    (tmp_path / "text.csv").write_text("1,2\n3,four\n")
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    for name in ["missing.csv", "ragged.csv", "text.csv", "objects.npy", "."]:
        with pytest.raises((gm.GraphmillError, OSError)):
            gm.build(tmp_path / "set", edges=edges, features=tmp_path / name, overwrite=True)
        ds = gm.open(tmp_path / "set")
        assert ds.table("x").numpy().tolist() == [[1], [1], [1]]
    with pytest.raises((gm.GraphmillError, OSError), match="exist"):
        gm.build(tmp_path / "set", edges=edges)


def test_the_source_is_never_the_target(tmp_path: Path) -> None:
    ds = gm.build(tmp_path / "set", edges=[[0, 1], [1, 2]])
    (graph,) = Path(ds.path).glob("graph.*.gl")
    with pytest.raises((gm.GraphmillError, ValueError), match="source and target"):
        gm.build(tmp_path / "set", edges=graph, overwrite=True)
    assert graph.exists()


@pytest.mark.skipif(not FACEBOOK.exists(), reason="the shared graph is not beside this checkout")
def test_a_real_graph_with_words_as_labels(tmp_path: Path) -> None:
    done = graphmill(
        *("build", tmp_path / "set", "--edges", FACEBOOK / "facebook_edges.csv", "--undirected"),
        *("--labels", FACEBOOK / "facebook_target.csv", "--label-column", "page_type"),
        *("--order", "hot"),
    )
    assert "22,470 nodes, 342,004 undirected edges" in done.stdout
    ds = gm.open(tmp_path / "set")
    assert ds.classes["y"] == ["company", "government", "politician", "tvshow"]
    graphmill("verify", tmp_path / "set")


@pytest.mark.parametrize("ids", ["integers", "words"])
def test_tables_of_parquet_go_with_mapped_ids(tmp_path: Path, ids: str) -> None:
    """The pass that collects ids opened features as text, and refused them."""
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    names: list[Any] = [900, 7, 50_000] if ids == "integers" else ["b", "a", "c d"]
    edges = arrow.table({"src": names[:2], "dst": names[1:]})
    parquet.write_table(edges, tmp_path / "edges.parquet")
    features = arrow.table({"node_id": names, "u": [0.5, 1.5, 2.5], "v": [3, 4, 5]})
    parquet.write_table(features, tmp_path / "x.parquet")
    labels = arrow.table({"node_id": names, "y": [1, None, 0]})
    parquet.write_table(labels, tmp_path / "y.parquet")
    options: dict[str, Any] = {"map_ids": True} if ids == "integers" else {"string_ids": True}
    paths: dict[str, Any] = {
        "features": tmp_path / "x.parquet",
        "labels": tmp_path / "y.parquet",
    }
    ds = gm.build(tmp_path / "set", edges=tmp_path / "edges.parquet", **paths, **options)
    flag = "--map-ids" if ids == "integers" else "--string-ids"
    files = ["--edges", tmp_path / "edges.parquet", "--features", paths["features"]]
    graphmill("build", tmp_path / "by-command", *files, "--labels", paths["labels"], flag)
    for built in (ds, gm.open(tmp_path / "by-command")):
        order = built.node_ids(names)
        assert built.features is not None
        assert built.labels is not None
        assert built.features.numpy()[order].tolist() == [[0.5, 3], [1.5, 4], [2.5, 5]]
        assert built.labels.numpy()[order].tolist() == [1, -1, 0]
