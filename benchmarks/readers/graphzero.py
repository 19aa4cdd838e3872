"""GraphZero 0.2: its `get_tensor`, which copies the whole table into memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.child import Command
from benchmarks.feature_inputs import Asked
from benchmarks.peers.graphzero import GraphZero as Installed
from benchmarks.readers.reader import Reader

LIMITED = """
import graphzero

path, ids, group, kept = sys.argv[1:]
batches = np.load(ids)
out = buffer(len(batches[0]))
enter(group)

def stream():
    table = graphzero.FeatureStore(path).get_tensor()
    for ids in batches:
        np.take(table, ids, axis=0, out=out, mode="clip")

_, seconds = timed(stream)
tell(batches.size, seconds)
keep(kept, batches[-1], out)
"""


class GraphZero(Reader):
    """The original of the drop-in; the table that it is asked for must be in its own layout."""

    name = "graphzero"

    @property
    def environment(self) -> Path:
        return self.folder / Installed.name

    def install(self) -> None:
        Installed(self.environment).install()

    def limited(
        self, asked: Asked, group: Path, patience: float, kept: Path
    ) -> Mapping[str, Command]:
        return {self.name: self.program(LIMITED, asked.table, asked.ids, group, kept)}
