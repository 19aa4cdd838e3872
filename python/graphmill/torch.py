"""Loaders in the form that PyTorch's own ``DataLoader`` takes; importing this imports torch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch.utils.data import IterableDataset

from ._loader import NeighborLoader

__all__ = ["BatchDataset"]


class BatchDataset(IterableDataset[Any]):
    """The batches of a loader as an ``IterableDataset``, for programs that insist on a ``DataLoader``.

    Each of n workers makes every n-th batch, by fork, forkserver or spawn, and together they deliver the batches of the
    loader in their order. A loader has threads of its own and needs no workers: this is for pipelines that have them
    anyway. Workers are copies, so call ``set_epoch`` before each epoch, as with a ``DistributedSampler``.

    Args:
        loader: A loader of this package.

    Example:
        >>> from torch.utils.data import DataLoader
        >>> from graphmill.torch import BatchDataset
        >>> batches = BatchDataset(gm.NeighborLoader(ds, [2, 2], batch_size=2, seed=0))
        >>> len(list(DataLoader(batches, batch_size=None)))
        2
    """

    def __init__(self, loader: NeighborLoader) -> None:
        """Hold the loader."""
        self.loader = loader

    def set_epoch(self, epoch: int) -> None:
        """Let the next iteration be this epoch.

        Example:
            >>> from graphmill.torch import BatchDataset
            >>> batches = BatchDataset(gm.NeighborLoader(ds, [2], batch_size=2, shuffle=True, seed=0))
            >>> batches.set_epoch(3)
            >>> batches.loader.state_dict()["epoch"]
            3
        """
        self.loader.set_epoch(epoch)

    def __iter__(self) -> Iterator[Any]:
        """Start the next epoch, or the share of it that belongs to this worker."""
        return iter(self.loader)

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        return len(self.loader)
