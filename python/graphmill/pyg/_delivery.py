"""What PyG's two loaders have in common: its words for sampling in ours, and its objects made of our batches."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.data.data import BaseData
from torch_geometric.sampler.base import SubgraphType

import graphmill

from ._attributes import check_weights, times_of

_PER_HOP = ("num_sampled_nodes", "num_sampled_edges")


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
        transform: Callable[[Any], Any] | None,
        kind: type[Data],
        input_id: Tensor | None,
        subgraph: str,
    ) -> None:
        self.transform = transform
        # Edges that are not grouped by hop cannot be trimmed by it, and PyG says so by leaving this out.
        self.left_out = () if subgraph == "directional" else _PER_HOP
        self.kind = kind
        self.input_id = None if input_id is None else torch.as_tensor(input_id).cpu()

    def check_input_id(self, seeds: int) -> None:
        """Refuse an ``input_id`` that has not one entry for each seed."""
        if self.input_id is not None and self.input_id.shape[:1] != (seeds,):
            raise ValueError(
                f"input_id has shape {tuple(self.input_id.shape)}, expected an entry for each of {seeds} seeds"
            )

    def of_nodes(self, batch: graphmill.Batch) -> Any:
        """A batch around nodes."""
        return self._delivered(dict(batch))

    def of_links(self, batch: graphmill.Batch) -> Any:
        """A batch around links, whose times have another name and whose size nobody asks for."""
        entries = dict(batch)
        del entries["batch_size"]
        if "seed_time" in entries and "edge_label_index" in entries:
            entries["edge_label_time"] = entries.pop("seed_time")
        return self._delivered(entries)

    def _delivered(self, entries: dict[str, Any]) -> Any:
        data = self.kind()
        data.num_nodes = len(entries["n_id"])
        for name, value in entries.items():
            if name not in self.left_out:
                data[name] = value
        if self.input_id is not None:
            data.input_id = self.input_id[data.input_id]
        return data if self.transform is None else self.transform(data)


class DataLoaderFace(graphmill.NeighborLoader):
    """What scripts ask PyG's loaders for because they are ``DataLoader`` objects."""

    # It has the lists of its batch, also after PyG's transforms, which work on a shallow copy.
    _whole = BaseData

    @property
    def dataset(self) -> range:
        """The positions of the seeds, so that ``len(loader.dataset)`` is their number."""
        return range(self._count_seeds())

    @property
    def drop_last(self) -> bool:
        """Whether a last batch that is not full is left out."""
        return bool(self._made_of[2]["drop_last"])

    @property
    def num_workers(self) -> int:
        """0: threads prepare the batches."""
        return 0
