"""PyG's own sampler over stores: by time it sees nothing later than a seed, or refuses."""

from __future__ import annotations

import pickle
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data
from torch_geometric.loader import NeighborLoader, NodeLoader

import graphmill as gm
from graphmill import pyg
from tests import pyg_lib
from tests.pyg_data import NODES, small_data

DATA = small_data()


@pytest.fixture(autouse=True)
def quiet_lists() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        pyg_lib.install(patch)
        warnings.filterwarnings("ignore", "PyG samples from lists of int64 in memory")
        yield


BUILDS = [
    {},
    {"direction": "in"},
    {"direction": "out"},
    {"encoding": "i64"},
    {"encoding": "packed"},
    {"order": "hot"},
    {"neighbor_order": "time"},
    {"edge_ids": False},
]


@pytest.mark.parametrize("options", BUILDS, ids=str)
@pytest.mark.parametrize("time_attr", ["time", "edge_time", "year"])
def test_without_the_name_of_the_times_pyg_refuses(
    tmp_path: Path, options: dict[str, Any], time_attr: str
) -> None:
    data = small_data()
    data.time = data.year
    ds = gm.from_pyg(data, tmp_path / "ds", **options)
    refusal = (
        "CSC layout" if options.get("direction") == "out" else r"stores\(ds, time_attr=\.\.\.\)"
    )
    with pytest.raises(ValueError, match=refusal):
        NeighborLoader(pyg.stores(ds), [5], torch.arange(NODES), time_attr=time_attr)
    # Nothing else is refused for it.
    assert len(list(NeighborLoader(pyg.stores(ds), [5], torch.arange(NODES), batch_size=50))) == 4


@pytest.mark.parametrize("options", BUILDS, ids=str)
def test_nothing_later_than_its_seed_is_sampled(tmp_path: Path, options: dict[str, Any]) -> None:
    ds = gm.from_pyg(DATA, tmp_path / "ds", **options)
    stores = pyg.stores(ds, time_attr="year")
    times = torch.randint(1000, (NODES,), generator=torch.Generator().manual_seed(1))
    for fanout, strategy in ((-1, "uniform"), (3, "uniform"), (3, "last")):
        loader = NeighborLoader(
            stores, [fanout], torch.arange(NODES), input_time=times, time_attr="time", batch_size=50,
            temporal_strategy=strategy,
        )  # fmt: skip
        for batch in loader:
            assert torch.equal(batch.year, DATA.year[batch.n_id])
            assert torch.equal(batch.time, batch.year)
            for seed in range(batch.batch_size):
                node, limit = int(batch.n_id[seed]), int(batch.seed_time[seed])
                into = DATA.edge_index[0, DATA.edge_index[1] == node]
                allowed = into[DATA.year[into] <= limit]
                found = batch.n_id[batch.edge_index[0, batch.edge_index[1] == seed]]
                if fanout < 0:
                    assert found.sort().values.tolist() == allowed.sort().values.tolist()
                else:
                    assert len(found) == min(fanout, len(allowed))
                    assert set(found.tolist()) <= set(allowed.tolist())
                if strategy == "last":
                    latest = DATA.year[allowed].sort().values[len(allowed) - len(found) :]
                    assert torch.equal(DATA.year[found].sort().values, latest)


def test_times_that_pyg_cannot_take_are_refused_with_the_way_to_take_them(tmp_path: Path) -> None:
    data = small_data()
    data.time = data.year
    ds = gm.from_pyg(data, tmp_path / "ds")
    with pytest.raises(ValueError, match=r"times of edges.*Sampler\(ds, time_attr="):
        pyg.stores(ds, time_attr="edge_time")
    with pytest.raises(ValueError, match="no table of the nodes"):
        pyg.stores(ds, time_attr="month")
    with pytest.raises(ValueError, match="leave that one out of columns="):
        pyg.stores(ds, time_attr="year")
    features, graph = pyg.stores(ds, columns=["x"], time_attr="year")
    assert sorted(attr.attr_name for attr in features.get_all_tensor_attrs()) == ["time", "x"]
    again, lists = pickle.loads(pickle.dumps((features, graph)))
    assert torch.equal(again.get_tensor(None, "time", None), data.year)
    pairs = zip(lists.csc(), graph.csc(), strict=True)
    assert all(torch.equal(torch.as_tensor(one), torch.as_tensor(other)) for one, other in pairs)


