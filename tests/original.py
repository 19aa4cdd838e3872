"""The real GraphZero, in a process of its own: it prints, and it may take the process down."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

# Self loops, duplicates, isolated nodes (3, 4, 7) and lists that are not in the order of ids.
EDGES = [(0, 6, 0.5), (0, 1, 1.5), (2, 2, 2.5), (0, 1, 0.25), (8, 0, 3.0), (5, 2, 1.0), (8, 8, 0.0)]

CONVERT_GRAPH = """
import sys, graphzero
source, target, directed = sys.argv[1:]
graphzero.convert_csv_to_gl(source, target, directed == "True")
"""

CONVERT_FEATURES = """
import sys, graphzero
source, target, kind = sys.argv[1:]
graphzero.convert_csv_to_gd(source, target, getattr(graphzero.DataType, kind))
"""

READ_GRAPH = """
import pickle, sys, graphzero
source, target = sys.argv[1:]
graph = graphzero.Graph(source)
nodes = range(graph.num_nodes)
content = {
    "num_nodes": graph.num_nodes,
    "num_edges": graph.num_edges,
    "has_weights": graph.has_weights,
    "degrees": [graph.get_degree(node) for node in [*nodes, len(nodes), len(nodes) + 1000]],
    "neighbours": [graph.get_neighbours(node).copy() for node in nodes],
    "weights": [graph.get_weights(node).copy() for node in nodes] if graph.has_weights else None,
}
with open(target, "wb") as file:
    pickle.dump(content, file)
"""

READ_FEATURES = """
import pickle, sys, graphzero
source, target = sys.argv[1:]
store = graphzero.FeatureStore(source)
content = {
    "num_nodes": store.num_nodes,
    "feature_dim": store.feature_dim,
    "tensor": store.get_tensor().copy(),
    "rows": [store.get_data(node).copy() for node in range(store.num_nodes)],
}
with open(target, "wb") as file:
    pickle.dump(content, file)
"""


def _run(script: str, *arguments: Any) -> None:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError(f"GraphZero exited with {done.returncode}:\n{done.stderr}")


def convert_graph(source: Path, target: Path, *, directed: bool) -> Path:
    """Let GraphZero make a ``.gl`` of a CSV file."""
    _run(CONVERT_GRAPH, source, target, directed)
    return target


def convert_features(source: Path, target: Path, kind: str) -> Path:
    """Let GraphZero make a ``.gd`` of a CSV file."""
    _run(CONVERT_FEATURES, source, target, kind)
    return target


def graph_content(path: Path) -> dict[str, Any]:
    """Everything that GraphZero's ``Graph`` tells of a file."""
    return _content(READ_GRAPH, path)


def features_content(path: Path) -> dict[str, Any]:
    """Everything that GraphZero's ``FeatureStore`` tells of a file."""
    return _content(READ_FEATURES, path)


def _content(script: str, path: Path) -> dict[str, Any]:
    dump = path.with_suffix(".pickle")
    _run(script, path, dump)
    content: dict[str, Any] = pickle.loads(dump.read_bytes())
    dump.unlink()
    return content


def write_edges(path: Path, *, weighted: bool, header: bool) -> Path:
    """The edges as text."""
    lines = [f"{a},{b},{w}" if weighted else f"{a},{b}" for a, b, w in EDGES]
    if header:
        lines.insert(0, "src,dst,weight" if weighted else "src,dst")
    path.write_text("\n".join(lines) + "\n")
    return path
