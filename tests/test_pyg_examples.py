"""PyG's example scripts over a dataset on disk: few lines change, and the results are those of PyG in memory.

Above each line of a script in examples/pyg that differs from the same script for PyG, a remark holds PyG's line, so the
original is made of it here. With all neighbours and seeds in their order, both have the same batches, and therefore
the same losses; where neighbours are drawn, they reach about the same accuracy.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import re
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from torch_geometric.sampler import NeighborSampler

from tests import pyg_in_memory

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted(
    path.stem for path in (ROOT / "examples" / "pyg").glob("*.py") if path.stem != "communities"
)
# Chance is 0.2.
LEAST = 0.5
SAME = ("--num-neighbors", "-1", "-1", "--no-shuffle", "--epochs", "2")
# Nodes of its batches come in another order than in memory, as the dataset is renumbered.
WITHOUT_DROPOUT = {"reddit": ("--dropout", "0")}
# Its processes find the script by its file.
SPAWNING = "distributed_sampling"
# Negatives are drawn, and Lightning's module shuffles whatever it is asked for.
DRAWING = ("graph_sage_unsup", "lightning_graph_sage")
PRELUDE = "from tests import pyg_in_memory\npyg_in_memory.install()\n"


def ours(name: str) -> str:
    return (ROOT / "examples" / "pyg" / f"{name}.py").read_text()


def original(name: str) -> str:
    """The script for PyG alone: each remark in place of the line below it."""
    script, count = re.subn(r"^( *)# PyG: (.*)\n.*\n", r"\1\2\n", ours(name), flags=re.MULTILINE)
    assert count > 0
    return re.sub(r"^ *-\n", "", script, flags=re.MULTILINE)


def output_of(name: str, script: str, folder: Path, *options: str) -> str:
    """What a script prints."""
    if name == "lightning_graph_sage":
        pytest.importorskip("pytorch_lightning", reason="pip install pytorch-lightning")
    folder.mkdir()
    path = folder / f"{name}.py"
    path.write_text(script)
    arguments = ["--folder", str(folder / "dataset"), *options]
    if name == SPAWNING:
        path.write_text(script.replace("import torch\n", f"{PRELUDE}import torch\n", 1))
        environment = os.environ | {
            "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
        }
        command = [sys.executable, str(path), *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=280)
        assert done.returncode == 0, done.stderr
        return done.stdout
    given, sys.argv = sys.argv, [str(path), *arguments]
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            if name == "lightning_graph_sage":
                # Lightning warns of libraries beside it.
                warnings.simplefilter("ignore")
            runpy.run_path(str(path), run_name="__main__")
    finally:
        sys.argv = given
    return printed.getvalue()


def numbers(output: str, word: str) -> list[float]:
    return [float(found) for found in re.findall(rf"{word} (\d\.\d+)", output)]


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    # It is put back after the test.
    monkeypatch.setattr(NeighborSampler, "_sample", NeighborSampler._sample)
    pyg_in_memory.install()


@pytest.mark.parametrize("name", SCRIPTS)
def test_at_most_three_lines_differ(name: str) -> None:
    theirs, disk = original(name), re.sub(r" *# PyG: .*\n", "", ours(name))
    difference = difflib.ndiff(theirs.splitlines(), disk.splitlines())
    changed = [line for line in difference if line.startswith("+ ")]
    assert 0 < len(changed) <= 3, changed
    assert "graphmill" not in theirs


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_has_the_results_that_it_has_in_memory(name: str, tmp_path: Path) -> None:
    options = (*SAME, *WITHOUT_DROPOUT.get(name, ()))
    found, expected = (
        output_of(name, text, tmp_path / kind, *options)
        for kind, text in (("ours", ours(name)), ("theirs", original(name)))
    )
    assert len(numbers(found, "loss")) >= 2, found
    assert re.sub(r"\d\.\d+", "", found) == re.sub(r"\d\.\d+", "", expected)
    if name in DRAWING or not pyg_in_memory.IS_NEEDED:
        assert numbers(found, "loss") == pytest.approx(numbers(expected, "loss"), abs=0.3)
        assert numbers(found, "accuracy") == pytest.approx(numbers(expected, "accuracy"), abs=0.1)
    else:
        assert numbers(found, ".*?") == pytest.approx(numbers(expected, ".*?"), abs=2e-4)


# The one that starts processes takes as long as all others, and has been seen to learn above.
@pytest.mark.parametrize("name", [name for name in SCRIPTS if name != SPAWNING])
def test_a_script_learns_as_it_stands(name: str, tmp_path: Path) -> None:
    output = output_of(name, ours(name), tmp_path / "ours")
    [*_, accuracy] = numbers(output, "accuracy")
    assert accuracy > LEAST, output
    losses = numbers(output, "loss")
    assert losses[-1] < losses[0], output
