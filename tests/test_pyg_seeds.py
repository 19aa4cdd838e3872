"""Where the randomness of graphmill.pyg's loaders comes from: torch's generator, drawn from as PyG draws from it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader

import graphmill as gm
from graphmill import pyg
from graphmill.torch import BatchDataset
from tests.pyg_data import NODES, small_data

DATA = small_data()


@pytest.fixture(scope="module")
def ds(tmp_path_factory: pytest.TempPathFactory) -> gm.Dataset:
    return gm.from_pyg(DATA, tmp_path_factory.mktemp("seeds") / "ds", memory="64MiB")


def loader(ds: gm.Dataset, **options: Any) -> pyg.NeighborLoader:
    return pyg.NeighborLoader(ds, [1, 1], **{"batch_size": 32, "shuffle": True} | options)


def nodes(batches: Any) -> list[list[int]]:
    return [batch.n_id.tolist() for batch in batches]


def test_the_seed_is_drawn_when_an_epoch_begins(ds: gm.Dataset) -> None:
    """It was drawn when the loader was made, so a seed set between two epochs changed nothing."""
    one = loader(ds)
    torch.manual_seed(5)
    first, second = nodes(one), nodes(one)
    assert first != second
    torch.manual_seed(5)
    assert [nodes(one), nodes(one)] == [first, second]
    own = loader(ds, generator=torch.Generator().manual_seed(5))
    torch.manual_seed(5)
    assert nodes(own) != nodes(own)


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("own", [False, True])
def test_what_a_script_draws_after_an_epoch_is_what_it_is_with_a_data_loader(
    ds: gm.Dataset, shuffle: bool, own: bool
) -> None:
    def drawn(make: Any) -> float:
        torch.manual_seed(3)
        generator = torch.Generator().manual_seed(4) if own else None
        for _ in make(generator):
            pass
        return float(torch.rand(()))

    numbers: Any = range(9)
    theirs = drawn(lambda generator: DataLoader(numbers, shuffle=shuffle, generator=generator))
    assert drawn(lambda generator: loader(ds, shuffle=shuffle, generator=generator)) == theirs


@pytest.mark.parametrize("seed", [None, 7])
def test_neighbours_of_a_position_are_drawn_anew(ds: gm.Dataset, seed: int | None) -> None:
    """Batches by a sampler, a batch_sampler or a call had the same neighbours in every epoch."""
    options: dict[str, Any] = {"shuffle": False, "seed": seed}
    whole = list(range(NODES))
    made = {
        "sampler": lambda one: [batch.e_id.tolist() for batch in one],
        "batch_sampler": lambda one: [batch.e_id.tolist() for batch in one],
        "call": lambda one: one(whole).e_id.tolist(),
        "collate_fn": lambda one: one.collate_fn(whole).e_id.tolist(),
    }
    for name, once in made.items():
        more: dict[str, Any] = {}
        if name == "sampler":
            more = {"sampler": whole}
        if name == "batch_sampler":
            more = {"batch_sampler": [whole], "batch_size": 1}
        one, other = (loader(ds, **options | more) for _ in range(2))
        torch.manual_seed(1)
        several = [once(one) for _ in range(3)]
        assert several[0] != several[1] != several[2] != several[0], name
        torch.manual_seed(1)
        assert [once(other) for _ in range(3)] == several, name


def test_a_state_goes_on_with_its_seed(ds: gm.Dataset) -> None:
    one = loader(ds)
    stream = iter(one)
    _, state, rest = next(stream), one.state_dict(), nodes(stream)
    other = loader(ds)
    other.load_state_dict(state)
    assert nodes(other) == rest
    # The epoch after it is drawn like any other.
    torch.manual_seed(8)
    following = nodes(other)
    torch.manual_seed(8)
    assert nodes(other) == following


def test_shares_of_an_epoch_have_one_seed_or_are_refused(ds: gm.Dataset) -> None:
    """Each process drew its own, so that shares overlapped and seeds were missing."""
    one = loader(ds, rank=0, world_size=2)
    with pytest.raises(ValueError, match="needs seed="):
        iter(one)
    assert len(loader(ds, rank=0, world_size=2)([3, 4, 5]).input_id) == 3
    with pytest.raises(ValueError, match="belong together"):
        loader(ds, rank=0)
    # Without a process group there is nothing to share.
    assert len(loader(ds, distributed=True)) == len(loader(ds))
    with pytest.raises(ValueError, match="leave out shuffle"):
        loader(ds, distributed=True, sampler=[1], shuffle=False)


@pytest.mark.timeout(300)
@pytest.mark.filterwarnings("ignore:This DataLoader will create")
def test_workers_of_a_data_loader_share_one_seed(ds: gm.Dataset) -> None:
    batches = DataLoader(BatchDataset(loader(ds)), None, num_workers=2, timeout=120)
    torch.manual_seed(2)
    first = [batch.input_id.tolist() for batch in batches]
    assert sorted(position for batch in first for position in batch) == list(range(NODES))
    assert first != [batch.input_id.tolist() for batch in batches]
    torch.manual_seed(2)
    assert first == [batch.input_id.tolist() for batch in batches]
