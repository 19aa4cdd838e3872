"""The Python of the guides runs, from the top of each to its end, with what the guide takes for granted."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDES = Path(__file__).parents[1] / "docs"

NUMBERS = """
import numpy as np
import torch
import graphmill as gm
edge_index = np.random.default_rng(0).integers(0, 1000, size=(2, 8000))
features = np.ones((1000, 8), dtype=np.float32)
"""
FILES = """
gm.write_graph("graph.gl", edge_index, num_nodes=1000)
gm.write_features("features.gd", features)
"""
PAPERS = """
labels = np.arange(1000) % 4
gm.build("papers/", edges=edge_index, features=features, labels=labels, splits={"train": np.arange(300)})
ds = gm.open("papers/")
"""

# What stands before the blocks of a guide. Blocks that show another system's code are marked as py, not python.
GRANTED: dict[str, str] = {
    "building.md": NUMBERS
    + """
import pandas
from torch_geometric.data import Data
np.savetxt("edges.csv", edge_index.T, fmt="%d", delimiter=",")
np.save("x.npy", features)
np.savetxt("y.csv", np.arange(1000) % 4, fmt="%d")
np.savetxt("train.csv", np.arange(500), fmt="%d")
np.savetxt("valid.csv", np.arange(500, 700), fmt="%d")
dataframe = pandas.DataFrame({"source": edge_index[0], "target": edge_index[1], "weight": 1.0})
data = Data(x=torch.from_numpy(features), edge_index=torch.from_numpy(edge_index))
""",
    "from-dgl.md": "",
    "from-graphzero.md": NUMBERS + FILES,
    "from-pyg.md": "",
    "inference.md": NUMBERS
    + PAPERS
    + """
from torch_geometric.nn import SAGEConv
model = torch.nn.Module()
model.conv1, model.conv2 = SAGEConv(8, 8), SAGEConv(8, 4)
linear = torch.nn.Linear(8, 4)
""",
    "loading.md": NUMBERS + PAPERS,
    "pyg.md": NUMBERS
    + PAPERS
    + """
from torch_geometric.nn import GraphSAGE
from graphmill import pyg
model = GraphSAGE(8, 8, num_layers=3)
edge_label_index = torch.tensor([[1, 2], [3, 4]])
sampler = pyg.Sampler(ds, [2])
ds.add_table("year", np.arange(1000))
""",
    "rows.md": NUMBERS + FILES + PAPERS,
    "sampling.md": NUMBERS + FILES,
    "training.md": "",
    "views.md": NUMBERS + "parts, load = [1, 2], lambda part: features\n",
    "walks.md": NUMBERS + FILES + "starts, sources = range(10), range(10)\n",
}
# dgl wants a torch of its own; tests/peers asks there what this guide says.
ELSEWHERE = {"graphbolt.md"}


def blocks(guide: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", guide.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("name", GRANTED)
def test_the_blocks_of_a_guide_run(tmp_path: Path, name: str) -> None:
    found = blocks(GUIDES / name)
    assert found
    # The command stands beside the interpreter.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-c", GRANTED[name] + "\n".join(found)],
        cwd=tmp_path,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr


def test_every_guide_with_python_is_run() -> None:
    assert {guide.name for guide in GUIDES.glob("*.md") if blocks(guide)} == {*GRANTED, *ELSEWHERE}


def test_the_index_names_every_guide_and_links_lead_somewhere() -> None:
    index = (GUIDES / "README.md").read_text()
    assert [
        g.name for g in GUIDES.glob("*.md") if g.name != "README.md" and f"({g.name})" not in index
    ] == []
    for page in (*GUIDES.glob("*.md"), GUIDES.parent / "README.md"):
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name} leads to {link}"
