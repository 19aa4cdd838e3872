"""What the training section reads: two datasets in hot order, one that fits into memory and one that need not.

Peers get the same lists and rows under the same numbers, so that the order helps them too, and the same seeds, drawn
once with NumPy among nodes with in-edges. It must not know who loads.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import graphmill as gm
from benchmarks.contest import files_of
from benchmarks.graphmill_command import Graphmill
from benchmarks.inputs import COLUMNS
from benchmarks.kept_files import KeptFiles, room
from benchmarks.sampling_inputs import Lists

#: The split that holds the seeds.
SEEDS = "seeds"


@dataclass(frozen=True)
class TrainingScale:
    """How large everything is."""

    name: str
    #: Nodes (as a power of two) and edges of the dataset that stays in memory, and of the one that comes from disk.
    resident: tuple[int, int]
    large: tuple[int, int]
    #: The same of further ones, for which only estimates are held against the truth.
    estimated: tuple[tuple[int, int], ...]
    batch: int
    #: Batches that we load: so many that their beginning does not count for much.
    batches: int
    #: Batches that peers load, since they are slower.
    peer_batches: int
    #: Batches that a model learns from; they all have to fit into memory for the comparison.
    model_batches: int
    #: Bytes beside the quarter of the dataset: what a process takes whatever the data, where the quarter is that small.
    allowance: int
    #: Memory in which the claim is tried: little beside the large dataset.
    claim: int
    #: What our commands may take while they make the inputs.
    memory: str
    #: Free bytes that the datasets ask for, the larger one for a while twice.
    disk: int


SCALES = {
    "small": TrainingScale(
        "small",
        (16, 1_000_000),
        (19, 8_000_000),
        (),
        64,
        48,
        16,
        8,
        1 << 26,
        1 << 27,
        "256MiB",
        2 * 10**9,
    ),
    "full": TrainingScale(
        "full",
        (22, 64_000_000),
        (24, 256_000_000),
        ((20, 16_000_000), (22, 64_000_000)),
        *(1024, 240, 60, 72, 0, 1 << 30, "2GiB", 25 * 10**9),
    ),
    # The edges of ogbn-papers100M, or a quarter of them, among the next power of two of nodes.
    "quarter-papers": TrainingScale(
        "quarter-papers",
        (22, 64_000_000),
        (25, 404_000_000),
        (),
        *(1024, 240, 60, 24, 0, 1 << 30, "1GiB", 48 * 10**9),
    ),
    "papers": TrainingScale(
        "papers",
        (22, 64_000_000),
        (27, 1_616_000_000),
        (),
        *(1024, 240, 60, 24, 0, 1 << 32, "2GiB", 190 * 10**9),
    ),
}


def folder_of(work: Path, scale: TrainingScale) -> Path:
    """Where the datasets of a scale are kept."""
    return work / f"training-{scale.name}"


def largest_papers(work: Path) -> str:
    """The scale with all edges of papers100M if this disk has room for it, else the one with a quarter of them."""
    papers = SCALES["papers"]
    folder = folder_of(work, papers)
    folder.mkdir(parents=True, exist_ok=True)
    return papers.name if room(folder) >= papers.disk else "quarter-papers"


@dataclass(frozen=True)
class Prepared:
    """One dataset as every contestant can take it."""

    dataset: Path
    lists: Lists
    #: Numbers of the seeds in the dataset, in the order of its split.
    seeds: Path
    #: Our file of rows, which everybody can read: rows of float32 from a fixed place on.
    table: Path
    rows: int

    @property
    def bytes(self) -> int:
        """What all files of the dataset take when its lists are plain, whatever they are."""
        files = [file for file in files_of(self.dataset) if file.suffix != ".gl"]
        files += [self.lists.offsets, self.lists.neighbours]
        return sum(file.stat().st_size for file in files) + self.original_ids

    @property
    def topology(self) -> int:
        """What the neighbour lists take as they are."""
        stored = sum(file.stat().st_size for file in self.dataset.glob("*.gl"))
        return stored - self.original_ids

    @property
    def original_ids(self) -> int:
        """What the file of the lists takes beside them."""
        return 8 * self.rows


class TrainingInputs(KeptFiles):
    """The datasets of one scale."""

    def __init__(self, work: Path, scale: TrainingScale, graphmill: Graphmill) -> None:
        """Know the command that makes them."""
        super().__init__(folder_of(work, scale), scale.name, scale.disk)
        self.scale, self.graphmill = scale, graphmill

    def resident(self) -> Prepared:
        """The dataset that fits into memory."""
        return self._prepared("resident", *self.scale.resident)

    def large(self) -> Prepared:
        """The dataset that is read from disk, its lists packed so that they stay in memory."""
        return self._prepared("large", *self.scale.large, "--encoding", "packed")

    def estimated(self) -> Iterator[Prepared]:
        """Datasets of several sizes, the large one last."""
        for power, edges in self.scale.estimated:
            yield self._prepared(f"estimated-{power}", power, edges, "--encoding", "packed")
        yield self.large()

    def _prepared(self, name: str, power: int, edges: int, *flags: str) -> Prepared:
        dataset = self._once(name, lambda target: self._build(target, power, edges, *flags))
        opened = gm.open(dataset)
        features = opened.features
        assert features is not None, "the dataset was built with features"

        def save_list(part: int) -> Path:
            def save(target: Path) -> None:
                plain = target.with_suffix(".gl")
                command = self.graphmill.convert(
                    Path(opened.graph.path), plain, "--encoding", "i32", "--overwrite"
                )
                subprocess.run(command.arguments, check=True)
                np.save(target, np.asarray(gm.Graph(plain).csc()[part]))
                plain.unlink()

            return self._once(f"{name}-csc-{part}.npy", save)

        def save_seeds(target: Path) -> None:
            np.save(target, opened.node_ids(opened.split(SEEDS)))

        lists = Lists(save_list(0), save_list(1))
        seeds = self._once(f"{name}-seeds.npy", save_seeds)
        return Prepared(dataset, lists, seeds, Path(features.path), 1 << power)

    def _build(self, target: Path, power: int, edges: int, *flags: str) -> None:
        """Generate a graph with features, give it its order, and forget what it was made from."""
        raw = target.with_name(f"{target.name}-raw")
        shape = ("--scale", str(power), "--edges", str(edges), "--features", str(COLUMNS))
        common = ("--direction", "in", "--memory", self.scale.memory)
        self.graphmill.generate("rmat", raw, *shape, *common)
        [graph] = raw.glob("graph.*.gl")
        [features], [labels] = raw.glob("x.*.gd"), raw.glob("y.*.gd")
        tables = ("--features", str(features), "--labels", str(labels))
        command = self.graphmill.build(target, graph, *tables, "--order", "hot", *common, *flags)
        subprocess.run(command.arguments, check=True)
        shutil.rmtree(raw)
        add_seeds(target, self.scale.batches * self.scale.batch)


def add_seeds(dataset: Path, count: int) -> None:
    """Store distinct nodes with in-edges as a split, so that our command can take them too."""
    opened = gm.open(dataset)
    able = np.flatnonzero(opened.graph.degrees(np.arange(opened.num_nodes), direction="in"))
    if len(able) < count:
        raise SystemExit(f"{dataset}: {len(able)} nodes have in-edges, and {count} are wanted")
    chosen = np.random.default_rng(count).choice(able, count, replace=False)
    opened.add_split(SEEDS, opened.original_ids(chosen))
