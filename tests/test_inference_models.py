"""Models and convolutions of PyG from disk: the rows of the whole graph, or a refusal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import conv as convs
from torch_geometric.nn import models

import graphmill as gm
from graphmill.pyg import to_pyg

NODES, EDGES, WIDTH = 200, 1500, 6


def some_data() -> Data:
    """A directed multigraph with loops, some of them twice, nodes without edges, and a hub."""
    generator = torch.Generator().manual_seed(0)
    edge_index = torch.randint(NODES - 15, (2, EDGES), generator=generator)
    edge_index[1, :200] = 7
    edge_index[:, 200:210] = 11
    x = torch.rand(NODES, WIDTH, generator=generator)
    edge_attr = torch.rand(EDGES, 3, generator=generator)
    return Data(x=x, edge_index=edge_index, edge_attr=edge_attr)


@pytest.fixture(scope="module", params=["none", "hot"])
def ds(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> gm.Dataset:
    folder = tmp_path_factory.mktemp("models") / "ds"
    return gm.from_pyg(some_data(), folder, order=request.param, memory="64MiB")


def check(ds: gm.Dataset, given: Any, whole: torch.Tensor, out: Path, **options: Any) -> None:
    found = gm.inference(ds, given, out, batch_size=37, **options).torch()
    torch.testing.assert_close(found, whole, rtol=1e-4, atol=1e-5)


MODELS: dict[str, Any] = {
    "GraphSAGE": lambda: models.GraphSAGE(WIDTH, 8, 3, 4),
    "GCN": lambda: models.GCN(WIDTH, 8, 2, 4),
    "GCN improved": lambda: models.GCN(WIDTH, 8, 2, 4, improved=True),
    "GCN without loops": lambda: models.GCN(WIDTH, 8, 2, 4, add_self_loops=False),
    "GCN cached": lambda: models.GCN(WIDTH, 8, 2, 4, cached=True),
    "GAT": lambda: models.GAT(WIDTH, 8, 2, 4, heads=2),
    "GATv2": lambda: models.GAT(WIDTH, 8, 2, 4, v2=True),
    "GIN": lambda: models.GIN(WIDTH, 8, 2, 4),
    "EdgeCNN": lambda: models.EdgeCNN(WIDTH, 8, 2, 4),
    "PNA": lambda: models.PNA(
        WIDTH, 8, 2, 4, aggregators=["mean", "max"], scalers=["identity", "amplification"], deg=torch.arange(50)
    ),
    "no last width": lambda: models.GraphSAGE(WIDTH, 8, 2),
    "one layer": lambda: models.GraphSAGE(WIDTH, 8, 1, 4),
    "batch norm": lambda: models.GraphSAGE(WIDTH, 8, 3, 4, norm="BatchNorm", dropout=0.5),
    "act first": lambda: models.GraphSAGE(
        WIDTH, 8, 3, 4, norm="BatchNorm", act="elu", act_first=True
    ),
    "no act": lambda: models.GraphSAGE(WIDTH, 8, 2, 4, act=None),
    **{
        f"jk {mode}": lambda mode=mode: models.GraphSAGE(WIDTH, 8, 3, 4, jk=mode, norm="BatchNorm")
        for mode in ("last", "cat", "max", "lstm")
    },
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_a_model_gives_the_rows_of_the_whole_graph(
    tmp_path: Path, ds: gm.Dataset, name: str
) -> None:
    torch.manual_seed(0)
    model = MODELS[name]()
    for part in model.modules():
        if isinstance(part, nn.BatchNorm1d):
            assert part.running_mean is not None
            part.running_mean.uniform_()
    data = to_pyg(ds)
    model.eval()
    with torch.no_grad():
        whole = model(data.x, data.edge_index)
    names = ("_cached_edge_index", "normalize", "cached")
    before = [getattr(conv, name, None) for conv in model.convs for name in names]
    model.train()
    check(ds, model, whole, tmp_path / "out.gd")
    assert model.training
    assert model.norms[0].training
    after = [getattr(conv, name, None) for conv in model.convs for name in names]
    assert all(one is other for one, other in zip(before, after, strict=True))


def test_a_model_takes_rows_of_edges(tmp_path: Path, ds: gm.Dataset) -> None:
    torch.manual_seed(0)
    data, model = to_pyg(ds), models.GAT(WIDTH, 8, 2, 4, edge_dim=3).eval()
    with torch.no_grad():
        whole = model(data.x, data.edge_index, edge_attr=data.edge_attr)
    check(ds, model, whole, tmp_path / "out.gd", edge_table="edge_attr")
    with pytest.raises(ValueError, match=r"GraphSAGE takes no edge_attr.*leave edge_table out"):
        gm.inference(ds, models.GraphSAGE(WIDTH, 8, 2), tmp_path / "no.gd", edge_table="edge_attr")


CONVS: dict[str, Any] = {
    "SAGEConv": lambda: convs.SAGEConv(WIDTH, 4),
    "GraphConv": lambda: convs.GraphConv(WIDTH, 4),
    "GATConv": lambda: convs.GATConv(WIDTH, 4),
    "GATConv without loops": lambda: convs.GATConv(WIDTH, 4, add_self_loops=False),
    "GATv2Conv": lambda: convs.GATv2Conv(WIDTH, 4, heads=2),
    "TransformerConv": lambda: convs.TransformerConv(WIDTH, 4),
    "GINConv": lambda: convs.GINConv(nn.Linear(WIDTH, 4)),
    "GCNConv": lambda: convs.GCNConv(WIDTH, 4),
    "ClusterGCNConv": lambda: convs.ClusterGCNConv(WIDTH, 4),
    "LEConv": lambda: convs.LEConv(WIDTH, 4),
    "ResGatedGraphConv": lambda: convs.ResGatedGraphConv(WIDTH, 4),
}


@pytest.mark.parametrize("name", CONVS)
def test_a_convolution_gives_the_rows_of_the_whole_graph(
    tmp_path: Path, ds: gm.Dataset, name: str
) -> None:
    torch.manual_seed(0)
    data, conv = to_pyg(ds), CONVS[name]()
    with torch.no_grad():
        whole = conv(data.x, data.edge_index)
    check(ds, [conv], whole, tmp_path / "out.gd")


REFUSED: dict[str, Any] = {
    "two hops": lambda: [convs.SGConv(WIDTH, 4, K=2)],
    "many hops": lambda: [convs.APPNP(K=3, alpha=0.1)],
    "powers": lambda: [convs.TAGConv(WIDTH, 4)],
    "normalised by both ends": lambda: [convs.ChebConv(WIDTH, 4, K=2)],
    "the other way": lambda: [convs.SAGEConv(WIDTH, 4, flow="target_to_source")],
    "norm of the graph": lambda: models.GraphSAGE(WIDTH, 8, 2, 4, norm="GraphNorm"),
    "norm of all rows": lambda: models.GraphSAGE(WIDTH, 8, 2, 4, norm="LayerNorm"),
    "backwards": lambda: models.GraphSAGE(WIDTH, 8, 2, 4, flow="target_to_source"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_batches_cannot_give_is_refused_with_another_way(
    tmp_path: Path, ds: gm.Dataset, name: str
) -> None:
    torch.manual_seed(0)
    with pytest.raises(ValueError, match=r"layer\(x, edge_index, num_targets\).*to_pyg\(ds\)"):
        gm.inference(ds, REFUSED[name](), tmp_path / "out.gd")
    assert not list(tmp_path.iterdir())


class Own(models.GraphSAGE):  # type: ignore[misc]
    def forward(self, x: Any, edge_index: Any, *rest: Any, **named: Any) -> Any:
        return super().forward(x, edge_index, *rest, **named) + 1


def test_models_of_users_are_refused_unless_they_are_those_of_pyg(
    tmp_path: Path, ds: gm.Dataset
) -> None:
    with pytest.raises(ValueError, match="Own cannot be computed layer by layer"):
        gm.inference(ds, Own(WIDTH, 8, 2, 4), tmp_path / "out.gd")
    with pytest.raises(TypeError, match=r"\[model.conv1, model.conv2\]"):
        gm.inference(ds, nn.Linear(WIDTH, 4), tmp_path / "out.gd")
    with pytest.raises(ValueError, match="run it once"):
        gm.inference(ds, models.GraphSAGE(-1, 8, 2, 4), tmp_path / "out.gd")


def test_layers_may_be_a_list_of_modules(tmp_path: Path, ds: gm.Dataset) -> None:
    torch.manual_seed(0)
    data = to_pyg(ds)
    layers = nn.ModuleList([convs.SAGEConv(WIDTH, 8), convs.GCNConv(8, 4)])
    with torch.no_grad():
        whole = layers[1](layers[0](data.x, data.edge_index), data.edge_index)
    check(ds, layers, whole, tmp_path / "out.gd")


def test_degrees_are_counted_in_the_memory(tmp_path: Path) -> None:
    edges = np.zeros((2, 1), dtype=np.int64)
    made = gm.build(
        tmp_path / "ds", edges, num_nodes=100_000, features=np.ones((100_000, 1), np.float32)
    )
    ds = gm.open(made.path, memory=500_000)
    with pytest.raises(gm.MemoryBudgetError, match="degrees of all nodes"):
        gm.inference(ds, [convs.GCNConv(1, 1)], tmp_path / "out.gd")
