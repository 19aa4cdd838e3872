"""What a build from memory must not take without a word: words as ids, masks as ids, rows of nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

import graphmill as gm
from tests import memory_kinds as kinds
from tests.command import graphmill

RING = [[0, 1, 2, 3], [1, 2, 3, 0]]
WORDS = [["a", "b"], ["b", "c"]]


def test_words_as_ids_are_refused_before_a_dataset_is_replaced(tmp_path: Path) -> None:
    gm.build(tmp_path / "set", RING)
    sources = [kinds.word_vectors(column) for column in WORDS]
    made: list[Any] = [tuple(source[kind] for source in sources) for kind in sources[0]]
    made += kinds.tables({"src": WORDS[0], "dst": WORDS[1]}).values()
    made.append(kinds.graph_of([("a", "b"), ("b", "c")], [], [1.0, 1.0]))
    for edges in made:
        with pytest.raises(TypeError, match="string_ids=True"):
            gm.build(tmp_path / "set", edges, overwrite=True)
        assert gm.open(tmp_path / "set").num_edges == 4
        ds = gm.build(tmp_path / "words", edges, string_ids=True, overwrite=True)
        assert sorted(ds.original_ids([0, 1, 2])) == ["a", "b", "c"]
        assert ds.num_edges == 2


def test_words_as_ids_of_rows_and_splits_are_refused(tmp_path: Path) -> None:
    table = pd.DataFrame({"id": ["a", "b"], "x": [1.0, 2.0]})
    for role in ("features", "labels"):
        with pytest.raises(TypeError, match=r"string_ids=True"):
            gm.build(tmp_path / "set", RING, **{role: table})
    with pytest.raises(TypeError, match=r"table 'k' are words such as 'a'"):
        gm.build(tmp_path / "set", RING, tables={"k": table})
    with pytest.raises(gm.SourceError, match=r"string_ids=True"):
        gm.build(tmp_path / "set", RING, splits={"train": ["a", "b"]})


def test_numbers_are_words_where_ids_are_words(tmp_path: Path) -> None:
    """A column of a frame may have become numbers; its digits are the words."""
    x = pd.DataFrame({"id": [3, 1, 2], "x": [0.5, 1.5, 2.5]})
    edges = [["1", "2"], ["2", "3"]]
    splits = {"train": np.array([3, 1])}
    ds = gm.build(tmp_path / "set", edges, features=x, splits=splits, string_ids=True)
    assert ds.original_ids([0, 1, 2]).tolist() == ["1", "2", "3"]
    assert ds.table("x").numpy().tolist() == [[1.5], [2.5], [0.5]]
    assert ds.split("train").tolist() == ["3", "1"]


def test_edges_of_which_none_can_be_used_are_no_graph(tmp_path: Path) -> None:
    with pytest.raises(gm.SourceError, match="none of which can be used"):
        gm.build(tmp_path / "set", [[-1, -2], [0, 1]], on_bad_row="skip")
    with pytest.warns(UserWarning, match="the source has 2 edges, and none is stored"):
        gm.build(tmp_path / "set", [[0, 1], [0, 1]], drop_self_loops=True, num_nodes=2)
    assert gm.build(tmp_path / "none", [[], []], num_nodes=3).num_edges == 0


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8", "float64"])
def test_masks_of_0_and_1_are_not_read_as_ids(tmp_path: Path, dtype: str) -> None:
    mask = np.array([1, 0, 1, 0], dtype=dtype)
    np.save(tmp_path / "mask.npy", mask)
    (tmp_path / "mask.csv").write_text("1\n0\n1\n0\n")
    sources = [mask, torch.from_numpy(mask), pd.Series(mask), pl.Series(mask), mask.tolist()]
    for source in [*sources, tmp_path / "mask.npy", tmp_path / "mask.csv"]:
        with pytest.raises(gm.SourceError, match=r"all 0 or 1.*astype\(bool\)"):
            gm.build(tmp_path / "set", RING, splits={"train": source})
        with pytest.raises(gm.SourceError, match="all 0 or 1"):
            gm.build(tmp_path / "set", RING, splits={"train": source}, order="hot")
    done = graphmill(
        *("build", tmp_path / "cli", "--edges", _edges(tmp_path)),
        *("--split", f"train={tmp_path / 'mask.csv'}"),
        check=False,
    )
    assert done.returncode == 1
    assert "true and false" in done.stderr
    ds = gm.build(tmp_path / "set", RING, splits={"train": mask.astype(bool)})
    assert ds.split("train").tolist() == [0, 2]
    with pytest.raises(gm.SourceError, match="all 0 or 1"):
        ds.add_split("valid", mask.astype(np.int64))


def test_lists_of_0_and_1_alone_may_be_ids(tmp_path: Path) -> None:
    splits = {"a": [0, 1], "b": [1, 0], "c": [1], "d": np.array([0], dtype=np.uint8)}
    ds = gm.build(tmp_path / "set", RING, splits=splits)
    assert {name: ds.split(name).tolist() for name in ds.splits} == {
        **{"a": [0, 1], "b": [1, 0], "c": [1], "d": [0]}
    }


def test_an_id_that_a_split_lists_twice_is_named_with_both_positions(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("id\n3\n2\n1\n2\n3\n")
    edges: Any
    for options, edges, ids in (
        ({}, RING, [3, 2, 1, 2, 3]),
        ({"order": "hot"}, RING, [3, 2, 1, 2, 3]),
        ({"map_ids": True}, np.array(RING) * 10**9, [3 * 10**9, 2 * 10**9, 0, 2 * 10**9]),
        ({"string_ids": True}, (["x", "y"], ["y", "z"]), ["x", "y", "z", "y"]),
    ):
        with pytest.raises(
            gm.SourceError, match=rf"positions 1 and 3: found the id {ids[1]} twice"
        ):
            gm.build(tmp_path / "set", edges, splits={"train": ids}, **options)
        assert not (tmp_path / "set").exists()
    with pytest.raises(gm.SourceError, match=r"train\.csv`.*positions 1 and 3: found the id 2 tw"):
        gm.build(tmp_path / "set", RING, splits={"train": tmp_path / "train.csv"})
    ds = gm.build(tmp_path / "set", RING)
    with pytest.raises(gm.SourceError, match="positions 1 and 3: found the id 2 twice"):
        ds.add_split("train", [3, 2, 1, 2])
    assert ds.splits == []


def test_a_mask_may_stand_beside_its_ids(tmp_path: Path) -> None:
    frame = {"id": [3, 2, 1, 0], "train": [True, False, True, False]}
    flags = pd.Series(frame["train"], index=pd.Index(frame["id"], name="id"))
    splits = {**kinds.tables(frame), "index": kinds.indexed(frame, "id"), "series": flags}
    ds = gm.build(tmp_path / "set", RING, splits=splits)
    assert {name: ds.split(name).tolist() for name in ds.splits} == {
        name: [3, 1] for name in splits
    }
    with pytest.raises(ValueError, match="by its values or by its index"):
        gm.build(tmp_path / "two", RING, splits={"train": flags.astype(int)})
    (tmp_path / "mask.csv").write_text("id,train\n3,true\n2,false\n1,true\n")
    with pytest.raises(gm.SourceError, match="leave out the rows that are false"):
        gm.build(tmp_path / "two", RING, splits={"train": tmp_path / "mask.csv"})


def test_rows_without_columns_are_no_nodes(tmp_path: Path) -> None:
    """A header of 128 bytes may claim any number of them, each of which would take 16 bytes."""
    for order in ("C", "F"):
        np.save(tmp_path / "x.npy", np.zeros((1 << 27, 0), dtype=np.float32, order=order))
        assert (tmp_path / "x.npy").stat().st_size == 128
        for role in ("features", "labels"):
            with pytest.raises(gm.SourceError, match="134217728 rows without columns"):
                gm.build(tmp_path / "set", RING, **{role: cast(Any, tmp_path / "x.npy")})
    gm.write_features(tmp_path / "x.gd", np.zeros((1 << 27, 0), dtype=np.float32))
    for source in (
        tmp_path / "x.gd",
        np.zeros((4, 0)),
        torch.zeros(4, 0),
        pd.DataFrame(index=[0, 1]),
    ):
        with pytest.raises(gm.SourceError, match="rows without columns"):
            gm.build(tmp_path / "set", RING, features=source)
    assert not (tmp_path / "set").exists()


def test_edges_by_row_are_taken_where_they_cannot_be_columns(tmp_path: Path) -> None:
    expected = [[0, 1, 2], [1, 2, 0]]
    pairs = [(0, 1), (1, 2), (2, 0)]
    for number, edges in enumerate(
        [pairs, [list(pair) for pair in pairs], np.array(pairs), torch.tensor(pairs), expected]
    ):
        ds = gm.build(tmp_path / str(number), edges, edge_ids=True)
        assert ds.edge_index().tolist() == expected
    square = gm.build(tmp_path / "square", np.array([[0, 1], [2, 3]]), edge_ids=True)
    assert square.edge_index().tolist() == [[0, 1], [2, 3]], "[2, E] stays the rule"
    with pytest.raises(ValueError, match="two pairs or two columns"):
        gm.build(tmp_path / "doubt", [(0, 1), (2, 3)])
    for wrong in (np.zeros((3, 4), int), np.zeros(4, int), [[0], [1], [2]], iter([0]), {0, 1}, 7):
        with pytest.raises((ValueError, TypeError), match=r"\[2, E\]"):
            gm.build(tmp_path / "wrong", wrong)


def test_what_has_no_meaning_is_refused_with_its_remedy(tmp_path: Path) -> None:
    masked = np.ma.MaskedArray([1, 2, 3, 4], mask=np.arange(4) == 1)
    frame = pd.DataFrame({"a": [2**53 + 1, 1, 2, 3], "b": [0.5, 1, 2, 3]})
    refused: dict[str, dict[str, Any]] = {
        "filled": {"labels": masked},
        r"astype\('int64'\)": {"features": np.array(["2020"] * 4, dtype="datetime64[D]")},
        "stores integers": {"features": np.ones(4, dtype=complex)},
        "9007199254740993": {"features": frame},
        "collect": {"features": pl.LazyFrame({"a": [1]})},
        "expected words or integers": {"labels": [0.5, "a", None, "b"]},
    }
    for message, options in refused.items():
        with pytest.raises((TypeError, ValueError), match=message):
            gm.build(tmp_path / "set", RING, **options)
    with pytest.raises(TypeError, match="indices"):
        gm.build(tmp_path / "set", torch.eye(4).to_sparse())
    with pytest.raises(TypeError, match="from_pyg"):
        gm.build(tmp_path / "set", object())
    with pytest.raises(ValueError, match="given twice"):
        gm.build(tmp_path / "set", {"a": [0], "b": [1], "w": [1]}, weights=[1], weight_column="w")


def test_an_undirected_graph_of_networkx_is_stored_both_ways(tmp_path: Path) -> None:
    nx = pytest.importorskip("networkx")
    graph = nx.karate_club_graph()
    ds = gm.build(tmp_path / "set", graph, weight_column="weight")
    assert ds.num_edges == 2 * graph.number_of_edges()
    np.testing.assert_array_equal(ds.to_scipy().toarray(), nx.to_numpy_array(graph))
    grid = nx.grid_2d_graph(2, 2)
    with pytest.raises(TypeError, match="convert_node_labels_to_integers"):
        gm.build(tmp_path / "grid", grid)
    with pytest.raises(ValueError, match="no attribute 'cost'"):
        gm.build(tmp_path / "cost", graph, weight_column="cost")


def _edges(folder: Path) -> Path:
    path = folder / "edges.csv"
    path.write_text("0,1\n1,2\n2,3\n3,0\n")
    return path
