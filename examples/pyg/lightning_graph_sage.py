"""GraphSAGE as a module of PyTorch Lightning, with PyG's data module for it.

PyG's example pytorch_lightning/graph_sage.py, in our words; what PyG's has in place of three lines stands above them.
It needs `pip install pytorch-lightning`.

    python -m examples.pyg.lightning_graph_sage
"""

from __future__ import annotations

from typing import Any

import pytorch_lightning as pl
import torch
from torch import Tensor
from torch.nn import BatchNorm1d, functional
from torch_geometric.data import Data
from torch_geometric.nn import GraphSAGE

# PyG: -
import graphmill as gm
from examples.pyg.communities import CLASSES, communities, options

# PyG: from torch_geometric.data.lightning import LightningNodeData
from graphmill.pyg import DataView, LightningNodeData


class Model(pl.LightningModule):
    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        norm = BatchNorm1d(32)
        self.gnn = GraphSAGE(in_channels, 32, 2, out_channels, dropout=args.dropout, norm=norm)
        self.losses: list[float] = []

    def scores(self, batch: Data) -> tuple[Tensor, Tensor]:
        out = self.gnn(batch.x, batch.edge_index)
        return out[: batch.batch_size], batch.y[: batch.batch_size]

    def training_step(self, batch: Data, _: int) -> Tensor:
        out, y = self.scores(batch)
        loss = functional.cross_entropy(out, y)
        self.losses.append(loss.item())
        return loss

    def validation_step(self, batch: Data, _: int) -> None:
        self.record("val_acc", batch)

    def test_step(self, batch: Data, _: int) -> None:
        self.record("test_acc", batch)

    def record(self, name: str, batch: Data) -> None:
        out, y = self.scores(batch)
        right = (out.argmax(dim=-1) == y).float().mean()
        self.log(name, right, on_step=False, on_epoch=True, batch_size=batch.batch_size)

    def configure_optimizers(self) -> Any:
        return torch.optim.Adam(self.parameters(), lr=0.01)


args = options(epochs=3, num_neighbors=[25, 10])
# PyG: data = communities()
data = DataView(gm.from_pyg(communities(), args.folder))
module = LightningNodeData(
    data,
    input_train_nodes=data.train_mask,
    input_val_nodes=data.val_mask,
    input_test_nodes=data.test_mask,
    loader="neighbor",
    num_neighbors=args.num_neighbors,
    batch_size=64,
)
model = Model(data.num_features, CLASSES)
trainer = pl.Trainer(
    accelerator="cpu",
    devices=1,
    max_epochs=args.epochs,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(model, module)
steps = len(model.losses) // args.epochs
for epoch in range(args.epochs):
    losses = model.losses[epoch * steps : (epoch + 1) * steps]
    print(f"epoch {epoch}: loss {sum(losses) / steps:.5f}")
[found] = trainer.test(model, datamodule=module, verbose=False)
print(f"test accuracy {found['test_acc']:.4f}")
