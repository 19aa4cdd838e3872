"""A dataset as PyG's loaders want it: a store of features and a store of edges, both over mapped files.

PyG's own ``NeighborLoader`` and ``NodeLoader`` take the two. They ask for rows by ``multi_get_tensor`` and for the
lists once, when they are made. It must not know how batches are sampled.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, EdgeAttr, FeatureStore, GraphStore, TensorAttr
from torch_geometric.data.graph_store import EdgeLayout

from graphmill import Dataset, Features, MemoryBudgetError

_READ_ONLY = "a dataset is not changed through PyG; use Dataset.add_table, or build it anew"


def stores(
    ds: Dataset, columns: Sequence[str] | None = None
) -> tuple[DatasetFeatureStore, DatasetGraphStore]:
    """Give a dataset to PyG's own loaders, such as its ``NeighborLoader`` or ``NodeLoader``.

    Rows are read from disk when a batch needs them. The lists are views of the file if it was built with
    ``encoding="i64"``; otherwise PyG needs them as int64 in memory, which is told by a warning, counted in the
    dataset's memory, and refused if it does not fit. Only PyG's own sampler needs them, not :class:`Sampler`.

    PyG reads tables of nodes alone; :class:`AddEdgeFeatures` as ``transform`` adds those of edges.

    Args:
        ds: The dataset, from :func:`graphmill.open`.
        columns: Tables that batches get; all by default.

    Example:
        >>> import torch
        >>> from torch_geometric.loader import NodeLoader
        >>> sampler = pyg.Sampler(ds, [2, 2])
        >>> nodes = torch.from_numpy(ds.node_ids(ds.split("train")))
        >>> loader = NodeLoader(pyg.stores(ds), sampler, nodes, batch_size=2)
        >>> batch = next(iter(loader))
        >>> batch.x.shape[1]
        2
    """
    return DatasetFeatureStore(ds, columns), DatasetGraphStore(ds)


class DatasetFeatureStore(FeatureStore):  # type: ignore[misc]
    """The tables of a dataset as a ``torch_geometric.data.FeatureStore``; made by :func:`stores`.

    Tables of the nodes have the group None, as PyG has it where there is one type of node. Tables of the edges can be
    asked for by name too, with edge ids as index; they are not among all attributes, since PyG's loaders would index
    them by nodes.

    Example:
        >>> import torch
        >>> features = pyg.DatasetFeatureStore(ds, columns=["x"])
        >>> features.get_tensor(group_name=None, attr_name="x", index=torch.tensor([2, 0])).shape
        torch.Size([2, 2])
    """

    def __init__(self, ds: Dataset, columns: Sequence[str] | None = None) -> None:
        super().__init__()
        self.ds = ds
        self.columns = None if columns is None else list(columns)
        self._tables: dict[str, Features] = {
            name: ds.table(name) for name in (ds.tables if columns is None else columns)
        }

    def get_all_tensor_attrs(self) -> list[TensorAttr]:
        """Return an attribute for each table of the nodes; fresh ones, as loaders set their index.

        Example:
            >>> features, _ = pyg.stores(ds, columns=["x", "y"])
            >>> [attribute.attr_name for attribute in features.get_all_tensor_attrs()]
            ['x', 'y']
        """
        return [TensorAttr(group_name=None, attr_name=name) for name in self._tables]

    def _get_tensor(self, attr: TensorAttr) -> Tensor:
        table = self._table(attr)
        return _rows(table, _as_ids(attr.index, len(table)))

    def _multi_get_tensor(self, attrs: list[TensorAttr]) -> list[Tensor]:
        # A loader asks for all tables of the same nodes, so their ids are prepared once.
        prepared: dict[tuple[int, int], Any] = {}
        rows = []
        for attr in attrs:
            table = self._table(attr)
            key = id(attr.index), len(table)
            if key not in prepared:
                prepared[key] = _as_ids(attr.index, len(table))
            rows.append(_rows(table, prepared[key]))
        return rows

    def _table(self, attr: TensorAttr) -> Features:
        name = attr.attr_name
        if attr.is_set("group_name") and attr.group_name is not None:
            raise KeyError(
                f"there is no group {attr.group_name!r}: a dataset has one type of node, whose group is None"
            )
        if name not in self._tables:
            if name not in self.ds.edge_tables:
                there = ", ".join([*self._tables, *self.ds.edge_tables])
                raise KeyError(f"there is no table {name!r}; there are {there}")
            return self.ds.edge_table(name)
        return self._tables[name]

    def _get_tensor_size(self, attr: TensorAttr) -> tuple[int, ...] | None:
        try:
            table = self._table(attr)
        except KeyError:
            # PyG's word for what does not exist.
            return None
        ids = _as_ids(attr.index, len(table))
        if isinstance(ids, Tensor):
            return (*ids.shape, *table.shape[1:])
        return tuple(_rows(table, ids).shape)

    def _put_tensor(self, tensor: Any, attr: TensorAttr) -> bool:
        raise NotImplementedError(_READ_ONLY)

    def _remove_tensor(self, attr: TensorAttr) -> bool:
        raise NotImplementedError(_READ_ONLY)

    def __reduce__(self) -> tuple[Any, ...]:
        return DatasetFeatureStore, (self.ds, self.columns)

    def __repr__(self) -> str:
        return f"DatasetFeatureStore({', '.join(self._tables)})"


class DatasetGraphStore(GraphStore):  # type: ignore[misc]
    """The lists of a dataset as a ``torch_geometric.data.GraphStore``; made by :func:`stores`.

    Example:
        >>> small = gm.build("small/", [[0, 1], [1, 2]], encoding="i64")
        >>> row, col = pyg.DatasetGraphStore(small).get_edge_index(edge_type=None, layout="coo")
        >>> row.tolist(), col.tolist()
        ([0, 1], [1, 2])
    """

    def __init__(self, ds: Dataset) -> None:
        super().__init__()
        self.ds = ds
        self._graph = ds.graph
        self._made: dict[str, tuple[Tensor, AbstractContextManager[None]]] = {}

    def get_all_edge_attrs(self) -> list[EdgeAttr]:
        """Return what is stored: in-edges as CSC, out-edges as CSR.

        Example:
            >>> _, graph = pyg.stores(gm.build("small/", [[0, 1], [1, 2]]))
            >>> [attribute.layout.value for attribute in graph.get_all_edge_attrs()]
            ['csc', 'csr']
        """
        size = (self.ds.num_nodes, self.ds.num_nodes)
        layouts = {"in": EdgeLayout.CSC, "out": EdgeLayout.CSR}
        return [
            EdgeAttr(edge_type=None, layout=layout, size=size)
            for direction, layout in layouts.items()
            if direction in self._graph.directions
        ]

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
        offsets, neighbours = self._lists("in")
        return neighbours, offsets, self._graph.edge_ids("in", "torch")

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
        offsets, neighbours = self._lists("out")
        return offsets, neighbours, self._graph.edge_ids("out", "torch")

    def coo(
        self, edge_types: list[Any] | None = None, store: bool = False
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return both ends of all stored edges, which takes 8 bytes for each beside the lists, and edge ids.

        Example:
            >>> _, graph = pyg.stores(gm.build("small/", [[0, 1], [1, 2]], encoding="i64", edge_ids=True))
            >>> [part.tolist() for part in graph.coo()]
            [[0, 1], [1, 2], [0, 1]]
        """
        _check_types(edge_types)
        direction = "in" if "in" in self._graph.directions else "out"
        edges = self.ds.num_edges
        with _reserved(self.ds, 8 * edges, f"one end of {edges} edges"):
            offsets, neighbours = self._lists(direction)
            ends = torch.arange(self.ds.num_nodes).repeat_interleave(
                offsets.diff(), output_size=edges
            )
        ids = self._graph.edge_ids(direction, "torch")
        return (neighbours, ends, ids) if direction == "in" else (ends, neighbours, ids)

    def _get_edge_index(self, edge_attr: EdgeAttr) -> tuple[Tensor, Tensor]:
        _check_types([edge_attr.edge_type])
        made = {EdgeLayout.CSC: self.csc, EdgeLayout.CSR: self.csr, EdgeLayout.COO: self.coo}
        first, second, _ = made[edge_attr.layout]()
        return first, second

    def _lists(self, direction: str) -> tuple[Tensor, Tensor]:
        """Offsets and neighbours as int64, of the file if it has them so."""
        offsets, neighbours = (
            self._graph.csc("torch") if direction == "in" else self._graph.csr("torch")
        )
        if neighbours.dtype == torch.int64:
            return offsets, neighbours
        if self._graph.is_undirected:
            direction = "both"
        if direction not in self._made:
            need = 8 * neighbours.numel()
            held = _reserved(self.ds, need, "neighbours as int64")
            warnings.warn(
                f"PyG samples from int64, and {self.ds.path} stores its neighbours as {neighbours.dtype}: "
                f"{need} bytes of its memory are taken for a copy; build it with encoding='i64' to need none",
                stacklevel=3,
            )
            self._made[direction] = neighbours.to(torch.int64), held
        return offsets, self._made[direction][0]

    def _put_edge_index(self, edge_index: Any, edge_attr: EdgeAttr) -> bool:
        raise NotImplementedError(_READ_ONLY)

    def _remove_edge_index(self, edge_attr: EdgeAttr) -> bool:
        raise NotImplementedError(_READ_ONLY)

    def __reduce__(self) -> tuple[Any, ...]:
        return DatasetGraphStore, (self.ds,)

    def __repr__(self) -> str:
        return f"DatasetGraphStore({self._graph!r})"


