"""Small graphs and datasets that the tests share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import graphmill as gm
from tests import original
from tests.command import graphmill


@pytest.fixture
def edges() -> np.ndarray:
    """A random multigraph of 100 nodes with self loops and isolated nodes."""
    return np.random.default_rng(0).integers(0, 90, size=(2, 700))


@pytest.fixture
def graph(tmp_path: Path, edges: np.ndarray) -> gm.Graph:
    """The edges, both directions."""
    return gm.write_graph(tmp_path / "graph.gl", edges, num_nodes=100)


@pytest.fixture
def rows() -> np.ndarray:
    """Features in which every value is different."""
    return np.arange(1000 * 16, dtype=np.float32).reshape(1000, 16)


@pytest.fixture
def features(tmp_path: Path, rows: np.ndarray) -> gm.Features:
    """The rows as a file."""
    return gm.write_features(tmp_path / "x.gd", rows)


@pytest.fixture(scope="session")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A papers-like dataset of 5,000 nodes; read-only by agreement."""
    folder = tmp_path_factory.mktemp("papers") / "ds"
    graphmill("generate", "papers", folder, "--nodes", 5000, "--features", 16, "--quiet")
    return folder


@pytest.fixture
def replace(tmp_path: Path) -> Callable[[int], Path]:
    """Write a small dataset, again with other features for another seed."""

    def write(seed: int) -> Path:
        folder = tmp_path / "replaced"
        graphmill(
            *("generate", "sbm", folder, "--nodes", 500, "--edges", 3000, "--features", 8),
            *("--seed", seed, "--overwrite", "--quiet"),
        )
        return folder

    return write


@pytest.fixture(scope="session")
def weighted_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph with weights as GraphZero itself writes it."""
    folder = tmp_path_factory.mktemp("weighted")
    source = original.write_edges(folder / "edges.csv", weighted=True, header=True)
    return original.convert_graph(source, folder / "weighted.gl", directed=True)


@pytest.fixture(scope="session")
def plain_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph without weights as GraphZero itself writes it."""
    folder = tmp_path_factory.mktemp("plain")
    source = original.write_edges(folder / "edges.csv", weighted=False, header=False)
    return original.convert_graph(source, folder / "plain.gl", directed=True)


@pytest.fixture(scope="session")
def feature_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Features as GraphZero itself writes them."""
    folder = tmp_path_factory.mktemp("features")
    (folder / "x.csv").write_text("id,a,b,c\n0,1,2,3\n3,7,8,9\n1,4,5,6\n")
    return original.convert_features(folder / "x.csv", folder / "x.gd", "FLOAT32")
