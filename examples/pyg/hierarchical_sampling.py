"""GraphSAGE whose layers leave out what later ones do not need, by the numbers of nodes and edges of each hop.

PyG's example of this name, in our words; what PyG's has in place of three lines stands above them.

    python -m examples.pyg.hierarchical_sampling
"""

from __future__ import annotations

import torch
from torch.nn import functional
from torch_geometric.nn import GraphSAGE

# PyG: -
import graphmill as gm
from examples.pyg.communities import CLASSES, communities, options

# PyG: from torch_geometric.loader import NeighborLoader
from graphmill.pyg import DataView, NeighborLoader

args = options(epochs=2, num_neighbors=[20, 10, 5])
# PyG: data = communities()
data = DataView(gm.from_pyg(communities(), args.folder))
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = data.to(device, "x", "y")
loader = NeighborLoader(
    data,
    input_nodes=data.train_mask,
    num_neighbors=args.num_neighbors,
    batch_size=64,
    shuffle=args.shuffle,
)
model = GraphSAGE(
    data.num_features, 32, num_layers=len(args.num_neighbors), out_channels=CLASSES
).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)


def train(trim: bool) -> tuple[float, float]:
    total = hits = count = 0.0
    for batch in loader:
        batch = batch.to(device)
        hops = (
            {
                "num_sampled_nodes_per_hop": batch.num_sampled_nodes,
                "num_sampled_edges_per_hop": batch.num_sampled_edges,
            }
            if trim
            else {}
        )
        out = model(batch.x, batch.edge_index, **hops)[: batch.batch_size]
        y = batch.y[: batch.batch_size]
        loss = functional.cross_entropy(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
        hits += int((out.argmax(dim=-1) == y).sum())
        count += len(y)
    return total / count, hits / count


for epoch in range(args.epochs):
    for trim in (False, True):
        loss, accuracy = train(trim)
        print(f"epoch {epoch}, {'trimmed' if trim else 'whole'}: loss {loss:.5f}")
print(f"train accuracy {accuracy:.4f}")
