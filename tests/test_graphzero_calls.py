"""The drop-in refuses the arguments that GraphZero refuses, call by call."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("graphzero", reason="compares with GraphZero itself: pip install graphzero")

# Arguments of wrong number, name or type; GraphZero would crash on wrong values of the right one.
CALLS = """
gz.convert_csv_to_gd("x.csv", "new.gd")
gz.convert_csv_to_gd("x.csv", "new.gd", None)
gz.convert_csv_to_gd("x.csv", "new.gd", "float32")
gz.convert_csv_to_gd("x.csv", "new.gd", kind=gz.DataType.INT32)
gz.convert_csv_to_gd("x.csv")
gz.convert_csv_to_gl("edges.csv")
gz.convert_csv_to_gl("edges.csv", "new.gl", "no")
gz.convert_csv_to_gl("edges.csv", "new.gl", 1)
gz.convert_csv_to_gl("edges.csv", "new.gl", None)
gz.Graph()
gz.Graph(3)
gz.Graph(path="edges.gl")
gz.FeatureStore(None)
g.get_degree()
g.get_degree(1.0)
g.get_neighbours(1.5)
g.get_neighbours(None)
g.get_weights("a")
g.batch_random_walk([0])
g.batch_random_walk(0, 2)
g.batch_random_walk([0.5], 2)
g.batch_random_walk([0], 2.0)
g.batch_random_walk([0], 2, "1", 1.0)
g.batch_random_walk_uniform([0], 2, 1.0)
g.batch_random_walk_uniform(None, 2)
g.batch_random_fanout([0])
g.batch_random_fanout([0], 1.0)
g.sample_neighbours([0], 2)
g.sample_neighbours(0, None)
x.get_data(1.0)
x.get_data()
""".strip().splitlines()
# Calls of right arguments, whose answers are the same words.
ANSWERS = """
gz.DataType.INT32
list(gz.DataType)
gz.DataType(2)
gz.convert_csv_to_gd("x.csv", "new.gd", 2)
gz.convert_csv_to_gd(csv_path="x.csv", out_path="new.gd", dtype=gz.DataType.INT64)
gz.convert_csv_to_gl(csv_path="edges.csv", out_path="new.gl", directed=True)
sorted(gz.__all__)
g.get_degree(node_id=0)
g.get_neighbours(node_id=0).tolist()
g.batch_random_walk(start_nodes=[0], walk_length=2, p=1.0, q=1.0).shape
g.batch_random_walk_uniform(start_nodes=[], walk_length=2).shape
g.batch_random_fanout(start_nodes=[0], K=0).shape
g.sample_neighbours(start_node=0, K=0).tolist()
x.get_data(node_id=1).tolist()
""".strip().splitlines()

SCRIPT = """
import sys, {module} as gz
sys.stdout.flush()
gz.convert_csv_to_gl("edges.csv", "edges.gl", True)
gz.convert_csv_to_gd("x.csv", "x.gd", gz.DataType.FLOAT32)
g, x = gz.Graph("edges.gl"), gz.FeatureStore("x.gd")
for call in {calls!r}:
    try:
        print("answer", repr(eval(call)), file=sys.stderr)
    except Exception as error:
        print("answer", type(error).__name__, file=sys.stderr)
"""


def answers(folder: Path, module: str, calls: list[str]) -> list[str]:
    folder.mkdir()
    (folder / "edges.csv").write_text("0,1\n0,2\n1,2\n")
    (folder / "x.csv").write_text("0,1,2\n1,3,4\n2,5,6\n")
    script = SCRIPT.format(module=module, calls=calls)
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, timeout=120
    )
    found = [line for line in done.stderr.splitlines() if line.startswith("answer ")]
    assert len(found) == len(calls), done.stderr
    return found


def test_wrong_arguments_are_type_errors_in_both(tmp_path: Path) -> None:
    theirs = answers(tmp_path / "theirs", "graphzero", CALLS)
    ours = answers(tmp_path / "ours", "graphmill.graphzero", CALLS)
    assert set(theirs) == {"answer TypeError"}
    assert dict(zip(CALLS, ours, strict=True)) == dict(zip(CALLS, theirs, strict=True))
    assert not (tmp_path / "ours" / "new.gl").exists()
    assert not (tmp_path / "ours" / "new.gd").exists()


def test_right_arguments_have_the_same_answers(tmp_path: Path) -> None:
    theirs = answers(tmp_path / "theirs", "graphzero", ANSWERS)
    ours = answers(tmp_path / "ours", "graphmill.graphzero", ANSWERS)
    assert dict(zip(ANSWERS, ours, strict=True)) == dict(zip(ANSWERS, theirs, strict=True))
