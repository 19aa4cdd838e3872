"""What the lines of the training section share: the datasets, who loads them, and whether they load them right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks import rates, witness
from benchmarks.child import Figures
from benchmarks.contest import Outcomes, WrongResult
from benchmarks.feature_inputs import OFFSET
from benchmarks.inputs import COLUMNS
from benchmarks.loaders import Loader
from benchmarks.loaders.graphmill import Ours
from benchmarks.rate_bench import RateBench
from benchmarks.samplers.sampler import FANOUTS
from benchmarks.training_inputs import Prepared, TrainingInputs

#: Nodes of a batch may differ so much between those who expand a node once and those who do it at each layer.
PLAUSIBLE = 1.35


@dataclass(kw_only=True)
class TrainingBench(RateBench):
    """One run of the section."""

    ours: Ours
    inputs: TrainingInputs
    peers: dict[str, Loader]
    #: Peers with everything in memory, once a line has let them load the large dataset.
    unlimited: Outcomes = field(default_factory=dict)

    def all(self) -> Iterator[Loader]:
        """Ours first, then the peers."""
        yield self.ours
        yield from self.peers.values()

    @property
    def shape(self) -> str:
        """What a batch is, for people."""
        return f"fan-outs {','.join(map(str, FANOUTS))} of {self.inputs.scale.batch} seeds"

    @property
    def kept(self) -> Path:
        """Where a run leaves its last batch for the witness."""
        return self.out / "kept.npz"

    def check(self, prepared: Prepared) -> Callable[[Figures], str]:
        """A check that the last batch holds the seeds, edges and rows that it must."""

        def check(figures: Figures) -> str:
            said, size = rates.told(figures), self.inputs.scale.batch
            seeds = np.load(prepared.seeds)[(said["amount"] - 1) * size : said["amount"] * size]
            witness.right_fanout(self.kept, prepared.lists, seeds, FANOUTS)
            right_rows(self.kept, prepared)
            return (
                f"{said['amount']} batches of {said['nodes'] / said['amount']:,.0f} nodes, first "
                f"after {said['first']:.2f} s, {said['steady']:.1f}/s after a quarter"
            )

        return check


def right_rows(kept: Path, prepared: Prepared) -> None:
    """Some rows of a batch are what the table holds for their nodes, read with NumPy alone."""
    table = np.memmap(prepared.table, np.float32, "r", OFFSET, (prepared.rows, COLUMNS))
    with np.load(kept) as found:
        ids, rows = found["ids"], found["rows"]
    if not len(ids) or rows.shape != (len(ids), COLUMNS):
        raise WrongResult(f"rows of shape {rows.shape} for {len(ids)} nodes")
    if wrong := int((rows != table[ids]).any(axis=1).sum()):
        raise WrongResult(f"{wrong} of {len(ids)} rows are wrong")


def check_sizes(outcomes: Outcomes) -> None:
    """Raise unless all made batches of about the same number of nodes."""
    sizes = {
        name: said["nodes"] / said["amount"]
        for name, outcome in outcomes.items()
        if outcome.failure is None
        for said in map(rates.told, outcome.runs)
    }
    if sizes and max(sizes.values()) > PLAUSIBLE * min(sizes.values()):
        raise WrongResult(f"batches of different size: {sizes}")
