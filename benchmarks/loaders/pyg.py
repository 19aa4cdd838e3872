"""PyTorch Geometric: its NeighborLoader over a graph and rows in memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.child import CORES, Command
from benchmarks.loaders.loader import NO_GROUP, Loader
from benchmarks.peers.pyg import ENDS_OF_HOPS, Installed
from benchmarks.training_inputs import Prepared

# Workers gather rows too: where the process that trains does it, as is PyG's default, batches came more slowly
# in the one run that had both (2026-11-16: 4.0 a second, not 4.7, from memory; 2.8, not 2.9, from the large dataset).
CODE = """
import torch
from torch_geometric.data import Data
from torch_geometric.loader import NeighborLoader

offsets, neighbours, seeds, path, rows, batch, batches, kept, group, workers = sys.argv[1:]
torch.set_num_threads(CORES)
enter(group)
colptr = torch.from_numpy(np.load(offsets))
edges = torch.empty(2, int(colptr[-1]), dtype=torch.int64)
edges[0] = torch.from_numpy(np.load(neighbours, mmap_mode="c"))
edges[1] = torch.arange(len(colptr) - 1).repeat_interleave(torch.diff(colptr))
batch = int(batch)
seeds = torch.from_numpy(np.load(seeds))[: int(batches) * batch]
data = Data(x=torch.from_numpy(table(path)), edge_index=edges, num_nodes=int(rows))

def loader(seeds):
    return NeighborLoader(data, FANOUTS, seeds, batch_size=batch, is_sorted=True,
                          num_workers=int(workers), filter_per_worker=int(workers) > 0)

nodes_of = lambda batch: len(batch.x)
drain(loader(seeds[: 8 * batch]), nodes_of)
last, nodes, marks = drain(loader(seeds), nodes_of)
tell(nodes, marks)

ends = ends_of_hops(last)
source, destination = last.n_id[last.edge_index].numpy()
parts = [slice(*pair) for pair in zip(ends, ends[1:])]
keep(kept, last.n_id.numpy(), last.x.numpy(), [(source[part], destination[part]) for part in parts])
"""


class Pyg(Loader):
    """In one process, and with workers."""

    name = "pyg"

    def __init__(self, folder: Path) -> None:
        """Know where to look for it."""
        super().__init__(folder)
        self.installed = Installed(folder)

    @property
    def environment(self) -> Path:
        return self.installed.environment

    def install(self) -> None:
        self.installed.install()

    def resident(
        self, prepared: Prepared, batch: int, batches: int, kept: Path, group: Path = NO_GROUP
    ) -> Mapping[str, Command]:
        lists = (prepared.lists.offsets, prepared.lists.neighbours, prepared.seeds)
        arguments = (*lists, prepared.table, prepared.rows, batch, batches, kept, group)
        return {
            "pyg, no workers": self.program(ENDS_OF_HOPS + CODE, *arguments, 0),
            f"pyg, {CORES} workers": self.program(ENDS_OF_HOPS + CODE, *arguments, CORES),
        }
