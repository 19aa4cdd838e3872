"""Processes of torch.distributed agree on the order of the seeds by themselves, and none waits for another."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphmill as gm

WATCHDOG = 120

# What every process does: SCRIPT sets `found`, which is gathered as JSON.
RANK = """
import json, os, pickle, sys
import torch, torch.distributed as dist
import graphmill as gm
path, rank = sys.argv[1], int(os.environ["RANK"])

def init():
    dist.init_process_group("gloo", init_method=f"file://{sys.argv[2]}", rank=rank, world_size=2)

def make(**options):
    defaults = {"fanouts": [3], "batch_size": 16, "seeds": list(range(140)), "shuffle": True, "threads": 1}
    return gm.NeighborLoader(gm.open(path, memory="32MiB"), **(defaults | options))

def seen(loader):
    return [i for batch in loader for i in batch.input_id.tolist()]

"""
END = """
print(json.dumps(found))
dist.barrier()
dist.destroy_process_group()
"""


def together(papers: Path, tmp_path: Path, script: str) -> list[Any]:
    """Run a script in two processes of torch.distributed; returns what each of them found."""
    ranks = []
    for rank in range(2):
        environment = os.environ | {"RANK": str(rank), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-c", RANK + script + END]
        command += [str(papers), str(tmp_path / "meeting")]
        pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        ranks.append(subprocess.Popen(command, env=environment, **pipes))
    try:
        answers = [process.communicate(timeout=2 * WATCHDOG) for process in ranks]
    finally:
        for process in ranks:
            process.kill()
    assert [process.returncode for process in ranks] == [0, 0], [err for _, err in answers]
    return [json.loads(out) for out, _ in answers]


def each_once(shares: list[list[int]], count: int = 140) -> bool:
    return sorted(shares[0] + shares[1]) == list(range(count))


def test_without_a_seed_every_seed_is_seen_once_in_each_epoch(papers: Path, tmp_path: Path) -> None:
    """Each process drew its own entropy: of 140 seeds, 99 were seen, 41 of them twice."""
    found = together(papers, tmp_path, "init(); one = make(); found = [seen(one), seen(one)]")
    first, second = zip(*found, strict=True)
    assert each_once(list(first))
    assert each_once(list(second))
    assert first != second


def test_a_loader_made_before_the_group_is_divided_when_an_epoch_begins(
    papers: Path, tmp_path: Path
) -> None:
    script = """
one = make()
whole = len(one), one.world_size, sorted(seen(one))
init()
found = [whole, (len(one), one.rank, one.world_size), seen(one)]
"""
    found = together(papers, tmp_path, script)
    assert [before for before, _, _ in found] == [[9, 1, list(range(140))]] * 2
    assert [now for _, now, _ in found] == [[5, 0, 2], [5, 1, 2]]
    assert each_once([share for _, _, share in found])


def test_loaders_that_one_process_alone_makes_shift_nobody(papers: Path, tmp_path: Path) -> None:
    """Neither those of other options, nor those of the same, nor those that are not divided; and nobody waits."""
    script = """
init()
own = []
if rank == 0:
    own = seen(make(distributed=False))
    seen(make(fanouts=[2]))
    seen(make())
found = [own, seen(make()), make(distributed=False).seed, len(make(distributed=False))]
"""
    found = together(papers, tmp_path, script)
    assert sorted(found[0][0]) == list(range(140))
    assert each_once([share for _, share, _, _ in found])
    assert found[0][2] != found[1][2]
    assert [count for *_, count in found] == [9, 9]


def test_explicit_shares_agree_through_the_group_too(papers: Path, tmp_path: Path) -> None:
    script = "init(); found = seen(make(rank=1 - rank, world_size=2))"
    assert each_once(together(papers, tmp_path, script))


def test_a_pickled_loader_keeps_the_share_of_its_process(papers: Path, tmp_path: Path) -> None:
    """A worker that is spawned does not belong to the group."""
    script = """
one = make()
init()
batches = pickle.dumps(one)
child = '''
import pickle, sys
one = pickle.loads(sys.stdin.buffer.read())
print([i for batch in one for i in batch.input_id.tolist()])
'''
import subprocess
done = subprocess.run([sys.executable, "-c", child], input=batches, capture_output=True, check=True)
found = json.loads(done.stdout)
"""
    assert each_once(together(papers, tmp_path, script))


def test_forked_workers_have_the_share_and_the_seed_of_their_process(
    papers: Path, tmp_path: Path
) -> None:
    script = """
from torch.utils.data import DataLoader
from graphmill.torch import BatchDataset
early = BatchDataset(make())
init()
late = BatchDataset(make())
def cross(batches):
    return [i for batch in DataLoader(batches, None, num_workers=2) for i in batch.input_id.tolist()]
try:
    refused = cross(early)
except gm.LoaderError as error:
    refused = str(error)
