"""What PyG holds comes back as PyG holds it, or is named: any type, any shape, from anywhere."""

from __future__ import annotations

import tempfile
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch_geometric.transforms as T
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric import EdgeIndex
from torch_geometric.data import Data
from torch_geometric.datasets import KarateClub
from torch_geometric.loader.utils import filter_data

import graphmill as gm
from graphmill.pyg import DataView, NeighborLoader, to_pyg
from tests.process import anonymous_memory, needs_proc

STORED = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
STORED += [torch.float16, torch.bfloat16, torch.float32, torch.float64]
NAN = float("nan")
EDGES = torch.tensor([[0, 1, 1], [1, 2, 0]])


def same(one: Any, other: Any) -> bool:
    """Equal in type, shape and every bit, where a NaN equals a NaN."""
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    return bool(((one == other) | ((one != one) & (other != other))).all())


@pytest.mark.parametrize(
    "y",
    [
        torch.tensor([1.5, NAN, 2.0]),
        torch.tensor([1.0, NAN, 2.0]),
        torch.tensor([1.0, 0.0, 2.0], dtype=torch.bfloat16),
        torch.tensor([True, False, True]),
        torch.tensor([1, 2, 0], dtype=torch.uint8),
        torch.tensor([1, -1, 0], dtype=torch.int32),
        torch.tensor([[1], [2], [0]]),
        torch.tensor([[0, 1], [1, 1], [0, 0]]),
        torch.tensor([[0.0, 1.0], [NAN, 1.0], [0.0, 0.0]]),
    ],
    ids=lambda y: f"{y.dtype}{list(y.shape)}",
)
@pytest.mark.parametrize("order", ["none", "hot"])
def test_labels_keep_type_shape_and_missing_values(
    tmp_path: Path, y: torch.Tensor, order: str
) -> None:
    data = Data(num_nodes=3, edge_index=EDGES, y=y)
    ds = gm.from_pyg(data, tmp_path / "ds", order=order)
    assert same(DataView(ds).y, y)
    assert same(ds.table("y").torch(), y[torch.from_numpy(ds.original_ids(np.arange(3)))])
    for batch in NeighborLoader(ds, [-1], batch_size=2):
        assert same(batch.y, y[batch.n_id])
    expected = y.shape[1] if y.dim() == 2 and y.shape[1] > 1 else 2 if y.isnan().any() else 3
    assert ds.num_classes == (2 if y.dtype in (torch.bool, torch.int32) else expected)


def test_other_labels_take_the_place_of_those_of_the_data(tmp_path: Path) -> None:
    data = Data(num_nodes=3, edge_index=EDGES, y=torch.tensor([0.5, 1.5, NAN]))
    ds = gm.from_pyg(data, tmp_path / "ds", labels=["a", "b", "a"])
    assert ds.table("y").numpy().tolist() == [0, 1, 0]
    assert ds.classes == {"y": ["a", "b"]}


def test_arrays_and_mapped_files_are_taken_like_tensors(tmp_path: Path) -> None:
    x = np.arange(12, dtype=np.float16).reshape(3, 4)
    np.save(tmp_path / "x.npy", x)
    for mode in ("r", "c", None):
        data = Data(
            x=np.load(tmp_path / "x.npy", mmap_mode=mode),
            edge_index=EDGES.numpy(),
            edge_attr=np.eye(3),
            train_mask=np.array([True, False, True]),
        )
        ds = gm.from_pyg(data, tmp_path / "ds", overwrite=True)
        assert same(to_pyg(ds).x, torch.from_numpy(x))
        assert same(to_pyg(ds).edge_attr, torch.eye(3, dtype=torch.float64))
        assert torch.equal(to_pyg(ds).edge_index, EDGES)
        assert ds.split("train").tolist() == [0, 2]


@needs_proc
def test_a_mapped_file_is_streamed(tmp_path: Path) -> None:
    x = np.memmap(tmp_path / "x.bin", dtype=np.float32, mode="w+", shape=(1 << 16, 512))
    x[:] = np.arange(512)
    data = Data(x=x, edge_index=EDGES)
    most, over = 0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not over.wait(0.002):
            most = max(most, anonymous_memory())

    before, watcher = anonymous_memory(), threading.Thread(target=watch)
    watcher.start()
    try:
        ds = gm.from_pyg(data, tmp_path / "ds", memory="16MiB")
    finally:
        over.set()
        watcher.join()
    # The file has 128 MiB.
    assert 0 < most < before + (40 << 20)
    assert ds.table("x").nbytes == 128 << 20


