"""A dataset with the attributes of PyG's ``Data``, read from disk when a script asks for them.

Loaders have one as ``loader.data``. As in PyG, what a script deletes from it is missing in later batches, and a tensor
that it sets is in them, indexed by their nodes or edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from graphmill import Dataset

from ._attributes import EDGE_TIME, EDGE_WEIGHT
from ._data import all_edges
from ._node_ids import ids_are_positions
from ._reservation import reserved

_STATE = ("_ds", "_own", "_deleted")


class DataView:
    """A dataset with the attributes of PyG's ``Data``: tables, masks of splits, ``edge_index``, ``num_nodes`` ...

    Nodes are in the order of their ids in the source where these are 0..N-1, even if the dataset was renumbered, else
    in that of their internal ids; that is how ``batch.n_id`` of the loaders counts them. Edges are in the order of the
    source where edge ids are stored. Tables are views of their files unless the dataset was renumbered; everything else
    is made in memory, within that of the dataset.

    Deleting an attribute keeps it out of later batches of loaders that have this view, and a tensor that is set is in
    them, as in PyG.

    Args:
        ds: The dataset, from :func:`graphmill.open`.

    Example:
        >>> data = pyg.DataView(ds)
        >>> data.x.shape, data.train_mask.dtype
        (torch.Size([4, 2]), torch.bool)
        >>> loader = pyg.NeighborLoader(data, [2], data.train_mask)
    """

    _ds: Dataset
    _own: dict[str, Any]
    _deleted: set[str]

    def __init__(self, ds: Dataset) -> None:
        if not isinstance(ds, Dataset):
            raise TypeError(f"expected a Dataset of graphmill, found {describe_data(ds)}")
        for name, value in zip(_STATE, (ds, {}, set()), strict=True):
            object.__setattr__(self, name, value)

    @property
    def dataset(self) -> Dataset:
        """The dataset."""
        return self._ds

    @property
    def num_nodes(self) -> int:
        """The number of nodes; scripts may set the one that is there."""
        return self._ds.num_nodes

    @num_nodes.setter
    def num_nodes(self, value: int) -> None:
        if value != self.num_nodes:
            raise self._is_of_another_graph("num_nodes")

    @property
    def num_edges(self) -> int:
        """The number of edges; those of an undirected dataset count twice, as in PyG."""
        return self._ds.num_edges

    @property
    def num_node_features(self) -> int:
        """The number of columns of ``x``; 0 without one."""
        return _columns_of(self._own.get("x", self._ds.features))

    num_features = num_node_features

    @property
    def num_edge_features(self) -> int:
        """The number of columns of ``edge_attr``; 0 without one."""
        has = "edge_attr" in self._ds.edge_tables
        return _columns_of(self._ds.edge_table("edge_attr") if has else None)

    def keys(self) -> list[str]:
        """Return the names of the attributes.

        Example:
            >>> {"x", "y", "train_mask", "edge_index"} <= set(pyg.DataView(ds).keys())
            True
        """
        ds = self._ds
        names = [*ds.tables, *(f"{split}_mask" for split in ds.splits), "edge_index"]
        names += [
            *ds.edge_tables,
            *(name for name in (EDGE_WEIGHT, EDGE_TIME) if self._listed(name)),
        ]
        names += self._own
        return [name for name in dict.fromkeys(names) if name not in self._deleted]

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    def __len__(self) -> int:
        return len(self.keys())

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return ((name, self[name]) for name in self.keys())

    def __getitem__(self, name: str) -> Any:
        if name in self._own:
            return self._own[name]
        if name not in self:
            raise KeyError(f"{self._ds.path} has no {name!r}; it has {', '.join(self.keys())}")
        return self._read(name)

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self, name, value)

    def __delitem__(self, name: str) -> None:
        delattr(self, name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            # As PyG's Data has them.
            if name in ("x", "y", "edge_attr"):
                return None
            raise AttributeError(error.args[0]) from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "num_nodes":
            object.__setattr__(self, name, value)
            return
        if name == "edge_index":
            raise self._is_of_another_graph(name)
        if name.startswith("_"):
            raise AttributeError(f"{name!r} cannot be set: its name begins with an underscore")
        self._own[name] = value
        self._deleted.discard(name)

    def _is_of_another_graph(self, name: str) -> AttributeError:
        return AttributeError(
            f"{name} of {self._ds.path} cannot be set: build a dataset of the other graph with gm.from_pyg"
        )

    def __delattr__(self, name: str) -> None:
        if name not in self:
            raise AttributeError(f"{self._ds.path} has no {name!r}")
        self._own.pop(name, None)
        self._deleted.add(name)

    def __copy__(self) -> DataView:
        copy = DataView(self._ds)
        copy._own.update(self._own)
        copy._deleted.update(self._deleted)
        return copy

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _STATE}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)

    def to(self, device: Any, *names: str, non_blocking: bool = False) -> DataView:
        """Move attributes to a device, all tensors of nodes and edges unless some are named; return the view itself.

        Batches take what was moved from there. Nothing happens for the CPU, where everything is already.

        Example:
            >>> pyg.DataView(ds).to("cpu", "x").x.device
            device(type='cpu')
        """
        if torch.device(device).type != "cpu":
            for name in names or self.keys():
                if name != "edge_index":
                    self[name] = self[name].to(device, non_blocking=non_blocking)
        return self

    def __repr__(self) -> str:
        return f"DataView({', '.join(self.keys())}, num_nodes={self.num_nodes}, num_edges={self.num_edges})"

    def _hidden(self) -> frozenset[str]:
        """Return the tables that batches do not read, because they were deleted or replaced."""
        return frozenset(self._deleted | self._own.keys())

    def _add_own(self, batch: Any, nodes: Tensor, edges: Tensor) -> None:
        """Add to a batch what was set: rows of nodes and of edges by these positions, everything else as it is."""
        for name, value in self._own.items():
            rows = value.shape[0] if isinstance(value, Tensor) and value.dim() else None
            if rows == self.num_edges and (rows != self.num_nodes or "edge" in name):
                batch[name] = value[edges.to(value.device)]
            elif rows == self.num_nodes:
                batch[name] = value[nodes.to(value.device)]
            else:
                batch[name] = value

    def _listed(self, name: str) -> bool:
        graph = self._ds.graph
        if name == EDGE_WEIGHT:
            return bool(graph.has_weights)
        return graph.times(graph.directions[0]) is not None

    def _read(self, name: str) -> Any:
        ds = self._ds
        if name in ds.tables:
            return self._in_order(ds.table(name))
        if name.endswith("_mask") and name.removesuffix("_mask") in ds.splits:
            mask = torch.zeros(ds.num_nodes, dtype=torch.bool)
            nodes = torch.from_numpy(np.array(ds.split(name.removesuffix("_mask"))))
            mask[nodes if ids_are_positions(ds) else torch.as_tensor(ds.node_ids(nodes))] = True
            return mask
        edge_index, order = all_edges(ds)
        if name == "edge_index":
            return self._positions_of(edge_index.view(-1)).view(2, -1)
        graph = ds.graph
        direction = "in" if "in" in graph.directions else "out"
        if name in ds.edge_tables:
            table = ds.edge_table(name)
            with reserved(
                ds, ds.num_edges * table.nbytes // max(1, len(table)), f"all rows of {name}"
            ):
                return table.gather(graph.edge_ids(direction, "torch")[order])
        listed = graph.weights if name == EDGE_WEIGHT else graph.times
        return listed(direction, "torch")[order]

    def _in_order(self, table: Any) -> Tensor:
        """All rows of a table, in the order that ``n_id`` counts."""
        ds = self._ds
        if ds.ids == "same" or not ids_are_positions(ds):
            view: Tensor = table.torch()
            return view
        with reserved(ds, table.nbytes + 8 * ds.num_nodes, "a table in the order of the source"):
            rows: Tensor = table.gather(torch.as_tensor(ds.node_ids(np.arange(ds.num_nodes))))
            return rows

    def _positions_of(self, internal: Tensor) -> Tensor:
        ds = self._ds
        if ds.ids == "same" or not ids_are_positions(ds):
            return internal
        return torch.as_tensor(ds.original_ids(internal))


def as_view(data: Any) -> DataView:
    """Return what a loader was given as a view; anything but a dataset is refused with the way to make one."""
    return data if isinstance(data, DataView) else DataView(data)


def describe_data(data: Any) -> str:
    """Name what was given instead of a dataset, and how to make one of it."""
    kind = type(data).__name__
    if isinstance(data, tuple) and len(data) == 2:
        return "a pair of stores: give those to PyG's own loaders, and these the dataset itself"
    if hasattr(data, "edge_index") or hasattr(data, "edge_types"):
        return f"a {kind} of PyG in memory: write it to disk once with gm.from_pyg(data, folder)"
    if isinstance(data, (str, bytes)) or hasattr(data, "__fspath__"):
        return "a path: open it with gm.open(path)"
    return f"{kind}: open one with gm.open(path), or make one with gm.build or gm.from_pyg"


def _columns_of(table: Any) -> int:
    if table is None:
        return 0
    return 1 if len(table.shape) == 1 else int(table.shape[-1])
