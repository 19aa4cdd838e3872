"""What must hold for every batch of graphmill.pyg's loaders, whatever the graph and the options, by brute force.

Everything is compared with the ``Data`` that went in: each edge of a batch is the column of ``edge_index`` that
``e_id`` names, each row belongs to its node or edge, nothing is later than its seed, and of each list as many edges are
taken as the fan-out says.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch_geometric.data import Data

import graphmill as gm
from graphmill import pyg

TYPES = ["directional", "bidirectional", "induced"]
MANY = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)


ENDS = ("edge_label_index", "src_index", "dst_pos_index")


@dataclass
class Asked:
    """A graph and what a loader over it was asked for."""

    data: Data
    order: str
    fanouts: list[int]
    options: dict[str, Any]

    @property
    def owners(self) -> Tensor:
        """The end of each edge whose neighbourhood it belongs to."""
        return self.data.edge_index[1 if self.options["sample_direction"] == "forward" else 0]


@st.composite
def asked(draw: st.DrawFn) -> Asked:
    nodes, edges = draw(st.integers(1, 25)), draw(st.integers(0, 120))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))

    def numbers(high: int, *shape: int) -> Tensor:
        return torch.randint(high, shape, generator=generator)

    data = Data(
        x=torch.arange(3.0 * nodes).view(nodes, 3),
        y=torch.arange(nodes),
        edge_index=numbers(nodes, 2, edges),
        edge_attr=torch.arange(2.0 * edges).view(edges, 2),
        edge_weight=numbers(3, edges).float(),
        edge_time=numbers(10, edges),
        time=numbers(10, nodes),
        train_mask=numbers(2, nodes).bool(),
    )
    options: dict[str, Any] = {
        "batch_size": draw(st.integers(1, 9)),
        "shuffle": draw(st.booleans()),
        "replace": draw(st.booleans()),
        "disjoint": draw(st.booleans()),
        "subgraph_type": draw(st.sampled_from(TYPES)),
        "sample_direction": draw(st.sampled_from(["forward", "backward"])),
        "time_attr": draw(st.sampled_from([None, None, "time", "edge_time"])),
        "temporal_strategy": draw(st.sampled_from(["uniform", "last"])),
        "weight_attr": draw(st.sampled_from([None, None, "edge_weight"])),
    }
    if options["time_attr"] is None:
        options["temporal_strategy"] = "uniform"
    if options["temporal_strategy"] == "last":
        # The last ones are certain, so neither weights nor repeats choose among them.
        options |= {"replace": False, "weight_attr": None}
    fanouts = draw(st.lists(st.sampled_from([-1, 0, 1, 2, 5]), min_size=1, max_size=3))
    return Asked(data, draw(st.sampled_from(["none", "hot"])), fanouts, options)


def check_rows(asked: Asked, batch: Data) -> None:
    data = asked.data
    assert torch.equal(batch.x, data.x[batch.n_id])
    assert torch.equal(batch.y, batch.n_id)
    assert torch.equal(batch.time, data.time[batch.n_id])
    for name in ("edge_attr", "edge_weight", "edge_time"):
        assert torch.equal(batch[name], data[name][batch.e_id]), name
    pairs, ends = data.edge_index[:, batch.e_id], batch.n_id[batch.edge_index]
    if asked.options["subgraph_type"] == "bidirectional":
        flipped = (pairs != ends).any(dim=0)
        pairs = torch.where(flipped, pairs.flip(0), pairs)
        found = Counter(zip(*batch.edge_index.tolist(), strict=True))
        assert found == Counter({(b, a): count for (a, b), count in found.items()})
    assert torch.equal(pairs, ends)


def check_nodes(asked: Asked, batch: Data, seed_time: Tensor | None) -> Tensor:
    """Nodes come once in each tree, and nothing is later than its seed; returns the time of each node's tree."""
    tree = batch.batch if "batch" in batch else torch.zeros_like(batch.n_id)
    if "batch_size" in batch or "batch" not in batch:
        # Both ends of a link have a tree of their own, and the number of the link.
        assert len({*zip(tree.tolist(), batch.n_id.tolist(), strict=True)}) == len(tree)
    assert bool((tree[batch.edge_index[0]] == tree[batch.edge_index[1]]).all())
    if seed_time is None:
        return torch.full((len(tree),), 99)
    limits = seed_time[tree]
    if asked.options["time_attr"] == "time":
        # The ends of a link come whatever their own times are.
        ends = [batch[name].view(-1) for name in ENDS if name in batch]
        found = ~torch.isin(torch.arange(len(tree)), torch.cat([tree[:0], *ends]))
        assert bool((batch.time <= limits)[found].all())
    elif asked.options["subgraph_type"] != "induced":
        assert bool((batch.edge_time <= limits[batch.edge_index[0]]).all())
    return limits