@pytest.mark.parametrize("layout", [torch.sparse_csr, torch.sparse_coo])
def test_a_transposed_adjacency_matrix_gives_the_edges_that_pyg_samples(
    tmp_path: Path, layout: torch.layout
) -> None:
    weighted = T.ToSparseTensor(attr="edge_weight", layout=layout)
    data = KarateClub()[0]
    data.edge_weight = torch.rand(data.num_edges)
    matrix = weighted(data.clone())
    ds = gm.from_pyg(matrix, tmp_path / "weighted")
    back = to_pyg(ds)
    assert back.num_edges == data.num_edges
    assert torch.equal(back.edge_index[1], back.edge_index[1].sort().values)
    expected, found = torch.zeros(34, 34), torch.zeros(34, 34)
    expected[tuple(data.edge_index)] = data.edge_weight
    found[tuple(back.edge_index)] = back.edge_weight
    assert torch.equal(found, expected)
    assert ds.graph.has_weights
    # Ones stand for no values.
    plain = T.ToSparseTensor(layout=layout)(KarateClub()[0])
    assert "edge_weight" not in to_pyg(gm.from_pyg(plain, tmp_path / "plain"))


def test_a_matrix_beside_the_edges_is_named(tmp_path: Path) -> None:
    data = Data(num_nodes=3, edge_index=EDGES, adj_t=torch.eye(3).to_sparse_csr())
    with pytest.warns(UserWarning, match="adj_t is not stored: edge_index has the edges") as told:
        ds = gm.from_pyg(data, tmp_path / "ds")
    assert all(warning.filename == __file__ for warning in told)
    assert torch.equal(to_pyg(ds).edge_index, EDGES)
    # A dense one is a tensor of the nodes like any other.
    dense = Data(num_nodes=3, edge_index=EDGES[:, :2], adj=torch.eye(3))
    assert torch.equal(to_pyg(gm.from_pyg(dense, tmp_path / "dense")).adj, torch.eye(3))


class Entries:
    """As much of torch_sparse's SparseTensor as is read."""

    def __init__(self, values: torch.Tensor | None) -> None:
        self.values = values

    def sparse_sizes(self) -> tuple[int, int]:
        return 3, 3

    def coo(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        return torch.tensor([0, 1, 2]), torch.tensor([1, 0, 1]), self.values


@pytest.mark.parametrize("values", [None, torch.tensor([1.0, 1.0, 1.0]), torch.eye(3)])
def test_a_matrix_of_torch_sparse_is_read(tmp_path: Path, values: torch.Tensor | None) -> None:
    for name, expected in (("adj_t", [[1, 0, 1], [0, 1, 2]]), ("adj", [[0, 1, 2], [1, 0, 1]])):
        data = Data(num_nodes=3, **{name: Entries(values)})
        back = to_pyg(gm.from_pyg(data, tmp_path / "ds", overwrite=True))
        assert back.edge_index.tolist() == expected
        if values is None:
            assert not {"edge_attr", "edge_weight"} & set(back.keys())
        else:
            assert same(back["edge_weight" if values.dim() == 1 else "edge_attr"], values)


def test_a_graph_without_edges_is_one_of_nodes(tmp_path: Path) -> None:
    ds = gm.from_pyg(Data(x=torch.eye(3)), tmp_path / "ds")
    assert (ds.num_nodes, ds.num_edges) == (3, 0)
    assert to_pyg(ds).edge_index.shape == (2, 0)


def test_an_edge_index_of_a_class_of_its_own_is_taken(tmp_path: Path) -> None:
    data = Data(x=torch.eye(3), edge_index=EdgeIndex(EDGES, sparse_size=(3, 3)))
    assert torch.equal(to_pyg(gm.from_pyg(data, tmp_path / "ds")).edge_index, EDGES)


def test_nodes_that_the_data_does_not_have_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds node 2, but the Data has 2 nodes; set"):
        gm.from_pyg(Data(x=torch.eye(2), edge_index=EDGES), tmp_path / "ds")
    with pytest.raises(ValueError, match=r"shape \(3, 2\), expected \[2, num_edges\]"):
        gm.from_pyg(Data(x=torch.eye(3), edge_index=EDGES.t()[:, :2]), tmp_path / "ds")


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("z", torch.ones(3, 2, 2), r"3 dimensions.*flatten\(1\)"),
        ("z", torch.ones(3, dtype=torch.complex64), r"complex64.*view_as_real"),
        ("z", torch.ones(3, dtype=torch.uint16), r"uint16.*to\(torch.int64\)"),
        ("z", torch.ones(3).to(torch.float8_e4m3fn), r"float8.*to\(torch.float32\)"),
        ("x", torch.eye(3).to_sparse(), r"sparse.*x to its to_dense\(\)"),
        ("z", torch.tensor(3.0), "neither for each node"),
        ("z", torch.ones(7), r"neither for each node \(3\) nor for each edge \(4\)"),
        ("cluster_index", torch.ones(3, 2), "neither for each node"),
        ("z", torch.ones(3, 0), "no columns"),
        ("n_id", torch.arange(3), "loaders set"),
        ("batch", torch.zeros(3), "loaders set"),
        ("a b", torch.zeros(3), "letters"),
        ("edge-z", torch.zeros(3), "letters"),
        ("z", ["a", "b", "c"], "it is a list"),
        ("z", "text", "it is a str"),
        ("z", np.array(["a", "b", "c"]), "torch cannot read"),
    ],
)
def test_what_has_no_place_is_named_with_a_remedy(
    tmp_path: Path, name: str, value: Any, reason: str
) -> None:
    edge_index = torch.tensor([[0, 1, 2, 2], [1, 2, 0, 1]])
    data = Data.from_dict({"num_nodes": 3, "edge_index": edge_index, name: value})
    with pytest.warns(UserWarning, match=f"{name} is not stored: .*{reason}") as told:
        ds = gm.from_pyg(data, tmp_path / "ds")
    assert all(warning.filename == __file__ for warning in told)
    assert (ds.tables, ds.edge_tables, ds.splits) == ([], [], [])


