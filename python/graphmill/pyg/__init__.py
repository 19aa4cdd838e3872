"""graphmill for PyTorch Geometric: its loaders' names over datasets on disk, and stores and a sampler for its own.

Nothing of it is imported by ``import graphmill``; it needs ``torch_geometric``::

    import graphmill as gm
    from graphmill.pyg import NeighborLoader

    ds = gm.open("papers/", memory="4GiB")
    loader = NeighborLoader(ds, num_neighbors=[15, 10, 5], input_nodes="train", batch_size=1024, shuffle=True)
    for batch in loader:  # torch_geometric.data.Data
        out = model(batch.x, batch.edge_index)[: batch.batch_size]

Loaders take and deliver the ids of the source wherever these can index a tensor, renumbered or not; see
``original`` of :class:`NeighborLoader`.
"""

from __future__ import annotations

try:
    import torch_geometric as _torch_geometric
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"graphmill.pyg needs {error.name}, which is not installed: pip install {error.name}",
        name=error.name,
    ) from None

from ._data import to_pyg
from ._data_view import DataView
from ._feature_store import AddEdgeFeatures, DatasetFeatureStore
from ._graph_store import DatasetGraphStore
from ._lightning import LightningLinkData, LightningNodeData
from ._link_neighbor_loader import LinkNeighborLoader
from ._neighbor_loader import NeighborLoader
from ._sampler import Sampler
from ._stores import stores

__all__ = [
    "AddEdgeFeatures",
    "DataView",
    "DatasetFeatureStore",
    "DatasetGraphStore",
    "LightningLinkData",
    "LightningNodeData",
    "LinkNeighborLoader",
    "NeighborLoader",
    "Sampler",
    "stores",
    "to_pyg",
]

assert _torch_geometric
