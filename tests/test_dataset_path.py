"""What ``gm.open`` says of a path that is no dataset: what it found, and what to call instead."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import graphmill as gm


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    gm.build(tmp_path / "ds", edges=np.array([[0, 1], [1, 2]]))
    return tmp_path / "ds"


def test_the_home_folder_is_expanded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder.parent))
    assert gm.open("~/ds").num_nodes == 3
    with pytest.raises(gm.MissingError, match=rf"{folder.parent}/other"):
        gm.open("~/other")


def test_what_is_no_dataset_is_named_with_the_call_that_opens_it(
    folder: Path, tmp_path: Path
) -> None:
    gm.write_features(tmp_path / "x.gd", np.zeros((3, 2)))
    (tmp_path / "edges.csv").write_text("0,1\n")
    cases: list[tuple[Path | str, str]] = [
        (folder / "graph.1.gl", r"found a topology: open it with gm.Graph\("),
        (tmp_path / "x.gd", r"found a table: open it with gm.Features\("),
        (tmp_path / "edges.csv", r"found a file, .* gm.build\(OUT, edges="),
        ("s3://bucket/papers", "found a URL, .* download the dataset"),
        ("https://example.org/papers.tar", "found a URL, .* download the dataset"),
    ]
    for path, text in cases:
        with pytest.raises(ValueError, match=text):
            gm.open(path)
    missing = [
        (tmp_path, r"folder without dataset.json, .* gm.build\(OUT, edges="),
        (tmp_path / "missing", "found nothing there"),
    ]
    for path, text in missing:
        with pytest.raises(gm.MissingError, match=text):
            gm.open(path)


def test_a_damaged_dataset_is_not_mistaken_for_none(folder: Path) -> None:
    (folder / "graph.1.gl").unlink()
    with pytest.raises(gm.MissingError, match=r"graph\.1\.gl"):
        gm.open(folder)
