"""Train graph neural networks on graphs that do not fit in memory.

A dataset is compiled once to disk; neighbours are sampled straight from the mapped file, and the feature rows of a
batch are read from the SSD::

    import graphmill as gm

    gm.build("papers/", edges="edges.csv", features="x.npy", labels="y.npy", splits={"train": "train.npy"})
    ds = gm.open("papers/", memory="4GiB")
    loader = gm.NeighborLoader(ds, fanouts=[15, 10, 5], batch_size=1024, seeds="train", shuffle=True)
    for batch in loader:
        loss = model(batch.x, batch.edge_index)
"""

from __future__ import annotations

import importlib
import os
import typing

from ._batch import Batch
from ._errors import (
    CorruptError,
    DeniedError,
    DiskError,
    ExistsError,
    FormatError,
    GraphmillError,
    LoaderError,
    MemoryBudgetError,
    MissingError,
    SourceError,
)
from ._native import Dataset, Features, Graph, Sample, __version__, memory_in_use
from ._sharing import open_share as _open_share

__all__ = [
    "Batch",
    "BuildReport",
    "CorruptError",
    "Dataset",
    "DeniedError",
    "DiskError",
    "ExistsError",
    "Features",
    "FormatError",
    "Graph",
    "GraphmillError",
    "LinkNeighborLoader",
    "LoaderError",
    "MemoryBudgetError",
    "MissingError",
    "NeighborLoader",
    "Sample",
    "SourceError",
    "__version__",
    "build",
    "convert",
    "from_pyg",
    "inference",
    "memory_in_use",
    "open",
    "remove",
    "write_features",
    "write_graph",
]

# What needs NumPy comes when it is asked for: importing that takes longer than most commands of `graphmill` do.
if typing.TYPE_CHECKING:
    from ._amend import remove
    from ._build import build
    from ._build_report import BuildReport
    from ._from_pyg import from_pyg
    from ._inference import inference
    from ._link_loader import LinkNeighborLoader
    from ._loader import NeighborLoader
    from ._writers import convert, write_features, write_graph
else:
    _HOMES = {
        "BuildReport": "_build_report",
        "build": "_build",
        "from_pyg": "_from_pyg",
        "inference": "_inference",
        "LinkNeighborLoader": "_link_loader",
        "NeighborLoader": "_loader",
        "convert": "_writers",
        "remove": "_amend",
        "write_features": "_writers",
        "write_graph": "_writers",
    }

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
        # Once is enough: from now on it is found without this function.
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


def open(
    path: str | os.PathLike[str],
    memory: str | int | None = None,
    residency: typing.Literal["auto", "mapped", "ram"] = "auto",
) -> Dataset:
    """Open a dataset; takes microseconds whatever its size.

    Args:
        path: The dataset's folder; ``~`` stands for the home folder.
        memory: What loading from it may take, such as ``"4GiB"``; shared by all its loaders, and divided among the
            processes of torch.distributed on one machine: as many as torchrun tells, else all of them. By default a
            quarter of the machine's memory, or of its cgroup's limit.
        residency: ``"mapped"`` samples from the mapped file; ``"ram"`` copies the topology to memory first, on huge
            pages and out of ``memory``; ``"auto"`` copies a direction once it has been read much, if that takes little
            of ``memory``.

    Example:
        >>> ds = gm.open("papers/", memory="1GiB")
        >>> ds.num_nodes
        4
    """
    return _open_share(path, memory, residency)
