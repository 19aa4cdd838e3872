"""Embeddings of all nodes, layer by layer, from disk to disk.

A trained model is applied to every node with all its neighbours. Layer by layer each node is computed once, where a
loader with deep fan-outs would compute it for everybody who has it in the neighbourhood. The results of a layer are a
file, which the next one reads.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from operator import index
from pathlib import Path
from typing import Any

import numpy as np

from . import _native
from ._errors import ExistsError, MemoryBudgetError, MissingError
from ._inference_layers import Layer, evaluating, layers_of
from ._scratch_folder import scratch_folder
from ._writers import write_features

# What a batch takes beside its rows: ids, their table and the copies that arrays pass through on their way.
_NODE_BYTES = 48
_EDGE_BYTES = 56
# Lists that are looked at together for their degrees.
_DEGREES_AT_ONCE = 1 << 14


def inference(
    ds: _native.Dataset,
    layers: Any,
    out: str | os.PathLike[str],
    batch_size: int = 4096,
    memory: str | int | None = None,
    *,
    table: str = "x",
    edge_table: str | None = None,
    dtype: Any = None,
    widen: bool = False,
    device: Any = None,
    overwrite: bool = False,
) -> _native.Features:
    """Compute every node with all its in-neighbours, one layer after the other, and write the last layer's rows.

    A layer is called as ``layer(x, edge_index, num_targets)``: the rows of a batch of nodes and then those of their
    in-neighbours, the edges from neighbours to the batch in local ids ``[2, E]``, and the size of the batch. It returns
    one row for each of the first ``num_targets`` nodes. Convolutions of PyTorch Geometric are taken as they are, and
    so are its models (``GraphSAGE``, ``GCN``, ``GAT``, ``GIN``, ``PNA`` ..., with ``norm`` and ``jk``): the result is
    that of ``model(x, edge_index)`` on the whole graph, and what does not give it is refused. Gradients are off, and
    layers that are modules are in evaluation mode meanwhile; a function that calls a module has to see to that itself.

    Row *i* of the result belongs to node number *i*, as in ``ds.features``. Where ``repr(ds)`` says renumbered, the
    rows of nodes by their ids in the source are ``embeddings[ds.node_ids(ids)]``.

    Args:
        ds: The dataset, from :func:`graphmill.open`; it has to store in-edges.
        layers: What is computed, first layer first; or a model of ``torch_geometric.nn.models``.
        out: The ``.gd`` file to write; it appears complete or not at all. The files of the other layers are beside it
            meanwhile, at most two at a time.
        batch_size: The most nodes that are computed together; fewer where lists are so long that they would not fit.
        memory: What two batches may take of the dataset's memory, the one at work and the one being read; half of it by
            default. What layers make themselves, such as a message for each edge, is not counted.
        table: The table that the first layer reads.
        edge_table: A table of the edges; its rows come to layers as a fourth argument, and to convolutions of PyTorch
            Geometric as ``edge_attr``.
        dtype: Store the result as this type, such as ``"float16"``; by default as the last layer returns it.
        widen: Give float16 and bfloat16 rows to the first layer as float32.
        device: Where layers want their tensors.
        overwrite: Replace an existing file.

    Raises:
        MemoryBudgetError: The neighbours of a single node do not fit into ``memory``.
        ValueError: A convolution or a model gives other rows in batches than in the whole graph.

    Example:
        >>> def mean(x, edge_index, num_targets):
        ...     total = x[:num_targets].clone().index_add_(0, edge_index[1], x[edge_index[0]])
        ...     return total / (1 + edge_index[1].bincount(minlength=num_targets)[:, None])
        >>> embeddings = gm.inference(ds, [mean, mean], "embeddings.gd")
        >>> embeddings.shape == ds.features.shape
        True
    """
    if index(batch_size) < 1:
        raise ValueError(f"batch_size must be at least 1, found {batch_size}")
    edge_rows = None if edge_table is None else ds.edge_table(edge_table)
    steps = layers_of(layers, None if edge_rows is None else edge_rows.shape)
    target = Path(out)
    if not target.absolute().parent.is_dir():
        raise MissingError(f"the folder of {target} does not exist; make it first")
    if target.exists() and not overwrite:
        raise ExistsError(f"{target} exists; give another name, or overwrite=True")
    reader = _Reader(
        ds=ds,
        graph=ds.graph,
        rows=ds.table(table),
        edge_rows=edge_rows,
        batch_size=index(batch_size),
        memory=ds.memory // 2 if memory is None else _native.size_of(memory),
        use_torch=find_spec("torch") is not None,
        widen=widen,
    )
    with (
        scratch_folder(target.absolute()) as aside,
        evaluating(steps),
        _degrees(ds, steps) as degrees,
    ):
        reader.degrees = degrees
        for depth, step in enumerate(steps[:-1]):
            path = aside / f"layer-{depth}.gd"
            reader.rows = write_features(path, _results(reader, step, depth, device))
            reader.widen = False
            # What is open stays, and goes with the process however that ends; Windows keeps the name as long.
            with suppress(PermissionError):
                os.unlink(path)
        results = _results(reader, steps[-1], len(steps) - 1, device)
        return write_features(target, results, dtype, overwrite=overwrite)


@dataclass
class _Batch:
    """The rows of some nodes and of their in-neighbours, and the memory that is held for them."""

    arguments: list[Any]
    num_targets: int
    held: AbstractContextManager[None]
    # In-edges and loops of all its nodes, if a layer wants them.
    degrees: Any = None


@dataclass
class _Reader:
    """Reads consecutive nodes with all their in-neighbours."""

    ds: _native.Dataset
    graph: _native.Graph
    rows: _native.Features
    edge_rows: _native.Features | None
    batch_size: int
    memory: int
    use_torch: bool
    widen: bool
    degrees: Any = None

    def ranges(self) -> Iterator[tuple[int, int, int]]:
        """The first node, the one after the last, and the most bytes that they need, for each batch."""
        count = self.ds.num_nodes
        first = 0
        # Layers see a batch even if there are no nodes, since they decide how many columns there are.
        while first < count or count == 0:
            last = min(first + self.batch_size, count)
            edges = np.cumsum(self.graph.degrees(np.arange(first, last), "in"))
            needs = self._needs(np.arange(1, last - first + 1), edges)
            # Two batches are there at a time; a single node that needs more than its half goes alone.
            fitting = int(np.searchsorted(needs, self.memory // 2, side="right"))
            taken = min(max(1, fitting), last - first)
            need = int(needs[taken - 1]) if taken else 0
            if need > self.memory:
                raise MemoryBudgetError(
                    f"node {first} has {edges[0]} in-neighbours, which need {need} bytes beside the layer's own, "
                    f"and inference may take {self.memory}; open the dataset with a larger memory, or let inference "
                    "take more of it"
                )
            yield first, first + taken, need
            first += taken
            if count == 0:
                return

    def _needs(self, targets: Any, edges: Any) -> Any:
        """The most bytes that so many nodes with so many in-edges can need."""
        nodes = np.minimum(targets + edges, self.ds.num_nodes)
        edge_bytes = _EDGE_BYTES + (0 if self.edge_rows is None else _row_bytes(self.edge_rows))
        # Widened rows are up to twice as long.
        row_bytes = _row_bytes(self.rows) * (2 if self.widen else 1)
        return nodes * (_NODE_BYTES + row_bytes) + edges * edge_bytes

    def read(self, first: int, last: int, need: int) -> _Batch:
        """Reads one batch; what it takes is held until the caller leaves ``held``."""
        held = self.ds._reserve(need, f"nodes {first} to {last - 1} and their in-neighbours")
        try:
            seeds: Any = np.arange(first, last)
            if self.use_torch:
                import torch

                seeds = torch.from_numpy(seeds)
            found = self.graph.sample(seeds, [-1], direction="in", seed=0)
            x = self.rows.gather(found.n_id, widen=self.widen)
            stack = np.stack if not self.use_torch else torch.stack
            arguments = [x, stack([found.row, found.col])]
            if self.edge_rows is not None:
                arguments.append(self.edge_rows.gather(found.e_id))
        except BaseException:
            with held:
                raise
        degrees = None if self.degrees is None else self.degrees[:, found.n_id]
        return _Batch(arguments, last - first, held, degrees)


def _results(reader: _Reader, layer: Layer, depth: int, device: Any) -> Iterator[Any]:
    """What a layer makes of all nodes in order; the next batch is read while it computes."""
    # A list that is too long is found before the work of hours is lost by it.
    for _ in reader.ranges():
        pass
    pool = ThreadPoolExecutor(1, thread_name_prefix="graphmill-inference")
    try:
        for batch in _ahead(reader, pool):
            # The result may be a view of the rows, so their memory is held until it is written.
            with batch.held:
                yield _computed(layer, batch, depth, device)
            del batch
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _ahead(reader: _Reader, pool: ThreadPoolExecutor) -> Iterator[_Batch]:
    """All batches; the next one is read ahead if memory has room for both."""
    ranges = reader.ranges()
    current = next(ranges, None)
    waiting: Future[_Batch] | None = None
    while current is not None:
        batch = reader.read(*current) if waiting is None else waiting.result()
        following = next(ranges, None)
        fits = following is not None and current[2] + following[2] <= reader.memory
        waiting = pool.submit(reader.read, *following) if following and fits else None
        current = following
        yield batch
        del batch


def _computed(layer: Layer, batch: _Batch, depth: int, device: Any) -> Any:
    """What a layer makes of a batch, checked to be a row for each node."""
    # A result that is a view of the rows keeps them; nothing else has to.
    arguments, batch.arguments = batch.arguments, []
    if device is not None:
        arguments = [argument.to(device) for argument in arguments]
    x, edge_index, *edge_attr = arguments
    named = {}
    if layer.rule is not None and batch.degrees is not None:
        named["degrees"] = layer.rule.of(*batch.degrees.to(x.device))
    with _without_gradients():
        result = layer.call(x, edge_index, batch.num_targets, *edge_attr, **named)
    shape = tuple(getattr(result, "shape", ()))
    if not shape or shape[0] != batch.num_targets:
        raise ValueError(
            f"layer {depth} returned {type(result).__name__} of shape {shape}, expected {batch.num_targets} rows: "
            "one for each of the first num_targets nodes"
        )
    return result


@contextmanager
def _degrees(ds: _native.Dataset, layers: Sequence[Layer]) -> Iterator[Any]:
    """In-edges and loops of every node, int32 ``[2, N]``, if a layer normalises by the degrees of both endpoints."""
    if all(layer.rule is None for layer in layers):
        yield None
        return
    import torch

    count, graph = ds.num_nodes, ds.graph
    with ds._reserve(8 * count, "degrees of all nodes"):
        degrees = np.empty((2, count), dtype=np.int32)
        for first in range(0, count, _DEGREES_AT_ONCE):
            nodes = np.arange(first, min(first + _DEGREES_AT_ONCE, count))
            offsets, neighbours = graph.neighbor_lists(nodes, "in")
            owners = np.repeat(np.arange(len(nodes)), np.diff(offsets))
            loops = owners[neighbours == owners + first]
            degrees[0, nodes] = np.diff(offsets)
            degrees[1, nodes] = np.bincount(loops, minlength=len(nodes))
        yield torch.from_numpy(degrees)


def _without_gradients() -> AbstractContextManager[Any]:
    torch: Any = sys.modules.get("torch")
    return nullcontext() if torch is None else torch.inference_mode()


def _row_bytes(rows: _native.Features) -> int:
    return -(-rows.nbytes // max(1, len(rows)))
