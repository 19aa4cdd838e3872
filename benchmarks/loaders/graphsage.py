"""A model that learns from our batches: as they come from the loader, and with all of them in memory before.

GraphSAGE of three layers in plain torch; each layer computes only the nodes that the next one needs, so that the model
is as fast as it can be and the loader has to keep up with that. It must not know how it is measured or judged.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.child import Command
from benchmarks.loaders.loader import NO_GROUP, PRELUDE
from benchmarks.programs import Programs
from benchmarks.training_inputs import SEEDS, Prepared

HIDDEN = 256
#: Classes of a generated graph.
CLASSES = 16

# Torch prepares itself on a made-up batch before anything of the dataset is touched.
MODEL = f"""
import torch, graphmill as gm
from types import SimpleNamespace
from torch import nn
from torch.nn import functional

class Layer(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.own, self.neighbours = nn.Linear(inputs, outputs), nn.Linear(inputs, outputs, bias=False)

    def forward(self, x, edge_index, targets):
        row, col = edge_index
        total = torch.zeros(targets, x.shape[1]).index_add_(0, col, x[row])
        degree = torch.bincount(col, minlength=targets).clamp(min=1).unsqueeze(1)
        return self.own(x[:targets]) + self.neighbours(total / degree)

class Sage(nn.Module):
    def __init__(self):
        super().__init__()
        widths = [COLUMNS, {HIDDEN}, {HIDDEN}, {CLASSES}]
        self.layers = nn.ModuleList(Layer(*pair) for pair in zip(widths, widths[1:]))

    def forward(self, batch):
        nodes, edges = np.cumsum(batch.num_sampled_nodes), np.cumsum(batch.num_sampled_edges)
        hidden = batch.x
        for depth, layer in enumerate(self.layers, start=1):
            hidden = layer(hidden, batch.edge_index[:, : edges[-depth]], int(nodes[-1 - depth]))
            hidden = hidden.relu() if depth < len(self.layers) else hidden
        return hidden

def learner():
    torch.manual_seed(0)
    model = Sage()
    optimizer = torch.optim.Adam(model.parameters())

    def learn(batch):
        loss = functional.cross_entropy(model(batch), batch.y[: batch.batch_size])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return learn

def made_up(size):
    nodes = size * np.array([1, 8, 40, 80])
    edges = size * np.array([10, 60, 120])
    index = torch.cat([torch.randint(int(nodes[: hop + 1].sum()), (2, count)) % int(nodes[:hop].sum())
                       for hop, count in enumerate(edges, start=1)], dim=1)
    return SimpleNamespace(x=torch.randn(int(nodes.sum()), COLUMNS), y=torch.zeros(size, dtype=torch.int64),
                           edge_index=index, num_sampled_nodes=nodes, num_sampled_edges=edges, batch_size=size)

def status(name):
    with open("/proc/self/status") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(name))

def epoch(batches, **more):
    with open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")
    before, losses, learn = status("VmRSS"), [], learner()
    last, nodes, marks = drain(batches, lambda batch: losses.append(learn(batch)) or len(batch.n_id))
    tell(nodes, marks, losses=losses, held=status("VmHWM") - before, **more)

path, batch, split, batches, group, memory, residency = sys.argv[1:]
torch.set_num_threads(CORES)
size = int(batch)
practise = learner()
for _ in range(2):
    practise(made_up(size))
enter(group)
flags = dict(memory=int(memory), residency=residency) if memory != "-" else {{}}
ds = gm.open(path, **flags)
seeds = ds.split(split)[: int(batches) * size]
loader = gm.NeighborLoader(ds, FANOUTS, size, seeds, columns=["x", "y"], seed=0)
"""

LOADED = """
epoch(loader, stats=loader.stats())
"""

# What a script does whose data are mapped files: sample from the one, index the other, and leave the rest to the
# kernel, which is told that rows are read here and there.
MAPPED = """
import mmap

graph = ds.graph
rows = np.memmap(ds.features.path, np.float32, "r", OFFSET, ds.features.shape)
rows._mmap.madvise(mmap.MADV_RANDOM)
labels, numbers = ds.labels.torch(), ds.node_ids(seeds)

def by_faults():
    for first in range(0, len(numbers), size):
        s = graph.sample(numbers[first : first + size], FANOUTS, seed=first)
        yield SimpleNamespace(x=torch.from_numpy(rows[s.n_id]), y=labels[torch.from_numpy(s.n_id)], n_id=s.n_id,
                              edge_index=torch.from_numpy(np.stack([s.row, s.col])), batch_size=size,
                              num_sampled_nodes=s.nodes_per_hop, num_sampled_edges=s.edges_per_hop)

epoch(by_faults())
"""

# Copies, because what a loader delivered counts against its budget until it is given back.
PRELOADED = """
def copied(batch):
    return SimpleNamespace(**{name: value.clone() if torch.is_tensor(value) else value for name, value in batch})

in_memory = [copied(batch) for batch in loader]
epoch(in_memory)
"""


class GraphSage(Programs):
    """An epoch of the model, with the loader and without."""

    name = "graphsage"
    prelude = PRELUDE

    @property
    def environment(self) -> Path:
        return Path(sys.prefix)

    def install(self) -> None:
        """It is plain torch."""

    def loaded(
        self,
        prepared: Prepared,
        batch: int,
        batches: int,
        group: Path = NO_GROUP,
        memory: int | None = None,
        residency: str = "ram",
    ) -> Command:
        """Learn from batches as they come; in a cgroup if one is named, with so much memory for the loader."""
        said = "-" if memory is None else memory
        arguments = (prepared.dataset, batch, SEEDS, batches, group, said, residency)
        return self.program(MODEL + LOADED, *arguments)

    def mapped(self, prepared: Prepared, batch: int, batches: int, group: Path) -> Command:
        """Learn from rows of a mapped file in a cgroup, which come by page faults."""
        arguments = (prepared.dataset, batch, SEEDS, batches, group, "-", "-")
        return self.program(MODEL + MAPPED, *arguments)

    def preloaded(self, prepared: Prepared, batch: int, batches: int) -> Command:
        """Learn from the same batches, which are in memory when the clock starts."""
        arguments = (prepared.dataset, batch, SEEDS, batches, NO_GROUP, "-", "-")
        return self.program(MODEL + PRELOADED, *arguments)