class AddEdgeFeatures:
    """A transform that reads the rows of a batch's edges, found by their ids.

    PyG's loaders over stores read tables of nodes alone.

    Args:
        ds: The dataset, from :func:`graphmill.open`; it has to store edge ids.
        columns: Tables of the edges; all by default.

    Example:
        >>> edges = gm.build("small/", [[0, 1], [1, 2]], edge_features=np.eye(2))
        >>> add = pyg.AddEdgeFeatures(edges)
        >>> from torch_geometric.data import Data
        >>> import torch
        >>> add(Data(e_id=torch.tensor([1, 0]))).edge_attr.tolist()
        [[0.0, 1.0], [1.0, 0.0]]
    """

    def __init__(self, ds: Dataset, columns: Sequence[str] | None = None) -> None:
        self.columns = list(ds.edge_tables if columns is None else columns)
        self.store = DatasetFeatureStore(ds, columns=[])

    def __call__(self, data: Data) -> Data:
        for name in self.columns:
            data[name] = self.store.get_tensor(attr_name=name, group_name=None, index=data.e_id)
        return data

    def __repr__(self) -> str:
        return f"AddEdgeFeatures({', '.join(self.columns)})"


def _rows(table: Features, ids: Any) -> Tensor:
    if isinstance(ids, Tensor):
        rows: Tensor = table.gather(ids)
        return rows
    # All, a slice or a single row: a view of the file.
    view: Tensor = table.torch()
    return view if ids is None else view[ids]


