"""What PyG's two loaders have in common: its words for sampling in ours, and its objects made of our batches."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.sampler.base import SubgraphType

import graphmill

from ._attributes import check_weights, times_of
from ._data_view import DataView
from ._node_ids import ids_are_positions

_PER_HOP = ("num_sampled_nodes", "num_sampled_edges")
# Data counts its nodes and edges by the first of its attributes that tells, so that these come before all that a
# transform may leave as it was.
_FIRST = ("x", "edge_index")
# PyG's loaders add these to what the data has, in this order.
_LAST = ("n_id", "e_id", "batch", *_PER_HOP, "input_id")


def sampling_options(
    ds: graphmill.Dataset,
    subgraph_type: SubgraphType | str,
    directed: bool,
    temporal_strategy: str,
    time_attr: str | None,
    given_times: Tensor | None,
    weight_attr: str | None,
) -> dict[str, Any]:
    """What both loaders say in PyG's words, in ours."""
    if not directed:
        warnings.warn("directed=False is PyG's old name of subgraph_type='induced'", stacklevel=3)
        subgraph_type = SubgraphType.induced
    if temporal_strategy not in ("uniform", "last"):
        raise ValueError(
            f"temporal_strategy is {temporal_strategy!r}, expected 'uniform' or 'last'"
        )
    options = {
        "subgraph": SubgraphType(subgraph_type).value,
        "weighted": check_weights(ds, weight_attr),
    }
    times = times_of(ds, time_attr)
    if times is None:
        return options
    if given_times is None and not times.of_nodes:
        raise ValueError("times of edges need the time of each seed: give input_time")
    return options | {
        "time": times.table if given_times is None else given_times,
        "node_time": times.table,
        "temporal": temporal_strategy,
    }


class Delivery:
    """Makes PyG's objects of our batches."""

    def __init__(
        self,
        view: DataView,
        kind: type[Data],
        input_id: Tensor | None,
        options: dict[str, Any],
        of_links: bool = False,
    ) -> None:
        self.view = view
        self.kind = kind
        self.of_links = of_links
        # Edges that are not grouped by hop cannot be trimmed by it, and PyG says so by leaving this out.
        self.left_out = () if options["subgraph"] == "directional" else _PER_HOP
        # PyG's scripts index their own tensors by n_id, so it counts nodes as these do wherever it can.
        self.in_positions = ids_are_positions(view.dataset)
        options.setdefault("original", self.in_positions)
        self.original = options["original"]
        self.input_id = None if input_id is None else torch.as_tensor(input_id).cpu()

    def check_input_id(self, seeds: int) -> None:
        """Refuse an ``input_id`` that has not one entry for each seed."""
        if self.input_id is not None and self.input_id.shape[:1] != (seeds,):
            raise ValueError(
                f"input_id has shape {tuple(self.input_id.shape)}, expected an entry for each of {seeds} seeds"
            )

    def made_of(self, batch: graphmill.Batch, positions: Tensor | None) -> Data:
        """Make the object of a batch whose seeds are those at ``positions``, or all."""
        entries = {name: value for name, value in batch if name not in self.left_out}
        if self.of_links:
            # PyG has no size of a batch of links, and other names for their times.
            del entries["batch_size"]
            if "seed_time" in entries and "edge_label_index" in entries:
                entries["edge_label_time"] = entries.pop("seed_time")
        data = self.kind()
        if "x" not in entries:
            data.num_nodes = len(entries["n_id"])
        own = [name for name in entries if name not in (*_FIRST, *_LAST)]
        for name in (*_FIRST, *own, *_LAST):
            if name in entries:
                data[name] = entries[name]
        if positions is not None:
            data.input_id = positions[data.input_id]
        if self.input_id is not None:
            data.input_id = self.input_id[data.input_id]
        self.view._add_own(data, self._places(entries["n_id"]), entries["e_id"])
        return data

    def _places(self, n_id: Any) -> Any:
        """The positions of nodes in the tensors of the view."""
        if self.original == self.in_positions:
            return n_id
        ds = self.view.dataset
        return torch.as_tensor(ds.node_ids(n_id) if self.original else ds.original_ids(n_id))
