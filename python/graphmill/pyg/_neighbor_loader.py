"""PyG's ``NeighborLoader`` by name and meaning, over our own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.sampler.base import SubgraphType

import graphmill

from ._attributes import fanouts_of
from ._delivery import DataLoaderFace, Delivery, sampling_options
from ._options import loading_options


class NeighborLoader(DataLoaderFace):
    """PyG's ``NeighborLoader`` over a dataset on disk: the same names and defaults, and the same ``Data`` objects.

    Batches are sampled, and their rows read, ahead of the training loop by threads. ``num_workers``,
    ``persistent_workers`` and ``prefetch_factor`` are accepted with a warning, as they have nothing to do.
    ``batch.n_id`` holds the numbers of nodes, as ``ds.features`` has them; see ``original``.

    Args:
        data: The dataset, from :func:`graphmill.open`.
        num_neighbors: Neighbours to sample per hop; -1 takes all.
        input_nodes: Ids of seeds as they were in the source, a mask over them, the name of a split, or None for all.
        input_time: The time of each seed, where ``time_attr`` is given; by default the times of the nodes themselves.
        replace: Sample with replacement.
        subgraph_type: ``"directional"`` gives the edges that were followed, ``"bidirectional"`` those and their
            reverses, ``"induced"`` all edges among the nodes found.
        disjoint: Grow a tree of its own from each seed; ``batch.batch`` names the tree of each node.
        temporal_strategy: ``"uniform"`` or ``"last"``: which of the edges that are old enough are picked.
        time_attr: A table with the time of each node, or ``"edge_time"``: nothing later than its seed enters a tree.
        weight_attr: ``"edge_weight"`` picks edges in proportion to their stored weights.
        transform: Called with each batch; its result is delivered instead.
        transform_sampler_output: Not supported, since rows are read along with the sample.
        is_sorted: Of no effect: lists always are.
        filter_per_worker: Of no effect: there are no workers.
        neighbor_sampler: Not supported: a sampler of PyG's goes to its own loaders, with :func:`stores`.
        directed: PyG's old way to say ``subgraph_type="induced"``.
        custom_cls: A class of ``Data`` objects to deliver.
        input_id: What ``batch.input_id`` holds for each seed; its position by default.
        **kwargs: ``batch_size`` (1), ``shuffle``, ``drop_last``, ``pin_memory`` and ``generator`` as PyG has them;
            ``columns``, ``seed``, ``prefetch``, ``device`` and further options of :class:`graphmill.NeighborLoader`.

    Example:
        >>> loader = pyg.NeighborLoader(ds, num_neighbors=[2, 2], input_nodes="train", batch_size=2, shuffle=True)
        >>> for batch in loader:
        ...     print(type(batch).__name__, batch.x.shape[1])
        Data 2
    """

    def __init__(
        self,
        data: graphmill.Dataset,
        num_neighbors: Any,
        input_nodes: Any = None,
        input_time: Tensor | None = None,
        replace: bool = False,
        subgraph_type: SubgraphType | str = "directional",
        disjoint: bool = False,
        temporal_strategy: str = "uniform",
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
        if input_time is not None and time_attr is None:
            raise ValueError("input_time means nothing without time_attr: give both")
        kwargs |= {
            "transform_sampler_output": transform_sampler_output,
            "filter_per_worker": filter_per_worker,
            "neighbor_sampler": neighbor_sampler,
        }
        options = loading_options(kwargs)
        options |= sampling_options(
            data, subgraph_type, directed, temporal_strategy, time_attr, input_time, weight_attr
        )
        seeds, ids_of_mask = _as_seeds(data, input_nodes)
        self._delivery = Delivery(
            transform,
            custom_cls or Data,
            ids_of_mask if input_id is None else input_id,
            options["subgraph"],
        )
        super().__init__(
            data,
            fanouts_of(num_neighbors),
            seeds=seeds,
            replace=replace,
            disjoint=disjoint,
            transform=self._delivery.of_nodes,
            **options,
        )
        self._delivery.check_input_id(self._count_seeds())


def _as_seeds(ds: graphmill.Dataset, nodes: Any) -> tuple[Any, Tensor | None]:
    """Seeds as our loader takes them, and for a mask the ids that PyG delivers as ``input_id``."""
    if isinstance(nodes, tuple) and len(nodes) == 2 and nodes[0] is None:
        nodes = nodes[1]
    if nodes is None or isinstance(nodes, str):
        return nodes, None
    if str(getattr(nodes, "dtype", None)) not in ("torch.bool", "bool"):
        return nodes, None
    if tuple(nodes.shape) != (ds.num_nodes,):
        raise ValueError(f"a mask has shape {tuple(nodes.shape)}, expected ({ds.num_nodes},)")
    if ds.ids not in ("same", "reordered"):
        raise ValueError(
            f"a mask says by position which node is meant, but the ids of {ds.path} are not the numbers from 0 on; "
            "give a list of ids"
        )
    ids = torch.as_tensor(nodes).nonzero().view(-1)
    return ids, ids
