"""The tables of a dataset as a ``FeatureStore`` of PyG's, whose loaders ask for rows by ``multi_get_tensor``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, FeatureStore, TensorAttr

from graphmill import Dataset, Features

from ._node_ids import NodeIds
from ._reservation import reserved

_READ_ONLY = (
    "a dataset is not changed through PyG; Dataset.add_table and Dataset.remove_table do it"
)
# PyG's sampler takes times of nodes by this name alone, and anything else for times of edges.
NODE_TIME = "time"


class DatasetFeatureStore(FeatureStore):  # type: ignore[misc]
    """The tables of a dataset as a ``torch_geometric.data.FeatureStore``; made by :func:`stores`.

    Tables of the nodes have the group None, as PyG has it where there is one type of node. Tables of the edges can be
    asked for by name too, with edge ids as index; they are not among all attributes, since PyG's loaders would index
    them by nodes. Nodes are meant by the same ids as in :class:`DatasetGraphStore`.

    Example:
        >>> import torch
        >>> features = pyg.DatasetFeatureStore(ds, columns=["x"])
        >>> features.get_tensor(group_name=None, attr_name="x", index=torch.tensor([2, 0])).shape
        torch.Size([2, 2])
    """

    def __init__(
        self,
        ds: Dataset,
        columns: Sequence[str] | None = None,
        time_attr: str | None = None,
        original: bool | None = None,
    ) -> None:
        super().__init__()
        self.ds = ds
        self.columns = None if columns is None else list(columns)
        self.time_attr = time_attr
        self._ids = NodeIds(ds, original)
        self._tables: dict[str, Features] = {
            name: ds.table(name) for name in (ds.tables if columns is None else columns)
        }
        if time_attr is not None:
            if time_attr != NODE_TIME and NODE_TIME in self._tables:
                raise ValueError(
                    f"time_attr is {time_attr!r}, but PyG's sampler finds times of nodes by the name {NODE_TIME!r}, "
                    "which is another table; leave that one out of columns="
                )
            self._tables[NODE_TIME] = ds.table(time_attr)

    def get_all_tensor_attrs(self) -> list[TensorAttr]:
        """Return an attribute for each table of the nodes; fresh ones, as loaders set their index.

        Example:
            >>> features, _ = pyg.stores(ds, columns=["x", "y"])
            >>> [attribute.attr_name for attribute in features.get_all_tensor_attrs()]
            ['x', 'y']
        """
        return [TensorAttr(group_name=None, attr_name=name) for name in self._tables]

    def _get_tensor(self, attr: TensorAttr) -> Tensor:
        table, of_nodes = self._table(attr)
        if not (of_nodes and self._ids.differ and isinstance(attr.index, (slice, type(None)))):
            return self._rows(table, self._row_ids(attr.index, table, of_nodes))
        # What would be a view of the file is put into the order of the source.
        with reserved(self.ds, table.nbytes + 8 * len(table), f"all rows of {attr.attr_name}"):
            return self._rows(table, self._row_ids(attr.index, table, of_nodes))

    def _multi_get_tensor(self, attrs: list[TensorAttr]) -> list[Tensor]:
        # A loader asks for all tables of the same nodes, so their ids are prepared once.
        prepared: dict[tuple[int, int, bool], Any] = {}
        rows = []
        for attr in attrs:
            table, of_nodes = self._table(attr)
            key = id(attr.index), len(table), of_nodes
            if key not in prepared:
                prepared[key] = self._row_ids(attr.index, table, of_nodes)
            rows.append(self._rows(table, prepared[key]))
        return rows

    def _table(self, attr: TensorAttr) -> tuple[Features, bool]:
        """A table, and whether its rows are those of the nodes."""
        name = attr.attr_name
        if attr.is_set("group_name") and attr.group_name is not None:
            raise KeyError(
                f"there is no group {attr.group_name!r}: a dataset has one type of node, whose group is None"
            )
        if name not in self._tables:
            if name not in self.ds.edge_tables:
                there = ", ".join([*self._tables, *self.ds.edge_tables])
                raise KeyError(f"there is no table {name!r}; there are {there}")
            return self.ds.edge_table(name), False
        return self._tables[name], True

    def _row_ids(self, index: Any, table: Features, of_nodes: bool) -> Any:
        ids = _as_ids(index, len(table))
        if not (of_nodes and self._ids.differ):
            return ids
        if isinstance(ids, Tensor):
            return self._ids.internal(ids)
        # Rows that lie together by the ids of the source do not in the file.
        rows = range(len(table))
        if isinstance(ids, int):
            return int(self._ids.internal(torch.tensor([rows[ids]]))[0])
        start, stop, step = (ids or slice(None)).indices(len(table))
        return self._ids.internal(torch.arange(start, stop, step))

    def _rows(self, table: Features, ids: Any) -> Tensor:
        if isinstance(ids, Tensor):
            rows: Tensor = table.gather(ids)
            return rows
        # All, a slice or a single row: a view of the file.
        view: Tensor = table.torch()
        return view if ids is None else view[ids]

    def _get_tensor_size(self, attr: TensorAttr) -> tuple[int, ...] | None:
        try:
            table, _ = self._table(attr)
        except KeyError:
            # PyG's word for what does not exist.
            return None
        ids = _as_ids(attr.index, len(table))
        if isinstance(ids, Tensor):
            return (*ids.shape, *table.shape[1:])
        return tuple(self._rows(table, ids).shape)

    def _put_tensor(self, tensor: Any, attr: TensorAttr) -> bool:
        raise NotImplementedError(_READ_ONLY)

    def _remove_tensor(self, attr: TensorAttr) -> bool:
        raise NotImplementedError(_READ_ONLY)

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (self.ds, self.columns, self.time_attr, self._ids.original)
        return DatasetFeatureStore, arguments

    def __repr__(self) -> str:
        return f"DatasetFeatureStore({', '.join(self._tables)})"


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
