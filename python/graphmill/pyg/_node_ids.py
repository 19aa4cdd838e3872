"""Ids of nodes as PyG's scripts speak them: those of the source, where these can index a tensor."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from graphmill import Dataset

# Ids that are looked at together while asking whether they are positions.
_PIECE = 1 << 20


def ids_are_positions(ds: Dataset) -> bool:
    """Whether the ids of the source are a permutation of 0..N-1, so that they can index a tensor of N rows."""
    if ds.ids in ("same", "reordered"):
        return True
    if ds.ids == "text":
        return False
    # Ids of a dataset are distinct, so that none out of range means that they are all of them.
    for start in range(0, ds.num_nodes, _PIECE):
        ids = ds.original_ids(np.arange(start, min(start + _PIECE, ds.num_nodes)))
        if int(ids.min()) < 0 or int(ids.max()) >= ds.num_nodes:
            return False
    return True


class NodeIds:
    """Which ids an object of PyG's speaks, and the way from these to internal ids and back.

    Args:
        ds: The dataset.
        original: Speak the ids of the source, which have to be a permutation of 0..N-1, or internal ids (False); by
            default the former wherever they are one.
    """

    def __init__(self, ds: Dataset, original: bool | None) -> None:
        self.ds = ds
        self.original = original
        positions = ds.ids != "same" and original is not False and ids_are_positions(ds)
        if original and ds.ids != "same" and not positions:
            raise ValueError(
                f"original=True needs ids that can index a tensor, but those of {ds.path} are {ds.ids}; "
                "leave original out, and translate by ds.node_ids(...) and ds.original_ids(...)"
            )
        self.differ = positions

    def internal(self, ids: Tensor) -> Tensor:
        """Return the internal ids of nodes."""
        return torch.as_tensor(self.ds.node_ids(ids)) if self.differ else ids

    def outward(self, internal: Tensor) -> Tensor:
        """Return the ids that the object speaks."""
        return torch.as_tensor(self.ds.original_ids(internal)) if self.differ else internal
