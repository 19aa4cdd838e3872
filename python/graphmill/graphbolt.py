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

import math
import os
import textwrap
import warnings
from collections.abc import Iterator, Sequence
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
        row_shape: The shape of a row, where its values stand for more than one dimension; that of the table by default.

    Example:
        >>> feature = Feature("features.gd")
        >>> feature.read(torch.tensor([3, 0])).shape
        torch.Size([2, 2])
    """

    def __init__(
        self,
        features: Features | str | os.PathLike[str],
        metadata: dict[str, Any] | None = None,
        row_shape: Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        self._features = features if isinstance(features, Features) else Features(features)
        self._metadata = dict(metadata or {})
        self._row_shape = tuple(self._features.shape[1:] if row_shape is None else row_shape)
        if math.prod(self._row_shape) != math.prod(self._features.shape[1:]):
            raise ValueError(
                f"row_shape is {self._row_shape}, but rows of {self._features.path} have "
                f"{math.prod(self._features.shape[1:])} values"
            )
        self._reader: tuple[int, ThreadPoolExecutor] | None = None

    def read(self, ids: Tensor | None = None) -> Tensor:
        """Read rows by id to the device of the ids; without ids, give a private view of the whole file."""
        if ids is None:
            view: Tensor = self._features.torch()
            return view.view(-1, *self._row_shape)
        rows: Tensor = self._features.gather(ids.to("cpu", torch.int64))
        return rows.view(*ids.shape, *self._row_shape).to(ids.device)

    def read_async(self, ids: Tensor) -> Iterator[_Reading]:
        """Begin to read on another thread, and yield what ``wait()`` has the rows."""
        yield _Reading(self._thread().submit(self.read, ids))

    def read_async_num_stages(self, ids_device: torch.device) -> int:
        """Return how often :meth:`read_async` yields: once, wherever the ids are."""
        return 1

    def size(self) -> torch.Size:
        """Return the shape of a row."""
        return torch.Size(self._row_shape)

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

    def read_into_memory(self) -> gb.TorchBasedFeature:
        """Copy all rows to a feature of GraphBolt's in memory, which no budget counts."""
        return gb.TorchBasedFeature(self.read().clone(), self._metadata)

    def to(self, device: Any) -> Feature:
        """Leave the rows on disk, with a warning, as GraphBolt's own ``DiskBasedFeature`` does."""
        _warn_of_no_effect(f"to({device!r})")
        return self

    def pin_memory_(self) -> Feature:
        """Leave the rows on disk, with a warning, as GraphBolt's own ``DiskBasedFeature`` does."""
        _warn_of_no_effect("pin_memory_()")
        return self

    def _thread(self) -> ThreadPoolExecutor:
        """The thread that reads; a process that was forked has its own."""
        if self._reader is None or self._reader[0] != os.getpid():
            self._reader = os.getpid(), ThreadPoolExecutor(1, "graphmill-graphbolt")
        return self._reader[1]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by path."""
        return Feature, (self._features, self._metadata, self._row_shape)

    def __repr__(self) -> str:
        """Show the first and the last rows, as GraphBolt's features do."""
        parts = (("feature", self.read()), ("metadata", self._metadata))
        lines = "".join(
            f"    {name}={textwrap.indent(str(value), ' ' * (5 + len(name))).strip()},\n"
            for name, value in parts
        )
        return f"Feature(\n{lines})"


def _warn_of_no_effect(call: str) -> None:
    warnings.warn(
        f"Feature.{call} has no effect: rows stay on disk, and read(ids) gives them on the device of ids; "
        "read_into_memory() makes a feature that can be moved",
        stacklevel=3,
    )


class _Reading:
    """Rows that are on their way."""

    def __init__(self, future: Future[Tensor]) -> None:
        self._future = future

    def wait(self) -> Tensor:
        """Wait for the rows."""
        return self._future.result()
