"""GraphSAGE in batches, and inference layer by layer for all nodes, whose rows the script keeps by `batch.n_id`.

PyG's example of this name, in our words; what PyG's has in place of three lines stands above them.

    python -m examples.pyg.reddit
"""

from __future__ import annotations

import copy

import torch
from torch import Tensor
from torch.nn import functional
from torch_geometric.nn import SAGEConv

# PyG: -
import graphmill as gm
from examples.pyg.communities import CLASSES, communities, options

# PyG: from torch_geometric.loader import NeighborLoader
from graphmill.pyg import DataView, NeighborLoader

args = options(epochs=3, num_neighbors=[25, 10])
# PyG: data = communities()
data = DataView(gm.from_pyg(communities(), args.folder, order="hot"))
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = data.to(device, "x", "y")
train_loader = NeighborLoader(
    data,
    input_nodes=data.train_mask,
    num_neighbors=args.num_neighbors,
    batch_size=64,
    shuffle=args.shuffle,
)
subgraph_loader = NeighborLoader(
    copy.copy(data), input_nodes=None, num_neighbors=[-1], batch_size=128, shuffle=False
)
# Inference takes rows from the layer before, not from the graph, and needs to know whose they are.
del subgraph_loader.data.x, subgraph_loader.data.y
subgraph_loader.data.num_nodes = data.num_nodes
subgraph_loader.data.n_id = torch.arange(data.num_nodes)


class SAGE(torch.nn.Module):
    def __init__(self, in_channels: int, hidden_channels: int, out_channels: int) -> None:
        super().__init__()
        self.convs = torch.nn.ModuleList(
            [SAGEConv(in_channels, hidden_channels), SAGEConv(hidden_channels, out_channels)]
        )

    def activated(self, x: Tensor, layer: int) -> Tensor:
        return x.relu() if layer < len(self.convs) - 1 else x

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        for layer, conv in enumerate(self.convs):
            x = self.activated(conv(x, edge_index), layer)
            if layer < len(self.convs) - 1:
                x = functional.dropout(x, p=args.dropout, training=self.training)
        return x

    @torch.no_grad()
    def inference(self, x_all: Tensor, loader: NeighborLoader) -> Tensor:
        for layer, conv in enumerate(self.convs):
            rows = []
            for batch in loader:
                x = x_all[batch.n_id.to(x_all.device)].to(device)
                x = self.activated(conv(x, batch.edge_index.to(device)), layer)
                rows.append(x[: batch.batch_size].cpu())
            x_all = torch.cat(rows)
        return x_all


model = SAGE(data.num_features, 32, CLASSES).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)


def train() -> tuple[float, float]:
    model.train()
    total = hits = count = 0.0
    for batch in train_loader:
        y = batch.y[: batch.batch_size]
        out = model(batch.x, batch.edge_index.to(device))[: batch.batch_size]
        loss = functional.cross_entropy(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * batch.batch_size
        hits += int((out.argmax(dim=-1) == y).sum())
        count += batch.batch_size
    assert count == int(data.train_mask.sum()) == len(train_loader.dataset)
    return total / count, hits / count


def test() -> list[float]:
    model.eval()
    found = model.inference(data.x, subgraph_loader).argmax(dim=-1)
    right = found == data.y.to(found.device)
    return [
        float(right[mask].float().mean())
        for mask in (data.train_mask, data.val_mask, data.test_mask)
    ]


for epoch in range(args.epochs):
    loss, approximate = train()
    print(f"epoch {epoch}: loss {loss:.5f}, approximate {approximate:.4f}")
    train_accuracy, val_accuracy, test_accuracy = test()
    print(
        f"train {train_accuracy:.4f}, validation {val_accuracy:.4f}, test accuracy {test_accuracy:.4f}"
    )
