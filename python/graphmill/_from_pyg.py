"""A PyTorch Geometric ``Data`` object becomes a dataset."""

from __future__ import annotations

import os
import warnings
from typing import Any

from . import _native
from ._build import build


def from_pyg(data: Any, path: str | os.PathLike[str], **options: Any) -> _native.Dataset:
    """Compile a PyTorch Geometric ``Data`` object into a dataset and open it.

    ``x`` becomes the features and ``y`` the labels; ``edge_attr`` becomes the features of the edges; masks such as
    ``train_mask`` become splits (``val_mask`` becomes ``val``); further tensors of the nodes and of the edges, as PyG
    tells them apart, become tables, so that batches have what PyG's have. An ``edge_weight`` without numbers below 0
    and an ``edge_time`` of integers are stored a second time, in the lists, where weighted and temporal sampling find
    them. What a dataset has no place for is named by a warning. ``edge_index`` is stored as it is: PyG lists an
    undirected edge twice, and so does the dataset. Edge ids are stored, so that ``batch.e_id`` holds columns of
    ``data.edge_index``; ``edge_ids=False`` saves their 8 bytes an edge.

    Args:
        data: A ``torch_geometric.data.Data``.
        path: The folder of the dataset.
        options: Options of :func:`graphmill.build`, such as ``order="hot"`` or ``memory="2GiB"``.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> data = Data(x=torch.ones(3, 2), edge_index=torch.tensor([[0, 1], [1, 2]]), y=torch.tensor([0, 1, 0]))
        >>> ds = gm.from_pyg(data, "small/")
        >>> ds.num_nodes, ds.num_edges
        (3, 2)
    """
    edge_index = getattr(data, "edge_index", None)
    if edge_index is None or not hasattr(data, "num_nodes"):
        kind = type(data).__name__
        raise TypeError(f"from_pyg takes a Data object with edge_index, found {kind}")
    num_nodes = int(data.num_nodes)
    sources: dict[str, Any] = {"tables": {}, "edge_tables": {}, "splits": {}}
    for name, value in data.to_dict().items():
        if name in ("edge_index", "num_nodes") or value is None:
            continue
        reason = _reason_to_leave_out(data, name, value)
        if reason is not None:
            warnings.warn(f"{name} is not stored: {reason}", stacklevel=2)
        elif name in _PLACES:
            sources[_PLACES[name]] = value
        elif name in _IN_LISTS or data.is_edge_attr(name):
            sources["edge_tables"][name] = value
            if name in _IN_LISTS and _fits_lists(name, value):
                sources[_IN_LISTS[name]] = value
        elif name.endswith("_mask") and value.dim() == 1 and str(value.dtype) == "torch.bool":
            sources["splits"][name.removesuffix("_mask")] = value
        elif name == "y" and _is_labels(value):
            sources["labels"] = value
        else:
            sources["tables"][name] = value
    for name in ("tables", "edge_tables", "splits"):
        sources[name] |= options.pop(name, None) or {}
    options.setdefault("num_nodes", num_nodes)
    # Position in the lists means nothing to a PyG script; a column of edge_index does.
    options.setdefault("edge_ids", True)
    return build(path, edge_index, **{**sources, **options})


# Attributes that have a place of their own in a dataset.
_PLACES = {"x": "features", "edge_attr": "edge_features"}
# Those that sampling reads.
_IN_LISTS = {"edge_weight": "weights", "edge_time": "times"}


def _reason_to_leave_out(data: Any, name: str, value: Any) -> str | None:
    """Why a dataset has no place for an attribute; None if it has one."""
    if not hasattr(value, "dim"):
        return f"it is a {type(value).__name__}, and a dataset holds tensors"
    if value.dim() not in (1, 2):
        return f"it has {value.dim()} dimensions, and tables have one or two"
    # Where there are as many edges as nodes, length tells nothing, and PyG goes by the name.
    if name in _PLACES or name in _IN_LISTS:
        return None
    if data.is_edge_attr(name) and value.shape[0] == data.num_edges:
        return None
    # Of names such as cluster_index, PyG counts the last dimension.
    if not data.is_node_attr(name) or value.shape[0] != data.num_nodes:
        return f"its shape {tuple(value.shape)} has a row neither for each node nor for each edge"
    return None


def _fits_lists(name: str, value: Any) -> bool:
    """Whether sampling can go by it: a number for each edge, none of the weights below 0 or endless, times whole."""
    if value.dim() != 1 or value.is_complex():
        return False
    if name == "edge_time":
        return not value.is_floating_point()
    return bool((value.isfinite() & (value >= 0)).all())


def _is_labels(value: Any) -> bool:
    if value.is_complex():
        return False
    if not value.is_floating_point():
        return True
    # A NaN is a missing label; any fraction makes it a regression target, which stays as it is.
    known = value[~value.isnan()]
    return bool((known == known.round()).all())
