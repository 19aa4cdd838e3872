"""Those who load whole batches beside graphmill, by name."""

from __future__ import annotations

from benchmarks.loaders.graphbolt import GraphBolt
from benchmarks.loaders.loader import Loader
from benchmarks.loaders.pyg import Pyg

LOADERS: dict[str, type[Loader]] = {loader.name: loader for loader in (GraphBolt, Pyg)}

__all__ = ["LOADERS", "Loader"]
