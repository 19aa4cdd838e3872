"""The loader: batches that a training loop can use, the same for the same seed."""

from __future__ import annotations

import gc
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import graphmill as gm


def loader(papers: Path, **options: Any) -> gm.NeighborLoader:
    defaults: dict[str, Any] = {"fanouts": [5, 3], "batch_size": 64, "seeds": "train", "seed": 3}
    return gm.NeighborLoader(gm.open(papers, memory="64MiB"), **(defaults | options))


def fingerprint(batch: gm.Batch) -> tuple[Any, ...]:
    return tuple((name, np.asarray(value).tobytes()) for name, value in batch)


def test_a_batch_holds_what_a_model_needs(papers: Path) -> None:
    ds = gm.open(papers)
    x, y = ds.table("x").numpy(), ds.table("y").numpy()
    seen = []
    for batch in loader(papers):
        n_id = batch.n_id.numpy()
        np.testing.assert_array_equal(batch.x.numpy(), x[n_id])
        np.testing.assert_array_equal(batch.y.numpy(), y[n_id])
        assert batch.edge_index.dtype == torch.int64
        assert int(batch.edge_index.max()) < len(n_id)
        assert sum(batch.num_sampled_nodes) == len(n_id)
        assert sum(batch.num_sampled_edges) == batch.edge_index.shape[1] == len(batch.e_id)
        seeds = n_id[: batch.batch_size]
        np.testing.assert_array_equal(seeds, ds.split("train")[batch.input_id.numpy()])
        seen.extend(seeds.tolist())
    assert seen == ds.split("train").tolist()


def test_every_edge_of_a_batch_is_an_edge_of_the_graph(papers: Path) -> None:
    graph = gm.open(papers).graph
    batch = next(iter(loader(papers)))
    sources, destinations = batch.n_id[batch.edge_index].tolist()
    for source, destination in zip(sources, destinations, strict=True):
        assert source in graph.neighbors(destination, "in")


@pytest.mark.parametrize(
    "options", [{"threads": 4, "prefetch": 8}, {"prefetch": 0}, {"backend": "mapped"}]
)
def test_batches_depend_on_the_seed_alone(papers: Path, options: dict[str, Any]) -> None:
    plain = [fingerprint(batch) for batch in loader(papers, shuffle=True)]
    other = [fingerprint(batch) for batch in loader(papers, shuffle=True, **options)]
    assert plain == other
    assert plain != [fingerprint(batch) for batch in loader(papers, shuffle=True, seed=4)]


def test_each_iteration_is_another_epoch(papers: Path) -> None:
    one = loader(papers, shuffle=True)
    epochs = [[fingerprint(batch) for batch in one] for _ in range(3)]
    assert epochs[0] != epochs[1] != epochs[2]
    other = loader(papers, shuffle=True)
    other.set_epoch(2)
    assert [fingerprint(batch) for batch in other] == epochs[2]


def test_shuffling_visits_every_seed_once(papers: Path) -> None:
    ids = [i for batch in loader(papers, shuffle=True) for i in batch.input_id.tolist()]
    assert sorted(ids) == list(range(len(gm.open(papers).split("train"))))
    assert ids != sorted(ids)


def test_a_resumed_epoch_delivers_the_rest(papers: Path) -> None:
    whole = loader(papers, shuffle=True)
    expected = [fingerprint(batch) for batch in whole]
    first = loader(papers, shuffle=True)
    iterator = iter(first)
    delivered = [fingerprint(next(iterator)) for _ in range(3)]
    state = first.state_dict()
    assert state["batches"] == 3
    second = loader(papers, shuffle=True)
    second.load_state_dict(state)
    assert delivered + [fingerprint(batch) for batch in second] == expected
    # After a whole epoch, what remains is the next one.
    done = loader(papers, shuffle=True)
    done.load_state_dict(whole.state_dict())
    assert len(list(done)) == len(done)
    with pytest.raises(ValueError, match="seed"):
        loader(papers, seed=9).load_state_dict(state)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 32}, "batch_size 64, this one has 32"),
        ({"seeds": [1, 2]}, "num_seeds {}, this one has 2"),
        ({"seeds": None}, "num_seeds {}, this one has 5000"),
    ],
)
def test_a_state_of_another_loader_is_refused(
    papers: Path, options: dict[str, Any], message: str
) -> None:
    state = loader(papers).state_dict()
    count = len(gm.open(papers).split("train"))
    other = loader(papers, **options)
    with pytest.raises(ValueError, match=message.format(count)):
        other.load_state_dict(state)
    # Earlier versions did not tell.
    other.load_state_dict({name: state[name] for name in ("seed", "epoch", "batches")})


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("prefetch", [0, 8])
@pytest.mark.parametrize("delivered", [0, 5])
def test_an_epoch_may_be_resumed_with_other_threads_and_prefetch(
    papers: Path, threads: int, prefetch: int, delivered: int
) -> None:
    """Large batches, so that several threads take part in their sampling."""
    options: dict[str, Any] = {"shuffle": True, "seeds": None, "batch_size": 512}
    expected = [fingerprint(batch) for batch in loader(papers, threads=1, prefetch=0, **options)]
    begun = loader(papers, threads=5 - threads, prefetch=8 - prefetch, **options)
    iterator = iter(begun)
    found = [fingerprint(next(iterator)) for _ in range(delivered)]
    resumed = loader(papers, threads=threads, prefetch=prefetch, **options)
    resumed.load_state_dict(begun.state_dict())
    found += [fingerprint(batch) for batch in resumed]
    assert found == expected
    assert len(expected) == 10


