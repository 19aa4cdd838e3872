"""Where an attribute of PyG's ``Data`` goes in a dataset, or why it cannot be stored."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ._writers import element_name

if TYPE_CHECKING:
    from ._data_edges import DataEdges

# Loaders set these in every batch, so that a table of that name would never be seen.
_OF_LOADERS = (
    *("n_id", "e_id", "input_id", "batch", "batch_size", "seed_time", "link_ends"),
    *("num_sampled_nodes", "num_sampled_edges"),
)
# Beginnings of names that the files of a dataset keep for other things.
_RESERVED = ("split-", "edge-", "id-")


class Refused(Exception):
    """Why an attribute cannot be stored."""


def as_tensor(name: str, value: Any) -> Any:
    """Return an attribute as a dense tensor of a type that tables have; an array lends its memory."""
    import torch

    if isinstance(value, np.ndarray):
        try:
            with warnings.catch_warnings():
                # A file that is mapped read-only is only read here.
                warnings.filterwarnings("ignore", "The given NumPy array is not writable")
                value = torch.from_numpy(value)
        except (TypeError, ValueError) as error:
            raise Refused(f"torch cannot read the array ({error}); give it as a tensor") from None
    if not isinstance(value, torch.Tensor):
        raise Refused(f"it is a {type(value).__name__}, and a dataset holds tensors")
    if value.layout != torch.strided:
        raise Refused(f"it is sparse; set data.{name} to its to_dense()")
    try:
        element_name(value.dtype)
    except TypeError as error:
        remedy = "torch.view_as_real(...).flatten(1)" if value.is_complex() else "to(torch.int64)"
        if value.dtype.is_floating_point or value.is_quantized:
            remedy = "to(torch.float32)"
        raise Refused(f"{error}; convert it, for example by {remedy}") from None
    return value.detach()


def place_of(name: str, value: Any, edges: DataEdges, data: Any) -> str | tuple[str, str]:
    """Return the option of a build that takes an attribute, with a key if it takes several."""
    import torch

    rows = value.shape[0] if value.dim() else None
    # PyG counts the last dimension of names such as cluster_index.
    counted = data.__cat_dim__(name, value) if value.dim() else 0
    by_rows = isinstance(counted, int) and counted in (0, -value.dim())
    of_edges = by_rows and rows == edges.count
    of_nodes = by_rows and rows == edges.num_nodes
    if of_edges and of_nodes:
        # Where there are as many edges as nodes, PyG goes by the name.
        of_nodes = not (of_edges := "edge" in name)
    if not of_edges and not of_nodes:
        raise Refused(
            f"its shape {tuple(value.shape)} has a row neither for each node ({edges.num_nodes}) "
            f"nor for each edge ({edges.count}); keep it beside the dataset"
        )
    if value.dim() > 2:
        raise Refused(
            f"it has {value.dim()} dimensions, and tables have one or two; set data.{name} to its flatten(1)"
        )
    if value.dim() == 2 and not value.shape[1]:
        raise Refused("it has no columns")
    if name in _OF_LOADERS:
        raise Refused("loaders set an attribute of this name in each batch; give it another name")
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,100}", name) or name.startswith(_RESERVED):
        raise Refused("a name has up to 100 letters, digits, _ and -; give it another one")
    if of_edges:
        return "edge_features" if name == "edge_attr" else ("edge_tables", name)
    if name == "x":
        return "features"
    split = name.removesuffix("_mask")
    if split not in ("", name) and value.dim() == 1 and value.dtype == torch.bool:
        return "splits", split
    return "tables", name
