"""One batch of a loader: named arrays that know how to move to a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


class Batch:
    """The subgraph around a batch of seeds, with the rows of its nodes.

    Entries are reached as attributes (``batch.x``) or by name (``batch["x"]``). They are torch tensors when torch is
    installed, else NumPy arrays.

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
        x, y, ...: One entry per table, one row per node of ``n_id``.
    """

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

    def keys(self) -> list[str]:
        """Return the names of the entries."""
        return list(self._entries)

    def to(self, device: Any, non_blocking: bool = False) -> Batch:
        """Return the batch with its tensors on another device."""
        return self._mapped(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> Batch:
        """Return the batch with its tensors in page-locked memory."""
        return self._mapped(lambda tensor: tensor.pin_memory())

    def _mapped(self, move: Callable[[Any], Any]) -> Batch:
        entries = {
            name: move(value) if hasattr(value, "pin_memory") else value
            for name, value in self._entries.items()
        }
        return Batch(entries, self._keep)

    def __repr__(self) -> str:
        """Tell the names and shapes of the entries."""
        parts = (
            f"{name}={list(value.shape)}" if hasattr(value, "shape") else f"{name}={value}"
            for name, value in self._entries.items()
        )
        return f"Batch({', '.join(parts)})"
