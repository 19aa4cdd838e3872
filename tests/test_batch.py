"""A batch as an object: what it offers, how it is copied, and how it crosses from a worker to its parent."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

import graphmill as gm
from graphmill.torch import BatchDataset
from tests.test_docs import WITHOUT_TORCH, run

WATCHDOG = 120
METHODS = [("fork", 2), ("forkserver", 2), ("spawn", 2)]


def loader(papers: Path, **options: Any) -> gm.NeighborLoader:
    defaults: dict[str, Any] = {
        **{"fanouts": [4, 3], "batch_size": 128, "seeds": "train", "shuffle": True, "seed": 3},
        **{"threads": 1},
    }
    return gm.NeighborLoader(gm.open(papers, memory="64MiB"), **(defaults | options))


def contents(batch: gm.Batch) -> dict[str, Any]:
    return {name: np.asarray(value).tolist() for name, value in batch}


def workers(batches: BatchDataset, method: Any, num_workers: int) -> DataLoader[Any]:
    if method not in torch.multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    return DataLoader(
        batches,
        batch_size=None,
        num_workers=num_workers,
        multiprocessing_context=method,
        timeout=WATCHDOG,
    )


@pytest.mark.timeout(3 * WATCHDOG)
@pytest.mark.parametrize(("method", "num_workers"), METHODS)
@pytest.mark.filterwarnings("ignore:This DataLoader will create")
def test_batches_cross_from_workers_through_shared_memory(
    papers: Path, method: str, num_workers: int
) -> None:
    """The worker's thread that sends could not pickle a batch, and the parent waited for ever."""
    expected = [contents(batch) for batch in loader(papers)]
    found = list(workers(BatchDataset(loader(papers)), method, num_workers))
    assert all(type(batch) is gm.Batch for batch in found)
    assert all(batch.x.is_shared() and batch.edge_index.is_shared() for batch in found)
    assert [contents(batch) for batch in found] == expected
    assert len(expected) > num_workers


def refuse(batch: gm.Batch) -> Any:
    if 0 in batch.input_id.tolist():
        raise ArithmeticError("the first seed is odd")
    return batch


@pytest.mark.timeout(3 * WATCHDOG)
@pytest.mark.parametrize(("method", "num_workers"), METHODS)
@pytest.mark.filterwarnings("ignore:This DataLoader will create")
def test_an_exception_in_a_worker_reaches_the_parent(
    papers: Path, method: str, num_workers: int
) -> None:
    batches = BatchDataset(loader(papers, transform=refuse))
    with pytest.raises(ArithmeticError, match="the first seed is odd"):
        list(workers(batches, method, num_workers))


@pytest.mark.timeout(3 * WATCHDOG)
@pytest.mark.filterwarnings("ignore:This DataLoader will create")
def test_an_error_of_ours_in_a_worker_keeps_its_type(papers: Path) -> None:
    ds = gm.open(papers, memory="300KiB", residency="mapped")
    one = gm.NeighborLoader(ds, [-1, -1], 1000, seeds="train", seed=0, threads=1)
    with pytest.raises(gm.MemoryBudgetError, match="batch 0 of epoch 0"):
        list(workers(BatchDataset(one), "fork", 1))


@pytest.mark.parametrize("make", [lambda b: pickle.loads(pickle.dumps(b)), copy.deepcopy])
def test_copies_have_memory_of_their_own(papers: Path, make: Callable[[Any], gm.Batch]) -> None:
    batch = next(iter(loader(papers)))
    other = make(batch)
    assert type(other) is gm.Batch
    assert contents(other) == contents(batch)
    for name, value in other:
        if isinstance(value, torch.Tensor):
            assert value.data_ptr() != batch[name].data_ptr()


def test_a_clone_takes_nothing_of_the_budget(papers: Path) -> None:
    ds = gm.open(papers, memory="64MiB", residency="mapped")
    one = gm.NeighborLoader(ds, [4], 64, prefetch=0, hot_memory=0, seed=0)
    batch = next(iter(one))
    clone = batch.clone()
    expected = contents(batch)
    one.close()
    with pytest.raises(gm.MemoryBudgetError), ds._reserve(ds.memory, "everything"):
        pass
    del batch
    gc.collect()
    with ds._reserve(ds.memory, "everything"):
        pass
    assert contents(clone) == expected


def test_a_shallow_copy_shares_entries_and_holds_their_memory(papers: Path) -> None:
    ds = gm.open(papers, memory="64MiB", residency="mapped")
    one = gm.NeighborLoader(ds, [4], 64, prefetch=0, hot_memory=0, seed=0)
    batch = next(iter(one))
    other = copy.copy(batch)
    assert other.x is batch.x
    assert other.keys() == batch.keys()
    del batch
    one.close()
    gc.collect()
    with pytest.raises(gm.MemoryBudgetError), ds._reserve(ds.memory, "everything"):
        pass


def test_what_editors_and_scripts_ask_for(papers: Path) -> None:
    batch = next(iter(loader(papers)))
    assert batch.num_nodes == len(batch.n_id)
    assert batch.num_edges == batch.edge_index.shape[1]
    assert set(batch.keys()) <= set(dir(batch))
    assert {"num_nodes", "num_edges", "cpu", "clone", "to"} <= set(dir(batch))
    assert {"x", "y", "edge_index", "n_id", "input_id", "batch_size"} <= set(
        gm.Batch.__annotations__
    )
    assert contents(batch.cpu()) == contents(batch)
    with pytest.raises(AttributeError, match="no 'z'; it has"):
        _ = batch.z


def test_copies_without_torch(papers: Path, tmp_path: Path) -> None:
    run(
        WITHOUT_TORCH
        + f"""
import copy, pickle, numpy as np, graphmill as gm
batch = next(iter(gm.NeighborLoader(gm.open({str(papers)!r}, memory="64MiB"), [4], 64, seed=0)))
for other in (pickle.loads(pickle.dumps(batch)), copy.deepcopy(batch), batch.clone(), batch.cpu()):
    assert type(other.x) is np.ndarray and (other.x == batch.x).all()
    assert (other.num_nodes, other.num_edges) == (batch.num_nodes, batch.num_edges)
""",
        tmp_path,
    )
