"""Bad files and bad arguments: errors of ours, never a crash, a panic or a bomb."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import graphmill as gm
import graphmill.graphzero as gz
from tests.renumbering import by_heat, write_dataset
from tests.rounds import piece, rounds

ROOT = Path(__file__).parents[1]


def attack(module: str, folder: Path, *arguments: object) -> str:
    """Run an attack in its own process; a crash, a panic or a strange exception fails."""
    done = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=200 if rounds(1) == 1 else 3000,
    )
    last = folder / "last-call.txt"
    called = last.read_text() if last.exists() else "see the tried file"
    assert done.returncode == 0, (
        f"exit {done.returncode} in {folder}: {called}\n{done.stderr[-3000:]}"
    )
    assert "panicked" not in done.stderr, done.stderr[-3000:]
    return done.stdout


@pytest.fixture
def victims(tmp_path: Path, papers: Path) -> Path:
    """Small valid files of every kind."""
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 60, size=(2, 300))
    weights = rng.random(300)
    graph = tmp_path / "graph-both.gl"
    gm.write_graph(graph, edges, num_nodes=64, weights=weights)
    gm.write_graph(tmp_path / "graph-undirected.gl", edges, undirected=True)
    gm.write_graph(tmp_path / "graph-wide.gl", edges, times=range(300), encoding="i64")
    gm.write_graph(tmp_path / "graph-empty.gl", np.zeros((2, 0), dtype=np.int64), num_nodes=3)
    gm.write_features(tmp_path / "table-x.gd", rng.random((50, 7)).astype(np.float32))
    gm.write_features(tmp_path / "table-aligned.gd", rng.random((9, 3)), align_rows=True)
    gm.write_features(tmp_path / "table-y.gd", rng.integers(0, 9, 40))
    gm.write_features(tmp_path / "table-b.gd", rng.integers(0, 2, (40, 3)).astype(bool))
    for name in ("both", "undirected"):
        source = tmp_path / f"graph-{name}.gl"
        # Ids of edges and the mark as undirected stay behind.
        with pytest.warns(UserWarning, match="left out"):
            gm.convert(source, tmp_path / f"oldgraph-{name}.gl", to="graphzero")
    gm.convert(tmp_path / "table-x.gd", tmp_path / "oldtable-x.gd", to="graphzero")
    shutil.copytree(papers, tmp_path / "dataset")
    write_dataset(
        tmp_path / "renumbered",
        edges,
        by_heat(edges, 64),
        names=[f"node {node:02}" for node in range(64)],
        tables={"x": rng.random((64, 3)), "y": rng.integers(0, 2, 64)},
        splits={"train": np.arange(40)},
        classes={"y": ["cat", "dog"]},
    )
    return tmp_path


@pytest.mark.parametrize(
    ("kind", "times"),
    [
        *(("graph", 800), ("table", 800), ("oldgraph", 500), ("oldtable", 500)),
        *(("dataset", 200), ("renumbered", 400)),
    ],
)
def test_mutated_files_give_errors_and_never_a_crash(victims: Path, kind: str, times: int) -> None:
    outcomes = attack("tests.hostile", victims, kind, 1 + piece(), rounds(times))
    # The mutations are neither all refused at the door nor all harmless.
    assert "answered" in outcomes
    assert "CorruptError" in outcomes
    print(outcomes)


def test_arguments_of_every_type_give_errors_and_never_a_crash(victims: Path) -> None:
    attack("tests.hostile_arguments", victims, rounds(800))


def test_a_crash_of_an_attack_is_seen(tmp_path: Path) -> None:
    (tmp_path / "crash.py").write_text("import os\nos.abort()\n")
    with pytest.raises(AssertionError, match="exit -6"):
        attack("crash", tmp_path)
    (tmp_path / "panic.py").write_text("import sys\nprint('panicked at', file=sys.stderr)\n")
    with pytest.raises(AssertionError, match="panicked"):
        attack("panic", tmp_path)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from([b"", b"\x89GML\r\n\x1a\n", b"\x89GMD\r\n\x1a\n", b"graphlit", b"GZDATA26"]),
    st.binary(max_size=300),
    st.sampled_from([0, 0, 32, 64, 4096, 8192]),
)
def test_random_bytes_are_refused(tmp_path: Path, magic: bytes, body: bytes, length: int) -> None:
    path = tmp_path / "random"
    path.write_bytes((magic + body).ljust(length, b"\0"))
    for opener in (gm.Graph, gm.Features, gz.Graph, gz.FeatureStore, gm.open):
        try:
            opened = opener(path)
        except (gm.GraphmillError, OSError, ValueError) as error:
            message = str(error)
        else:
            # Without a checksum, random bytes may happen to describe an empty table of GraphZero's.
            assert magic == b"GZDATA26"
            assert isinstance(opened, (gm.Features, gz.FeatureStore))
            assert gm.Features(path).nbytes == path.stat().st_size - 32
            continue
        assert "random" in message
    folder = tmp_path / "folder"
    folder.mkdir(exist_ok=True)
    (folder / "dataset.json").write_bytes(body)
    with pytest.raises((gm.GraphmillError, OSError, ValueError)):
        gm.open(folder)
