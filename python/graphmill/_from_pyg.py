"""A PyTorch Geometric ``Data`` object becomes a dataset."""

from __future__ import annotations

import os
import warnings
from typing import Any

from . import _native
from ._build import build
from ._data_attributes import Refused, as_tensor, place_of
from ._data_edges import edges_of
from ._reuse import Origin


def from_pyg(
    data: Any, path: str | os.PathLike[str], *, reuse: bool = False, **options: Any
) -> _native.Dataset:
    """Compile a PyTorch Geometric ``Data`` object into a dataset and open it.

    ``x`` becomes the features and ``y`` the labels; ``edge_attr`` becomes the features of the edges; masks such as
    ``train_mask`` become splits (``val_mask`` becomes ``val``); further tensors of the nodes and of the edges, as PyG
    tells them apart, become tables, so that batches have what PyG's have. All keep the type, the shape and the missing
    values that they have in ``data``. NumPy arrays are taken like tensors, and an ``np.memmap`` is streamed from its
    file. An ``edge_weight`` without numbers below 0 and an ``edge_time`` of integers are stored a second time, in the
    lists, where weighted and temporal sampling find them. What a dataset has no place for is named by a warning.

    ``edge_index`` is stored as it is: PyG lists an undirected edge twice, and so does the dataset. Edge ids are
    stored, so that ``batch.e_id`` holds columns of ``data.edge_index``; ``edge_ids=False`` saves their 8 bytes an
    edge. In place of ``edge_index`` there may be an ``adj_t`` or ``adj``, of torch's sparse tensors or
    torch_sparse's; its edges come in the order of its entries, and its values become ``edge_weight``, or
    ``edge_attr`` if there are several for an edge.

    Args:
        data: A ``torch_geometric.data.Data``.
        path: The folder of the dataset.
        reuse: Open the dataset in the folder if it was built, with ``reuse=True`` too, from the same data and options,
            which a digest of everything in them tells; otherwise build it.
        options: Options of :func:`graphmill.build`, such as ``order="hot"`` or ``memory="2GiB"``.

    Raises:
        ExistsError: The folder has another dataset, and ``overwrite`` is not True.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> data = Data(x=torch.ones(3, 2), edge_index=torch.tensor([[0, 1], [1, 2]]), y=torch.tensor([0, 1, 0]))
        >>> ds = gm.from_pyg(data, "small/")
        >>> ds.num_nodes, ds.num_edges
        (3, 2)
    """
    sources = _sources_of(data, options)
    if not reuse:
        return build(path, **sources)
    origin = Origin.of(sources)
    found = origin.opened(path, sources)
    return origin.recorded(build(path, **sources)) if found is None else found


def _sources_of(data: Any, options: dict[str, Any]) -> dict[str, Any]:
    """What a build takes: the attributes, each where it belongs, and the caller's options, which come first."""
    from torch_geometric.data import Data

    if not isinstance(data, Data):
        raise TypeError(
            f"from_pyg takes a Data object of PyTorch Geometric, found {_described(data)}"
        )
    edges = edges_of(data)
    sources: dict[str, Any] = {"tables": {}, "edge_tables": {}, "splits": {}}
    for name, value in (data.to_dict() | edges.values).items():
        if name in edges.read or name == "num_nodes" or value is None:
            continue
        try:
            tensor = as_tensor(name, value)
            place = place_of(name, tensor, edges, data)
        except Refused as refused:
            warnings.warn(f"{name} is not stored: {refused}", stacklevel=3)
            continue
        if isinstance(place, str):
            sources[place] = tensor
        else:
            kind, key = place
            sources[kind][key] = tensor
            if kind == "edge_tables":
                sources |= _for_lists(name, tensor)
    # Labels from elsewhere take the place of those of the data.
    if options.get("labels") is not None:
        sources["tables"].pop("y", None)
    options = dict(options)
    for kind in ("tables", "edge_tables", "splits"):
        sources[kind] |= options.pop(kind, None) or {}
    # Position in the lists means nothing to a PyG script; a column of edge_index does.
    defaults = {"edges": edges.edge_index, "num_nodes": edges.num_nodes, "edge_ids": True}
    return {**defaults, **sources, **options}


def _for_lists(name: str, values: Any) -> dict[str, Any]:
    """The numbers of the edges as sampling reads them, if it can go by them."""
    import torch

    if values.dim() != 1 or name not in ("edge_weight", "edge_time"):
        return {}
    if name == "edge_time":
        whole = not values.is_floating_point() and values.dtype != torch.bool
        return {"times": values} if whole else {}
    weights = values.to(torch.float32)
    fits = bool((weights.isfinite() & (weights >= 0)).all())
    return {"weights": weights} if fits else {}


def _described(data: Any) -> str:
    """What was given instead of a ``Data`` object, and what to give."""
    from torch_geometric.data import Dataset, HeteroData

    kind = type(data).__name__
    if isinstance(data, HeteroData):
        return f"{kind}: a dataset has one type of node and one of edge; give data.to_homogeneous()"
    if isinstance(data, Dataset):
        return f"{kind}, a dataset of PyG: give one of its graphs, such as dataset[0]"
    if hasattr(data, "edge_index"):
        return f"{kind}: give a torch_geometric.data.Data with its edge_index"
    return f"{kind}: build datasets of anything else with gm.build"
