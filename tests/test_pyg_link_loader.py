"""PyG's LinkNeighborLoader by our name: links, negatives, labels and times."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.loader import LinkLoader
from torch_geometric.sampler import NegativeSampling

import graphmill as gm
from graphmill import pyg
from tests.pyg_data import EDGES, NODES, small_data

DATA = small_data()
LINKS = DATA.edge_index[:, :120]
WHOLE_LABELS = torch.arange(120) % 3
PAIRS_OF_LABELS = torch.arange(1.0, 241.0).view(120, 2)
KNOWN = set(map(tuple, DATA.edge_index.t().tolist()))


@pytest.fixture(scope="module", params=["none", "hot"])
def ds(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> gm.Dataset:
    folder = tmp_path_factory.mktemp("links") / "ds"
    return gm.from_pyg(DATA, folder, order=request.param, memory="64MiB")


def check_batch(ds: gm.Dataset, batch: Data) -> torch.Tensor:
    """Nodes, edges and their rows belong together; returns the ids in the source."""
    assert type(batch) is Data
    ids = batch.n_id
    assert torch.equal(batch.x, DATA.x[ids])
    assert torch.equal(DATA.edge_index[:, batch.e_id], ids[batch.edge_index])
    assert torch.equal(batch.edge_attr, DATA.edge_attr[batch.e_id])
    assert sum(batch.num_sampled_nodes) == batch.num_nodes == len(ids)
    assert sum(batch.num_sampled_edges) == batch.num_edges
    return ids


def test_links_without_negatives(ds: gm.Dataset) -> None:
    seen = []
    for batch in pyg.LinkNeighborLoader(ds, [3, 2], LINKS, batch_size=50, shuffle=True):
        ids = check_batch(ds, batch)
        assert torch.equal(ids[batch.edge_label_index], LINKS[:, batch.input_id])
        for name in ("edge_label", "edge_label_time", "batch", "batch_size", "seed_time"):
            assert name not in batch, name
        seen += batch.input_id.tolist()
    assert sorted(seen) == list(range(120))
    assert seen != sorted(seen)


def kinds(batch: Data) -> dict[str, Any]:
    """What each attribute is; the size of a neighbourhood is left to chance, that of everything else is not."""
    nodes = ("n_id", "x", "y", "year", "batch", "num_nodes")
    chance = (*nodes, "edge_index", "e_id", "edge_attr", "edge_weight", "edge_time")

    def kind(name: str, value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return type(value)
        return value.dtype, value.dim() if name in chance else tuple(value.shape)

    # PyG counts nodes over stores, where x might be missing, and does not over a Data object.
    entries = {name: value for name, value in batch.to_dict().items() if name != "num_nodes"}
    return {name: kind(name, value) for name, value in entries.items()}


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("disjoint", [False, True])
@pytest.mark.parametrize(
    ("negatives", "labels"),
    [
        *product((None, "binary", ("binary", 0.3)), (None, WHOLE_LABELS, PAIRS_OF_LABELS)),
        ("triplet", None),
        (("triplet", 2), None),
    ],
)
def test_attributes_are_those_that_pygs_loader_sets(
    ds: gm.Dataset, negatives: Any, labels: torch.Tensor | None, disjoint: bool, timed: bool
) -> None:
    """PyG's loader computes labels, indices and times by itself; only the neighbours come from our sampler there."""
    options: dict[str, Any] = {"neg_sampling": negatives, "edge_label": labels, "batch_size": 47}
    sampling: dict[str, Any] = {"disjoint": disjoint}
    if timed:
        options["edge_label_time"] = DATA.edge_time[:120]
        sampling["time_attr"] = "edge_time"
    theirs = LinkLoader(
        pyg.stores(ds),
        pyg.Sampler(ds, [3, 2], **sampling),
        (None, ds.node_ids(LINKS.flatten()).view(2, -1)),
        transform=pyg.AddEdgeFeatures(ds),
        **options,
    )
    ours = pyg.LinkNeighborLoader(ds, [3, 2], LINKS, **options, **sampling)
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert kinds(one) == kinds(other)
        for name in ("input_id", "edge_label", "edge_label_time", "seed_time"):
            if name in other:
                assert torch.equal(one[name], other[name]), name


