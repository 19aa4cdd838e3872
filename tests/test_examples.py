"""The examples run as they stand, each in a process of its own, on data of a small size, and learn something."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")

# 16 classes of papers, so that chance is 0.06; pairs of nodes, where it is 0.5; 10 blocks, where it is 0.1.
PAPERS = ("--nodes", "5000", "--epochs", "4", "--batch-size")
LEARNERS: dict[str, tuple[tuple[str, ...], str, float]] = {
    "train_graphsage.py": ((*PAPERS, "64"), r"test accuracy (\S+)", 0.4),
    "train_graphsage_pyg.py": ((*PAPERS, "64"), r"test accuracy (\S+)", 0.4),
    "train_ddp.py": ((*PAPERS, "32"), r"9 batches each, test accuracy (\S+)", 0.4),
    "inference.py": ((*PAPERS, "64"), r"accuracy .*: (\S+)", 0.4),
    "train_link_prediction.py": (
        ("--nodes", "1000", "--epochs", "3", "--batch-size", "256"),
        r"area under the curve (\S+)",
        0.6,
    ),
    "train_node2vec.py": (("--nodes", "500", "--epochs", "3"), r"class: (\S+)", 0.4),
}
DROP_IN = EXAMPLES / "from_graphzero.py"


def run(*command: str, folder: Path) -> str:
    """What a command prints, in a folder."""
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1", "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", LEARNERS)
def test_examples_learn_and_clean_up(tmp_path: Path, name: str) -> None:
    arguments, said, least = LEARNERS[name]
    launcher = TORCHRUN if name == "train_ddp.py" else ()
    output = run(*launcher, str(EXAMPLES / name), *arguments, folder=tmp_path)
    found = re.findall(said, output)
    assert found, output
    assert float(found[-1]) >= least, output
    # What torch and PyG leave among temporary files is theirs.
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith("torch")] == []


def test_a_graphzero_script_says_the_same_with_either_import(tmp_path: Path) -> None:
    script, count = re.subn(
        r"^import graphmill\.graphzero as gz .*$",
        "import graphzero as gz",
        DROP_IN.read_text(),
        flags=re.MULTILINE,
    )
    assert count == 1
    original = tmp_path / "original.py"
    original.write_text(script)
    ours = run(str(DROP_IN), "--nodes", "300", folder=tmp_path)
    assert "300 nodes, 4800 edges" in ours
    # The original also tells how it converts.
    assert run(str(original), "--nodes", "300", folder=tmp_path).endswith(ours)


def test_the_demo_learns_from_a_graph_and_draws_its_course(tmp_path: Path) -> None:
    sizes = ("--nodes", "20000", "--features", "32", "--memory", "64MiB")
    folder = tmp_path / "data" / "papers"
    # It is a module of the project, as it shares code with another.
    output = run("-m", "examples.demo", *sizes, "--folder", str(folder), folder=ROOT)
    accuracy = {name: float(value) for name, value in re.findall(r"accuracy +(\w+) (.+)%", output)}
    assert accuracy["GraphSAGE"] > accuracy["MLP"] > 100 / 16, output
    for row in ("budget", "anonymous memory", "page cache", "disk rate", "verdict"):
        assert re.search(rf"^{row}  ", output, flags=re.MULTILINE), output
    assert (folder.parent / "demo.html").read_text().count("<svg") >= 1


def test_every_example_is_run() -> None:
    # The meter belongs to the demo.
    others = {DROP_IN.name, "demo.py", "demo_meter.py"}
    assert {path.name for path in EXAMPLES.glob("*.py")} == {*LEARNERS, *others}
