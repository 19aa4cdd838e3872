"""The lists of a dataset as a ``GraphStore`` of PyG's, whose sampler asks for all of them when it is made."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import EdgeAttr, GraphStore
from torch_geometric.data.graph_store import EdgeLayout

from graphmill import Dataset

from ._neighbor_lists import NeighborLists, bytes_of_lists, bytes_to_make_lists, make_lists
from ._node_ids import NodeIds
from ._reservation import reserved

_READ_ONLY = "the topology of a dataset is not changed through PyG; build another one"
_REMEDY = "build with encoding='i64', open the dataset with a larger memory"


class _NotOrderedByTime:
    """Stands for ``is_sorted`` of lists that are not ordered by time.

    PyG's sampler takes every CSC for ordered by time, and asks this where it wants to sample by it: on other lists it
    would pick what is later than its seed.
    """

    def __bool__(self) -> bool:
        raise ValueError(
            "PyG samples by time from lists that are ordered by it: make the stores with "
            "pyg.stores(ds, time_attr=...), or use graphmill.pyg.NeighborLoader or Sampler, which need no order"
        )

    def __repr__(self) -> str:
        return "not by time"


class DatasetGraphStore(GraphStore):  # type: ignore[misc]
    """The lists of a dataset as a ``torch_geometric.data.GraphStore``; made by :func:`stores`.

    Example:
        >>> small = gm.build("small/", [[0, 1], [1, 2]], encoding="i64")
        >>> row, col = pyg.DatasetGraphStore(small).get_edge_index(edge_type=None, layout="coo")
        >>> row.tolist(), col.tolist()
        ([0, 1], [1, 2])
    """

    def __init__(
        self, ds: Dataset, time_attr: str | None = None, original: bool | None = None
    ) -> None:
        super().__init__()
        self.ds = ds
        self.time_attr = time_attr
        self._graph = ds.graph
        self._ids = NodeIds(ds, original)
        self._made: dict[str, tuple[NeighborLists, AbstractContextManager[None]]] = {}

    def get_all_edge_attrs(self) -> list[EdgeAttr]:
        """Return what is stored: in-edges as CSC, out-edges as CSR; with ``time_attr`` the CSC alone.

        Example:
            >>> _, graph = pyg.stores(gm.build("small/", [[0, 1], [1, 2]]))
            >>> [attribute.layout.value for attribute in graph.get_all_edge_attrs()]
            ['csc', 'csr']
        """
        size = (self.ds.num_nodes, self.ds.num_nodes)
        if self.time_attr is not None:
            return [EdgeAttr(edge_type=None, layout=EdgeLayout.CSC, size=size)]
        layouts = {"in": EdgeLayout.CSC, "out": EdgeLayout.CSR}
        attributes = [
            EdgeAttr(edge_type=None, layout=layout, size=size)
            for direction, layout in layouts.items()
            if direction in self._graph.directions
        ]
        for attribute in attributes:
            attribute.is_sorted = _NotOrderedByTime()
        return attributes

    def csc(
        self, edge_types: list[Any] | None = None, store: bool = False
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return sources, offsets and edge ids of the in-edges; PyG makes ``e_id`` of the latter.

        Example:
            >>> _, graph = pyg.stores(gm.build("small/", [[0, 1], [1, 2]], encoding="i64", edge_ids=True))
            >>> [part.tolist() for part in graph.csc()]
            [[0, 1], [0, 0, 1, 2], [0, 1]]
        """
        _check_types(edge_types)
        lists = self._lists("in")
        return lists.neighbours, lists.offsets, lists.edge_ids

    def csr(
        self, edge_types: list[Any] | None = None, store: bool = False
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return offsets, destinations and edge ids of the out-edges.

        Example:
            >>> _, graph = pyg.stores(gm.build("small/", [[0, 1], [1, 2]], encoding="i64", edge_ids=True))
            >>> [part.tolist() for part in graph.csr()]
            [[0, 1, 2, 2], [1, 2], [0, 1]]
        """
        _check_types(edge_types)
        lists = self._lists("out")
        return lists.offsets, lists.neighbours, lists.edge_ids

    def coo(
        self, edge_types: list[Any] | None = None, store: bool = False
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return both endpoints of all edges, which takes 8 bytes for each beside the lists, and edge ids.

        Example:
            >>> _, graph = pyg.stores(gm.build("small/", [[0, 1], [1, 2]], encoding="i64", edge_ids=True))
            >>> [part.tolist() for part in graph.coo()]
            [[0, 1], [1, 2], [0, 1]]
        """
        _check_types(edge_types)
        direction = "in" if "in" in self._graph.directions else "out"
        edges = self.ds.num_edges
        with reserved(self.ds, 8 * edges, f"one endpoint of {edges} edges", _REMEDY):
            lists = self._lists(direction)
            owners = torch.arange(self.ds.num_nodes).repeat_interleave(
                lists.offsets.diff(), output_size=edges
            )
        ends = (lists.neighbours, owners) if direction == "in" else (owners, lists.neighbours)
        return *ends, lists.edge_ids

    def _get_edge_index(self, edge_attr: EdgeAttr) -> tuple[Tensor, Tensor]:
        _check_types([edge_attr.edge_type])
        made = {EdgeLayout.CSC: self.csc, EdgeLayout.CSR: self.csr, EdgeLayout.COO: self.coo}
        first, second, _ = made[edge_attr.layout]()
        return first, second

    def _lists(self, direction: str) -> NeighborLists:
        """The lists of a direction as int64: of the file if it has them so, else made in memory once."""
        by_time = self.time_attr is not None and direction == "in"
        reason = self._reason_to_make(direction, by_time)
        if reason is None:
            offsets, neighbours = self._views(direction)
            return NeighborLists(offsets, neighbours, self._graph.edge_ids(direction, "torch"))
        # Both directions of an undirected graph are one, unless one of them is ordered by time.
        key = "both" if self._graph.is_undirected and self.time_attr is None else direction
        if key not in self._made:
            narrow = reason == _NARROW
            need = 8 * self.ds.num_edges if narrow else bytes_of_lists(self.ds)
            held = reserved(self.ds, need, "neighbours as int64", _REMEDY)
            warnings.warn(
                f"PyG samples from lists of int64 in memory, and {self.ds.path} {reason}: {need} bytes of its memory "
                "are taken for a copy; of a dataset built with encoding='i64' in the order of its source, PyG reads "
                "the file",
                stacklevel=4,
            )
            if narrow:
                offsets, neighbours = self._views(direction)
                ids = self._graph.edge_ids(direction, "torch")
                made = NeighborLists(offsets, neighbours.to(torch.int64), ids)
            else:
                beside = bytes_to_make_lists(self.ds, direction)
                with reserved(self.ds, beside, "sorting neighbours", _REMEDY):
                    made = make_lists(self.ds, direction, self._ids, self._times(by_time))
            self._made[key] = made, held
        return self._made[key][0]

    def _reason_to_make(self, direction: str, by_time: bool) -> str | None:
        """Why lists are not views of the file; None if they are."""
        if direction not in self._graph.directions:
            return f"stores no {direction}-edges"
        if self._ids.differ:
            return "was renumbered"
        if by_time:
            return f"does not order them by {self.time_attr!r}"
        if self._graph.encoding == "packed":
            return "stores them packed"
        return None if self._graph.encoding == "i64" else _NARROW

    def _views(self, direction: str) -> tuple[Tensor, Tensor]:
        views = self._graph.csc("torch") if direction == "in" else self._graph.csr("torch")
        return views[0], views[1]

    def _times(self, by_time: bool) -> Tensor | None:
        return self.ds.table(self.time_attr).torch() if by_time and self.time_attr else None

    def _put_edge_index(self, edge_index: Any, edge_attr: EdgeAttr) -> bool:
        raise NotImplementedError(_READ_ONLY)

    def _remove_edge_index(self, edge_attr: EdgeAttr) -> bool:
        raise NotImplementedError(_READ_ONLY)

    def __reduce__(self) -> tuple[Any, ...]:
        return DatasetGraphStore, (self.ds, self.time_attr, self._ids.original)

    def __repr__(self) -> str:
        return f"DatasetGraphStore({self._graph!r})"


_NARROW = "stores them as int32"


def _check_types(edge_types: Sequence[Any] | None) -> None:
    for edge_type in edge_types or []:
        if edge_type is not None:
            raise KeyError(
                f"there is no edge type {edge_type!r}: a dataset has one type of edge, which is None"
            )
