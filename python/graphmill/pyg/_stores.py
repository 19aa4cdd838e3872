"""A dataset as PyG's own loaders want it: a store of features and a store of edges, both over mapped files."""

from __future__ import annotations

from collections.abc import Sequence

from graphmill import Dataset

from ._attributes import times_of
from ._feature_store import DatasetFeatureStore
from ._graph_store import DatasetGraphStore


def stores(
    ds: Dataset,
    columns: Sequence[str] | None = None,
    time_attr: str | None = None,
    original: bool | None = None,
) -> tuple[DatasetFeatureStore, DatasetGraphStore]:
    """Give a dataset to PyG's own loaders, such as its ``NeighborLoader`` or ``NodeLoader``.

    Rows are read from disk when a batch needs them. The lists are views of the file if it was built with
    ``encoding="i64"``; otherwise PyG needs them as int64 in memory, which is told by a warning, counted in the
    dataset's memory, and refused if it does not fit. Only PyG's own sampler needs them, not :class:`Sampler`.

    Nodes are meant by the ids of the source, also of a dataset that was renumbered, as in the loaders of this package;
    where these are not a permutation of 0..N-1, by internal ids.

    PyG reads tables of nodes alone; :class:`AddEdgeFeatures` as ``transform`` adds those of edges.

    Args:
        ds: The dataset, from :func:`graphmill.open`.
        columns: Tables that batches get; all by default.
        time_attr: A table with the time of each node, for PyG's own sampler: the lists are ordered by it in memory,
            and the table has the name ``time``, by which that sampler finds it. Without it PyG's sampler refuses to
            sample by time.
        original: False means nodes by internal ids everywhere, True by the ids of the source or not at all.

    Example:
        >>> import torch
        >>> from torch_geometric.loader import NodeLoader
        >>> nodes = torch.tensor(ds.split("train"))
        >>> loader = NodeLoader(pyg.stores(ds), pyg.Sampler(ds, [2, 2]), nodes, batch_size=2)
        >>> batch = next(iter(loader))
        >>> batch.x.shape[1]
        2
    """
    times = times_of(ds, time_attr)
    if times is not None and not times.of_nodes:
        raise ValueError(
            f"time_attr is {time_attr!r}, times of edges, which PyG's sampler cannot take from stores; "
            "use graphmill.pyg.NeighborLoader, or PyG's NodeLoader with graphmill.pyg.Sampler(ds, time_attr=...)"
        )
    features = DatasetFeatureStore(ds, columns, time_attr, original)
    return features, DatasetGraphStore(ds, time_attr, original)
