"""Several processes over one dataset: ranks share the seeds, workers the batches, and every batch is the one it was."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, DistributedSampler

import graphmill as gm
from graphmill.torch import BatchDataset

WATCHDOG = 120


def loader(papers: Path, **options: Any) -> gm.NeighborLoader:
    defaults: dict[str, Any] = {
        **{"fanouts": [4, 3], "batch_size": 64, "seeds": "train", "shuffle": True, "seed": 3},
        **{"threads": 1},
    }
    return gm.NeighborLoader(gm.open(papers, memory="64MiB"), **(defaults | options))


def fingerprint(batch: gm.Batch) -> tuple[Any, ...]:
    return tuple((name, np.asarray(value).tobytes()) for name, value in batch)


def fingerprints(batch: gm.Batch) -> bytes:
    """What a worker sends instead of a batch."""
    return pickle.dumps(fingerprint(batch))


def positions(one: gm.NeighborLoader) -> list[int]:
    return [position for batch in one for position in batch.input_id.tolist()]


@pytest.mark.parametrize("world_size", [1, 2, 3, 7])
@pytest.mark.parametrize("drop_last", [False, True])
def test_ranks_get_the_seeds_that_a_distributed_sampler_gives_them(
    papers: Path, world_size: int, drop_last: bool
) -> None:
    count = len(gm.open(papers).split("train"))
    for rank in range(world_size):
        sampler: DistributedSampler[int] = DistributedSampler(
            range(count),  # type: ignore[arg-type]
            world_size,
            rank,
            shuffle=False,
            drop_last=drop_last,
        )
        share = loader(papers, rank=rank, world_size=world_size, shuffle=False, drop_last=drop_last)
        expected = list(sampler)
        if drop_last:
            expected = expected[: len(expected) // 64 * 64]
        assert positions(share) == expected
        assert len(share) == len(list(share))


@pytest.mark.parametrize("world_size", [2, 3])
def test_shuffled_ranks_cover_every_seed_in_each_epoch(papers: Path, world_size: int) -> None:
    count = len(gm.open(papers).split("train"))
    ranks = [loader(papers, rank=rank, world_size=world_size) for rank in range(world_size)]
    orders = []
    for _ in range(2):
        shares = [positions(rank) for rank in ranks]
        assert {len(share) for share in shares} == {-(-count // world_size)}
        together = [position for turn in zip(*shares, strict=True) for position in turn]
        assert sorted(together[:count]) == list(range(count))
        assert together[count:] == together[: len(together) - count]
        orders.append(together)
    assert orders[0] != orders[1]
    # The order is the common one, dealt out.
    assert positions(loader(papers)) == orders[0][:count]


def test_ranks_sample_differently(papers: Path) -> None:
    """The first batches of two ranks would pick alike if they had the same number."""
    seeds = [7] * 128
    first, second = (
        next(iter(loader(papers, seeds=seeds, rank=rank, world_size=2, fanouts=[2, 2])))
        for rank in range(2)
    )
    assert first.n_id.tolist() != second.n_id.tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rank": 1}, "give both"),
        ({"world_size": 2}, "give both"),
        ({"rank": 2, "world_size": 2}, "rank 2 of 2"),
        ({"rank": -1, "world_size": 2}, "rank"),
        ({"rank": 0, "world_size": 0}, "world_size"),
    ],
)
def test_impossible_shares_are_refused(papers: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        loader(papers, **options)


RANK = """
import os, sys
import torch, torch.distributed
import graphmill as gm
meeting, rank = f"file://{sys.argv[2]}", int(os.environ["RANK"])
torch.distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=2)
ds = gm.open(sys.argv[1], memory="64MiB")
loader = gm.NeighborLoader(ds, [4, 3], 64, "train", shuffle=True, seed=3, threads=1)
assert (loader.rank, loader.world_size) == (torch.distributed.get_rank(), 2)
mine = torch.tensor([i for batch in loader for i in batch.input_id.tolist()])
shares = [torch.empty_like(mine) for _ in range(2)]
torch.distributed.all_gather(shares, mine)
if loader.rank == 0:
    built = gm.build(sys.argv[2] + "-built", [[0], [1]], memory="64MiB")
    print(ds.memory, built.memory, *torch.stack(shares, 1).flatten().tolist())
torch.distributed.destroy_process_group()
"""


@pytest.mark.parametrize("is_told", [True, False], ids=["torchrun", "alone"])
def test_processes_of_torch_distributed_share_seeds_and_memory(
    papers: Path, tmp_path: Path, is_told: bool
) -> None:
    """Where torchrun does not tell how many processes the machine has, those of the group count."""
    ranks = []
    for rank in range(2):
        environment = os.environ | {
            **{"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank)},
            **{"LOCAL_WORLD_SIZE": "2", "OMP_NUM_THREADS": "1"},
        }
        if not is_told:
            del environment["LOCAL_WORLD_SIZE"]
        command = [sys.executable, "-c", RANK, str(papers), str(tmp_path / "meeting")]
        ranks.append(
            subprocess.Popen(
                command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
        )
    try:
        answers = [process.communicate(timeout=2 * WATCHDOG) for process in ranks]
    finally:
        for process in ranks:
            process.kill()
    assert [process.returncode for process in ranks] == [0, 0], [err for _, err in answers]
    memory, built, *together = map(int, answers[0][0].split())
    assert memory == built == 32 << 20
    whole = positions(loader(papers))
    assert together[: len(whole)] == whole


@pytest.mark.timeout(3 * WATCHDOG)
@pytest.mark.parametrize(
    ("method", "num_workers"), [("fork", 1), ("fork", 3), ("forkserver", 2), ("spawn", 2)]
)
@pytest.mark.filterwarnings("ignore:This DataLoader will create")
def test_workers_deliver_the_batches_in_their_order(
    papers: Path, method: Any, num_workers: int
) -> None:
    if method not in torch.multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    expected = [fingerprints(batch) for batch in loader(papers)]
    batches = BatchDataset(loader(papers, transform=fingerprints))
    workers: DataLoader[Any] = DataLoader(
        batches,
        batch_size=None,
        num_workers=num_workers,
        multiprocessing_context=method,
        timeout=WATCHDOG,
    )
    assert list(workers) == expected
    batches.set_epoch(1)
    other = list(workers)
    assert len(other) == len(expected)
    assert other != expected


def test_without_workers_a_data_loader_delivers_the_epoch(papers: Path) -> None:
    batches = BatchDataset(loader(papers))
    epochs = [[fingerprint(batch) for batch in DataLoader(batches, None)] for _ in range(2)]
    plain = loader(papers)
    assert epochs == [[fingerprint(batch) for batch in plain] for _ in range(2)]
    assert len(batches) == len(plain)


@pytest.mark.parametrize("links", [False, True])
def test_a_loader_survives_pickling_where_it_stood(papers: Path, links: bool) -> None:
    if links:
        pairs = np.random.default_rng(0).integers(0, 5000, size=(2, 300))
        ds = gm.open(papers, memory="64MiB")
        one: gm.NeighborLoader = gm.LinkNeighborLoader(
            ds, [4, 3], pairs, negatives="binary", batch_size=50, shuffle=True, seed=1
        )
    else:
        one = loader(papers)
    iterator = iter(one)
    for _ in range(2):
        next(iterator)
    other = pickle.loads(pickle.dumps(one))
    assert other.state_dict() == one.state_dict()
    other.load_state_dict(other.state_dict())
    rest = [fingerprint(batch) for batch in iterator]
    assert [fingerprint(batch) for batch in other] == rest
    assert len(rest) == len(one) - 2
