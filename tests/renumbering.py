"""Datasets whose nodes have other numbers than ids, written file by file as DESIGN.md draws them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import graphmill as gm
from graphmill import _native
from tests.sparse import crc32c


def by_heat(edges: np.ndarray, count: int) -> np.ndarray:
    """The nodes in descending order of out-degree, which is what in-edges lead to."""
    degrees = np.bincount(edges[0], minlength=count)
    return np.lexsort((np.arange(count), -degrees))


def entry(path: Path) -> dict[str, Any]:
    """What a manifest says about a file."""
    data = path.read_bytes()
    return {"name": path.name, "bytes": len(data), "header_crc32c": crc32c(data[:4092])}


def publish(folder: Path, manifest: dict[str, Any]) -> None:
    """Write the manifest with the checksum of its text."""
    text = json.dumps(manifest)
    checksum = crc32c(text.encode())
    (folder / "dataset.json").write_text(f'{{"crc32c": {checksum},\n"manifest": {text}}}\n')


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest without its checksum."""
    manifest: dict[str, Any] = json.loads((folder / "dataset.json").read_text())["manifest"]
    return manifest


def publish_again(folder: Path) -> None:
    """Let the manifest describe the files as they are now."""
    manifest = read_manifest(folder)

    def refreshed(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        if "header_crc32c" in value:
            return entry(folder / value["name"])
        return {key: refreshed(part) for key, part in value.items()}

    publish(folder, refreshed(manifest))


def write_dataset(
    folder: Path,
    edges: np.ndarray,
    order: np.ndarray,
    *,
    ids: np.ndarray | None = None,
    names: Sequence[str] | None = None,
    tables: Mapping[str, np.ndarray] | None = None,
    splits: Mapping[str, np.ndarray] | None = None,
    classes: Mapping[str, list[str]] | None = None,
) -> Path:
    """Write a dataset in which number i is the node ``order[i]`` of ``edges``, ``tables`` and ``splits``.

    ``ids`` are the ids of those nodes in the source, their own numbers by default; ``names`` are ids that are text, in
    ascending order.
    """
    count = len(order)
    number_of = np.argsort(order)
    originals = order if ids is None else ids[order]
    in_order = bool((np.diff(originals) > 0).all())
    folder.mkdir(parents=True)
    numbered = number_of[edges]
    # Text in the order of the names is its own number.
    stored = None if names is not None and in_order else originals.astype(np.int64)
    _native.write_edges(
        *(str(folder / "graph.1.gl"), numbered[0], numbered[1], count, None, None, False),
        *("both", "id", "auto", True, "64MiB", False, stored),
    )
    node: dict[str, Any] = {"count": count, "tables": {}, "classes": dict(classes or {}), "ids": {}}
    for name, rows in (tables or {}).items():
        gm.write_features(folder / f"{name}.1.gd", rows[order])
        node["tables"][name] = entry(folder / f"{name}.1.gd")
    if not in_order:
        gm.write_features(folder / "id-places.1.gd", np.argsort(originals).astype(np.int32))
        node["ids"]["places"] = entry(folder / "id-places.1.gd")
    if names is not None:
        encoded = [name.encode() for name in names]
        gm.write_features(folder / "id-names.1.gd", np.frombuffer(b"".join(encoded), np.uint8))
        gm.write_features(folder / "id-ends.1.gd", np.cumsum([len(name) for name in encoded]))
        node["ids"]["names"] = {
            "text": entry(folder / "id-names.1.gd"),
            "ends": entry(folder / "id-ends.1.gd"),
        }
    lists = {}
    for name, nodes in (splits or {}).items():
        gm.write_features(folder / f"split-{name}.1.gd", number_of[nodes])
        lists[name] = {
            "node_type": "node",
            "count": len(nodes),
            "file": entry(folder / f"split-{name}.1.gd"),
        }
    edge = {
        "count": edges.shape[1],
        "source_rows": edges.shape[1],
        "undirected": False,
        "graph": entry(folder / "graph.1.gl"),
        "tables": {},
    }
    manifest = {
        **{"format": "graphmill-dataset", "version": [1, 0], "generation": 1},
        **{"created_by": "the tests", "order": "none" if in_order else "hot"},
        "nodes": {"node": node},
        "edges": {"node,to,node": edge},
        "splits": lists,
    }
    publish(folder, manifest)
    return folder
