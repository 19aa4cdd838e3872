"""What a build says of itself: its report, its warnings, its log; and how a dataset is changed and removed."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import graphmill as gm
from tests.process import needs_proc

RING = [[0, 1, 2, 3], [1, 2, 3, 0]]


def test_a_report_counts_what_was_kept_left_out_and_filled(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("src,dst\n0,1\n0,1\n2,2\nx,1\n1,3\n")
    (tmp_path / "x.csv").write_text("id,a\n0,1\n2,oops\n1,5\n")
    with pytest.warns(UserWarning, match="skipped|without a row"):
        ds = gm.build(
            tmp_path / "set",
            tmp_path / "edges.csv",
            features=tmp_path / "x.csv",
            labels=["a", "b", "a", "c"],
            splits={"train": [1, 0]},
            dedup=True,
            drop_self_loops=True,
            on_bad_row="skip",
            memory="64MiB",
        )
    report = ds.build_report
    assert isinstance(report, gm.BuildReport)
    assert (report.num_nodes, report.num_edges) == (4, 2)
    edges = report.edges
    assert (edges.rows, edges.skipped, edges.duplicates, edges.self_loops) == (4, 1, 1, 1)
    assert "line 5" in edges.examples[0]
    x, y = report.tables["x"], report.tables["y"]
    assert (x.rows, x.skipped, x.filled, x.by_ids, x.columns) == (2, 1, 2, True, 1)
    assert (y.rows, y.filled, y.by_ids, y.classes, y.dtype) == (4, 0, False, 3, "int64")
    assert report.splits == {"train": 2}
    assert report.skipped == 2
    assert 0 < report.peak_memory <= 64 << 20
    assert report.bytes == sum(path.stat().st_size for path in (tmp_path / "set").glob("*.g?"))
    assert report.seconds >= sum(report.stages.values()) * 0.99
    assert "table x: 2 rows, 1 skipped, 2 filled" in str(report)
    assert gm.open(tmp_path / "set").build_report is None


def test_nodes_without_a_row_are_a_warning(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="without a row") as told:
        ds = gm.build(tmp_path / "set", RING, features=np.ones((2, 1)), labels=[1, 2, 3])
    first, second = (str(warning.message) for warning in told)
    assert "'x' has 2 rows for 4 nodes: 2 nodes without a row filled with zeros" in first
    assert "'y' has 3 rows for 4 nodes: 1 node without a row filled with -1" in second
    assert {Path(warning.filename).name for warning in told} == {"test_build_report.py"}
    assert ds.features is not None
    assert ds.features.numpy().tolist() == [[1], [1], [0], [0]]
    # Labels of some nodes, by their ids, are what they say.
    labels = {"id": [3, 1], "y": [7, 8]}
    ds = gm.build(tmp_path / "ids", RING, labels=labels)
    assert ds.build_report is not None
    assert ds.build_report.tables["y"].filled == 2


def test_the_log_has_progress_the_report_and_warnings(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    edges = np.random.default_rng(0).integers(0, 1000, size=(2, 400_000))
    with (
        caplog.at_level(logging.DEBUG, logger="graphmill"),
        pytest.warns(UserWarning, match="without a row"),
    ):
        gm.build(tmp_path / "set", edges, features=np.ones((2, 1)), order="visits", threads=1)
    levels = {record.levelno for record in caplog.records}
    assert levels == {logging.DEBUG, logging.INFO, logging.WARNING}
    assert {record.name for record in caplog.records} == {"graphmill"}
    messages = [record.getMessage() for record in caplog.records]
    assert any("400,000 edges" in message for message in messages)
    assert any(" of 400000" in message for message in messages)
    caplog.clear()
    gm.build(tmp_path / "quiet", RING)
    assert not [record for record in caplog.records if record.levelno < logging.INFO]


def test_warnings_are_not_printed_twice(tmp_path: Path) -> None:
    script = f"import graphmill as gm\ngm.build({str(tmp_path / 'set')!r}, [[0], [1]], labels=[1])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stderr.count("without a row") == 1, done.stderr


def test_a_removed_dataset_leaves_what_is_not_its_own(tmp_path: Path) -> None:
    ds = gm.build(tmp_path / "set", RING, labels=[0, 1, 2, 3], splits={"train": [0]})
    others = ["notes.txt", "graph.7.gl", "x.1.gd", "data.csv"]
    for name in others:
        (tmp_path / "set" / name).write_text("mine")
    gm.remove(tmp_path / "set")
    left = {path.name for path in (tmp_path / "set").iterdir()}
    assert {"notes.txt", "data.csv"} <= left
    assert left <= set(others)
    assert ds.split("train").tolist() == [0], "what is open stays readable"
    with pytest.raises(FileNotFoundError):
        gm.open(tmp_path / "set")
    with pytest.raises(FileNotFoundError):
        gm.remove(tmp_path / "set")
    gm.build(tmp_path / "alone", RING)
    gm.remove(tmp_path / "alone")
    assert not (tmp_path / "alone").exists()


def test_what_is_no_dataset_is_not_removed(tmp_path: Path) -> None:
    (tmp_path / "x.1.gd").write_text("mine")
    with pytest.raises(FileNotFoundError):
        gm.remove(tmp_path)
    (tmp_path / "dataset.json").write_text('{"name": "of another program"}')
    with pytest.raises(gm.GraphmillError):
        gm.remove(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"x.1.gd", "dataset.json"}


# Adds splits with fewer and fewer descriptors left, and prints which calls succeeded.
FEW = """
import resource, sys, os
import graphmill as gm
ds = gm.open(sys.argv[1])
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
for free in range(40, -1, -1):
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(200)]
    for descriptor in held[: max(free, 0)]:
        os.close(descriptor)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(held) + 1, hard))
    try:
        ds.add_split(f"s{free}", [free % 4])
        outcome = "added"
    except (OSError, gm.GraphmillError):
        outcome = "refused"
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    for descriptor in held[max(free, 0) :]:
        os.close(descriptor)
    seen = f"s{free}" in ds.splits
    print(free, outcome, seen, f"s{free}" in gm.open(sys.argv[1]).splits)
"""


@needs_proc
def test_a_change_that_is_refused_for_want_of_descriptors_was_not_made(tmp_path: Path) -> None:
    gm.build(tmp_path / "set", RING, features=np.ones((4, 1)))
    done = subprocess.run(
        [sys.executable, "-c", FEW, str(tmp_path / "set")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    outcomes = {outcome for _, outcome, _, _ in lines}
    assert outcomes == {"added", "refused"}
    for free, outcome, seen, published in lines:
        expected = str(outcome == "added")
        assert (seen, published) == (expected, expected), f"{free} descriptors: {outcome}"
