"""PyG's ``LinkNeighborLoader`` by name and meaning, over our own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch_geometric.loader
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.sampler import EdgeSamplerInput, NegativeSampling
from torch_geometric.sampler.base import SubgraphType

import graphmill

from ._attributes import fanouts_of
from ._data import all_edges
from ._data_loader_face import DataLoaderFace
from ._data_view import DataView, as_view
from ._delivery import Delivery, sampling_options
from ._options import loading_options


class LinkNeighborLoader(
    DataLoaderFace,
    graphmill.LinkNeighborLoader,
    torch_geometric.loader.LinkNeighborLoader,  # type: ignore[misc]
):
    """PyG's ``LinkNeighborLoader`` over a dataset on disk: the same names and defaults, and the same ``Data`` objects.

    Negatives are pairs that are no edges, where PyG draws any. ``num_workers`` and its kin are accepted with a warning.

    Args:
        data: The dataset, from :func:`graphmill.open`, or a :class:`DataView` of it.
        num_neighbors: Neighbours to sample per hop; -1 takes all.
        edge_label_index: Endpoints of links ``[2, n]``, by the ids of the source; None for all edges of the dataset, in
            the order of the source where edge ids are stored, which are then made in memory.
        edge_label: A label for each link; without ``edge_label_index``, for each edge in the order of the source, which
            the dataset must know.
        edge_label_time: The time of each link, in the same order; given together with ``time_attr``.
        replace: Sample with replacement.
        subgraph_type: As for :class:`NeighborLoader`.
        disjoint: Grow a tree of its own from each end; ``batch.batch`` names the link of each node.
        temporal_strategy: As for :class:`NeighborLoader`.
        neg_sampling: ``"binary"``, ``"triplet"`` or PyG's ``NegativeSampling``, without weights. With times of nodes,
            negatives are nodes that are not later than their link.
        neg_sampling_ratio: So many binary negatives for each link.
        time_attr: As for :class:`NeighborLoader`.
        weight_attr: As for :class:`NeighborLoader`.
        transform: Called with each batch; its result is delivered instead.
        transform_sampler_output: Not supported, since rows are read along with the sample.
        is_sorted: Of no effect: lists always are.
        filter_per_worker: As for :class:`NeighborLoader`.
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
        data: graphmill.Dataset | DataView,
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
            raise ValueError(
                "edge_label_time and time_attr mean nothing alone: "
                f"'{'edge_label_time' if edge_label_time is None else 'time_attr'}' is not set; give both"
            )
        kwargs |= {
            "transform_sampler_output": transform_sampler_output,
            "neighbor_sampler": neighbor_sampler,
        }
        view = as_view(data)
        loading = loading_options(kwargs, more=("exclude_seed_edges", "strict"))
        ds, options = view.dataset, loading.options
        options |= sampling_options(
            ds,
            subgraph_type,
            directed,
            temporal_strategy,
            time_attr,
            edge_label_time,
            weight_attr,
        )
        negatives = _as_negatives(neg_sampling, neg_sampling_ratio)
        self._delivery = Delivery(view, custom_cls or Data, input_id, options, of_links=True)
        fanouts = fanouts_of(num_neighbors)
        by_position = {
            "edge_label": edge_label,
            "edge_label_time": edge_label_time,
            "input_id": input_id,
        }
        super().__init__(
            ds,
            fanouts,
            _as_links(
                ds,
                edge_label_index,
                [name for name, given in by_position.items() if given is not None],
            ),
            edge_label,
            None if negatives is None else negatives.mode.value,
            1.0 if negatives is None else negatives.amount,
            replace=replace,
            disjoint=disjoint,
            **options,
        )
        self.transform = transform
        self.filter_per_worker = True if filter_per_worker is None else filter_per_worker
        self.edge_label_index, self.neg_sampling = edge_label_index, negatives
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
    def link_sampler(self) -> Any:
        """A sampler of the same neighbours for PyG's own loaders: a :class:`Sampler`."""
        return self._sampler()

    @property
    def input_data(self) -> EdgeSamplerInput:
        """The links as PyG's samplers take them."""
        sources, destinations = (
            torch.as_tensor(self._links[name]) for name in ("sources", "destinations")
        )
        labels = None if self._labels is None else torch.as_tensor(self._labels)
        time = self._made_of[2]["time"]
        return EdgeSamplerInput(self.input_id, sources, destinations, labels, time)

    def _part(self, index: Any, *given: Any, **more: Any) -> Any:
        part: Any = super()._part(index, *given, **more)
        part._links = part._made_of[1]
        if self._labels is not None:
            part._labels = self._labels[part._positions.numpy()]
        return part

    def _start_at(self, positions: Tensor) -> Any:
        chosen = {
            name: torch.as_tensor(self._links[name])[positions]
            if self.data.dataset.ids != "text"
            else [self._links[name][position] for position in positions.tolist()]
            for name in ("sources", "destinations")
        }
        return self._links | chosen


def _as_links(ds: graphmill.Dataset, links: Any, by_position: list[str]) -> Any:
    """The links as our loader takes them; those of the dataset itself if none are given."""
    if isinstance(links, tuple) and len(links) == 2 and links[0] is None:
        links = links[1]
    if links is not None:
        return links
    edge_index, order = all_edges(ds)
    if by_position:
        _check_source_order(ds, order, " and ".join(by_position))
    return [ds.original_ids(ends) for ends in edge_index]


def _check_source_order(ds: graphmill.Dataset, order: Tensor, what: str) -> None:
    """Refuse what goes by position unless the edges are exactly the rows of the source, in their order."""
    graph = ds.graph
    direction = "in" if "in" in graph.directions else "out"
    ids = graph.edge_ids(direction, "torch")
    if ids is None or not graph.has_edge_ids:
        raise ValueError(
            f"{what} without edge_label_index means the edges in the order of the source, which {ds.path} does not "
            "know: give edge_label_index, or build it again with edge_ids=True (gm.from_pyg does)"
        )
    if not torch.equal(ids[order].to(torch.int64), torch.arange(len(order))):
        raise ValueError(
            f"{what} without edge_label_index means one entry for each row of the source, but the edges of {ds.path} "
            "are not those rows (it is undirected, or rows were left out or added): give edge_label_index"
        )


def _as_negatives(given: Any, ratio: float | None) -> NegativeSampling | None:
    if ratio is not None and ratio != 0.0:
        return NegativeSampling("binary", ratio)
    negatives = NegativeSampling.cast(given)
    if negatives is not None and not (negatives.src_weight is negatives.dst_weight is None):
        raise ValueError(
            "weights of negatives are not supported: use graphmill.pyg.Sampler with PyG's LinkLoader"
        )
    return negatives