def _as_ids(index: Any, rows: int) -> Any:
    """An index of PyG's as int64 ids; all (None), slices and single rows stay as they are."""
    if index is None or isinstance(index, (slice, int)):
        return index
    ids = torch.as_tensor(index)
    if ids.dtype == torch.bool:
        if tuple(ids.shape) != (rows,):
            raise IndexError(f"a mask has shape {tuple(ids.shape)}, expected ({rows},)")
        return ids.nonzero().view(-1).cpu()
    # An empty list has no type of its own, and torch makes it one of floats.
    if ids.numel() and (ids.is_floating_point() or ids.is_complex()):
        raise TypeError(f"an index must hold integers or be a mask, found {ids.dtype}")
    return ids.to("cpu", torch.int64)


def _check_types(edge_types: Sequence[Any] | None) -> None:
    for edge_type in edge_types or []:
        if edge_type is not None:
            raise KeyError(
                f"there is no edge type {edge_type!r}: a dataset has one type of edge, which is None"
            )


def _reserved(ds: Dataset, need: int, what: str) -> AbstractContextManager[None]:
    try:
        return ds._reserve(need, what)
    except MemoryBudgetError as error:
        raise MemoryBudgetError(
            f"{error}; build with encoding='i64', open with a larger memory, or use graphmill.pyg.NeighborLoader, "
            "which needs no lists in memory"
        ) from None
