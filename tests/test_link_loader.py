"""The loader over links: ends, negatives and labels as PyG has them, held against the edges themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import graphmill as gm

NODES, EDGES, LINKS = 300, 3000, 130


@pytest.fixture
def edges() -> np.ndarray:
    """Sources and destinations."""
    return np.random.default_rng(0).integers(0, NODES, size=(2, EDGES))


@pytest.fixture(params=["none", "hot"])
def ds(request: Any, tmp_path: Path, edges: np.ndarray) -> gm.Dataset:
    """A directed graph with features that tell the node, as given or renumbered."""
    features = np.arange(NODES, dtype=np.float32).reshape(NODES, 1)
    times = np.arange(EDGES, dtype=np.int64)
    return gm.build(tmp_path / "ds", edges, features=features, times=times, order=request.param)


def loader(ds: gm.Dataset, links: Any, **options: Any) -> gm.LinkNeighborLoader:
    defaults: dict[str, Any] = {"fanouts": [4, 3], "batch_size": 40, "shuffle": True, "seed": 1}
    return gm.LinkNeighborLoader(ds, edge_label_index=links, **(defaults | options))


def ends_of(batch: gm.Batch, index: Any) -> np.ndarray:
    """Ids in the source of local ids: the features tell."""
    return np.asarray(batch.x[:, 0][index]).astype(np.int64)


def fingerprint(batch: gm.Batch) -> tuple[Any, ...]:
    return tuple((name, np.asarray(value).tobytes()) for name, value in batch)


@pytest.mark.parametrize("kind", [np.asarray, torch.as_tensor, lambda rows: rows.tolist(), tuple])
def test_batches_hold_every_link_once(ds: gm.Dataset, edges: np.ndarray, kind: Any) -> None:
    links = edges[:, :LINKS]
    seen: list[int] = []
    for batch in loader(ds, kind(links)):
        positions = batch.input_id.tolist()
        np.testing.assert_array_equal(ends_of(batch, batch.edge_label_index), links[:, positions])
        assert batch.batch_size == len(positions)
        assert "edge_label" not in batch
        seen.extend(positions)
    assert sorted(seen) == list(range(LINKS))
    assert seen != sorted(seen)


@pytest.mark.parametrize("ratio", [1.0, 0.5, 2, 0.31])
def test_binary_negatives_follow_the_links_and_are_no_edges(
    ds: gm.Dataset, edges: np.ndarray, ratio: float
) -> None:
    known = set(zip(*edges.tolist(), strict=True))
    links = edges[:, :LINKS]
    for batch in loader(ds, links, negatives="binary", neg_ratio=ratio):
        count = batch.batch_size
        negatives = int(np.ceil(count * ratio))
        assert batch.edge_label.tolist() == [1.0] * count + [0.0] * negatives
        assert batch.edge_label.dtype == torch.float32
        pairs = ends_of(batch, batch.edge_label_index)
        np.testing.assert_array_equal(pairs[:, :count], links[:, batch.input_id.numpy()])
        drawn = list(zip(*pairs[:, count:].tolist(), strict=True))
        assert len(drawn) == negatives
        assert not known & set(drawn)
        assert all(source != destination for source, destination in drawn)


@pytest.mark.parametrize("ratio", [1, 3])
@pytest.mark.parametrize("disjoint", [False, True])
def test_triplets_have_destinations_that_their_source_has_no_edge_to(
    ds: gm.Dataset, edges: np.ndarray, ratio: int, disjoint: bool
) -> None:
    known = set(zip(*edges.tolist(), strict=True))
    links = edges[:, :LINKS]
    for batch in loader(ds, links, negatives="triplet", neg_ratio=ratio, disjoint=disjoint):
        sources = ends_of(batch, batch.src_index)
        np.testing.assert_array_equal(sources, links[0, batch.input_id.numpy()])
        np.testing.assert_array_equal(
            ends_of(batch, batch.dst_pos_index), links[1, batch.input_id.numpy()]
        )
        shape = (batch.batch_size,) if ratio == 1 else (batch.batch_size, ratio)
        assert tuple(batch.dst_neg_index.shape) == shape
        others = ends_of(batch, batch.dst_neg_index).reshape(batch.batch_size, ratio)
        for source, row in zip(sources.tolist(), others.tolist(), strict=True):
            assert not {(source, destination) for destination in row} & known
        assert "edge_label_index" not in batch
        if disjoint:
            link = np.arange(batch.batch_size)
            np.testing.assert_array_equal(batch.batch[batch.src_index], link)
            np.testing.assert_array_equal(batch.batch[batch.dst_pos_index], link)
            tree = np.asarray(batch.batch[batch.dst_neg_index]).reshape(batch.batch_size, ratio)
            np.testing.assert_array_equal(tree, np.repeat(link[:, None], ratio, axis=1))
            # As in PyG: one negative of every link, then the next of every link.
            seeds = np.asarray(batch.batch[: (2 + ratio) * batch.batch_size])
            np.testing.assert_array_equal(seeds, np.tile(link, 2 + ratio))


def test_labels_are_those_of_the_links_and_make_room_for_negatives(
    ds: gm.Dataset, edges: np.ndarray
) -> None:
    links, labels = edges[:, :LINKS], np.arange(LINKS) % 4
    for batch in loader(ds, links, edge_label=labels):
        np.testing.assert_array_equal(batch.edge_label, labels[batch.input_id.numpy()])
    for given, added in ((labels, 1), (labels + 5, 0), (torch.from_numpy(labels), 1)):
        for batch in loader(ds, links, edge_label=given, negatives="binary"):
            count = batch.batch_size
            expected = np.asarray(given)[batch.input_id.numpy()] + added
            np.testing.assert_array_equal(batch.edge_label[:count], expected)
            assert not batch.edge_label[count:].any()
            assert len(batch.edge_label) == 2 * count


@pytest.mark.parametrize("undirected", [False, True])
def test_edges_that_are_asked_about_can_be_hidden(
    tmp_path: Path, edges: np.ndarray, undirected: bool
) -> None:
    ds = gm.build(tmp_path / "hidden", edges, undirected=undirected)
    links = edges[:, :LINKS]

    def shown(**options: Any) -> int:
        count = 0
        for batch in loader(ds, links, fanouts=[-1], **options):
            asked = set(zip(*links[:, batch.input_id.numpy()].tolist(), strict=True))
            if undirected:
                asked |= {(destination, source) for source, destination in asked}
            found = zip(*batch.n_id[batch.edge_index].tolist(), strict=True)
            count += len(asked & set(found))
        return count

    assert shown() >= LINKS * 0.9
    assert shown(exclude_seed_edges=True) == 0


def test_links_have_times(ds: gm.Dataset, edges: np.ndarray) -> None:
    times = np.arange(LINKS) * 20
    for batch in loader(ds, edges[:, :LINKS], time=times, negatives="binary"):
        count = batch.batch_size
        given = times[batch.input_id.numpy()]
        np.testing.assert_array_equal(batch.seed_time, np.concatenate([given, given]))
        # An edge is called by its row, which is its time.
        latest = given[batch.batch[batch.edge_index[1]].numpy()]
        assert (batch.e_id.numpy() <= latest).all()
        np.testing.assert_array_equal(batch.edge_label_index[0], np.arange(2 * count))


@pytest.mark.parametrize("negatives", [None, "binary", "triplet"])
def test_links_depend_on_the_seed_alone(ds: gm.Dataset, edges: np.ndarray, negatives: Any) -> None:
    links = edges[:, :LINKS]

    def epoch(**options: Any) -> list[Any]:
        return [fingerprint(batch) for batch in loader(ds, links, negatives=negatives, **options)]

    plain = epoch(threads=1)
    for options in ({"threads": 4, "prefetch": 8}, {"prefetch": 0}, {"backend": "pread"}):
        assert epoch(**options) == plain
    assert epoch(seed=2) != plain
    resumed = loader(ds, links, negatives=negatives)
    resumed.load_state_dict({"seed": 1, "epoch": 0, "batches": 2})
    assert [fingerprint(batch) for batch in resumed] == plain[2:]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"edge_label_index": [[0], [1], [2]]}, ValueError, "two rows"),
        ({"edge_label_index": 5}, ValueError, "two rows"),
        ({"edge_label_index": [[0], [1, 2]]}, ValueError, "1 sources and 2 destinations"),
        ({"edge_label_index": [[0], [NODES]]}, IndexError, str(NODES)),
        ({"edge_label_index": [[0.5], [1]]}, TypeError, "edge_label_index"),
        ({"edge_label": [1, 2]}, ValueError, "each of 3 links, found 2"),
        ({"edge_label": [1, 2, 3], "negatives": "triplet"}, ValueError, "no labels"),
        ({"negatives": "other"}, ValueError, "negatives is"),
        ({"negatives": "binary", "neg_ratio": 0.0}, ValueError, "above 0"),
        ({"negatives": "binary", "neg_ratio": float("nan")}, ValueError, "finite"),
        ({"negatives": "triplet", "neg_ratio": 0.5}, ValueError, "whole number"),
        ({"seeds": "train"}, TypeError, "no seeds"),
        ({"time": "x"}, ValueError, "one time for each link"),
        ({"colour": "red"}, TypeError, "colour"),
    ],
)
def test_mistakes_are_told_before_the_first_batch(
    ds: gm.Dataset, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    arguments: dict[str, Any] = {"fanouts": [2], "edge_label_index": [[0, 1, 2], [3, 4, 5]]}
    with pytest.raises(error, match=message):
        gm.LinkNeighborLoader(ds, **(arguments | options))
