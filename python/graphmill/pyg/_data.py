"""A dataset as one object of PyG's, for graphs that fit in memory after all."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Data

from graphmill import Dataset

from ._attributes import EDGE_TIME, EDGE_WEIGHT
from ._reservation import reserved


def to_pyg(ds: Dataset) -> Data:
    """Make a ``torch_geometric.data.Data`` of a dataset: the way back of :func:`graphmill.from_pyg`.

    Tables are views of the files, private and copy-on-write, so they take no memory until they are written to. The
    edges and what belongs to them are made in memory: 16 bytes for each edge and its rows, which must fit into the
    dataset's memory. They come in the order of the source where edge ids are stored, else by their ends; an undirected
    edge comes twice. Splits become masks. Nodes are in the order of their numbers; where they were renumbered, ``n_id``
    holds their ids in the source.

    Args:
        ds: The dataset, from :func:`graphmill.open`.

    Example:
        >>> data = pyg.to_pyg(ds)
        >>> data.num_nodes, data.edge_index.shape[0]
        (4, 2)
    """
    graph = ds.graph
    direction = _stored_direction(ds)
    edge_index, order = all_edges(ds)
    data = Data(num_nodes=ds.num_nodes, edge_index=edge_index)
    in_lists = {
        EDGE_WEIGHT: graph.weights(direction, "torch"),
        EDGE_TIME: graph.times(direction, "torch"),
    }
    edge_tables = {name: ds.edge_table(name) for name in ds.edge_tables}
    # A table of that name has what the source had, in its own type.
    attributes = {name: values for name, values in in_lists.items() if name not in edge_tables}
    need = sum(values.nbytes for values in attributes.values() if values is not None)
    need += sum(ds.num_edges * table.nbytes // max(1, len(table)) for table in edge_tables.values())
    with reserved(ds, need, "what belongs to the edges of a Data object"):
        for name, values in attributes.items():
            if values is not None:
                data[name] = values[order]
        for name, table in edge_tables.items():
            data[name] = table.gather(graph.edge_ids(direction, "torch")[order])
    for name in ds.tables:
        data[name] = ds.table(name).torch()
    for name in ds.splits:
        mask = torch.zeros(ds.num_nodes, dtype=torch.bool)
        mask[torch.from_numpy(ds.node_ids(ds.split(name)))] = True
        data[f"{name}_mask"] = mask
    if ds.ids in ("reordered", "mapped"):
        data.n_id = torch.from_numpy(ds.original_ids(range(ds.num_nodes)))
    elif ds.ids == "text":
        data.n_id = ds.original_ids(range(ds.num_nodes)).tolist()
    return data


def all_edges(ds: Dataset) -> tuple[Tensor, Tensor]:
    """Both ends of all edges by number, int64 ``[2, E]``, and their places in the stored lists.

    They come in the order of the source where edge ids are stored, else in the stored one.
    """
    graph, count = ds.graph, ds.num_edges
    direction = _stored_direction(ds)
    # Both ends, one of them twice, and what sorting them takes.
    with reserved(ds, 40 * count, f"{count} edges of a Data object"):
        offsets, neighbours = graph.csc("torch") if direction == "in" else graph.csr("torch")
        ends = torch.arange(ds.num_nodes).repeat_interleave(offsets.diff(), output_size=count)
        ids = graph.edge_ids(direction, "torch")
        order = torch.arange(count) if ids is None else torch.argsort(ids, stable=True)
        edge_index = torch.empty(2, count, dtype=torch.int64)
        columns = [neighbours, ends] if direction == "in" else [ends, neighbours]
        for target, column in zip(edge_index, columns, strict=True):
            target.copy_(column[order])
    return edge_index, order


def _stored_direction(ds: Dataset) -> str:
    return "in" if "in" in ds.graph.directions else "out"
