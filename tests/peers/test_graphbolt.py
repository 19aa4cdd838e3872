"""Our files as a feature of GraphBolt's, in a pipeline of its own."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import graphmill as gm

gb: Any = pytest.importorskip(
    "dgl.graphbolt",
    reason="needs dgl, which wants a torch of its own: `make test-peers` installs both",
    exc_type=ImportError,
)

from graphmill.graphbolt import Feature  # noqa: E402

NODES, EDGES = 500, 4000


@pytest.fixture
def rows() -> torch.Tensor:
    return torch.arange(NODES * 6, dtype=torch.float32).view(NODES, 6)


@pytest.fixture
def ds(tmp_path: Path, rows: torch.Tensor) -> gm.Dataset:
    edges = np.random.default_rng(0).integers(0, NODES, size=(2, EDGES))
    edge_rows = np.arange(2 * EDGES, dtype=np.float32).reshape(EDGES, 2)
    return gm.build(tmp_path / "ds", edges=edges, features=rows.numpy(), edge_features=edge_rows)


def test_rows_are_read_by_id(tmp_path: Path, ds: gm.Dataset, rows: torch.Tensor) -> None:
    assert ds.features is not None
    ids = torch.tensor([499, 0, 7, 7])
    for feature in (Feature(ds.features), Feature(ds.features.path)):
        assert torch.equal(feature.read(ids), rows[ids])
        assert torch.equal(feature.read(ids.to(torch.int32)), rows[ids])
        assert torch.equal(feature.read(), rows)
        assert feature.read(torch.tensor([], dtype=torch.int64)).shape == (0, 6)
        assert feature.size() == torch.Size([6])
        assert feature.count() == NODES
    with pytest.raises(IndexError, match="500"):
        Feature(ds.features).read(torch.tensor([NODES]))


def test_rows_are_read_on_another_thread(ds: gm.Dataset, rows: torch.Tensor) -> None:
    assert ds.features is not None
    feature = Feature(ds.features)
    for ids in (torch.arange(100), torch.tensor([3, 3, 1])):
        stages = list(feature.read_async(ids))
        assert len(stages) == feature.read_async_num_stages(ids.device)
        assert torch.equal(stages[-1].wait(), rows[ids])
    [failing] = feature.read_async(torch.tensor([NODES]))
    with pytest.raises(IndexError, match="500"):
        failing.wait()


def test_a_feature_is_what_graphbolt_takes(ds: gm.Dataset) -> None:
    assert ds.features is not None
    feature = Feature(ds.features, metadata={"license": "ours"})
    assert isinstance(feature, gb.Feature)
    assert feature.metadata() == {"license": "ours"}
    assert Feature(ds.features).metadata() == {}
    with pytest.raises(NotImplementedError, match="write_features"):
        feature.update(torch.zeros(1, 6), torch.tensor([0]))
    list(feature.read_async(torch.tensor([0])))
    copy = pickle.loads(pickle.dumps(feature))
    assert copy.metadata() == feature.metadata()
    assert torch.equal(copy.read(), feature.read())
    memory = feature.read_into_memory()
    assert isinstance(memory, gb.TorchBasedFeature)
    assert memory.metadata() == feature.metadata()
    assert torch.equal(memory.read(), feature.read())
    # The same form, with the same numbers, under another name.
    assert repr(copy) == repr(memory).replace("TorchBasedFeature", "Feature", 1)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_pipeline_fetches_from_disk(ds: gm.Dataset, rows: torch.Tensor, workers: int) -> None:
    assert ds.features is not None
    indptr, indices = (part.clone() for part in ds.graph.csc("torch"))
    ids = ds.graph.edge_ids("in", "torch").clone()
    graph = gb.fused_csc_sampling_graph(
        indptr, indices.to(torch.int64), edge_attributes={gb.ORIGINAL_EDGE_ID: ids}
    )
    store = gb.BasicFeatureStore(
        {
            ("node", None, "feat"): Feature(ds.features),
            ("edge", None, "feat"): Feature(ds.edge_table("edge_attr")),
        }
    )
    pipe = gb.ItemSampler(gb.ItemSet(torch.arange(NODES), names="seed_nodes"), batch_size=100)
    pipe = pipe.sample_neighbor(graph, [4, 4])
    pipe = pipe.fetch_feature(store, node_feature_keys=["feat"], edge_feature_keys=["feat"])
    met = 0
    for batch in gb.DataLoader(pipe, num_workers=workers):
        assert torch.equal(batch.node_features["feat"], rows[batch.input_nodes])
        for layer, features in enumerate(batch.edge_features):
            edges = batch.edge_ids(layer)
            assert torch.equal(features["feat"][:, 0], 2.0 * edges)
            met += len(edges)
    assert met > 1000
