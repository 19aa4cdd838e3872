"""What the lines of the sampling section share: the graph, and who samples it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.rate_bench import RateBench
from benchmarks.samplers import Sampler
from benchmarks.samplers.graphmill import Ours
from benchmarks.sampling_inputs import SamplingInputs


@dataclass(kw_only=True)
class SamplingBench(RateBench):
    """One run of the section."""

    ours: Ours
    inputs: SamplingInputs
    peers: dict[str, Sampler]

    def all(self) -> Iterator[Sampler]:
        """Ours first, then the peers."""
        yield self.ours
        yield from self.peers.values()