@pytest.mark.parametrize("disjoint", [False, True])
@pytest.mark.parametrize(
    "negatives",
    [
        {"neg_sampling": NegativeSampling("binary", 2)},
        {"neg_sampling": {"mode": "binary", "amount": 2}},
        {"neg_sampling_ratio": 2.0},
    ],
    ids=["object", "dict", "ratio"],
)
def test_binary_negatives_follow_the_links(
    ds: gm.Dataset, disjoint: bool, negatives: dict[str, Any]
) -> None:
    labels = torch.arange(120) % 3
    options: dict[str, Any] = {"disjoint": disjoint, "edge_label": labels} | negatives
    for batch in pyg.LinkNeighborLoader(ds, [3, 2], (None, LINKS), batch_size=50, **options):
        ids, count = check_batch(ds, batch), len(batch.input_id)
        ends = ids[batch.edge_label_index]
        assert ends.shape == (2, 3 * count)
        assert torch.equal(ends[:, :count], LINKS[:, batch.input_id])
        # Labels are raised, as 0 is for negatives.
        assert torch.equal(batch.edge_label[:count], labels[batch.input_id] + 1)
        assert not batch.edge_label[count:].any()
        assert KNOWN.isdisjoint(map(tuple, ends[:, count:].t().tolist()))
        if disjoint:
            assert int(batch.batch.max()) < count
            source, destination = batch.edge_label_index
            assert torch.equal(batch.batch[source], batch.batch[destination])


def test_a_name_is_enough_for_negatives(ds: gm.Dataset) -> None:
    [batch] = pyg.LinkNeighborLoader(ds, [3], LINKS, neg_sampling="binary", batch_size=120)
    assert batch.edge_label.tolist() == [1.0] * 120 + [0.0] * 120
    assert batch.edge_label.dtype == torch.float32


@pytest.mark.parametrize("disjoint", [False, True])
@pytest.mark.parametrize("amount", [1, 3])
def test_triplets_share_their_source(ds: gm.Dataset, disjoint: bool, amount: int) -> None:
    options: dict[str, Any] = {"neg_sampling": ("triplet", amount), "disjoint": disjoint}
    for batch in pyg.LinkNeighborLoader(ds, [3, 2], LINKS, batch_size=50, **options):
        ids, expected = check_batch(ds, batch), LINKS[:, batch.input_id]
        assert torch.equal(ids[batch.src_index], expected[0])
        assert torch.equal(ids[batch.dst_pos_index], expected[1])
        shape = (len(batch.input_id),) if amount == 1 else (len(batch.input_id), amount)
        assert batch.dst_neg_index.shape == shape
        others = ids[batch.dst_neg_index].view(len(batch.input_id), -1)
        for source, destinations in zip(expected[0].tolist(), others.tolist(), strict=True):
            assert KNOWN.isdisjoint((source, other) for other in destinations)
        assert "edge_label_index" not in batch
        assert "edge_label" not in batch


def test_links_have_times(ds: gm.Dataset) -> None:
    times = DATA.edge_time[:120]
    options: dict[str, Any] = {"edge_label_time": times, "time_attr": "edge_time"}
    for batch in pyg.LinkNeighborLoader(ds, [3, 2], LINKS, batch_size=50, **options):
        check_batch(ds, batch)
        assert torch.equal(batch.edge_label_time, times[batch.input_id])
        limits = batch.edge_label_time[batch.batch[batch.edge_index[1]]]
        assert bool((DATA.edge_time[batch.e_id] <= limits).all())


def test_all_edges_are_links_if_none_are_given(ds: gm.Dataset) -> None:
    found = torch.zeros(2, EDGES, dtype=torch.int64)
    for batch in pyg.LinkNeighborLoader(ds, [1], batch_size=500):
        found[:, batch.input_id] = batch.n_id[batch.edge_label_index]
    assert torch.equal(found, DATA.edge_index)


