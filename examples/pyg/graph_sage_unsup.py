"""Embeddings without labels: GraphSAGE learns which pairs are edges, from `LinkNeighborLoader`.

PyG's example of this name, in our words; what PyG's has in place of three lines stands above them.

    python -m examples.pyg.graph_sage_unsup
"""

from __future__ import annotations

import torch
from torch.nn import functional
from torch_geometric.nn import GraphSAGE

# PyG: -
import graphmill as gm
from examples.pyg.communities import communities, options, probe

# PyG: from torch_geometric.loader import LinkNeighborLoader
from graphmill.pyg import DataView, LinkNeighborLoader

args = options(epochs=5, num_neighbors=[10, 10])
# PyG: data = communities()
data = DataView(gm.from_pyg(communities(), args.folder))
loader = LinkNeighborLoader(
    data,
    num_neighbors=args.num_neighbors,
    neg_sampling_ratio=1.0,
    batch_size=256,
    shuffle=args.shuffle,
)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = data.to(device, "x", "edge_index")
model = GraphSAGE(data.num_node_features, hidden_channels=32, num_layers=2).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)


def train() -> float:
    model.train()
    total = 0.0
    for batch in loader:
        batch = batch.to(device)
        h = model(batch.x, batch.edge_index)
        source, destination = h[batch.edge_label_index]
        score = (source * destination).sum(dim=-1)
        loss = functional.binary_cross_entropy_with_logits(score, batch.edge_label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(score)
    return total / (2 * data.num_edges)


@torch.no_grad()
def test() -> float:
    """The whole graph at once, as small ones allow."""
    model.eval()
    z = model(data.x, data.edge_index).cpu()
    return probe(z, data.y, data.train_mask, data.test_mask)


for epoch in range(args.epochs):
    print(f"epoch {epoch}: loss {train():.5f}")
print(f"test accuracy {test():.4f}")