early.set_epoch(0)
found = [refused, cross(early), cross(late)]
"""
    found = together(papers, tmp_path, script)
    assert all("give seed=" in refused for refused, _, _ in found)
    assert each_once([share for _, share, _ in found])
    assert each_once([share for _, _, share in found])


def test_shares_without_a_group_need_a_seed(papers: Path) -> None:
    ds = gm.open(papers, memory="32MiB")
    one = gm.NeighborLoader(ds, [3], 64, "train", shuffle=True, rank=0, world_size=2)
    with pytest.raises(ValueError, match="needs seed="):
        iter(one)
    # The order as given is the same in every process.
    sum(1 for _ in gm.NeighborLoader(ds, [3], 64, "train", rank=0, world_size=2))
    with pytest.raises(ValueError, match="distributed=False contradicts"):
        gm.NeighborLoader(ds, [3], rank=0, world_size=2, distributed=False)


def test_a_loader_without_a_seed_takes_over_that_of_a_state(papers: Path) -> None:
    def make(**options: Any) -> gm.NeighborLoader:
        ds = gm.open(papers, memory="32MiB")
        return gm.NeighborLoader(ds, [3], 64, "train", shuffle=True, **options)

    begun = make()
    iterator = iter(begun)
    next(iterator)
    state = pickle.loads(pickle.dumps(begun.state_dict()))
    rest = [batch.n_id.tolist() for batch in iterator]
    resumed = make()
    assert resumed.seed != begun.seed
    resumed.load_state_dict(state)
    assert [batch.n_id.tolist() for batch in resumed] == rest
    # And again, of a third loader.
    third = make()
    resumed.load_state_dict(third.state_dict())
    assert resumed.seed == third.seed
    with pytest.raises(ValueError, match=f"seed {begun.seed}, this one has 5"):
        make(seed=5).load_state_dict(state)


OTHERS = [
    {"fanouts": [3, 1]},
    {"shuffle": False},
    {"drop_last": True},
    {"replace": True},
    {"disjoint": True},
    {"method": "labor"},
    {"subgraph": "induced"},
    {"direction": "out"},
    {"time": "y", "node_time": "y", "name": "node_time"},
    {"seeds": np.arange(200)[::-1], "name": "seeds"},
]


@pytest.mark.parametrize("other", OTHERS, ids=lambda other: next(iter(other)))
def test_a_state_of_a_loader_with_another_option_is_refused_by_its_name(
    papers: Path, other: dict[str, Any]
) -> None:
    options = dict(other)
    name = options.pop("name", next(iter(options)))
    ds = gm.open(papers, memory="32MiB")
    defaults: dict[str, Any] = {"fanouts": [3, 2], "batch_size": 64, "seeds": np.arange(200)}
    defaults |= {"shuffle": True}
    one = gm.NeighborLoader(ds, **defaults)
    next(iter(one))
    state = one.state_dict()
    differs = gm.NeighborLoader(ds, **(defaults | options))
    with pytest.raises(ValueError, match=rf"the state is of a loader with (other )?{name}\b"):
        differs.load_state_dict(state)
    # The refusal changed nothing, and what does not determine batches may differ.
    same = gm.NeighborLoader(ds, **(defaults | {"threads": 2, "prefetch": 0, "columns": ["y"]}))
    same.load_state_dict(state)
    assert sum(batch.batch_size for batch in same) == 200 - 64


def test_a_state_of_other_links_is_refused(papers: Path) -> None:
    ds = gm.open(papers, memory="32MiB")
    links = np.arange(80).reshape(2, 40)

    def make(links: Any = links, **options: Any) -> gm.LinkNeighborLoader:
        return gm.LinkNeighborLoader(ds, [3], links, batch_size=16, **({"seed": 0} | options))

    one = make(negatives="binary")
    next(iter(one))
    state = one.state_dict()
    for other, name in [
        (make(), "neg_ratio"),
        (make(negatives="binary", neg_ratio=2.0), "neg_ratio"),
        (make(negatives="binary", strict=False), "strict"),
        (make(negatives="binary", exclude_seed_edges=True), "exclude_seed_edges"),
        (make(negatives="binary", edge_label=np.arange(40)), "other edge_label"),
        (make(links[::-1], negatives="binary"), "other seeds"),
    ]:
        with pytest.raises(ValueError, match=name):
            other.load_state_dict(state)
    make(negatives="binary").load_state_dict(state)


def test_a_state_within_an_epoch_keeps_the_number_of_processes(papers: Path) -> None:
    ds = gm.open(papers, memory="32MiB")

    def make(world_size: int) -> gm.NeighborLoader:
        return gm.NeighborLoader(ds, [3], 64, "train", seed=0, rank=0, world_size=world_size)

    one = make(1)
    iterator = iter(one)
    next(iterator)
    with pytest.raises(ValueError, match="world_size 1, this one has 2"):
        make(2).load_state_dict(one.state_dict())
    for _ in iterator:
        pass
    other = make(2)
    other.load_state_dict(one.state_dict())
    assert other.state_dict()["epoch"] == 1
