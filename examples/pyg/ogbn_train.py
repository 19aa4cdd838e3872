"""Training on a graph of OGB: a loader for each split, a schedule by validation, and inference over all neighbours.

PyG's example of this name, in our words; what PyG's has in place of three lines stands above them.

    python -m examples.pyg.ogbn_train
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional
from torch_geometric.nn import GraphSAGE

# PyG: -
import graphmill as gm
from examples.pyg.communities import CLASSES, communities, options

# PyG: from torch_geometric.loader import NeighborLoader
from graphmill.pyg import DataView, NeighborLoader

args = options(epochs=4, num_neighbors=[10, 10])
# PyG: data = communities()
data = DataView(gm.from_pyg(communities(), args.folder))
split = {name: data[f"{name}_mask"].nonzero().view(-1) for name in ("train", "val", "test")}
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = data.to(device, "x", "y")


def loader_of(nodes: Tensor, shuffle: bool) -> NeighborLoader:
    return NeighborLoader(
        data,
        input_nodes=nodes,
        num_neighbors=args.num_neighbors,
        batch_size=64,
        shuffle=shuffle,
    )


train_loader = loader_of(split["train"], args.shuffle)
val_loader, test_loader = (loader_of(split[name], False) for name in ("val", "test"))
model = GraphSAGE(
    data.num_features, 32, num_layers=2, out_channels=CLASSES, dropout=args.dropout
).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", patience=2)


def train() -> float:
    model.train()
    total = 0.0
    for batch in train_loader:
        out = model(batch.x, batch.edge_index.to(device))[: batch.batch_size]
        loss = functional.cross_entropy(out, batch.y[: batch.batch_size].view(-1).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(train_loader)


@torch.no_grad()
def test(loader: NeighborLoader) -> float:
    model.eval()
    hits = count = 0
    for batch in loader:
        batch = batch.to(device)
        size = batch.num_sampled_nodes[0]
        found = model(batch.x, batch.edge_index)[:size].argmax(dim=-1)
        hits += int((found == batch.y[:size].view(-1)).sum())
        count += size
    return hits / count


for epoch in range(args.epochs):
    loss = train()
    accuracy = test(val_loader)
    scheduler.step(accuracy)
    print(f"epoch {epoch}: loss {loss:.5f}, validation {accuracy:.4f}")
print(f"test accuracy, sampled {test(test_loader):.4f}")

everything = NeighborLoader(data, num_neighbors=[-1], batch_size=256)
scores = model.eval().inference(everything, device=device)
right = scores.argmax(dim=-1)[split["test"]] == data.y.view(-1)[split["test"]]
print(f"test accuracy {float(right.float().mean()):.4f}")
