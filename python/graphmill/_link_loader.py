"""Mini-batches around pairs of nodes, for link prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._loader import NeighborLoader


class LinkNeighborLoader(NeighborLoader):
    """Iterate over mini-batches around links, with pairs that are no edges if asked for.

    A batch is the neighbourhood of the ends of its links, as :class:`NeighborLoader` delivers it, and the local ids of
    those ends. Negative pairs are drawn afresh for every batch and depend on ``seed``, the epoch and the batch alone.

    * Without negatives and with ``"binary"`` ones, ``batch.edge_label_index`` ``[2, n]`` holds the links and then the
      negative pairs, and ``batch.edge_label`` their labels.
    * With ``"triplet"``, ``batch.src_index``, ``batch.dst_pos_index`` and ``batch.dst_neg_index`` hold the ends of the
      links and, for each source, destinations that it has no edge to.

    Args:
        ds: The dataset, from :func:`graphmill.open`.
        fanouts: Neighbours to sample per hop; -1 takes all.
        edge_label_index: Sources and destinations, two rows of node ids as they were in the source of the dataset. They
            need not be edges.
        edge_label: A label for each link. With binary negatives, whose label is 0, labels that begin at 0 are raised by
            one; without labels the links have 1.
        negatives: ``"binary"``, ``"triplet"`` or None.
        neg_ratio: Negative pairs, or destinations, for each link.
        batch_size: Links per batch, negative ones not counted.
        shuffle: Visit the links in another order each epoch.
        drop_last: Leave out a last batch that is not full.
        columns: Tables to load for the nodes; all by default.
        exclude_seed_edges: Keep the edges of a batch's links out of its neighbourhood, in an undirected graph their
            reverses too, so that a model cannot look up what it is asked.
        strict: Draw negative pairs again that are edges after all, or of a node with itself.
        **options: Everything else that :class:`NeighborLoader` takes but ``seeds``; ``time`` has one time per link.
            With ``node_time``, negatives are drawn from the nodes that are not later than their link, whose order takes
            8 bytes per node of the dataset's memory.

    Example:
        >>> links = [[0, 1], [2, 3]]
        >>> loader = gm.LinkNeighborLoader(ds, [2], links, negatives="binary", batch_size=2, seed=0)
        >>> batch = next(iter(loader))
        >>> batch.edge_label.tolist()
        [1.0, 1.0, 0.0, 0.0]
    """

    def __init__(
        self,
        ds: _native.Dataset,
        fanouts: Sequence[int],
        edge_label_index: Any,
        edge_label: Any = None,
        negatives: Literal["binary", "triplet"] | None = None,
        neg_ratio: float = 1.0,
        batch_size: int = 1024,
        shuffle: bool = False,
        drop_last: bool = False,
        columns: Sequence[str] | None = None,
        *,
        exclude_seed_edges: bool = False,
        strict: bool = True,
        **options: Any,
    ) -> None:
        """Check every argument; nothing is read before the first batch."""
        if "seeds" in options:
            raise TypeError("a loader over links has no seeds; give edge_label_index alone")
        if negatives not in (None, "binary", "triplet"):
            raise ValueError(f'negatives is {negatives!r}, expected "binary", "triplet" or None')
        if negatives == "triplet" and (neg_ratio != int(neg_ratio) or neg_ratio < 1):
            raise ValueError(f"neg_ratio of triplets must be a whole number, found {neg_ratio}")
        if not hasattr(edge_label_index, "__len__") or len(edge_label_index) != 2:
            raise ValueError("edge_label_index must have two rows, sources and destinations")
        sources, destinations = edge_label_index
        self._links = {
            "sources": sources,
            "destinations": destinations,
            "binary": float(neg_ratio) if negatives == "binary" else None,
            "triplet": int(neg_ratio) if negatives == "triplet" else None,
            "strict": strict,
            "exclude": exclude_seed_edges,
        }
        self._negatives = negatives
        self._labels = _read_labels(edge_label, len(sources), negatives)
        super().__init__(
            ds,
            fanouts,
            batch_size,
            shuffle=shuffle,
            drop_last=drop_last,
            columns=columns,
            **options,
        )

    def _start(self, seeds: Any) -> Any:
        return self._links

    def _options(self) -> dict[str, Any]:
        labels = None if self._labels is None else crc32(np.ascontiguousarray(self._labels).data)
        return super()._options() | {"edge_label": labels}

    def _complete(self, entries: dict[str, Any]) -> None:
        ends, links = entries.pop("link_ends"), entries["batch_size"]
        if self._negatives == "triplet":
            entries["src_index"] = ends[:links]
            entries["dst_pos_index"] = ends[links : 2 * links]
            others = ends[2 * links :]
            # One further destination of every link comes before the next of every link.
            several = len(others) != links
            entries["dst_neg_index"] = others.reshape(-1, max(links, 1)).T if several else others
            return
        entries["edge_label_index"] = ends.reshape(2, -1)
        pairs = entries["edge_label_index"].shape[1]
        if "seed_time" in entries:
            # Negative pairs have the times of the links in turn.
            times = np.resize(np.asarray(entries["seed_time"]), pairs)
            entries["seed_time"] = self._tensor(times)
        labels = self._labels
        if labels is not None:
            labels = labels[np.asarray(entries["input_id"])]
        elif self._negatives is None:
            return
        else:
            labels = np.ones(links, dtype=np.float32)
        none = np.zeros((pairs - links, *labels.shape[1:]), dtype=labels.dtype)
        entries["edge_label"] = self._tensor(np.concatenate([labels, none]))

    def _tensor(self, array: NDArray[Any]) -> Any:
        if not self._use_torch:
            return array
        import torch

        return torch.from_numpy(array)


def _read_labels(labels: Any, links: int, negatives: str | None) -> NDArray[Any] | None:
    if labels is None:
        return None
    if negatives == "triplet":
        raise ValueError("links of triplets have no labels; leave edge_label out")
    array = np.asarray(labels)
    if array.ndim == 0 or len(array) != links:
        found = "a scalar" if array.ndim == 0 else len(array)
        raise ValueError(f"edge_label must have a label for each of {links} links, found {found}")
    return array + 1 if negatives == "binary" and array.size and array.min() == 0 else array
