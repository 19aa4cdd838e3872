"""Those who sample and walk beside graphmill, by name."""

from __future__ import annotations

from benchmarks.samplers.dgl import Dgl
from benchmarks.samplers.graphbolt import GraphBolt
from benchmarks.samplers.graphzero import GraphZero
from benchmarks.samplers.pyg import Pyg
from benchmarks.samplers.sampler import LENGTH, NEIGHBOURS, Sampler

SAMPLERS: dict[str, type[Sampler]] = {
    sampler.name: sampler for sampler in (GraphBolt, Dgl, GraphZero, Pyg)
}

__all__ = ["LENGTH", "NEIGHBOURS", "SAMPLERS", "Sampler"]