def check_hops(asked: Asked, batch: Data, limits: Tensor) -> None:
    """Each hop takes of each list as many edges as its fan-out says, of those that may be taken."""
    options, data = asked.options, asked.data
    assert sum(batch.num_sampled_nodes) == len(batch.n_id)
    assert sum(batch.num_sampled_edges) == batch.edge_index.shape[1]
    backward = options["sample_direction"] == "backward"
    begin, known = 0, 0
    for hop, fanout in enumerate(asked.fanouts):
        end = begin + batch.num_sampled_nodes[hop]
        taken = slice(known, known + batch.num_sampled_edges[hop])
        to, e_id = batch.edge_index[0 if backward else 1, taken], batch.e_id[taken]
        assert bool(((to >= begin) & (to < end)).all())
        for local in range(begin, end):
            may = asked.owners == batch.n_id[local]
            other = data.edge_index[1 if backward else 0]
            if options["time_attr"] == "time":
                may &= data.time[other] <= limits[local]
            if options["time_attr"] == "edge_time":
                may &= data.edge_time <= limits[local]
            if options["weight_attr"]:
                may &= data.edge_weight > 0
            eligible = may.nonzero().view(-1)
            picked = e_id[to == local]
            assert bool(torch.isin(picked, eligible).all())
            wanted = len(eligible) if fanout < 0 else min(fanout, len(eligible))
            if options["replace"] and fanout > 0 and len(eligible):
                wanted = fanout
            elif options["weight_attr"] is None or fanout >= 0:
                assert len(picked.unique()) == len(picked)
            assert len(picked) == wanted
            if options["temporal_strategy"] == "last" and wanted:
                by = data.time[other] if options["time_attr"] == "time" else data.edge_time
                latest = by[eligible].sort(descending=True).values[:wanted]
                assert torch.equal(by[picked].sort(descending=True).values, latest)
        begin, known = end, taken.stop


def check_induced(asked: Asked, batch: Data) -> None:
    """Every edge among the nodes of a tree is there once."""
    tree = batch.batch if "batch" in batch else torch.zeros_like(batch.n_id)
    source, destination = asked.data.edge_index
    expected: Counter[tuple[int, int]] = Counter()
    for number in tree.unique().tolist():
        inside = batch.n_id[tree == number]
        both = torch.isin(source, inside) & torch.isin(destination, inside)
        expected.update((number, edge) for edge in both.nonzero().view(-1).tolist())
    trees = tree[batch.edge_index[0]].tolist()
    assert Counter(zip(trees, batch.e_id.tolist(), strict=True)) == expected


def check(asked: Asked, batch: Data, seed_time: Tensor | None) -> None:
    check_rows(asked, batch)
    limits = check_nodes(asked, batch, seed_time)
    kind = asked.options["subgraph_type"]
    if kind == "directional":
        check_hops(asked, batch, limits)
    elif kind == "induced" and asked.options["time_attr"] is None:
        check_induced(asked, batch)


