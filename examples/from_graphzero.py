"""A GraphZero script after the one change that it needs: the import.

Text is converted, both files are opened, and walks and features go to torch as they did.

    python examples/from_graphzero.py
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import torch

import graphmill.graphzero as gz  # was: import graphzero as gz


def write_inputs(folder: Path, nodes: int) -> None:
    """Two text files, such as one has them."""
    generator = np.random.default_rng(0)
    edges = generator.integers(0, nodes, size=(8 * nodes, 2))
    edges[0] = [0, nodes - 1]
    np.savetxt(folder / "edges.csv", edges, fmt="%d", delimiter=",", header="src,dst", comments="")
    rows = np.column_stack([np.arange(nodes), generator.normal(size=(nodes, 16))])
    np.savetxt(folder / "features.csv", rows, fmt=["%d"] + ["%.6f"] * 16, delimiter=",")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=10_000)
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder, arguments.nodes)

        gz.convert_csv_to_gl(str(folder / "edges.csv"), str(folder / "graph.gl"), directed=False)
        gz.convert_csv_to_gd(
            str(folder / "features.csv"), str(folder / "features.gd"), gz.DataType.FLOAT32
        )
        graph = gz.Graph(str(folder / "graph.gl"))
        features = gz.FeatureStore(str(folder / "features.gd"))
        print(
            f"{graph.num_nodes} nodes, {graph.num_edges} edges, degree of 0: {graph.get_degree(0)}"
        )

        starts = np.arange(256)
        walks = graph.batch_random_walk(starts, walk_length=10, p=1.0, q=0.5)
        neighbours = graph.batch_random_fanout(starts, K=5)
        x = torch.as_tensor(features.get_tensor())
        mean = x[torch.as_tensor(neighbours)].mean(dim=1)
        print(f"walks {walks.shape}, features {tuple(x.shape)}, means {tuple(mean.shape)}")


if __name__ == "__main__":
    main()
