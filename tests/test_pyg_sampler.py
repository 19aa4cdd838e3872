"""PyG's NodeLoader and LinkLoader over our sampler: every attribute is what PyG's own would be."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.loader import LinkLoader, NodeLoader
from torch_geometric.nn import GraphSAGE
from torch_geometric.sampler import (
    EdgeSamplerInput,
    NegativeSampling,
    NodeSamplerInput,
    NumNeighbors,
)

import graphmill as gm
from graphmill import pyg
from tests.pyg_data import NODES, small_data

DATA = small_data()


@pytest.fixture(scope="module")
def ds(tmp_path_factory: pytest.TempPathFactory) -> gm.Dataset:
    return gm.from_pyg(DATA, tmp_path_factory.mktemp("sampler") / "ds")


def node_loader(ds: gm.Dataset, num_neighbors: Any, **options: Any) -> NodeLoader:
    own = {"input_time", "input_nodes", "batch_size"}
    loading = {"batch_size": 32} | {key: options.pop(key) for key in own & set(options)}
    nodes = loading.pop("input_nodes", torch.arange(NODES))
    sampler = pyg.Sampler(ds, num_neighbors, **options)
    return NodeLoader(pyg.stores(ds), sampler, nodes, transform=pyg.AddEdgeFeatures(ds), **loading)


def check_batch(batch: Data) -> None:
    """Nodes, edges and their rows belong together."""
    assert torch.equal(batch.x, DATA.x[batch.n_id])
    assert torch.equal(batch.y, DATA.y[batch.n_id])
    assert torch.equal(DATA.edge_index[:, batch.e_id], batch.n_id[batch.edge_index])
    assert torch.equal(batch.edge_attr, DATA.edge_attr[batch.e_id])
    assert batch.validate(raise_on_error=True)


def test_a_node_loader_yields_what_a_model_needs(ds: gm.Dataset) -> None:
    seeds = torch.tensor([7, 150, 3, 7, 195, 0])
    [batch] = node_loader(ds, [3, 2], input_nodes=seeds)
    check_batch(batch)
    assert batch.batch_size == len(seeds)
    assert torch.equal(batch.n_id[: len(seeds)], seeds)
    assert torch.equal(batch.input_id, torch.arange(len(seeds)))
    assert sum(batch.num_sampled_nodes) == batch.num_nodes
    assert sum(batch.num_sampled_edges) == batch.num_edges
    assert len(batch.num_sampled_nodes) == 3
    assert len(batch.num_sampled_edges) == 2
    # Edges of a hop lead to nodes of the hop before.
    first, second = batch.edge_index.split(batch.num_sampled_edges, dim=1)
    assert int(first[1].max()) < len(seeds)
    assert int(second[1].min()) >= len(seeds)
    degrees = torch.bincount(DATA.edge_index[1], minlength=NODES)
    counts = torch.bincount(first[1], minlength=len(seeds))
    assert torch.equal(counts, degrees[seeds].clamp(max=3))


def test_trimmed_layers_give_the_same_rows(ds: gm.Dataset) -> None:
    torch.manual_seed(0)
    model = GraphSAGE(4, 8, num_layers=2, out_channels=3).eval()
    for batch in node_loader(ds, NumNeighbors([4, 3])):
        whole = model(batch.x, batch.edge_index)[: batch.batch_size]
        trimmed = model(
            batch.x,
            batch.edge_index,
            num_sampled_nodes_per_hop=batch.num_sampled_nodes,
            num_sampled_edges_per_hop=batch.num_sampled_edges,
        )[: batch.batch_size]
        torch.testing.assert_close(trimmed, whole)


def test_torchs_seed_makes_batches_reproducible(ds: gm.Dataset) -> None:
    def epoch(seed: int) -> list[torch.Tensor]:
        torch.manual_seed(seed)
        return [batch.n_id for batch in node_loader(ds, [2, 2])]

    first, again, other = epoch(0), epoch(0), epoch(1)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(first, other, strict=True))


def test_bidirectional_subgraphs_hold_both_ways(ds: gm.Dataset) -> None:
    for batch in node_loader(ds, [3, 2], subgraph_type="bidirectional"):
        pairs = set(map(tuple, batch.edge_index.t().tolist()))
        assert pairs == {(b, a) for a, b in pairs}
        assert "num_sampled_nodes" not in batch


def test_induced_subgraphs_hold_all_edges_among_their_nodes(ds: gm.Dataset) -> None:
    for batch in node_loader(ds, [3, 2], subgraph_type="induced"):
        check_batch(batch)
        inside = torch.isin(DATA.edge_index, batch.n_id).all(dim=0)
        assert torch.equal(batch.e_id.sort().values, inside.nonzero().view(-1))


def test_disjoint_trees_are_named_by_batch(ds: gm.Dataset) -> None:
    for batch in node_loader(ds, [3, 2], disjoint=True):
        check_batch(batch)
        row, col = batch.edge_index
        assert torch.equal(batch.batch[: batch.batch_size], torch.arange(batch.batch_size))
        assert torch.equal(batch.batch[row], batch.batch[col])


@pytest.mark.parametrize("strategy", ["uniform", "last"])
def test_nothing_later_than_its_seed_enters_a_tree(ds: gm.Dataset, strategy: str) -> None:
    times = torch.randint(1000, (NODES,), generator=torch.Generator().manual_seed(1))
    options: dict[str, Any] = {"temporal_strategy": strategy, "input_time": times}
    met = 0
    for batch in node_loader(ds, [5, 5], time_attr="year", **options):
        assert torch.equal(batch.seed_time, times[batch.input_id])
        found = slice(batch.batch_size, None)
        limits = batch.seed_time[batch.batch]
        assert bool((batch.year[found] <= limits[found]).all())
        met += batch.num_nodes - batch.batch_size
    for batch in node_loader(ds, [5, 5], time_attr="edge_time", **options):
        limits = batch.seed_time[batch.batch[batch.edge_index[1]]]
        assert bool((DATA.edge_time[batch.e_id] <= limits).all())
        met += batch.num_edges
    assert met > 1000


def test_without_times_of_seeds_those_of_the_nodes_count(ds: gm.Dataset) -> None:
    for batch in node_loader(ds, [5], time_attr="year"):
        limits = DATA.year[batch.n_id[: batch.batch_size]][batch.batch]
        assert bool((batch.year <= limits).all())
    with pytest.raises(ValueError, match="input_time"):
        next(iter(node_loader(ds, [5], time_attr="edge_time")))


def test_weights_decide_which_edges_are_picked(tmp_path: Path) -> None:
    data = small_data()
    data.edge_weight = (torch.arange(data.num_edges) % 2).float()
    weighted = gm.from_pyg(data, tmp_path / "ds")
    picked = [batch.e_id for batch in node_loader(weighted, [4, 4], weight_attr="edge_weight")]
    assert len(torch.cat(picked)) > 100
    assert bool((torch.cat(picked) % 2 == 1).all())


def link_loader(ds: gm.Dataset, edges: torch.Tensor, **options: Any) -> LinkLoader:
    sampling = {key: options.pop(key) for key in ("disjoint", "time_attr") if key in options}
    sampler = pyg.Sampler(ds, [3, 2], **sampling)
    return LinkLoader(pyg.stores(ds), sampler, (None, edges), batch_size=50, **options)


@pytest.mark.parametrize("disjoint", [False, True])
def test_binary_negatives_follow_the_links(ds: gm.Dataset, disjoint: bool) -> None:
    edges = DATA.edge_index[:, :120]
    labels = torch.arange(120) % 3
    loader = link_loader(
        ds,
        edges,
        disjoint=disjoint,
        neg_sampling=NegativeSampling("binary", 2.0),
        edge_label=labels,
    )
    for batch in loader:
        count = len(batch.input_id)
        assert torch.equal(batch.x, DATA.x[batch.n_id])
        ends = batch.n_id[batch.edge_label_index]
        assert ends.shape == (2, 3 * count)
        assert torch.equal(ends[:, :count], edges[:, batch.input_id])
        # PyG moves the labels up, as 0 is for negatives.
        assert torch.equal(batch.edge_label[:count], labels[batch.input_id] + 1)
        assert not batch.edge_label[count:].any()
        assert torch.equal(DATA.edge_index[:, batch.e_id], batch.n_id[batch.edge_index])
        if disjoint:
            assert int(batch.batch.max()) < count


@pytest.mark.parametrize("disjoint", [False, True])
@pytest.mark.parametrize("amount", [1, 3])
def test_triplets_share_their_source(ds: gm.Dataset, disjoint: bool, amount: int) -> None:
    edges = DATA.edge_index[:, :120]
    negatives = NegativeSampling("triplet", amount)
    for batch in link_loader(ds, edges, disjoint=disjoint, neg_sampling=negatives):
        expected = edges[:, batch.input_id]
        assert torch.equal(batch.n_id[batch.src_index], expected[0])
        assert torch.equal(batch.n_id[batch.dst_pos_index], expected[1])
        shape = (len(batch.input_id),) if amount == 1 else (len(batch.input_id), amount)
        assert batch.dst_neg_index.shape == shape
        assert int(batch.dst_neg_index.max()) < batch.num_nodes


def test_links_have_times(ds: gm.Dataset) -> None:
    edges, times = DATA.edge_index[:, :120], DATA.edge_time[:120]
    for batch in link_loader(ds, edges, edge_label_time=times, time_attr="edge_time"):
        assert torch.equal(batch.edge_label_time, times[batch.input_id])
        limits = batch.edge_label_time[batch.batch[batch.edge_index[1]]]
        assert bool((DATA.edge_time[batch.e_id] <= limits).all())


def test_plain_links_have_no_labels(ds: gm.Dataset) -> None:
    sampler = pyg.Sampler(ds, [2])
    row, col = DATA.edge_index[:, :5]
    out = sampler.sample_from_edges(EdgeSamplerInput(torch.arange(5), row, col))
    input_id, edge_label_index, edge_label, time = out.metadata
    assert torch.equal(input_id, torch.arange(5))
    assert torch.equal(out.node[edge_label_index], DATA.edge_index[:, :5])
    assert edge_label is None
    assert time is None
    assert sampler.edge_permutation is None


def test_a_sampler_pickles_by_path(ds: gm.Dataset) -> None:
    seeds = NodeSamplerInput(torch.arange(9), torch.arange(9))
    sampler = pyg.Sampler(ds, [3], time_attr="year")
    copy = pickle.loads(pickle.dumps(sampler))
    torch.manual_seed(0)
    expected = sampler.sample_from_nodes(seeds)
    torch.manual_seed(0)
    assert torch.equal(copy.sample_from_nodes(seeds).node, expected.node)
    assert "num_neighbors=[3]" in repr(copy)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"num_neighbors": {("a", "to", "b"): [1]}}, TypeError, "one type of edge"),
        ({"num_neighbors": [-2]}, ValueError, "fan-out"),
        ({"subgraph_type": "upward"}, ValueError, "upward"),
        ({"temporal_strategy": "first"}, ValueError, "first"),
        ({"time_attr": "month"}, ValueError, "it has .*year.*'edge_time'"),
        ({"weight_attr": "price"}, ValueError, "'edge_weight'"),
    ],
)
def test_mistakes_are_told_when_the_sampler_is_made(
    ds: gm.Dataset, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        pyg.Sampler(ds, **({"num_neighbors": [2]} | options))


def test_weights_that_are_not_there_are_named(tmp_path: Path) -> None:
    plain = gm.build(tmp_path / "plain", edges=[[0], [1]])
    with pytest.raises(ValueError, match="weight_column"):
        pyg.Sampler(plain, [2], weight_attr="edge_weight")
    with pytest.raises(ValueError, match="time_column"):
        pyg.Sampler(plain, [2], time_attr="edge_time")
