"""What PyG's own tests demand of its loaders, asked of its ``NodeLoader`` and ``LinkLoader`` over our sampler.

The tests are those of ``test_pyg_cases``, with these loaders over ``Sampler`` and ``stores`` in the place of ours, but
for negatives in time. Those of PyG's tests of its samplers that concern one type of node
follow; docs/pyg.md repeats what does not hold.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.loader import LinkLoader, NodeLoader
from torch_geometric.sampler import NodeSamplerInput

import graphmill as gm
from graphmill import pyg
from tests import test_pyg_cases as cases
from tests.test_pyg_cases import on_disk, random_edges

order = cases.order
BY_TIME = "test_no_negative_is_later_than_its_link"
# Our loaders refuse links before all nodes; PyG's have their own way, which has its own test.
HELD = [
    (case, count, BY_TIME if test == "test_negatives_are_no_later_than_their_link" else test)
    for case, count, test in cases.HELD
]
NOT_HELD = cases.NOT_HELD
# PyG's tests of its sampler: those of one type of node, and of both kinds of data.
SAMPLED = [
    ("test_homogeneous_neighbor_sampler_basic", 2, "test_one_neighbour_is_sampled"),
    ("test_homogeneous_neighbor_sampler_backwards", 2, "test_backwards_is_forwards_along_reversed_edges"),
    ("test_homogeneous_neighbor_sampler_weighted_backwards", 2, "test_weights_decide_backwards_too"),
    ("test_homogeneous_neighbor_sampler_temporal_backwards", 4, "test_times_decide_backwards_too"),
]  # fmt: skip
NOT_SAMPLED = [
    ("test_bidirectional_neighbor_sampler", 2, "a class of PyG's that samples both ways itself"),
    ("test_neighbor_sampler_backwards_not_supported", 2, "PyG refuses times backwards, we sample by them"),
]  # fmt: skip

OF_SAMPLER = (
    "subgraph_type",
    "replace",
    "disjoint",
    "temporal_strategy",
    "time_attr",
    "weight_attr",
)


def parts(ds: gm.Dataset, num_neighbors: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    own = {name: options.pop(name) for name in OF_SAMPLER if name in options}
    options.pop("is_sorted", None)
    ratio = options.pop("neg_sampling_ratio", None)
    if ratio is not None:
        options["neg_sampling"] = {"mode": "binary", "amount": ratio}
    options.setdefault("transform", pyg.AddEdgeFeatures(ds))
    return pyg.stores(ds), pyg.Sampler(ds, num_neighbors, **own)


class NeighborLoader(NodeLoader):  # type: ignore[misc]
    def __init__(
        self, ds: gm.Dataset, num_neighbors: Any, input_nodes: Any = None, **options: Any
    ) -> None:
        nodes = torch.as_tensor(range(ds.num_nodes) if input_nodes is None else input_nodes)
        super().__init__(*parts(ds, num_neighbors, options), nodes, **options)


class LinkNeighborLoader(LinkLoader):  # type: ignore[misc]
    def __init__(
        self,
        ds: gm.Dataset,
        num_neighbors: Any,
        edge_label_index: Any = None,
        edge_label: Any = None,
        **options: Any,
    ) -> None:
        links = pyg.DataView(ds).edge_index if edge_label_index is None else edge_label_index
        super().__init__(*parts(ds, num_neighbors, options), (None, links), edge_label, **options)


@pytest.fixture(autouse=True)
def over_the_sampler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyg, "NeighborLoader", NeighborLoader)
    monkeypatch.setattr(pyg, "LinkNeighborLoader", LinkNeighborLoader)


OWN = ("test_features_may_be_a_mapped_file", BY_TIME)
globals().update({name: getattr(cases, name) for _, _, name in HELD if name not in OWN})


def test_at_least_66_of_72_cases_hold() -> None:
    held = sum(count for _, count, _ in HELD)
    assert held + sum(count for _, count, _ in NOT_HELD) + cases.EMPTY == 72
    assert held + cases.EMPTY >= 66
    for case, count, test in HELD:
        own = cases.cases_of(test) if hasattr(cases, test) else 2
        assert own >= count, (case, test)
        assert test in globals()
    assert all(test in globals() for _, _, test in SAMPLED)


def test_docs_name_every_case_that_does_not_hold() -> None:
    text = re.sub(r"\s+", " ", (Path(__file__).parents[1] / "docs" / "pyg.md").read_text())
    for case, _, reason in NOT_HELD + NOT_SAMPLED:
        assert f"`{case}" in text, case
        assert reason in text, reason


@pytest.mark.parametrize("workers", [0, 2])
def test_features_may_be_a_mapped_file(tmp_path: Path, order: str, workers: int) -> None:
    rows = np.memmap(tmp_path / "x", dtype=np.float32, mode="w+", shape=(100, 32))
    rows[:] = np.random.default_rng(0).standard_normal((100, 32))
    ds = on_disk(Data(x=rows, edge_index=random_edges(100, 500)), tmp_path, order=order)
    loader = NeighborLoader(ds, [5] * 2, batch_size=20, num_workers=workers)
    for batch in loader:
        np.testing.assert_array_equal(batch.x, np.asarray(rows)[batch.n_id])


@pytest.mark.parametrize("amount", [1, 2])
@pytest.mark.parametrize("mode", ["binary", "triplet"])
def test_no_negative_is_later_than_its_link(
    tmp_path: Path,
    order: str,
    mode: str,
    amount: int,
) -> None:
    links, time, size = random_edges(100, 500, seed=1), torch.arange(100), 20
    data = Data(x=torch.arange(100), edge_index=random_edges(100, 400), time=time)
    times = time[links].amax(dim=0) + 50
    loader = LinkNeighborLoader(
        on_disk(data, tmp_path, order=order), [-1] * 2, links, edge_label_time=times,
        time_attr="time", neg_sampling={"mode": mode, "amount": amount}, batch_size=size, shuffle=True,
    )  # fmt: skip
    for batch in loader:
        if mode == "triplet":
            sources, destinations = batch.src_index, batch.dst_pos_index
            limits, drawn = batch.seed_time, batch.dst_neg_index
            assert drawn.shape == ((size,) if amount == 1 else (size, amount))
        else:
            sources, destinations = batch.edge_label_index[:, :size]
            limits, drawn = batch.edge_label_time[:size], batch.edge_label_index[:, size:]
            assert batch.edge_label.tolist() == [1] * size + [0] * size * amount
        assert torch.equal(batch.x[torch.stack([sources, destinations])], links[:, batch.input_id])
        assert torch.equal(limits, times[batch.input_id])
        assert int(drawn.max()) < batch.num_nodes
        assert bool((batch.time <= limits[batch.batch]).all())


# The graph that PyG's tests of its sampler share, and the same with its edges reversed.
FAMILY = torch.tensor([[0, 0, 2], [1, 2, 3]])


def family(
    folder: Path, edge_index: torch.Tensor, order: str = "none", **options: Any
) -> gm.Dataset:
    data = Data(num_nodes=4, edge_index=edge_index, time=torch.arange(4))
    return on_disk(data, folder, order=order, **options)


def sampled(
    ds: gm.Dataset, fanouts: list[int], seed: int, time: int | None = None, **options: Any
) -> Any:
    times = None if time is None else torch.tensor([time])
    seeds = NodeSamplerInput(None, torch.tensor([seed]), times)
    return pyg.Sampler(ds, fanouts, **options).sample_from_nodes(seeds)


def test_one_neighbour_is_sampled(tmp_path: Path, order: str) -> None:
    ds = family(tmp_path, FAMILY, order)
    found = sampled(ds, [1], 1)
    parts = (found.node, found.row, found.col, found.edge)
    assert [part.tolist() for part in parts] == [[1, 0], [1], [0], [0]]
    assert (found.num_sampled_nodes, found.num_sampled_edges) == ([1, 1], [1])
    assert (found.batch, found.metadata) == (None, (None, None))
    lonely = sampled(ds, [1], 0)
    assert lonely.node.tolist() == [0]
    assert lonely.row.shape == lonely.col.shape == lonely.edge.shape == (0,)
    assert (lonely.num_sampled_nodes, lonely.num_sampled_edges) == ([1, 0], [0])


def check_reversed(one: Any, other: Any) -> None:
    """The same nodes and edges, each with its endpoints exchanged."""
    for mine, theirs in (("node", "node"), ("row", "col"), ("col", "row"), ("edge", "edge")):
        assert torch.equal(getattr(one, mine), getattr(other, theirs))


def test_backwards_is_forwards_along_reversed_edges(tmp_path: Path, order: str) -> None:
    ds, back = family(tmp_path / "a", FAMILY, order), family(tmp_path / "b", FAMILY.flip(0), order)
    forward, backward = sampled(ds, [1], 2), sampled(ds, [1], 2, sample_direction="backward")
    assert (forward.node.tolist(), backward.node.tolist()) == ([2, 0], [2, 3])
    check_reversed(forward, sampled(back, [1], 2, sample_direction="backward"))
    check_reversed(backward, sampled(back, [1], 2))
    with pytest.raises(ValueError, match="'forward' or 'backward'"):
        pyg.Sampler(ds, [1], sample_direction="sideways")  # type: ignore[arg-type]


@pytest.mark.parametrize("weights", [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
def test_weights_decide_backwards_too(tmp_path: Path, weights: list[float]) -> None:
    found = []
    for name, edges, direction in (("a", FAMILY, "backward"), ("b", FAMILY.flip(0), "forward")):
        ds = family(tmp_path / name, edges, weights=torch.tensor(weights))
        options: dict[str, Any] = {"weight_attr": "edge_weight", "sample_direction": direction}
        found.append(sampled(ds, [1, 1], 0, **options))
    check_reversed(*found)
    assert found[0].node.tolist() == ([0, 1] if weights[0] else [0, 2, 3])


@pytest.mark.parametrize("attr", ["time", "edge_time"])
def test_times_decide_backwards_too(tmp_path: Path, attr: str) -> None:
    """PyG asks for the first pair alone; later nodes stay out the other way round as well."""
    times = torch.tensor([1, 2, 3])
    ds, back = (
        family(tmp_path / name, edges, times=times)
        for name, edges in (("a", FAMILY), ("b", FAMILY.flip(0)))
    )
    assert sampled(ds, [2, 2], 1, 1, time_attr=attr).node.tolist() == [1, 0]
    assert sampled(back, [2, 2], 0, 1, time_attr=attr).node.tolist() == [0, 1]
    assert sampled(ds, [2, 2], 0, 1, time_attr=attr, sample_direction="backward").node.tolist() == [
        0,
        1,
    ]
    assert sampled(ds, [2, 2], 3, 1, time_attr=attr).node.tolist() == [3]
