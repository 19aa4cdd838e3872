"""PyG's ``NeighborLoader`` by name and meaning, over our own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch_geometric.loader
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.sampler import NodeSamplerInput
from torch_geometric.sampler.base import SubgraphType

import graphmill

from ._attributes import fanouts_of
from ._data_loader_face import DataLoaderFace
from ._data_view import DataView, as_view
from ._delivery import Delivery, sampling_options
from ._node_ids import ids_are_positions
from ._options import loading_options


class NeighborLoader(DataLoaderFace, torch_geometric.loader.NeighborLoader):  # type: ignore[misc]
    """PyG's ``NeighborLoader`` over a dataset on disk: the same names and defaults, and the same ``Data`` objects.

    Batches are sampled, and their rows read, ahead of the training loop by threads. ``num_workers``,
    ``persistent_workers`` and ``prefetch_factor`` are accepted with a warning, as they have nothing to do.
    ``batch.n_id`` holds the ids of the source wherever those are a permutation of 0..N-1, so that tensors of the script
    can be indexed by it, else internal ids; ``original`` asks for one or the other.

    Args:
        data: The dataset, from :func:`graphmill.open`, or a :class:`DataView` of it.
        num_neighbors: Neighbours to sample per hop; -1 takes all.
        input_nodes: Ids of seeds as they were in the source, a mask over them, the name of a split, or None for all.
        input_time: The time of each seed, where ``time_attr`` is given; by default the times of the nodes themselves.
        replace: Sample with replacement.
        subgraph_type: ``"directional"`` gives the edges that were followed, ``"bidirectional"`` those and their
            reverses, ``"induced"`` all edges among the nodes found.
        disjoint: Grow a tree of its own from each seed; ``batch.batch`` names the tree of each node.
        temporal_strategy: ``"uniform"`` or ``"last"``: which of the edges that are old enough are picked.
        time_attr: A table with the time of each node, ``"edge_time"``, or a table of the edges with the same times:
            nothing later than its seed enters a tree.
        weight_attr: ``"edge_weight"``, or a table of the edges with the same weights, picks edges in proportion to
            their stored weights.
        transform: Called with each batch; its result is delivered instead.
        transform_sampler_output: Not supported, since rows are read along with the sample.
        is_sorted: Of no effect: lists always are.
        filter_per_worker: Whether ``collate_fn`` transforms a batch, or leaves that to ``filter_fn``, as for PyG's
            ``ZipLoader``.
        neighbor_sampler: Not supported: a sampler of PyG's goes to its own loaders, with :func:`stores`.
        directed: PyG's old way to say ``subgraph_type="induced"``.
        custom_cls: A class of ``Data`` objects to deliver.
        input_id: What ``batch.input_id`` holds for each seed; its position by default.
        **kwargs: ``batch_size`` (1), ``shuffle``, ``drop_last``, ``pin_memory``, ``sampler``, ``batch_sampler`` and
            ``generator`` as torch has them, ``sample_direction`` as PyG has it; ``columns``, ``seed``, ``prefetch``,
            ``device``, ``original`` and further options of :class:`graphmill.NeighborLoader`.

    Example:
        >>> loader = pyg.NeighborLoader(ds, num_neighbors=[2, 2], input_nodes="train", batch_size=2, shuffle=True)
        >>> for batch in loader:
        ...     print(type(batch).__name__, batch.x.shape[1])
        Data 2
    """

    def __init__(
        self,
        data: graphmill.Dataset | DataView,
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
            "neighbor_sampler": neighbor_sampler,
        }
        view, loading = as_view(data), loading_options(kwargs)
        ds, options = view.dataset, loading.options
        options |= sampling_options(
            ds, subgraph_type, directed, temporal_strategy, time_attr, input_time, weight_attr
        )
        seeds, ids_of_mask = _as_seeds(ds, input_nodes)
        own_id = ids_of_mask if input_id is None else input_id
        self._delivery = Delivery(view, custom_cls or Data, own_id, options)
        fanouts = fanouts_of(num_neighbors)
        super().__init__(ds, fanouts, seeds=seeds, replace=replace, disjoint=disjoint, **options)
        self.transform = transform
        self.filter_per_worker = True if filter_per_worker is None else filter_per_worker
        self.input_nodes, self.input_time = input_nodes, input_time
        sampling = {
            "num_neighbors": fanouts,
            "subgraph_type": options["subgraph"],
            "replace": replace,
            "disjoint": disjoint,
            "temporal_strategy": temporal_strategy,
            "time_attr": time_attr,
            "weight_attr": weight_attr,
        }
        self._become_data_loader(loading, sampling)

    @property
    def node_sampler(self) -> Any:
        """A sampler of the same neighbours for PyG's own loaders: a :class:`Sampler`."""
        return self._sampler()

    @property
    def input_data(self) -> NodeSamplerInput:
        """The seeds as PyG's samplers take them."""
        nodes = self._start_at(torch.arange(self._count_seeds()))
        return NodeSamplerInput(self.input_id, torch.as_tensor(nodes), self.input_time)

    def _start_at(self, positions: Tensor) -> Any:
        ds, start, _ = self._made_of
        if start is None and ids_are_positions(ds):
            return positions
        if start is None:
            start = sorted(ds.original_ids(range(ds.num_nodes)))
        elif isinstance(start, str):
            start = ds.split(start)
        if ds.ids == "text":
            return [start[position] for position in positions.tolist()]
        return np.asarray(start)[positions.numpy()]


def _as_seeds(ds: graphmill.Dataset, nodes: Any) -> tuple[Any, Tensor | None]:
    """Seeds as our loader takes them, and for a mask the ids that PyG delivers as ``input_id``."""
    if isinstance(nodes, tuple) and len(nodes) == 2 and nodes[0] is None:
        nodes = nodes[1]
    if nodes is None or isinstance(nodes, str):
        return nodes, None
    if isinstance(nodes, (list, tuple)) and nodes and isinstance(nodes[0], (bool, np.bool_)):
        nodes = np.asarray(nodes)
    if str(getattr(nodes, "dtype", None)) not in ("torch.bool", "bool"):
        return nodes, None
    if tuple(nodes.shape) != (ds.num_nodes,):
        raise ValueError(f"a mask has shape {tuple(nodes.shape)}, expected ({ds.num_nodes},)")
    if not ids_are_positions(ds):
        raise ValueError(
            f"a mask says by position which node is meant, but the ids of {ds.path} are not the numbers from 0 on; "
            "give a list of ids"
        )
    ids = torch.as_tensor(nodes).nonzero().view(-1)
    return ids, ids
