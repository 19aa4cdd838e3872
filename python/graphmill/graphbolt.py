"""graphmill for DGL's GraphBolt: a feature whose rows stay on disk.

Nothing of it is imported by ``import graphmill``; it needs ``dgl``::

    import dgl.graphbolt as gb
    import graphmill as gm
    from graphmill.graphbolt import Feature

    ds = gm.open("papers/", memory="4GiB")
    store = gb.BasicFeatureStore({("node", None, "feat"): Feature(ds.features)})
    pipe = pipe.fetch_feature(store, node_feature_keys=["feat"])
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import torch
from torch import Tensor

try:
    import dgl.graphbolt as gb
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"graphmill.graphbolt needs {error.name}, which is not installed; dgl says which torch it was built for",
        name=error.name,
    ) from None

from ._native import Features

__all__ = ["Feature"]


class Feature(gb.Feature):  # type: ignore[misc]
    """A table on disk as a ``dgl.graphbolt.Feature``.

    Rows are read with deep queues and merged requests, each once however often it is asked for. Rows of nodes are found
    by their numbers, those of edges by edge ids; a sampling graph that speaks other ids needs a translation.

    Args:
        features: A table such as ``ds.features`` or ``ds.edge_table("edge_attr")``, or the path of a ``.gd`` file.
        metadata: What :meth:`metadata` answers.

    Example:
        >>> feature = Feature("features.gd")
        >>> feature.read(torch.tensor([3, 0])).shape
        torch.Size([2, 2])
    """

    def __init__(
        self,
        features: Features | str | os.PathLike[str],
        metadata: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self._features = features if isinstance(features, Features) else Features(features)
        self._metadata = dict(metadata or {})
        self._reader: tuple[int, ThreadPoolExecutor] | None = None

    def read(self, ids: Tensor | None = None) -> Tensor:
        """Read rows by id to the device of the ids; without ids, give a private view of the whole file."""
        if ids is None:
            view: Tensor = self._features.torch()
            return view
        rows: Tensor = self._features.gather(ids.to("cpu", torch.int64))
        return rows.to(ids.device)

    def read_async(self, ids: Tensor) -> Iterator[_Reading]:
        """Begin to read on another thread, and yield what ``wait()`` has the rows."""
        yield _Reading(self._thread().submit(self.read, ids))

    def read_async_num_stages(self, ids_device: torch.device) -> int:
        """Return how often :meth:`read_async` yields: once, wherever the ids are."""
        return 1

    def size(self) -> torch.Size:
        """Return the shape of a row."""
        return torch.Size(self._features.shape[1:])

    def count(self) -> int:
        """Return the number of rows."""
        return len(self._features)

    def update(self, value: Tensor, ids: Tensor | None = None) -> None:
        """Refuse: a published file is never changed."""
        raise NotImplementedError(
            f"{self._features.path} is not changed in place; write another file with graphmill.write_features, "
            "or add a table with Dataset.add_table"
        )

    def metadata(self) -> dict[str, Any]:
        """Return what the feature was given to say about itself."""
        return self._metadata

    def _thread(self) -> ThreadPoolExecutor:
        """The thread that reads; a process that was forked has its own."""
        if self._reader is None or self._reader[0] != os.getpid():
            self._reader = os.getpid(), ThreadPoolExecutor(1, "graphmill-graphbolt")
        return self._reader[1]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by path."""
        return Feature, (self._features, self._metadata)

    def __repr__(self) -> str:
        """Tell what is read."""
        return f"Feature({self._features!r})"


class _Reading:
    """Rows that are on their way."""

    def __init__(self, future: Future[Tensor]) -> None:
        self._future = future

    def wait(self) -> Tensor:
        """Wait for the rows."""
        return self._future.result()