def test_lengths_and_last_batches(papers: Path) -> None:
    count = len(gm.open(papers).split("train"))
    assert len(loader(papers)) == -(-count // 64) == len(list(loader(papers)))
    assert (
        len(loader(papers, drop_last=True))
        == count // 64
        == len(list(loader(papers, drop_last=True)))
    )
    assert len(loader(papers, seeds=None)) == -(-5000 // 64)
    assert len(list(loader(papers, seeds=[]))) == 0


def test_columns_transform_and_keys(papers: Path) -> None:
    batch = next(iter(loader(papers, columns=["y"])))
    assert batch.x is None
    assert "y" in batch
    assert "x" not in batch.keys()  # noqa: SIM118
    assert batch["y"].shape == batch.n_id.shape
    with pytest.raises(AttributeError, match="it has"):
        _ = batch.nonsense
    assert "n_id=[" in repr(batch)
    marked = next(iter(loader(papers, transform=lambda batch: ("mine", batch))))
    assert marked[0] == "mine"
    assert batch.to("cpu").n_id.equal(batch.n_id)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"seeds": "trian"}, KeyError, "it has"),
        ({"seeds": [5000]}, IndexError, "5000"),
        ({"seeds": [-1]}, IndexError, "-1"),
        ({"fanouts": [-2]}, ValueError, "fan-out"),
        ({"batch_size": 0}, ValueError, "batch_size"),
        ({"batch_size": None}, TypeError, "batch_size"),
        ({"seed": 1.5}, TypeError, "seed"),
        ({"seed": "3"}, TypeError, "seed"),
        ({"columns": ["z"]}, KeyError, "z"),
        ({"backend": "floppy"}, ValueError, "floppy"),
        ({"threads": 0}, ValueError, "threads"),
        ({"prefetch": "two"}, TypeError, "prefetch"),
        ({"direction": "up"}, ValueError, "direction"),
    ],
)
def test_mistakes_are_told_before_the_first_batch(
    papers: Path, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        loader(papers, **options)


def test_a_budget_too_small_for_a_batch_says_how_much_is_needed(papers: Path) -> None:
    ds = gm.open(papers, memory="20KiB")
    with pytest.raises(gm.MemoryBudgetError, match="needs"):
        next(iter(gm.NeighborLoader(ds, [10, 10], batch_size=256, seeds="train")))


def test_a_budget_for_one_batch_is_enough_whatever_is_prefetched(papers: Path) -> None:
    ds = gm.open(papers, memory="1MiB")
    count = 0
    for batch in gm.NeighborLoader(
        ds, [5, 3], batch_size=128, seeds="train", prefetch=8, threads=2
    ):
        count += batch.batch_size
        del batch
        gc.collect(0)
    assert count == len(ds.split("train"))


def test_leaving_early_stops_every_thread(papers: Path) -> None:
    before = threading.active_count()
    for _ in loader(papers, threads=3, prefetch=4):
        break
    gc.collect()
    assert threading.active_count() == before

    def train() -> None:
        for _ in loader(papers, threads=2):
            raise RuntimeError("model")

    with pytest.raises(RuntimeError, match="model"):
        train()
    gc.collect()
    assert threading.active_count() == before


def test_a_closed_loader_says_so(papers: Path) -> None:
    closed = loader(papers)
    closed.close()
    with pytest.raises(gm.LoaderError, match="closed"):
        iter(closed)
