"""PyG's ``LinkNeighborLoader`` by name and meaning, over our own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.sampler import NegativeSampling
from torch_geometric.sampler.base import SubgraphType

import graphmill

from ._attributes import fanouts_of
from ._data import all_edges
from ._delivery import DataLoaderFace, Delivery, sampling_options
from ._options import loading_options


class LinkNeighborLoader(DataLoaderFace, graphmill.LinkNeighborLoader):
    """PyG's ``LinkNeighborLoader`` over a dataset on disk: the same names and defaults, and the same ``Data`` objects.

    Negatives are pairs that are no edges, where PyG draws any. ``num_workers`` and its kin are accepted with a warning.

    Args:
        data: The dataset, from :func:`graphmill.open`.
        num_neighbors: Neighbours to sample per hop; -1 takes all.
        edge_label_index: Ends of links ``[2, n]``, by the ids of the source; None for all edges of the dataset, which
            are then made in memory.
        edge_label: A label for each link.
        edge_label_time: The time of each link; given together with ``time_attr``.
        replace: Sample with replacement.
        subgraph_type: As for :class:`NeighborLoader`.
        disjoint: Grow a tree of its own from each end; ``batch.batch`` names the link of each node.
        temporal_strategy: As for :class:`NeighborLoader`.
        neg_sampling: ``"binary"``, ``"triplet"`` or PyG's ``NegativeSampling``, without weights, and not together with
            times of nodes.
        neg_sampling_ratio: So many binary negatives for each link.
        time_attr: As for :class:`NeighborLoader`.
        weight_attr: As for :class:`NeighborLoader`.
        transform: Called with each batch; its result is delivered instead.
        transform_sampler_output: Not supported, since rows are read along with the sample.
        is_sorted: Of no effect: lists always are.
        filter_per_worker: Of no effect: there are no workers.
        neighbor_sampler: Not supported: a sampler of PyG's goes to its own loaders, with :func:`stores`.
        directed: PyG's old way to say ``subgraph_type="induced"``.
        custom_cls: A class of ``Data`` objects to deliver.
        input_id: What ``batch.input_id`` holds for each link; its position by default.
        **kwargs: As for :class:`NeighborLoader`; ``exclude_seed_edges=True`` keeps the links of a batch out of its
            neighbourhoods, and ``strict=False`` lets negatives be edges, as in PyG.

    Example:
        >>> import torch
        >>> links = torch.tensor([[0, 1], [2, 3]])
        >>> loader = pyg.LinkNeighborLoader(ds, [2], links, neg_sampling="binary", batch_size=2)
        >>> next(iter(loader)).edge_label
        tensor([1., 1., 0., 0.])
    """

    def __init__(
        self,
        data: graphmill.Dataset,
        num_neighbors: Any,
        edge_label_index: Any = None,
        edge_label: Tensor | None = None,
        edge_label_time: Tensor | None = None,
        replace: bool = False,
        subgraph_type: SubgraphType | str = "directional",
        disjoint: bool = False,
        temporal_strategy: str = "uniform",
        neg_sampling: Any = None,
        neg_sampling_ratio: float | None = None,
        time_attr: str | None = None,
        weight_attr: str | None = None,
        transform: Callable[[Any], Any] | None = None,
        transform_sampler_output: None = None,
        is_sorted: bool = False,
        filter_per_worker: bool | None = None,
        neighbor_sampler: None = None,
        directed: bool = True,
        custom_cls: type[Data] | None = None,
        input_id: Tensor | None = None,
        **kwargs: Any,
    ) -> None:
        if (edge_label_time is None) != (time_attr is None):
            raise ValueError("edge_label_time and time_attr mean nothing alone: give both")
        kwargs |= {
            "transform_sampler_output": transform_sampler_output,
            "filter_per_worker": filter_per_worker,
            "neighbor_sampler": neighbor_sampler,
        }
        options = loading_options(kwargs, more=("exclude_seed_edges", "strict"))
        options |= sampling_options(
            data,
            subgraph_type,
            directed,
            temporal_strategy,
            time_attr,
            edge_label_time,
            weight_attr,
        )
        negatives = _as_negatives(neg_sampling, neg_sampling_ratio)
        if negatives is not None and options.get("node_time") is not None:
            raise ValueError(
                f"negatives are not drawn by {time_attr}, so some would be later than their link: "
                "use graphmill.pyg.Sampler with PyG's LinkLoader, which keeps them out"
            )
        self._delivery = Delivery(transform, custom_cls or Data, input_id, options["subgraph"])
        super().__init__(
            data,
            fanouts_of(num_neighbors),
            _as_links(data, edge_label_index),
            edge_label,
            None if negatives is None else negatives.mode.value,
            1.0 if negatives is None else negatives.amount,
            replace=replace,
            disjoint=disjoint,
            transform=self._delivery.of_links,
            **options,
        )
        self._delivery.check_input_id(self._count_seeds())


def _as_links(ds: graphmill.Dataset, links: Any) -> Any:
    if isinstance(links, tuple) and len(links) == 2 and links[0] is None:
        links = links[1]
    if links is not None:
        return links
    return [ds.original_ids(ends) for ends in all_edges(ds)[0]]


def _as_negatives(given: Any, ratio: float | None) -> NegativeSampling | None:
    if ratio is not None and ratio != 0.0:
        return NegativeSampling("binary", ratio)
    negatives = NegativeSampling.cast(given)
    if negatives is not None and not (negatives.src_weight is negatives.dst_weight is None):
        raise ValueError(
            "weights of negatives are not supported: use graphmill.pyg.Sampler with PyG's LinkLoader"
        )
    return negatives