@pytest.mark.parametrize("kind", ["scattered", "words"])
def test_ids_that_index_nothing_stay_inside(tmp_path: Path, kind: str) -> None:
    words, sources, destinations = ["a", "b", "c"], [0, 1, 2], [1, 2, 0]
    names: Any = words if kind == "words" else [10, 20, 30]
    edges = [[names[node] for node in ends] for ends in (sources, destinations)]
    ids: dict[str, Any] = {"string_ids": True} if kind == "words" else {"map_ids": True}
    ds = gm.build(tmp_path / "ds", edges, encoding="i64", order="hot", **ids)
    features, graph = pyg.stores(ds)
    found = torch.stack(graph.coo()[:2]).t().tolist()
    assert sorted(found) == sorted(ds.graph.edge_index().T.tolist())
    assert features.ds.ids in ("mapped", "text")
    for make in (pyg.Sampler, lambda ds, _, original: pyg.stores(ds, original=original)):
        with pytest.raises(ValueError, match=r"original=True.*ds\.node_ids"):
            make(ds, [1], original=True)


def test_internal_ids_are_there_for_the_asking(tmp_path: Path) -> None:
    ds = gm.from_pyg(DATA, tmp_path / "ds", order="hot", encoding="i64")
    stores, sampler = pyg.stores(ds, original=False), pyg.Sampler(ds, [-1], original=False)
    assert stores[1].csc()[0].data_ptr() == stores[1].csc()[0].data_ptr()
    nodes = torch.from_numpy(ds.node_ids(np.array([3, 4])))
    for loader in (
        NeighborLoader(stores, [-1], nodes),
        NodeLoader(stores, sampler, nodes),
    ):
        for batch in loader:
            assert torch.equal(
                batch.x, DATA.x[torch.from_numpy(ds.original_ids(batch.n_id.numpy()))]
            )


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Data, dict[str, Any]]:
    nodes, edges = draw(st.integers(1, 12)), draw(st.integers(0, 40))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
    data = Data(
        num_nodes=nodes,
        edge_index=torch.randint(nodes, (2, edges), generator=generator),
        time=torch.randint(-3, 4, (nodes,), generator=generator),
    )
    options = {
        "order": draw(st.sampled_from(["none", "hot", "bfs"])),
        "encoding": draw(st.sampled_from(["i32", "i64", "packed"])),
        "direction": draw(st.sampled_from(["both", "in", "out"])),
        "edge_ids": draw(st.booleans()),
    }
    return data, options


@settings(max_examples=100, deadline=None)
@given(graph=graphs(), by_time=st.booleans())
def test_lists_are_those_of_the_data(graph: tuple[Data, dict[str, Any]], by_time: bool) -> None:
    data, options = graph
    with tempfile.TemporaryDirectory() as folder:
        ds = gm.from_pyg(data, Path(folder) / "ds", **options)
        _, store = pyg.stores(ds, time_attr="time" if by_time else None)
        for layout, ends in (("csc", (0, 1)), ("csr", (1, 0))):
            first, second, ids = getattr(store, layout)()
            neighbours, offsets = (first, second) if layout == "csc" else (second, first)
            assert neighbours.dtype == offsets.dtype == torch.int64
            owners = torch.arange(ds.num_nodes).repeat_interleave(offsets.diff())
            expected = data.edge_index[list(ends)]
            pairs = sorted(zip(neighbours.tolist(), owners.tolist(), strict=True))
            assert pairs == sorted(map(tuple, expected.t().tolist()))
            if options["edge_ids"]:
                assert torch.equal(expected[:, ids], torch.stack([neighbours, owners]))
            elif ids is not None:
                assert ids.sort().values.tolist() == list(range(ds.num_edges))
            if by_time and layout == "csc":
                for own in neighbours.split(offsets.diff().tolist()):
                    assert bool((data.time[own].diff() >= 0).all())