def test_links_can_be_kept_out_of_their_neighbourhoods(ds: gm.Dataset) -> None:
    for batch in pyg.LinkNeighborLoader(ds, [-1], LINKS, batch_size=30, exclude_seed_edges=True):
        ids = check_batch(ds, batch)
        hidden = set(map(tuple, LINKS[:, batch.input_id].t().tolist()))
        assert hidden.isdisjoint(map(tuple, ids[batch.edge_index].t().tolist()))


def test_a_model_learns_from_edge_features_end_to_end(tmp_path: Path) -> None:
    """Only the rows of the edges tell the class of a node, so a wrong row would show."""
    from torch_geometric.nn import GINEConv

    torch.manual_seed(0)
    y = torch.randint(2, (NODES,))
    edge_index = torch.randint(NODES, (2, EDGES))
    data = Data(
        x=torch.ones(NODES, 4),
        y=y,
        edge_index=edge_index,
        edge_attr=torch.nn.functional.one_hot(y[edge_index[1]], 2).float(),
    )
    ds = gm.from_pyg(data, tmp_path / "ds", order="hot")
    conv = GINEConv(torch.nn.Linear(4, 2), edge_dim=2)
    optimizer = torch.optim.Adam(conv.parameters(), lr=0.05)
    loader = pyg.NeighborLoader(ds, [5], batch_size=50, shuffle=True)
    for _ in range(15):
        for batch in loader:
            out = conv(batch.x, batch.edge_index, batch.edge_attr)[: batch.batch_size]
            loss = torch.nn.functional.cross_entropy(out, batch.y[: batch.batch_size])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    scores = gm.inference(ds, [conv], tmp_path / "scores.gd", edge_table="edge_attr")
    found = torch.from_numpy(scores[ds.node_ids(range(NODES))]).argmax(dim=1)
    has_edges = torch.bincount(edge_index[1], minlength=NODES) > 0
    assert float((found == y)[has_edges].float().mean()) > 0.99


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"edge_label_time": torch.zeros(120)}, ValueError, "give both"),
        ({"time_attr": "year"}, ValueError, "give both"),
        ({"neg_sampling": "ternary"}, ValueError, "ternary"),
        (
            {"neg_sampling": "binary", "time_attr": "year", "edge_label_time": torch.zeros(120)},
            TypeError,
            "integers, found 1-dimensional float32",
        ),
        (
            {"neg_sampling": NegativeSampling("binary", 1, torch.ones(NODES))},
            ValueError,
            "LinkLoader",
        ),
        ({"neg_sampling": "triplet", "edge_label": torch.zeros(120)}, ValueError, "edge_label"),
        ({"nonsense": 1}, TypeError, "nonsense"),
        ({"num_neighbors": [2.5]}, TypeError, "integers"),
        ({"batch_size": None}, TypeError, "batch_size"),
        ({"input_id": torch.arange(119)}, ValueError, "each of 120 seeds"),
    ],
)
def test_mistakes_are_told_before_the_first_batch(
    ds: gm.Dataset, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        pyg.LinkNeighborLoader(ds, **({"num_neighbors": [2], "edge_label_index": LINKS} | options))


def test_a_loader_answers_as_a_data_loader_does(ds: gm.Dataset) -> None:
    loader = pyg.LinkNeighborLoader(ds, [2], LINKS, batch_size=50, drop_last=True)
    assert len(loader.dataset) == 120
    assert (loader.drop_last, loader.num_workers) == (True, 0)
    assert len(pyg.LinkNeighborLoader(ds, [2]).dataset) == EDGES
    named = pyg.LinkNeighborLoader(ds, [2], LINKS, batch_size=50, input_id=torch.arange(120) + 7)
    assert next(iter(named)).input_id.tolist() == list(range(7, 57))


def test_a_transform_may_deliver_anything(ds: gm.Dataset) -> None:
    loader = pyg.LinkNeighborLoader(
        ds, [2], LINKS, batch_size=50, transform=lambda data: (data.edge_label_index, 1)
    )
    assert [pairs.shape[1] for pairs, _ in loader] == [50, 50, 20]
