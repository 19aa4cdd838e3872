"""What scripts ask PyG's loaders for because they are ``DataLoader`` objects of torch.

Our loaders are such objects too, so that ``isinstance`` says so and every attribute is there, but the batches come from
our own threads. A sampler of torch's, a call such as ``loader([3, 5])`` and PyG's ``ZipLoader`` ask for seeds by
position; a *part* of the loader delivers them: the same loader over those seeds alone.

Without ``seed=``, each epoch and each part draws its own from torch's generator, as PyG's loaders do.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, get_worker_info
from torch_geometric.data.data import BaseData

import graphmill
from graphmill import _native

from ._data_view import DataView
from ._delivery import Delivery
from ._options import Loading


class DataLoaderFace(graphmill.NeighborLoader):
    """A loader of ours with the methods and attributes of PyG's."""

    # It has the lists of its batch, also after PyG's transforms, which work on a shallow copy.
    _whole = BaseData

    _delivery: Delivery
    _parent: DataLoaderFace | None = None
    # Which of the seeds a part has.
    _positions: Tensor | None = None
    _filters = True
    # Whether the next epoch goes on with the seed of a state that was loaded.
    _keeps_seed = False
    _parts_made = 0
    # What DataLoader sets, and PyG's own loaders.
    drop_last: bool
    filter_per_worker: bool

    def _become_data_loader(self, loading: Loading, sampling: dict[str, Any]) -> None:
        """Set what a ``DataLoader`` has; ``sampling`` are PyG's words for how neighbours are sampled."""
        seeds = self._count_seeds()
        self._delivery.check_input_id(seeds)
        self._loading = loading
        self._sampling = sampling
        self._hidden: frozenset[str] = frozenset()
        options = loading.options
        sampler, is_ordered = loading.sampler, loading.batch_sampler is not None
        if sampler is None and not seeds and not is_ordered:
            # torch refuses to shuffle what is empty.
            sampler = range(0)
        # Our own class has no part in torch's; those that are of both come later.
        DataLoader.__init__(
            self,  # type: ignore[arg-type]
            range(seeds),  # type: ignore[arg-type]
            batch_size=1 if is_ordered else self.batch_size,
            shuffle=options["shuffle"] if sampler is None else None,
            sampler=sampler,
            batch_sampler=loading.batch_sampler,
            collate_fn=self.collate_fn,
            pin_memory=bool(options.get("pin_memory", False)),
            drop_last=bool(options.get("drop_last", False)),
            generator=loading.generator,
        )

    @property
    def data(self) -> DataView:
        """The dataset with the attributes of PyG's ``Data``."""
        return self._delivery.view

    @property
    def num_neighbors(self) -> list[int]:
        """The neighbours to sample per hop."""
        return list(self._sampling["num_neighbors"])

    @property
    def custom_cls(self) -> type:
        """The class of the objects delivered."""
        return self._delivery.kind

    @property
    def input_id(self) -> Tensor | None:
        """What ``batch.input_id`` holds for each seed; None for its position."""
        return self._delivery.input_id

    def _sampler(self) -> Any:
        from ._sampler import Sampler

        if self._made_of[2]["direction"] == "out":
            raise ValueError(
                "no sampler for PyG's own loaders follows out-edges: leave out sample_direction='backward'"
            )
        return Sampler(self.data.dataset, **self._sampling)

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        loading = self._loading
        if loading.batch_sampler is not None:
            return len(loading.batch_sampler)
        if loading.sampler is None:
            return super().__len__()
        whole, rest = divmod(len(loading.sampler), self.batch_size)
        return whole + bool(rest and not self.drop_last)

    def __iter__(self) -> Iterator[Any]:
        """Start the next epoch, or resume one after ``load_state_dict``."""
        self._check_open()
        self._follow_view()
        loading = self._loading
        if loading.batch_sampler is not None:
            return map(self._finished_part, loading.batch_sampler)
        if loading.sampler is not None:
            part = self._part(list(loading.sampler), self.batch_size, bool(self.drop_last))
            return graphmill.NeighborLoader.__iter__(part)
        if self._draws_seed() and not self._keeps_seed:
            self._begin_drawn_epoch()
        self._keeps_seed = False
        return super().__iter__()

    def __call__(self, index: Any) -> Any:
        """Return the batch of the seeds at these positions.

        Example:
            >>> loader = pyg.NeighborLoader(ds, [2], [3, 1])
            >>> loader([1]).n_id[0]
            tensor(1)
        """
        made = self.collate_fn(index)
        return made if self.filter_per_worker else self.filter_fn(made)

    def collate_fn(self, index: Any) -> Any:
        """Make the batch of the seeds at these positions; transformed if ``filter_per_worker`` is set.

        Example:
            >>> loader = pyg.NeighborLoader(ds, [2], [3, 1])
            >>> loader.collate_fn([0, 1]).batch_size
            2
        """
        return self._finished_part(index, filters=bool(self.filter_per_worker))

    def filter_fn(self, out: Any) -> Any:
        """Transform a batch; override it to change what is delivered.

        Example:
            >>> loader = pyg.NeighborLoader(ds, [2], transform=lambda batch: batch.n_id)
            >>> loader.filter_fn(loader([0]))[0] if not loader.filter_per_worker else loader([0])[0]
            tensor(0)
        """
        return out if self.transform is None else self.transform(out)

    def state_dict(self) -> dict[str, Any]:
        """Return where the loader stands, as :meth:`graphmill.NeighborLoader.state_dict` does.

        Example:
            >>> loader = pyg.NeighborLoader(ds, [2], batch_size=2)
            >>> batch = next(iter(loader))
            >>> loader.state_dict()["batches"]
            1
        """
        self._refuse_samplers("state_dict")
        return super().state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Let the next iteration deliver what remained when ``state`` was taken.

        Example:
            >>> loader = pyg.NeighborLoader(ds, [2], batch_size=1)
            >>> batch = next(iter(loader))
            >>> other = pyg.NeighborLoader(ds, [2], batch_size=1)
            >>> other.load_state_dict(loader.state_dict())
            >>> sum(1 for batch in other)
            3
        """
        self._refuse_samplers("load_state_dict")
        super().load_state_dict(state)
        self._keeps_seed = "seed" in state

    @contextlib.contextmanager
    def enable_cpu_affinity(self, loader_cores: Any = None) -> Iterator[None]:
        """Do nothing but warn: there are no worker processes whose cores could be chosen.

        Example:
            >>> import warnings
            >>> loader = pyg.NeighborLoader(ds, [2])
            >>> with warnings.catch_warnings(record=True), loader.enable_cpu_affinity():
            ...     batch = next(iter(loader))
        """
        warnings.warn("there are no worker processes to pin to cores; see threads=", stacklevel=3)
        yield

    @contextlib.contextmanager
    def enable_multithreading(self, worker_threads: int | None = None) -> Iterator[None]:
        """Do nothing but warn: threads prepare the batches already.

        Example:
            >>> import warnings
            >>> loader = pyg.NeighborLoader(ds, [2])
            >>> with warnings.catch_warnings(record=True), loader.enable_multithreading():
            ...     batch = next(iter(loader))
        """
        warnings.warn("there are no worker processes; see threads=", stacklevel=3)
        yield

    def __repr__(self) -> str:
        """Return the name of the class, as PyG's loaders do."""
        return f"{type(self).__name__}()"

    def _deliver(self, batch: graphmill.Batch) -> Any:
        made = self._delivery.made_of(batch, self._positions)
        return self.filter_fn(made) if self._filters else made

    def _check_open(self) -> None:
        (self if self._parent is None else self._parent)._check_not_closed()

    def _check_not_closed(self) -> None:
        super()._check_open()

    def _draws_seed(self) -> bool:
        """Whether torch's generator says what is random; processes that share the seeds agree on a seed instead."""
        return self._loading.options.get("seed") is None and self.world_size == 1

    def _begin_drawn_epoch(self) -> None:
        worker = get_worker_info()
        if worker is not None and isinstance(worker.dataset, IterableDataset):
            # The workers of a DataLoader share an epoch, so they need one seed: the one that theirs are counted from.
            # Workers that persist keep it and count epochs.
            self._seed = int(worker.seed - worker.id)
            return
        self._seed = self._drawn_seed(shuffles=bool(self._loading.options["shuffle"]))
        # The same seed of torch's gives the same batches, however many epochs there were before.
        self._stand_at(0, 0)

    def _drawn_seed(self, shuffles: bool = False) -> int:
        generator = self._loading.generator
        seed = torch.empty((), dtype=torch.int64).random_(generator=generator)
        if shuffles and generator is None:
            # DataLoader draws once, and its sampler again, so what a script draws next is what it is with PyG.
            seed.random_()
        return int(seed)

    def _seed_of_part(self) -> int:
        """Return a seed of its own for each part, so that a seed that comes again gets other neighbours."""
        if self._draws_seed():
            return self._drawn_seed()
        self._parts_made += 1
        text = f"{self._seed}/{self._parts_made}".encode()
        return int.from_bytes(blake2b(text, digest_size=8).digest(), "big") >> 1

    def _refuse_samplers(self, what: str) -> None:
        for name in ("sampler", "batch_sampler"):
            if getattr(self._loading, name) is not None:
                raise ValueError(
                    f"{what} is not available with {name}, whose order is not ours to repeat: "
                    "save its state, or leave it out and use shuffle=True"
                )

    def _follow_view(self) -> None:
        """Read the tables that the view has now; scripts delete some before they iterate."""
        hidden = self.data._hidden()
        if hidden == self._hidden:
            return
        ds, start, options = self._made_of
        asked = self._loading.options
        for name, tables in (("columns", ds.tables), ("edge_columns", ds.edge_tables)):
            kept = tables if asked.get(name) is None else asked[name]
            options = options | {name: [table for table in kept if table not in hidden]}
        self._made_of = ds, start, options
        self._source = _native.BatchSource(*self._made_of)
        self._hidden = hidden

    def _finished_part(self, index: Any, filters: bool = True) -> Any:
        """One batch of the seeds at these positions."""
        self._check_open()
        self._follow_view()
        positions = torch.as_tensor(index, dtype=torch.int64).view(-1)
        if not len(positions):
            raise ValueError("a batch needs at least one position, found none")
        part = self._part(positions, len(positions), drop_last=False, prefetch=0)
        part._filters = filters
        [made] = graphmill.NeighborLoader.__iter__(part)
        return made

    def _part(self, index: Any, batch_size: int, drop_last: bool, **more: Any) -> DataLoaderFace:
        """Return this loader over the seeds at these positions, in their order."""
        positions = torch.as_tensor(index, dtype=torch.int64).view(-1)
        seeds = self._count_seeds()
        if len(positions) and not (-seeds <= int(positions.min()) and int(positions.max()) < seeds):
            raise IndexError(
                f"positions range from {int(positions.min())} to {int(positions.max())}, "
                f"but there are {seeds} seeds"
            )
        positions = positions % max(seeds, 1)
        part = object.__new__(type(self))
        vars(part).update(vars(self))
        vars(part)["batch_size"] = batch_size
        part._parent, part._positions, part._loading = (
            self,
            positions,
            Loading(self._loading.options),
        )
        ds, _, options = self._made_of
        time = options["time"]
        if time is not None and not isinstance(time, str):
            time = torch.as_tensor(time)[positions]
        changed = {"shuffle": False, "batch_size": batch_size, "drop_last": drop_last, "time": time}
        part._made_of = ds, part._start_at(positions), options | changed | more
        part._source = _native.BatchSource(*part._made_of)
        part._seed = self._seed_of_part()
        # What a call asks for is all for this process.
        part._share = 0, 1
        part._stand_at(0, 0)
        return part

    def _start_at(self, positions: Tensor) -> Any:
        """What batches of the seeds at these positions start from, as the Rust side takes it."""
        raise NotImplementedError
