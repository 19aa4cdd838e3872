"""One batch of a loader: named arrays that know how to move to a device."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

# Entries whose memory belongs to the batch as a whole; rows of tables hold their own.
_LISTS = ("edge_index", "n_id", "e_id", "input_id", "batch", "seed_time", "edge_label_index")


class Batch:
    """The subgraph around a batch of seeds, with the rows of its nodes.

    Entries are reached as attributes (``batch.x``) or by name (``batch["x"]``). They are torch tensors when torch is
    installed, else NumPy arrays. A batch can be pickled and copied; workers of a ``DataLoader`` send its tensors
    through shared memory.

    Attributes:
        n_id: Numbers of the nodes, or their ids in the source if the loader was asked for those with ``original``; the
            first ``batch_size`` are the seeds in their order.
        edge_index: Local ids ``[2, E]``; the first row holds sources, the second destinations.
        e_id: Edge ids, see ``Graph.has_edge_ids``.
        input_id: Position of each seed in the seeds given to the loader.
        batch_size: Number of seeds.
        num_sampled_nodes: Nodes found per hop, the seeds first.
        num_sampled_edges: Edges found per hop; one number for all edges of an induced or bidirectional subgraph.
        batch: The tree of each node, which is the place of its seed; only with disjoint trees.
        seed_time: The time of each seed; only if the loader was given times.
        x, y, ...: One entry per table of the nodes, one row per node of ``n_id``; None if there is no such table.
        edge_attr, ...: One entry per table of the edges, one row per edge of ``edge_index``.
        edge_label_index, edge_label, ...: Links, of a :class:`LinkNeighborLoader`.

    Example:
        >>> batch = next(iter(gm.NeighborLoader(ds, [2, 2], batch_size=3, seed=0)))
        >>> batch.batch_size, batch.x.shape[0] == len(batch["n_id"])
        (3, True)
    """

    # For editors and type checkers; the entries themselves are found by name.
    n_id: Tensor
    edge_index: Tensor
    e_id: Tensor
    input_id: Tensor
    batch_size: int
    num_sampled_nodes: list[int]
    num_sampled_edges: list[int]
    batch: Tensor
    seed_time: Tensor
    x: Tensor
    y: Tensor
    edge_attr: Tensor
    edge_label_index: Tensor
    edge_label: Tensor
    src_index: Tensor
    dst_pos_index: Tensor
    dst_neg_index: Tensor

    def __init__(self, entries: dict[str, Any], keep: object = None) -> None:
        """Hold ``entries``; ``keep`` lives as long as the batch does."""
        self._entries = entries
        self._keep = keep

    def __getattr__(self, name: str) -> Any:
        """Return an entry; tables that the dataset does not have are None, as in PyG's ``Data``."""
        if name.startswith("_"):
            raise AttributeError(name)
        entries = self._entries
        if name in entries:
            return entries[name]
        if name in ("x", "y", "edge_attr"):
            return None
        raise AttributeError(f"the batch has no {name!r}; it has {', '.join(entries)}")

    def __getitem__(self, name: str) -> Any:
        """Return an entry by name."""
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        """Tell whether there is such an entry."""
        return name in self._entries

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """Iterate over names and entries."""
        return iter(self._entries.items())

    def __dir__(self) -> list[str]:
        """List the entries among the attributes."""
        return [*super().__dir__(), *self._entries]

    def __reduce__(self) -> tuple[type[Batch], tuple[dict[str, Any]]]:
        """Pickle the entries; what they take of the budget stays behind."""
        return Batch, (self._entries,)

    def __copy__(self) -> Batch:
        """Return a batch with the same entries, which may be replaced in it."""
        return Batch(dict(self._entries), self._keep)

    @property
    def num_nodes(self) -> int:
        """Number of nodes.

        Example:
            >>> batch = next(iter(gm.NeighborLoader(ds, [2], batch_size=3, seed=0)))
            >>> batch.num_nodes == len(batch.n_id)
            True
        """
        return len(self._entries["n_id"])

    @property
    def num_edges(self) -> int:
        """Number of edges.

        Example:
            >>> batch = next(iter(gm.NeighborLoader(ds, [2], batch_size=3, seed=0)))
            >>> batch.num_edges == batch.edge_index.shape[1]
            True
        """
        return int(self._entries["edge_index"].shape[1])

    def keys(self) -> list[str]:
        """Return the names of the entries.

        Example:
            >>> batch = next(iter(gm.NeighborLoader(ds, [2], columns=["y"])))
            >>> sorted(batch.keys())[:4]
            ['batch_size', 'e_id', 'edge_index', 'input_id']
        """
        return list(self._entries)

    def to(self, device: Any, non_blocking: bool = False) -> Batch:
        """Return the batch with its tensors on another device.

        Example:
            >>> batch = next(iter(gm.NeighborLoader(ds, [2])))
            >>> batch.to("cpu").x.device
            device(type='cpu')
        """
        return self._mapped(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def cpu(self) -> Batch:
        """Return the batch with its tensors in main memory.

        Example:
            >>> batch = next(iter(gm.NeighborLoader(ds, [2])))
            >>> batch.cpu().x.device
            device(type='cpu')
        """
        return self._mapped(lambda tensor: tensor.cpu())

    def clone(self) -> Batch:
        """Return a copy with memory of its own, which the dataset's memory does not count.

        Example:
            >>> batch = next(iter(gm.NeighborLoader(ds, [2])))
            >>> kept = batch.clone()
            >>> kept.x[0, 0] = 7.0
            >>> bool(batch.x[0, 0] == 7.0)
            False
        """
        return copy.deepcopy(self)

    def pin_memory(self) -> Batch:
        """Return the batch with its tensors in page-locked memory, which only an accelerator has a use for.

        Example:
            >>> import torch
            >>> batch = next(iter(gm.NeighborLoader(ds, [2])))
            >>> if torch.cuda.is_available():
            ...     batch = batch.pin_memory()
        """
        return self._mapped(lambda tensor: tensor.pin_memory())

    def _mapped(self, move: Callable[[Any], Any]) -> Batch:
        entries = {
            name: move(value) if hasattr(value, "pin_memory") else value
            for name, value in self._entries.items()
        }
        return Batch(entries, self._keep)

    def _hold_for(self, made: Any, whole: type) -> None:
        """Let the memory of the lists count as taken as long as what a transform has made of the batch may hold them.

        A batch holds it by itself. An object that is ``whole`` has all the lists; of anything else, such as a tuple, a
        number or None, nothing is known, so it counts until the last of the lists is gone.
        """
        if isinstance(made, Batch):
            return
        lists = [self._entries[name] for name in _LISTS if name in self._entries]
        for holder in [made] if isinstance(made, whole) else lists:
            # Ids that are text are a plain list, which is not of our memory.
            if hasattr(holder, "__weakref__") or hasattr(holder, "shape"):
                weakref.finalize(holder, _let_go, self._keep).atexit = False

    def __repr__(self) -> str:
        """Tell the names and shapes of the entries."""
        parts = (
            f"{name}={list(value.shape)}" if hasattr(value, "shape") else f"{name}={value}"
            for name, value in self._entries.items()
        )
        return f"Batch({', '.join(parts)})"


def _let_go(_: object) -> None:
    """Do nothing: the argument was alive until now."""
