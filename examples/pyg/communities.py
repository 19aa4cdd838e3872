"""What the scripts of this folder share: a small graph in memory, their options, and a probe of embeddings."""

from __future__ import annotations

import argparse
import atexit
import shutil
import tempfile

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import stochastic_blockmodel_graph

CLASSES = 5


def communities(nodes: int = 600, features: int = 16) -> Data:
    """An undirected graph of communities, which labels name and features hint at; the same in each call."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        size = nodes // CLASSES
        within, across = 9 / size, 3 / (nodes - size)
        chances = torch.full((CLASSES, CLASSES), across).fill_diagonal_(within)
        edge_index = stochastic_blockmodel_graph([size] * CLASSES, chances)
        y = torch.arange(CLASSES).repeat_interleave(size)
        x = torch.randn(CLASSES, features)[y] + 2 * torch.randn(len(y), features)
        part = torch.rand(len(y))
    masks = {"train_mask": part < 0.5, "val_mask": (part >= 0.5) & (part < 0.7)}
    return Data(x=x, y=y, edge_index=edge_index, test_mask=part >= 0.7, **masks)


def options(epochs: int, num_neighbors: list[int]) -> argparse.Namespace:
    """What the command line asks for; the folder of the dataset is removed at the end unless it is given."""
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--folder", help="where the dataset is written; a temporary folder if left out"
    )
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--num-neighbors", type=int, nargs="+", default=num_neighbors)
    parser.add_argument("--dropout", type=float, default=0.3)
    parser.add_argument("--shuffle", action=argparse.BooleanOptionalAction, default=True)
    given = parser.parse_args()
    if given.folder is None:
        folder = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, folder)
        given.folder = f"{folder}/communities"
    torch.manual_seed(0)
    return given


def probe(z: Tensor, y: Tensor, train: Tensor, test: Tensor) -> float:
    """How many of the nodes to test a linear map of embeddings, fitted to those to train, puts into their class."""
    z = torch.cat([z, torch.ones(len(z), 1)], dim=1)
    targets = torch.nn.functional.one_hot(y[train], CLASSES).to(z.dtype)
    # A little ridge, since columns of embeddings may depend on each other.
    square = z[train].t() @ z[train] + 1e-3 * torch.eye(z.shape[1])
    fitted = torch.linalg.solve(square, z[train].t() @ targets)
    return float(((z[test] @ fitted).argmax(dim=1) == y[test]).float().mean())