@pytest.mark.parametrize(
    ("given", "remedy"),
    [(KarateClub(), r"dataset\[0\]"), ({"edge_index": EDGES}, "gm.build"), (EDGES, "gm.build")],
    ids=["dataset", "dict", "tensor"],
)
def test_what_is_no_data_object_is_refused_with_the_way_to_one(
    tmp_path: Path, given: Any, remedy: str
) -> None:
    with pytest.raises(TypeError, match=remedy):
        gm.from_pyg(given, tmp_path / "ds")


def test_weights_that_float32_cannot_hold_are_no_weights_to_sample_by(tmp_path: Path) -> None:
    for weights in (
        torch.tensor([1e300, 1, 1], dtype=torch.float64),
        torch.tensor([NAN, 1, 1]),
        torch.tensor([1, 0, 1], dtype=torch.bfloat16),
    ):
        data = Data(num_nodes=3, edge_index=EDGES, edge_weight=weights, edge_time=weights > 0)
        ds = gm.from_pyg(data, tmp_path / "ds", overwrite=True)
        assert ds.graph.has_weights == (weights.dtype == torch.bfloat16)
        assert ds.graph.times() is None
        assert same(to_pyg(ds).edge_weight, weights)
        assert same(to_pyg(ds).edge_time, weights > 0)


# Names that PyG and a dataset treat apart, and some that nothing is known of.
NAMES = ["x", "y", "z", "year", "train_mask", "some_mask", "node_kind", "edge_label", "edge_attr"]
NAMES += ["edge_weight", "edge_time", "edge_kind", "cluster_index", "n_id", "a b", "_mask", "time"]
REFUSED = [torch.complex64, torch.uint16]


@st.composite
def data_objects(draw: st.DrawFn) -> Data:
    nodes, edges = draw(st.integers(1, 9)), draw(st.integers(1, 12))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
    attributes: dict[str, Any] = {
        "num_nodes": nodes,
        "edge_index": torch.randint(nodes, (2, edges), generator=generator),
    }
    for name in draw(st.lists(st.sampled_from(NAMES), unique=True)):
        rows = draw(st.sampled_from([nodes, edges, nodes, edges, 3]))
        shape = (rows, *draw(st.sampled_from([(), (1,), (3,), (2, 2), (0,)])))
        dtype = draw(st.sampled_from(STORED + REFUSED))
        value = (torch.rand(shape, generator=generator) * 5 - 1).to(torch.float32)
        if dtype.is_floating_point and draw(st.booleans()):
            value[value < 0] = NAN
        value = value.abs() if dtype == torch.uint16 else value
        value = value.to(torch.int64).to(dtype) if dtype == torch.uint8 else value.to(dtype)
        as_array = draw(st.booleans()) and dtype not in (torch.bfloat16, torch.uint16)
        attributes[name] = value.numpy() if as_array else value
    return Data.from_dict(attributes)


@settings(max_examples=150, deadline=None)
@given(data=data_objects(), order=st.sampled_from(["none", "hot"]))
def test_everything_comes_back_or_is_named(data: Data, order: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            ds = gm.from_pyg(data, Path(folder) / "ds", order=order)
        named = {str(warning.message).split(" is not stored: ")[0] for warning in told}
        stored = sorted(set(data.keys()) - named - {"num_nodes", "edge_index"})
        assert len(named) == len(told)
        assert not (named - set(data.keys()))
        back, view = to_pyg(ds), DataView(ds)
        assert torch.equal(view.edge_index, data.edge_index)
        tensors = {name: torch.as_tensor(value) for name, value in data.to_dict().items()}
        expected = Data.from_dict(tensors)
        expected.num_nodes = data.num_nodes
        number_of = torch.from_numpy(np.asarray(ds.node_ids(np.arange(ds.num_nodes))))
        for name in stored:
            found = back[name][number_of] if data.is_node_attr(name) else back[name]
            assert same(found, expected[name]), name
            assert same(view[name], expected[name]), name
        assert torch.equal(back.edge_index, number_of[data.edge_index])
        # The batch of everything is what PyG makes of the same nodes and edges.
        [batch] = NeighborLoader(ds, [-1] * ds.num_nodes, batch_size=ds.num_nodes)
        local = filter_data(expected, batch.n_id, *batch.edge_index, batch.e_id)
        assert sorted(batch.e_id.tolist()) == list(range(data.num_edges))
        for name in stored:
            if not name.endswith("_mask"):
                assert same(batch[name], local[name]), name
