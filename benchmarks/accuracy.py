"""Does a model learn as much from our batches as from others? GraphSAGE on two graphs, over many seeds.

    python -m benchmarks.accuracy                 # ten seeds for everybody who can be had here
    python -m benchmarks.accuracy --seeds 3 --facebook ../shared/data/facebook

Every contestant trains the same model from the same start on the same seeds; the accuracy is that of the model on the
whole graph at once, so nothing but the batches differs. PyG's own loader takes part where ``torch_sparse`` or
``pyg_lib`` is installed beside this Python, as in the environment that ``make test-peers`` makes.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.data import Data
from torch_geometric.loader import NeighborLoader as PygLoader
from torch_geometric.nn import MLP, GraphSAGE

import graphmill as gm
from graphmill import pyg

FACEBOOK = Path(__file__).parents[2] / "shared" / "data" / "facebook"
FANOUTS = [5, 5]
BATCH = 512
WIDTH = 64
# Until more of them add little.
EPOCHS = {"papers": 8, "facebook": 5}

# A contestant makes the batches of one training run: epoch after epoch, from a seed.
Contestant = Callable[[int], Iterable[Any]]


def facebook(folder: Path) -> Data:
    """Pages, the likes between them, and what kind of page each is; words are projected to a few columns."""
    with (folder / "facebook_target.csv").open(newline="", encoding="utf-8") as file:
        kinds = {int(row["id"]): row["page_type"] for row in csv.DictReader(file)}
    words = json.loads((folder / "facebook.json").read_text())
    with (folder / "facebook_edges.csv").open(newline="") as file:
        likes = torch.tensor([[int(row["id_1"]), int(row["id_2"])] for row in csv.DictReader(file)])
    count = len(kinds)
    generator = torch.Generator().manual_seed(0)
    columns = 1 + max(word for page in words.values() for word in page)
    projection = torch.randn(columns, WIDTH, generator=generator)
    lists = [torch.tensor(words[str(page)]) for page in range(count)]
    ends = torch.tensor([len(part) for part in lists]).cumsum(0)
    starts = torch.cat([ends.new_zeros(1), ends[:-1]])
    x = functional.embedding_bag(torch.cat(lists), projection, starts, mode="sum")
    names = sorted(set(kinds.values()))
    order = torch.randperm(count, generator=generator)
    return Data(
        x=functional.normalize(x, dim=1) * WIDTH**0.5,
        y=torch.tensor([names.index(kinds[page]) for page in range(count)]),
        edge_index=torch.cat([likes, likes.flip(1)]).t().contiguous(),
        train=order[:3000],
        test=order[-10_000:],
    )


def papers(folder: Path, nodes: int = 20_000) -> Data:
    """A generated citation graph in which the neighbours tell the class, rather than the node itself."""
    generate = [sys.executable, "-m", "graphmill", "generate", "papers", str(folder)]
    sizes = ["--nodes", str(nodes), "--features", str(WIDTH), "--quiet"]
    subprocess.run([*generate, *sizes], check=True)
    data = pyg.to_pyg(gm.open(folder))
    return Data(
        x=data.x,
        y=data.y,
        edge_index=data.edge_index,
        train=data.train_mask.nonzero().view(-1),
        # All others, as few nodes would leave more to chance.
        test=(~data.train_mask).nonzero().view(-1),
    )


def plain_batches(data: Data, seed: int) -> Iterator[Data]:
    """One epoch of the same law in a few obvious lines: of all in-edges of a node, those with the smallest numbers."""
    generator = torch.Generator().manual_seed(seed)
    row, col = data.edge_index[:, data.edge_index[1].argsort(stable=True)]
    ends = torch.bincount(col, minlength=data.num_nodes).cumsum(0)
    for seeds in data.train[torch.randperm(len(data.train), generator=generator)].split(BATCH):
        known, frontier, kept = seeds, seeds, []
        for fanout in FANOUTS:
            starts = torch.cat([ends.new_zeros(1), ends])[frontier]
            counts = ends[frontier] - starts
            first = (starts - counts.cumsum(0) + counts).repeat_interleave(counts)
            edges = first + torch.arange(int(counts.sum()))
            edges = edges[torch.rand(len(edges), generator=generator).argsort()]
            edges = edges[col[edges].argsort(stable=True)]
            # The place of an edge within its list.
            heads = torch.unique_consecutive(col[edges], return_counts=True)[1]
            place = torch.arange(len(edges)) - (heads.cumsum(0) - heads).repeat_interleave(heads)
            kept.append(edges[place < fanout])
            reached = row[kept[-1]].unique()
            frontier = reached[~torch.isin(reached, known)]
            known = torch.cat([known, frontier])
        local = torch.full((data.num_nodes,), -1)
        local[known] = torch.arange(len(known))
        picked = torch.cat(kept)
        yield Data(
            x=data.x[known],
            y=data.y[known],
            edge_index=local[torch.stack([row[picked], col[picked]])],
            batch_size=len(seeds),
        )


def contestants(data: Data, folder: Path) -> dict[str, Contestant | None]:
    """Everybody who can be had here, by name; the MLP wants no batches."""
    folder.mkdir(exist_ok=True)
    nodes = Data(x=data.x, y=data.y, edge_index=data.edge_index)

    def ours(order: str) -> Contestant:
        ds = gm.from_pyg(nodes, folder / order, order=order)
        options: dict[str, Any] = {"input_nodes": data.train, "batch_size": BATCH, "shuffle": True}
        return lambda seed: pyg.NeighborLoader(ds, FANOUTS, seed=seed, **options)

    def theirs(seed: int) -> PygLoader:
        generator = torch.Generator().manual_seed(seed)
        with warnings.catch_warnings():
            # It says that torch-sparse will not do for ever.
            warnings.simplefilter("ignore")
            return PygLoader(
                nodes, FANOUTS, data.train, batch_size=BATCH, shuffle=True, generator=generator
            )

    found: dict[str, Contestant | None] = {
        "graphmill": ours("none"),
        "graphmill, hot order": ours("hot"),
        "plain torch": lambda seed: Repeated(data, seed),
        "MLP": None,
    }
    if find_spec("torch_sparse") or find_spec("pyg_lib"):
        found["PyG"] = theirs
    return found


class Repeated:
    """Epochs of the plain batches, another one each time."""

    def __init__(self, data: Data, seed: int) -> None:
        self.data, self.seed, self.epoch = data, seed, 0

    def __iter__(self) -> Iterator[Data]:
        self.epoch += 1
        return plain_batches(self.data, 1000 * self.seed + self.epoch)


def accuracy(data: Data, batches: Iterable[Any] | None, seed: int, epochs: int) -> float:
    """Train GraphSAGE on the batches, or without any an MLP on the rows alone; percent of the test nodes found."""
    torch.manual_seed(seed)
    classes = int(data.y.max()) + 1
    model: nn.Module
    if batches is None:
        model = MLP([WIDTH, 64, classes], dropout=0.5)
        batches = Rows(data)
    else:
        model = GraphSAGE(WIDTH, 64, num_layers=2, out_channels=classes, dropout=0.5)
    uses_edges = isinstance(model, GraphSAGE)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    def scores(batch: Data) -> Tensor:
        return model(batch.x, batch.edge_index) if uses_edges else model(batch.x)

    for _ in range(epochs):
        model.train()
        for batch in batches:
            size = batch.batch_size
            loss = functional.cross_entropy(scores(batch)[:size], batch.y[:size])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        hits = scores(data).argmax(dim=1)[data.test] == data.y[data.test]
    return 100 * float(hits.float().mean())


def accuracies(
    data: Data, contestant: Contestant | None, seeds: Iterable[int], epochs: int
) -> list[float]:
    """What a contestant reaches with each seed; nobody is the MLP."""
    # More threads only wait for each other in a model this small.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return [accuracy(data, contestant and contestant(seed), seed, epochs) for seed in seeds]
    finally:
        torch.set_num_threads(threads)


class Rows:
    """Batches of nodes without a graph, in another order each time."""

    def __init__(self, data: Data) -> None:
        self.data = data

    def __iter__(self) -> Iterator[Data]:
        for part in self.data.train[torch.randperm(len(self.data.train))].split(BATCH):
            yield Data(x=self.data.x[part], y=self.data.y[part], batch_size=len(part))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facebook", type=Path, default=FACEBOOK, help="the folder of its files")
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        graphs = {"papers": papers(folder / "papers")}
        if arguments.facebook.exists():
            graphs["facebook"] = facebook(arguments.facebook)
        else:
            print(f"facebook is left out: {arguments.facebook} does not exist; see --facebook")
        for graph, data in graphs.items():
            runs = contestants(data, folder / f"{graph}-contest")
            if "PyG" not in runs:
                print("PyG's loader is left out: neither torch_sparse nor pyg_lib is installed")
            print(f"{graph}, % of {len(data.test)} test nodes, {arguments.seeds} seeds")
            print(f"  {'':22} mean    sd  least  most")
            for contestant, batches in runs.items():
                reached = torch.tensor(
                    accuracies(data, batches, range(arguments.seeds), EPOCHS[graph])
                )
                print(
                    f"  {contestant:22} {reached.mean():5.2f} {reached.std():5.2f}  "
                    f"{reached.min():5.2f} {reached.max():5.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