@given(asked(), st.sampled_from(["none", "mask", "bools", "ids", "name", "list", "numpy"]))
@MANY
def test_batches_of_nodes(asked: Asked, form: str) -> None:
    data, options = asked.data, asked.options
    seeds = torch.arange(data.num_nodes)
    if form in ("mask", "bools", "name"):
        seeds = data.train_mask.nonzero().view(-1)
    elif form != "none":
        seeds = torch.randperm(data.num_nodes)[:7]
    given_nodes = {
        "none": None, "mask": data.train_mask, "name": "train",
        "ids": seeds, "list": seeds.tolist(), "numpy": seeds.numpy(), "bools": data.train_mask.tolist(),
    }[form]  # fmt: skip
    times = None
    if options["time_attr"] == "edge_time":
        times = torch.randint(10, (len(seeds),))
    elif options["time_attr"] == "time":
        times = data.time[seeds]
    with tempfile.TemporaryDirectory() as folder:
        ds = gm.from_pyg(data, Path(folder) / "ds", order=asked.order, memory="64MiB")
        input_time = times if options["time_attr"] == "edge_time" else None
        loader = pyg.NeighborLoader(ds, asked.fanouts, given_nodes, input_time, **options)
        visited = []
        for batch in loader:
            positions = batch.input_id
            if form in ("mask", "bools"):
                positions = torch.searchsorted(seeds, batch.input_id)
            visited += positions.tolist()
            assert torch.equal(batch.n_id[: batch.batch_size], seeds[positions])
            seed_time = None if times is None else times[positions]
            if seed_time is not None:
                assert torch.equal(batch.seed_time, seed_time)
            check(asked, batch, seed_time)
        assert sorted(visited) == list(range(len(seeds)))
        assert options["shuffle"] or visited == sorted(visited)


@given(asked(), st.sampled_from([None, "binary", "triplet"]), st.booleans(), st.booleans())
@MANY
def test_batches_of_links(
    asked: Asked, negatives: str | None, labelled: bool, by_position: bool
) -> None:
    data, options = asked.data, asked.options
    links = data.edge_index if by_position else torch.randint(data.num_nodes, (2, 6))
    count = links.shape[1]
    labels = None
    if labelled and negatives != "triplet":
        labels = torch.arange(count) * 3 + 1
    times = None
    if options["time_attr"] is not None:
        # Late enough for some node to be a negative.
        times = torch.randint(10, (count,)) + int(data.time.min())
    with tempfile.TemporaryDirectory() as folder:
        ds = gm.from_pyg(data, Path(folder) / "ds", order=asked.order, memory="64MiB")
        loader = pyg.LinkNeighborLoader(
            ds, asked.fanouts, None if by_position else links, labels, times,
            neg_sampling=negatives, strict=False, **options,
        )  # fmt: skip
        visited = []
        for batch in loader:
            ids = batch.input_id
            visited += ids.tolist()
            if negatives == "triplet":
                ends = torch.stack([batch.src_index, batch.dst_pos_index])
                drawn = batch.dst_neg_index
                drawn_for = torch.arange(len(ids))
            else:
                ends = batch.edge_label_index[:, : len(ids)]
                drawn = batch.edge_label_index[:, len(ids) :]
                drawn_for = torch.arange(drawn.shape[1]) % max(len(ids), 1)
                assert drawn.shape[1] == (len(ids) if negatives else 0)
                if labels is not None:
                    assert torch.equal(batch.edge_label[: len(ids)], labels[ids])
                if negatives:
                    assert not batch.edge_label[len(ids) :].any()
            assert torch.equal(batch.n_id[ends], links[:, ids])
            if options["time_attr"] == "time":
                assert times is not None
                early = data.time[batch.n_id[drawn]] <= times[ids][drawn_for]
                assert bool(early.all())
            check_rows(asked, batch)
            check_nodes(asked, batch, None if times is None else times[ids])
        assert sorted(visited) == list(range(count))


@pytest.mark.parametrize("nodes", [[True, False], torch.tensor([[1, 2]]), slice(2), 1.5])
def test_seeds_that_are_none_are_refused(nodes: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        edges = torch.tensor([[0, 1], [1, 2]])
        ds = gm.from_pyg(Data(edge_index=edges, num_nodes=3), Path(folder) / "ds")
        with pytest.raises((TypeError, ValueError), match=r"seeds|a mask"):
            pyg.NeighborLoader(ds, [1], nodes)
