"""What rows of a source mean: which node a label belongs to, which words are classes, what cannot be stored."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import graphmill as gm
import graphmill.graphzero as gz

EDGES = [[0, 1, 2], [1, 2, 0]]


def written(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def test_a_bad_row_of_a_table_without_ids_is_never_left_out(tmp_path: Path) -> None:
    # The rows behind it would become those of other nodes.
    features = written(tmp_path / "x.csv", "1,2\n3,foo\n4,5\n")
    with pytest.raises(gm.SourceError, match="line 2") as error:
        gm.build(tmp_path / "d", EDGES, features=features, on_bad_row="skip")
    assert "foo" in str(error.value)
    with pytest.raises(gm.SourceError, match="line 2"):
        gm.convert(features, tmp_path / "x.gd", on_bad_row="skip")
    labels = written(tmp_path / "y.csv", "0\nx\n2\n")
    with pytest.raises(gm.SourceError, match="line 2"):
        gm.build(tmp_path / "d", EDGES, labels=labels, on_bad_row="skip")


def test_a_bad_row_of_a_table_with_ids_is_left_out_where_that_is_asked_for(tmp_path: Path) -> None:
    features = written(tmp_path / "x.csv", "id,a,b\n0,1,2\n1,3,foo\n2,4,5\n")
    with pytest.warns(UserWarning, match="skipped|without a row") as told:
        ds = gm.build(tmp_path / "d", EDGES, features=features, on_bad_row="skip")
    skipped, filled = (str(warning.message) for warning in told)
    assert "1 row of the sources skipped" in skipped
    assert "line 3, column 3" in skipped
    assert "1 node without a row filled with zeros" in filled
    assert ds.features is not None
    assert np.array_equal(ds.features.numpy(), [[1, 2], [0, 0], [4, 5]])


@pytest.mark.parametrize("first", ["", "nan", "NaN"])
def test_words_are_classes_and_what_is_missing_is_none_wherever_it_stands(
    tmp_path: Path, first: str
) -> None:
    labels = written(tmp_path / "y.csv", f"id,y\n0,{first}\n1,cat\n2,nan\n3,\n4,ant\n")
    ds = gm.build(tmp_path / "d", EDGES, labels=labels)
    assert ds.labels is not None
    assert ds.labels.numpy().tolist() == [-1, 1, -1, -1, 0]
    assert ds.classes == {"y": ["ant", "cat"]}


def test_a_missing_first_label_does_not_turn_numbers_into_words(tmp_path: Path) -> None:
    labels = written(tmp_path / "y.csv", "id,y\n0,\n1,7\n2,nan\n")
    ds = gm.build(tmp_path / "d", EDGES, labels=labels)
    assert ds.labels is not None
    assert ds.labels.numpy().tolist() == [-1, 7, -1]
    assert not ds.classes


def test_a_word_among_numbers_is_still_refused(tmp_path: Path) -> None:
    labels = written(tmp_path / "y.csv", "id,y\n0,3\n1,cat\n")
    with pytest.raises(gm.SourceError, match="cat"):
        gm.build(tmp_path / "d", EDGES, labels=labels)


def test_labels_have_one_column(tmp_path: Path) -> None:
    words = written(tmp_path / "y.csv", "id,name,kind\n0,a,x\n1,b,x\n2,c,z\n")
    with pytest.raises(gm.SourceError, match="2 columns") as error:
        gm.build(tmp_path / "d", EDGES, labels=words)
    assert "label_column" in str(error.value)
    ds = gm.build(tmp_path / "d", EDGES, labels=words, label_column="kind")
    assert ds.classes == {"y": ["x", "z"]}
    numbers = written(tmp_path / "n.csv", "3,5\n0,2\n1,1\n")
    for labels in (numbers, np.ones((3, 2), np.int64)):
        with pytest.raises(gm.SourceError, match="2 columns"):
            gm.build(tmp_path / "e", EDGES, labels=labels)
    column = gm.build(tmp_path / "e", EDGES, labels=np.array([[4], [5], [6]]))
    assert column.labels is not None
    assert column.labels.shape == (3,)


def test_words_of_several_columns_are_no_table(tmp_path: Path) -> None:
    words = written(tmp_path / "k.csv", "a,1\nb,2\nc,3\n")
    with pytest.raises(gm.SourceError, match="2 columns"):
        gm.build(tmp_path / "d", EDGES, tables={"k": words})


def test_edges_that_are_added_have_no_features(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="self loops"):
        gm.build(
            tmp_path / "d", EDGES, edge_features=np.ones((3, 1), np.float32), add_self_loops=True
        )


def test_one_wild_id_does_not_fill_the_disk(tmp_path: Path) -> None:
    edges = written(tmp_path / "e.csv", "0,1\n1,30000000\n")
    with pytest.raises(gm.SourceError, match="largest id of 30000000"):
        gm.convert(edges, tmp_path / "g.gl")
    with pytest.raises(gm.SourceError, match="largest id of 30000000"):
        gz.convert_csv_to_gl(edges, str(tmp_path / "g.gl"))
    assert not (tmp_path / "g.gl").exists()
    # Small gaps are as they always were, and so is who says that there are that many.
    small = written(tmp_path / "s.csv", "0,1\n1,3000\n")
    gm.convert(small, tmp_path / "s.gl")
    assert gm.Graph(tmp_path / "s.gl").num_nodes == 3001
    gm.convert(edges, tmp_path / "g.gl", num_nodes=30_000_001)
    assert gm.Graph(tmp_path / "g.gl").num_nodes == 30_000_001


def test_a_named_column_tells_that_there_is_a_header(tmp_path: Path) -> None:
    edges = written(tmp_path / "e.csv", "user,item,rating\nalice,p1,0.5\nbob,p2,2\n")
    ds = gm.build(tmp_path / "d", edges, string_ids=True, weight_column="rating")
    assert ds.num_nodes == 4
    assert sorted(ds.graph.weights().tolist()) == [0.5, 2.0]


def test_words_and_booleans_of_parquet_are_classes_and_flags(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")

    def written_as(name: str, column: list[object]) -> Path:
        parquet.write_table(arrow.table({"value": column}), tmp_path / f"{name}.parquet")
        return tmp_path / f"{name}.parquet"

    words = written_as("words", ["paper", None, "book"])
    flags = written_as("flags", [True, False, True])
    ds = gm.build(
        tmp_path / "set",
        EDGES,
        labels=words,
        tables={"kind": words, "flag": flags},
        num_nodes=3,
    )
    assert ds.table("y").numpy().tolist() == [1, -1, 0]
    assert ds.classes["y"] == ["book", "paper"]
    assert ds.classes["kind"] == ["book", "paper"]
    assert ds.table("flag").numpy().ravel().tolist() == [True, False, True]
    ds = gm.build(tmp_path / "flags", EDGES, labels=flags)
    assert ds.table("y").numpy().tolist() == [1, 0, 1]
    with pytest.raises(gm.SourceError, match="value of type"):
        gm.build(tmp_path / "features", EDGES, features=words)


def test_an_index_of_pandas_is_a_column_of_ids_only_by_its_name(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    edges = [[0, 1, 2], [1, 2, 0]]
    rows = {"a": [1.0, 2.0, 3.0]}
    for number, (name, expected) in enumerate(
        [("id", [3, 2, 1]), ("Node_ID", [3, 2, 1]), ("paper", [1, 2, 3]), (None, [1, 2, 3])]
    ):
        frame = pd.DataFrame(rows, index=pd.Index([2, 1, 0], name=name))
        for part, table in enumerate((frame, frame["a"])):
            ds = gm.build(tmp_path / f"{number}{part}", edges, features=table)
            assert ds.features is not None
            assert ds.features.numpy().ravel().tolist() == expected
    frame = pd.DataFrame(rows, index=pd.Index([2, 1, 0], name="paper"))
    ds = gm.build(tmp_path / "named", edges, features=frame, id_column="paper")
    assert ds.features is not None
    assert ds.features.numpy().tolist() == [[3], [2], [1]]
    levels = frame.set_index(pd.MultiIndex.from_tuples([(0, 0), (1, 1), (2, 2)], names=["id", "b"]))
    with pytest.raises(TypeError, match="reset_index"):
        gm.build(tmp_path / "levels", edges, features=levels)
    for pair in itertools.pairwise(["id", "node_id", "id"]):
        both = pd.DataFrame({pair[0]: [0, 1, 2], **rows}, index=pd.Index([2, 1, 0], name=pair[1]))
        ds = gm.build(tmp_path / f"both {pair[0]}", edges, features=both)
        assert ds.features is not None
        assert ds.features.numpy().ravel().tolist() == [1, 2, 3]
