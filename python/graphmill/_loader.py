"""Mini-batches of a dataset, sampled and read ahead of the training step."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any, Literal

from . import _native
from ._arguments import as_seed, at_least, check_dataset, integer
from ._batch import Batch
from ._errors import LoaderError
from ._loader_state import as_text, check_same, determining_options
from ._loading import (
    ClosedSource,
    can_pin,
    moved,
    profiled,
    progress_bar,
    tqdm,
    warn_of_slow_reading,
)
from ._sharing import agreed_seed, given_share, share_of_group, worker_share


class NeighborLoader:
    """Iterate over mini-batches of sampled neighbourhoods with their features, straight from disk.

    Each ``iter()`` is one epoch. Threads of Rust sample and read ahead of the loop, within the memory of the dataset. A
    batch depends on ``seed``, the epoch and its position alone: not on ``threads``, ``prefetch``, ``window`` or
    ``backend``.

    Under ``torch.distributed`` every process gets its share of the seeds, decided when an epoch begins, and in a worker
    of PyTorch's ``DataLoader`` its share of the batches. Loaders can be pickled, by the path of their dataset.

    Args:
        ds: The dataset, from :func:`graphmill.open`.
        fanouts: Neighbours to sample per hop; -1 takes all.
        batch_size: Seeds per batch.
        seeds: Name of a split, an array of node ids as they were in the source, or None for all nodes in ascending
            order of those ids.
        shuffle: Visit the seeds in another order each epoch.
        drop_last: Leave out a last batch that is not full.
        columns: Tables to load for the nodes; all by default.
        edge_columns: Tables to load for the edges; all by default.
        replace: Sample with replacement.
        weighted: Pick edges in proportion to their stored weights.
        disjoint: Give every seed a tree of its own; ``batch.batch`` names the tree of each node.
        method: ``"uniform"``, or ``"labor"``, which finds fewer different nodes for the same number of edges.
        layer_dependency: Let the hops of ``"labor"`` share their random numbers, which finds fewer nodes still.
        time: The time of each seed, or the name of a table that has one for every node (int64). No edge that is later
            enters the tree of a seed; trees are disjoint, and ``batch.seed_time`` holds the times.
        node_time: Name of a table with the time of every node (int64): an edge is as old as the node it leads to. By
            default the stored times of edges count.
        temporal: ``"uniform"`` or ``"last"``: which of the edges that are old enough are picked.
        time_window: How much older than its seed an edge may be.
        subgraph: ``"directional"`` gives the edges that were followed, ``"bidirectional"`` also their reverses, each
            pair of nodes once, and ``"induced"`` all edges among the nodes found.
        direction: ``"in"`` follows edges against their direction, as message passing wants; ``"out"`` along it.
        seed: An int makes every epoch reproducible. None draws fresh entropy, on which the processes of
            ``torch.distributed`` agree: there, loaders with the same options have the same seed.
        threads: Threads that may share the sampling of a large batch. By default two fewer than there are cores, as
            reading and assembling take place meanwhile, and at least one.
        prefetch: Batches kept ready ahead of the one in use, 2 by default, fewer where memory is short; 0 prepares each
            when asked for.
        backend: How rows are read: ``"auto"`` copies what is in the page cache and reads the rest with deep queues,
            ``"mapped"`` copies everything from the mapped file, ``"ring"`` reads past the page cache by io_uring (by
            ``"pread"`` where the system does not allow it), ``"pread"`` by positioned reads.
        transform: Called with each batch; its result is delivered instead.
        pin_memory: Copy tensors to page-locked memory; a warning and nothing else where there is no accelerator.
        device: Move tensors to this device, without waiting for the copy if they are in page-locked memory.
        progress: Show a bar of tqdm.
        rank: Which of several processes this is, which share the seeds of each epoch as PyTorch's
            ``DistributedSampler`` does; by default that of ``torch.distributed`` where it is initialised.
        world_size: How many processes share the seeds.
        distributed: False lets this process have all seeds, and a seed of its own, whatever ``torch.distributed`` says:
            for a loader that one process alone uses.
        window: The most batches whose rows are read together; by default as many as the memory allows.
        hot_memory: What the rows may take that are kept because they are wanted most often, such as ``"1GiB"``; by
            default a share of the dataset's memory, ``0`` for none.
        widen: Deliver float16 and bfloat16 rows as float32.
        original: Let ``batch.n_id`` hold the ids of the source (str objects where they are text) instead of the numbers
            that the dataset gave to the nodes; they differ where ``repr(ds)`` says renumbered.

    Example:
        >>> loader = gm.NeighborLoader(ds, [2, 2], batch_size=2, seeds="train", shuffle=True, seed=0)
        >>> for batch in loader:
        ...     print(batch.x.shape[1])
        2
    """

    # What a transform may deliver that holds all the lists of a batch.
    _whole: type = Batch

    def __init__(
        self,
        ds: _native.Dataset,
        fanouts: Sequence[int],
        batch_size: int = 1024,
        seeds: Any = None,
        shuffle: bool = False,
        drop_last: bool = False,
        columns: Sequence[str] | None = None,
        *,
        edge_columns: Sequence[str] | None = None,
        replace: bool = False,
        weighted: bool = False,
        disjoint: bool = False,
        method: Literal["uniform", "labor"] = "uniform",
        layer_dependency: bool = False,
        time: Any = None,
        node_time: str | None = None,
        temporal: Literal["uniform", "last"] = "uniform",
        time_window: int | None = None,
        subgraph: Literal["directional", "bidirectional", "induced"] = "directional",
        direction: str = "in",
        seed: int | None = None,
        threads: int | None = None,
        prefetch: int | None = None,
        backend: str = "auto",
        transform: Callable[[Batch], Any] | None = None,
        pin_memory: bool = False,
        device: Any = None,
        progress: bool = False,
        rank: int | None = None,
        world_size: int | None = None,
        distributed: bool = True,
        window: int | None = None,
        hot_memory: str | int | None = None,
        widen: bool = False,
        original: bool = False,
    ) -> None:
        """Check every argument; nothing is read before the first batch."""
        check_dataset(ds, type(self).__name__)
        self.threads = at_least(1, threads, "threads", default=max(1, (os.cpu_count() or 1) - 2))
        self.prefetch = at_least(0, prefetch, "prefetch", default=2)
        self.batch_size = integer(1, batch_size, "batch_size")
        self._seed = secrets.randbits(63) if seed is None else as_seed(seed)
        self._is_given_seed = seed is not None
        # Whether the other processes have the same: it was given, agreed on, or is that of a state.
        self._is_common_seed = seed is not None
        self._share = given_share(
            at_least(0, rank, "rank", default=None),
            at_least(1, world_size, "world_size", default=None),
            distributed,
        )
        # Where it was pickled in a group, for a worker that does not belong to it.
        self._inherited_share: tuple[int, int] | None = None
        self.transform = transform
        self.pin_memory = pin_memory
        self._pins = bool(pin_memory) and can_pin()
        self.device = device
        self.progress = progress
        if progress:
            tqdm()
        # Names are Python objects, so they are looked up here and not where batches are made.
        self._named = ds if original and ds.ids == "text" else None
        options = {
            "fanouts": fanouts,
            "batch_size": self.batch_size,
            "shuffle": shuffle,
            "drop_last": drop_last,
            "columns": None if columns is None else list(columns),
            "edge_columns": None if edge_columns is None else list(edge_columns),
            "replace": replace,
            "weighted": weighted,
            "disjoint": disjoint,
            "method": method,
            "layer_dependency": layer_dependency,
            "time": time,
            "node_time": node_time,
            "temporal": temporal,
            "time_window": at_least(0, time_window, "time_window", default=None),
            "subgraph": subgraph,
            "direction": direction,
            "threads": self.threads,
            "prefetch": self.prefetch,
            "backend": backend,
            "window": at_least(1, window, "window", default=None),
            "hot_memory": hot_memory,
            "widen": widen,
            "original": bool(original) and self._named is None,
        }
        self._made_of = ds, self._start(seeds), options
        self._source: _native.BatchSource | ClosedSource = _native.BatchSource(*self._made_of)
        self._use_torch = find_spec("torch") is not None
        self._epoch = self._next_epoch = 0
        self._delivered = self._next_start = 0
        # Epochs under way, so that closing can stop them.
        self._running: set[_native.EpochStream] = set()
        self._agree_on_seed()

    def _start(self, seeds: Any) -> Any:
        """Give what batches start from, as the Rust side takes it."""
        if isinstance(seeds, dict):
            raise TypeError("seeds must be the name of a split, ids or None, found a dict")
        return seeds

    @property
    def rank(self) -> int:
        """Which of the processes that share the seeds this is: as given, else as ``torch.distributed`` says now.

        Example:
            >>> gm.NeighborLoader(ds, [2]).rank
            0
        """
        return self._share_now()[0]

    @property
    def world_size(self) -> int:
        """How many processes share the seeds: as given, else as ``torch.distributed`` says now.

        Example:
            >>> gm.NeighborLoader(ds, [2]).world_size
            1
        """
        return self._share_now()[1]

    @property
    def seed(self) -> int:
        """The seed that determines the batches, drawn or agreed on if none was given.

        Example:
            >>> gm.NeighborLoader(ds, [2], seed=7).seed
            7
        """
        return self._seed

    def _agree_on_seed(self) -> None:
        """Replace a seed of this process alone by one that all processes have, as soon as several share an epoch."""
        if not self._is_common_seed and share_of_group() is not None and self.world_size > 1:
            self._seed, self._is_common_seed = agreed_seed(as_text(self._options())), True

    def _share_now(self) -> tuple[int, int]:
        """Return rank and number of the processes that share the seeds of an epoch that begins now."""
        return self._share or share_of_group() or self._inherited_share or (0, 1)

    def _options(self) -> dict[str, Any]:
        """Return the options that determine the batches, the seeds among them, as plain values."""
        ds, start, options = self._made_of
        seeds, times = self._source.digests()
        size = {"num_nodes": ds.num_nodes, "num_edges": ds.num_edges}
        known = {"batch_size": self.batch_size, "num_seeds": self._count_seeds()}
        return known | size | determining_options(options, start) | {"seeds": seeds, "time": times}

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what belongs to this process: files, threads and epochs under way."""
        self._agree_on_seed()
        left_out = ["_running", "_use_torch", "_pins"]
        if isinstance(self._source, _native.BatchSource):
            left_out.append("_source")
        state = {name: value for name, value in vars(self).items() if name not in left_out}
        # A worker that is spawned is in no process group, and has the share of its parent.
        return state | {"_inherited_share": self._share_now()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Open the dataset in this process."""
        vars(self).update(state)
        self._pins = bool(self.pin_memory) and can_pin()
        if "_source" not in state:
            self._source = _native.BatchSource(*self._made_of)
        self._use_torch = find_spec("torch") is not None
        self._running = set()

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        return self._source.num_batches(self.world_size)

    def set_epoch(self, epoch: int) -> None:
        """Let the next iteration be this epoch, from its first batch.

        Example:
            >>> loader = gm.NeighborLoader(ds, [2], batch_size=4, shuffle=True, seed=0)
            >>> first, second = ([batch.n_id.tolist() for batch in loader] for _ in range(2))
            >>> loader.set_epoch(0)
            >>> [batch.n_id.tolist() for batch in loader] == first
            True
        """
        self._stand_at(integer(0, epoch, "epoch"), 0)
        # Before workers are forked, which cannot.
        self._agree_on_seed()

    def state_dict(self) -> dict[str, Any]:
        """Return where the loader stands: the epoch and the batches of it that were delivered.

        The seed, and every option that determines the batches, say to which loaders that means something.

        Example:
            >>> loader = gm.NeighborLoader(ds, [2], batch_size=2, seed=0)
            >>> batch = next(iter(loader))
            >>> state = loader.state_dict()
            >>> state["seed"], state["epoch"], state["batches"], state["fanouts"]
            (0, 0, 1, [2])
        """
        place = {"seed": self._seed, "epoch": self._epoch, "batches": self._delivered}
        return place | {"world_size": self.world_size} | self._options()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Let the next iteration deliver what remained when ``state`` was taken.

        A loader that was made without a seed takes over that of the state. A state of a loader with another seed, or
        with another value of an option that determines the batches, is refused.

        Example:
            >>> loader = gm.NeighborLoader(ds, [2], batch_size=1, seed=0)
            >>> batch = next(iter(loader))
            >>> other = gm.NeighborLoader(ds, [2], batch_size=1, seed=0)
            >>> other.load_state_dict(loader.state_dict())
            >>> sum(1 for batch in other)
            3
        """
        epoch = integer(0, state["epoch"], "epoch")
        batches = integer(0, state["batches"], "batches")
        expected = self._options()
        if self._is_given_seed:
            expected = {"seed": self._seed} | expected
        # After the last batch of an epoch, what remains is the next epoch, which any number of processes may share.
        if batches >= self._source.num_batches(state.get("world_size", self.world_size)):
            epoch, batches = epoch + 1, 0
        elif batches > 0:
            expected["world_size"] = self.world_size
        check_same(state, expected)
        if "seed" in state:
            self._seed, self._is_common_seed = as_seed(state["seed"]), True
        self._stand_at(epoch, batches)

    def close(self) -> None:
        """Stop the threads and refuse further work; a running iteration ends with :class:`LoaderError`.

        Example:
            >>> loader = gm.NeighborLoader(ds, [2])
            >>> loader.close()
            >>> try:
            ...     iter(loader)
            ... except gm.LoaderError as error:
            ...     print(error)
            the loader was closed; make a new one
        """
        if isinstance(self._source, _native.BatchSource):
            self._source = ClosedSource(self._source, self.world_size)
        for stream in list(self._running):
            stream.stop()

    def __iter__(self) -> Iterator[Any]:
        """Start the next epoch, or resume one after ``load_state_dict``."""
        self._check_open()
        self._agree_on_seed()
        share = self._share_now()
        if share[1] > 1 and not self._is_common_seed and self._made_of[2]["shuffle"]:
            raise ValueError(
                f"rank={share[0]} of world_size={share[1]} needs seed=: without torch.distributed the processes cannot "
                "agree on one order of the seeds"
            )
        self._epoch, self._delivered = self._next_epoch, self._next_start
        self._next_epoch, self._next_start = self._epoch + 1, 0
        return self._batches(self._seed, share, self._epoch, self._delivered)

    def _stand_at(self, epoch: int, batches: int) -> None:
        self._epoch = self._next_epoch = epoch
        self._delivered = self._next_start = batches

    def stats(self) -> dict[str, Any]:
        """Tell what the loader has read so far, in all its epochs.

        ``rows`` were delivered: ``from_hot`` out of the rows that are kept because they are wanted most often,
        ``from_window`` because another batch had them read shortly before, ``from_page_cache`` copied from the map, and
        ``from_disk`` read by ``requests`` of ``bytes_read``, of which ``bytes_used`` were wanted. ``bytes_announced``
        were brought into the page cache beside that, of files that fit there. ``windows`` were read, the largest for
        ``largest_window`` batches. ``device_utilisation`` is the part of the waiting in which the disk was busy, and
        ``queue_depth`` how many requests it had then, by the system's own count (None where it does not count).
        ``seconds_starved`` is how long the loop waited for batches, ``seconds_blocked`` how long finished batches did
        for the loop; ``seconds_sampling``, ``seconds_reading`` and ``seconds_assembling`` are what the threads took.
        ``bound`` says what limits the pace: ``"compute"`` if batches wait for the loop, else the busiest thread,
        ``"sampling"``, ``"disk"`` or ``"copying"`` (None before the first batch). ``peak_memory`` is the most of the
        dataset's budget that was in use, ``anonymous_memory`` what the process holds now.

        Example:
            >>> loader = gm.NeighborLoader(ds, [2, 2], batch_size=2, seeds="train", seed=0)
            >>> loader.stats()["batches"]
            0
        """
        return self._source.stats()

    def _batches(self, seed: int, share: tuple[int, int], epoch: int, start: int) -> Iterator[Any]:
        first, step = worker_share(start)
        stream = self._source.epoch(seed & (2**64 - 1), epoch, share, first, step)
        self._running.add(stream)
        try:
            numbers = range(first, self._source.num_batches(share[1]), step)
            with progress_bar(self.progress, len(numbers)) as advance:
                for number in numbers:
                    with profiled("graphmill.wait", self._use_torch):
                        raw = stream.take()
                    self._check_open()
                    assert raw is not None, "a stream has as many batches as its epoch"
                    made = [self._finish(raw)]
                    del raw
                    self._delivered = number + 1
                    advance()
                    # Nothing here keeps a batch that the user has let go: its memory serves the next.
                    yield made.pop()
            warn_of_slow_reading(self._source)
        finally:
            self._running.discard(stream)
            stream.stop()

    def _finish(self, raw: _native.RawBatch) -> Any:
        entries = raw.entries(self._use_torch)
        if self._named is not None:
            entries["n_id"] = self._named.original_ids(entries["n_id"])
        self._complete(entries)
        batch = Batch(entries, raw)
        made = self._deliver(batch)
        if made is not batch:
            batch._hold_for(made, self._whole)
        if not self._pins and self.device is None:
            return made
        with profiled("graphmill.transfer", self._use_torch):
            if self._pins:
                made = moved(made, "pin_memory")
            if self.device is not None:
                made = moved(made, "to", self.device, non_blocking=True)
            return made

    def _deliver(self, batch: Batch) -> Any:
        """Make what is delivered of a batch."""
        return batch if self.transform is None else self.transform(batch)

    def _complete(self, entries: dict[str, Any]) -> None:
        """Add to the entries what only this kind of loader knows."""

    def _count_seeds(self) -> int:
        """Tell how many seeds or links an epoch goes through, in all processes."""
        return self._source.num_seeds()

    def _check_open(self) -> None:
        if isinstance(self._source, ClosedSource):
            raise LoaderError("the loader was closed; make a new one")

    def __repr__(self) -> str:
        """Tell what is iterated over."""
        return f"{type(self).__name__}({self._source!r}, seed={self._seed})"
