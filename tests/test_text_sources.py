"""What stands in a text, and in tables with names, is what a dataset holds: rows, ids and endpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphmill as gm


def edges_of(ds: gm.Dataset) -> list[tuple[int, int]]:
    return [
        (source, int(target))
        for source in range(ds.num_nodes)
        for target in ds.graph.neighbors(source)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1\n\n3\n4\n", [1, -1, 3, 4]),
        ("NA\n2\n3\n4\n", [-1, 2, 3, 4]),
        ("?\n-\nnull\n4", [-1, -1, -1, 4]),
        ("label\n1\n\n\n4\n", [1, -1, -1, 4]),
    ],
)
def test_labels_stay_with_their_nodes_whatever_is_missing(
    tmp_path: Path, text: str, expected: list[int]
) -> None:
    (tmp_path / "y.csv").write_text(text)
    ds = gm.build(tmp_path / "d", [[0, 1, 2], [1, 2, 3]], labels=tmp_path / "y.csv")
    assert ds.labels is not None
    assert ds.labels.numpy().tolist() == expected


@pytest.mark.parametrize("text", ["a\n# b\nc\na\n", "1\n#2\n3\n4\n", "genre\na\nb\na\n"])
def test_a_line_in_doubt_stops_the_build_with_its_number(tmp_path: Path, text: str) -> None:
    (tmp_path / "y.csv").write_text(text)
    with pytest.raises(gm.SourceError, match=r"y\.csv`, line \d: found \".*which may"):
        gm.build(tmp_path / "d", [[0, 1], [1, 2]], labels=tmp_path / "y.csv")


def test_a_header_of_words_is_settled_by_the_keyword_that_the_error_names(tmp_path: Path) -> None:
    (tmp_path / "y.csv").write_text("genre\na\nb\na\n")
    (tmp_path / "e.npy").write_bytes(b"")
    np.save(tmp_path / "e.npy", np.array([[0, 1], [1, 2]]))
    options: dict[str, Any] = {"edges": tmp_path / "e.npy", "labels": tmp_path / "y.csv"}
    with pytest.raises(gm.SourceError, match="header=True or header=False"):
        gm.build(tmp_path / "d", **options)
    ds = gm.build(tmp_path / "d", **options, header=True)
    assert (ds.num_nodes, ds.classes["y"]) == (3, ["a", "b"])
    # Where the number of nodes is known, it decides too.
    settling: list[dict[str, Any]] = [{"num_nodes": 3}, {"features": np.zeros((3, 1))}]
    for number, known in enumerate(settling):
        ds = gm.build(tmp_path / f"header-{number}", **options, **known)
        assert (ds.num_nodes, ds.classes["y"]) == (3, ["a", "b"])
    ds = gm.build(tmp_path / "row", **options, num_nodes=4)
    assert (ds.num_nodes, ds.classes["y"]) == (4, ["a", "b", "genre"])


IDS = ["ada", " ada", "ada ", "7", " 7", 'q"t', "a,b", "#x", "Zoë"]


def quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


@pytest.mark.parametrize("quote", [True, False])
def test_ids_that_are_words_are_kept_exactly_everywhere(tmp_path: Path, quote: bool) -> None:
    def field(word: str) -> str:
        plain = not quote and not any(sign in word for sign in '",#')
        return word if plain else quoted(word)

    pairs = list(zip(IDS, IDS[1:] + IDS[:1], strict=True))
    lines = [f"{field(a)},{field(b)}\n" for a, b in pairs]
    (tmp_path / "e.csv").write_text("".join(lines))
    rows = [f"{field(word)},{number}\n" for number, word in enumerate(IDS)]
    (tmp_path / "x.csv").write_text("id,x\n" + "".join(rows))
    (tmp_path / "train.csv").write_text("".join(f"{field(word)}\n" for word in IDS[:4]))
    ds = gm.build(
        tmp_path / "d",
        tmp_path / "e.csv",
        features=tmp_path / "x.csv",
        labels=tmp_path / "x.csv",
        splits={"train": tmp_path / "train.csv"},
        string_ids=True,
    )
    assert ds.num_nodes == len(IDS)
    numbers = ds.node_ids(IDS)
    assert list(ds.original_ids(numbers)) == IDS
    assert ds.features is not None
    assert ds.labels is not None
    assert ds.features.gather(numbers)[:, 0].tolist() == list(range(len(IDS)))
    assert ds.labels.gather(numbers).tolist() == list(range(len(IDS)))
    assert list(ds.split("train")) == IDS[:4]
    expected = {(a, b) for a, b in zip(numbers, np.roll(numbers, -1), strict=True)}
    assert set(edges_of(ds)) == expected
    in_memory = gm.build(tmp_path / "m", tuple(zip(*pairs, strict=True)), string_ids=True)
    assert list(in_memory.original_ids(in_memory.node_ids(IDS))) == IDS


def test_endpoints_are_columns_by_name_in_every_kind_of_table(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    columns: dict[str, Any] = {"weight": [0.5, 2.0], "Source": [0, 1], "to_id": [1, 2]}
    frame = pandas.DataFrame(columns)
    frame.to_csv(tmp_path / "e.csv", index=False)
    frame.to_csv(tmp_path / "indexed.csv")
    frame.to_parquet(tmp_path / "e.parquet")
    sources = [frame, polars.DataFrame(columns), "e.csv", "indexed.csv", "e.parquet"]
    for number, source in enumerate(sources):
        edges = tmp_path / source if isinstance(source, str) else source
        ds = gm.build(tmp_path / str(number), edges, weight_column="weight")
        assert edges_of(ds) == [(0, 1), (1, 2)], source
        # Without the name of a source, the weight is none all the same.
        turned = gm.build(tmp_path / f"{number}t", edges, src_column="to_id", dst_column="source")
        assert edges_of(turned) == [(1, 0), (2, 1)], source


def test_a_doubtful_choice_of_endpoints_stops_and_names_the_keywords(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [7, 8], "paper": [0, 1], "cites": [1, 2]})
    frame.to_csv(tmp_path / "e.csv", index=False)
    frame.to_parquet(tmp_path / "e.parquet")
    for edges in [frame, tmp_path / "e.csv", tmp_path / "e.parquet"]:
        with pytest.raises(gm.SourceError, match=r"src_column=\.\.\. and dst_column=\.\.\."):
            gm.build(tmp_path / "d", edges, overwrite=True)
        ds = gm.build(tmp_path / "d", edges, src_column="paper", dst_column=2, overwrite=True)
        assert edges_of(ds) == [(0, 1), (1, 2)]
    gm.convert(tmp_path / "e.csv", tmp_path / "g.gl", src_column=1, dst_column="cites")
    assert gm.Graph(tmp_path / "g.gl").num_edges == 2


def test_words_read_as_numbers_name_the_keyword_that_reads_words(tmp_path: Path) -> None:
    for text in ["ada,bob\n", "ada,bob\nbob,cy\n"]:
        (tmp_path / "e.csv").write_text(text)
        with pytest.raises(gm.SourceError, match="string_ids=True"):
            gm.build(tmp_path / "d", tmp_path / "e.csv")
