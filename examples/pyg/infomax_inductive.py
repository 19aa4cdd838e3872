"""Deep Graph Infomax: embeddings that tell real neighbourhoods from shuffled ones, over two loaders of one graph.

PyG's example of this name, in our words; what PyG's has in place of three lines stands above them.

    python -m examples.pyg.infomax_inductive
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.nn import DeepGraphInfomax, SAGEConv

# PyG: -
import graphmill as gm
from examples.pyg.communities import communities, options, probe

# PyG: from torch_geometric.loader import NeighborLoader
from graphmill.pyg import DataView, NeighborLoader

args = options(epochs=4, num_neighbors=[10, 10])
# PyG: data = communities()
data = DataView(gm.from_pyg(communities(), args.folder))
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = data.to(device, "x", "edge_index")
sizes = {"num_neighbors": args.num_neighbors, "batch_size": 100}
train_loader = NeighborLoader(data, shuffle=args.shuffle, **sizes)
test_loader = NeighborLoader(data, **sizes)


class Encoder(torch.nn.Module):
    def __init__(self, in_channels: int, hidden_channels: int) -> None:
        super().__init__()
        widths = (in_channels, hidden_channels)
        self.convs = torch.nn.ModuleList(SAGEConv(width, hidden_channels) for width in widths)
        self.activations = torch.nn.ModuleList(torch.nn.PReLU(hidden_channels) for _ in widths)

    def forward(self, x: Tensor, edge_index: Tensor, size: int) -> Tensor:
        for conv, activation in zip(self.convs, self.activations, strict=True):
            x = activation(conv(x, edge_index))
        return x[:size]


def corruption(x: Tensor, edge_index: Tensor, size: int) -> tuple[Tensor, Tensor, int]:
    return x[torch.randperm(len(x))], edge_index, size


def summary(z: Tensor, *_: object) -> Tensor:
    return z.mean(dim=0).sigmoid()


model = DeepGraphInfomax(32, Encoder(data.num_features, 32), summary, corruption).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)


def train() -> float:
    model.train()
    total = 0.0
    for batch in train_loader:
        real, shuffled, whole = model(batch.x, batch.edge_index, batch.batch_size)
        loss = model.loss(real, shuffled, whole)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(real)
    return total / data.num_nodes


@torch.no_grad()
def test() -> float:
    model.eval()
    found = [model(b.x, b.edge_index, b.batch_size)[0].cpu() for b in test_loader]
    known = data.train_mask | data.val_mask
    return probe(torch.cat(found), data.y, known, data.test_mask)


for epoch in range(args.epochs):
    print(f"epoch {epoch}: loss {train():.5f}")
print(f"test accuracy {test():.4f}")
