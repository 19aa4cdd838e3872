"""A sampler for PyG's ``NodeLoader`` and ``LinkLoader``: neighbours straight from the mapped file."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor
from torch_geometric.sampler import (
    BaseSampler,
    EdgeSamplerInput,
    NegativeSampling,
    NodeSamplerInput,
    SamplerOutput,
)
from torch_geometric.sampler.base import SubgraphType

# Negatives, labels and local ids of links are PyG's to define, so its own code makes them.
from torch_geometric.sampler.neighbor_sampler import edge_sample

from graphmill import Dataset

from ._attributes import check_weights, fanouts_of, times_of
from ._node_ids import NodeIds
from ._reservation import reserved

# Which edges PyG's directions follow.
_DIRECTIONS: dict[str, Literal["in", "out"]] = {"forward": "in", "backward": "out"}


class Sampler(BaseSampler):  # type: ignore[misc]
    """Samples a dataset for PyG's ``NodeLoader`` and ``LinkLoader``, without PyG's compiled extensions.

    Names and meanings are those of PyG's ``NeighborSampler``. Randomness is torch's: ``torch.manual_seed`` makes it
    reproducible, and the workers of a loader differ. :class:`NeighborLoader` is faster, since it reads ahead.

    Args:
        ds: The dataset, from :func:`graphmill.open`.
        num_neighbors: Neighbours to sample per hop; -1 takes all.
        subgraph_type: ``"directional"`` gives the edges that were followed, ``"bidirectional"`` those and their
            reverses, ``"induced"`` all edges among the nodes found.
        replace: Sample with replacement.
        disjoint: Grow a tree of its own from each seed; ``batch`` names the tree of each node.
        temporal_strategy: ``"uniform"`` or ``"last"``: which of the edges that are old enough are picked.
        time_attr: A table with the time of each node, or ``"edge_time"``: nothing later than its seed enters a tree.
        weight_attr: ``"edge_weight"`` picks edges in proportion to their stored weights.
        sample_direction: ``"forward"`` follows in-edges, ``"backward"`` out-edges.
        original: Seeds and nodes are ids of the source, also of a dataset that was renumbered; where these are not a
            permutation of 0..N-1, internal ids. False means internal ids everywhere, as in :func:`stores`.

    Example:
        >>> import torch
        >>> from torch_geometric.sampler import NodeSamplerInput
        >>> sampler = pyg.Sampler(ds, [2])
        >>> out = sampler.sample_from_nodes(NodeSamplerInput(torch.tensor([0]), torch.tensor([3])))
        >>> out.node[0]
        tensor(3)
    """

    def __init__(
        self,
        ds: Dataset,
        num_neighbors: Any,
        subgraph_type: SubgraphType | str = "directional",
        replace: bool = False,
        disjoint: bool = False,
        temporal_strategy: str = "uniform",
        time_attr: str | None = None,
        weight_attr: str | None = None,
        sample_direction: Literal["forward", "backward"] = "forward",
        original: bool | None = None,
    ) -> None:
        self.ds = ds
        self.num_neighbors = fanouts_of(num_neighbors)
        self.subgraph_type = SubgraphType(subgraph_type)
        self.replace = replace
        self.takes_last = temporal_strategy == "last"
        self.is_temporal = time_attr is not None
        self.disjoint = disjoint or self.is_temporal
        self.weighted = check_weights(ds, weight_attr)
        times = times_of(ds, time_attr)
        self._time_table = times.table if times is not None else None
        self._graph = ds.graph
        self._ids = NodeIds(ds, original)
        if sample_direction not in _DIRECTIONS:
            raise ValueError(
                f"sample_direction is {sample_direction!r}, expected 'forward' or 'backward'"
            )
        self.sample_direction = sample_direction
        if temporal_strategy not in ("uniform", "last"):
            raise ValueError(
                f"temporal_strategy is {temporal_strategy!r}, expected 'uniform' or 'last'"
            )
        # Mistakes are told now and not by the first batch.
        nobody = torch.empty(0, dtype=torch.int64)
        self._sample(nobody, nobody if self.is_temporal else None)

    def sample_from_nodes(self, index: NodeSamplerInput, **kwargs: Any) -> SamplerOutput:
        """Sample around nodes.

        Example:
            >>> import torch
            >>> from torch_geometric.sampler import NodeSamplerInput
            >>> seeds = NodeSamplerInput(input_id=None, node=torch.tensor([1, 3]))
            >>> pyg.Sampler(ds, [2]).sample_from_nodes(seeds).node[:2]
            tensor([1, 3])
        """
        out = self._sample(index.node, index.time)
        out.metadata = (index.input_id, index.time)
        return self._finished(out)

    def sample_from_edges(
        self, index: EdgeSamplerInput, neg_sampling: NegativeSampling | None = None
    ) -> SamplerOutput:
        """Sample around both ends of links, and of pairs or ends that are drawn as negatives.

        Example:
            >>> import torch
            >>> from torch_geometric.sampler import EdgeSamplerInput
            >>> links = EdgeSamplerInput(None, row=torch.tensor([0, 1]), col=torch.tensor([2, 3]))
            >>> out = pyg.Sampler(ds, [2]).sample_from_edges(links)
            >>> out.node[out.metadata[1]]
            tensor([[0, 1],
                    [2, 3]])
        """
        out = edge_sample(
            index,
            self._sample,
            self.ds.num_nodes,
            self.disjoint,
            self._node_time_by_id(),
            NegativeSampling.cast(neg_sampling),
        )
        return self._finished(out)

    @property
    def edge_permutation(self) -> None:
        """None: edges have their ids already."""
        return None

    def _finished(self, out: SamplerOutput) -> SamplerOutput:
        if self.subgraph_type == SubgraphType.induced:
            # Its edges are not grouped by hop, so there is nothing that could be trimmed by it.
            out.num_sampled_nodes = out.num_sampled_edges = None
        if self.subgraph_type == SubgraphType.bidirectional:
            return out.to_bidirectional(keep_orig_edges=False)
        return out

    def _sample(self, seeds: Tensor, times: Tensor | None = None) -> SamplerOutput:
        node_time = self._node_time()
        seeds = self._ids.internal(seeds.to("cpu", torch.int64))
        if times is None and node_time is not None:
            times = node_time[seeds]
        elif times is None and self.is_temporal:
            raise ValueError("times of edges need the time of each seed: give input_time")
        found = self._graph.sample(
            seeds,
            self.num_neighbors,
            direction=_DIRECTIONS[self.sample_direction],
            replace=self.replace,
            weighted=self.weighted,
            disjoint=self.disjoint,
            time=times,
            node_time=node_time,
            temporal="last" if times is not None and self.takes_last else "uniform",
            subgraph="induced" if self.subgraph_type == SubgraphType.induced else "directional",
            seed=int(torch.randint(2**63 - 1, ())),
        )
        return SamplerOutput(
            node=self._ids.outward(found.n_id),
            row=found.row,
            col=found.col,
            edge=found.e_id,
            batch=found.batch,
            num_sampled_nodes=found.nodes_per_hop,
            num_sampled_edges=found.edges_per_hop,
        )

    def _node_time(self) -> Tensor | None:
        # A view of the file: nothing is read but what is looked at.
        return None if self._time_table is None else self.ds.table(self._time_table).torch()

    def _node_time_by_id(self) -> Tensor | None:
        """The times by the ids that the sampler speaks, by which PyG draws negatives that are not later."""
        node_time = self._node_time()
        if node_time is None or not self._ids.differ:
            return node_time
        with reserved(self.ds, node_time.nbytes + 16 * self.ds.num_nodes, "times of all nodes"):
            return node_time[self._ids.internal(torch.arange(self.ds.num_nodes))]

    def __repr__(self) -> str:
        return f"Sampler({self.ds!r}, num_neighbors={self.num_neighbors})"
