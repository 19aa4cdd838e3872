"""Inference from disk: the same embeddings as in memory, within the budget, and nothing left behind."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import graphmill as gm
from graphmill import _inference
from tests.process import needs_proc
from tests.test_docs import WITHOUT_TORCH, run

NODES, EDGES, WIDTH = 300, 4000, 8


class Sage(nn.Module):
    """Own rows and the mean of the in-neighbours' rows; dropout shows whether evaluation mode is on."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.own = nn.Linear(inputs, outputs, dtype=torch.float64)
        self.neighbours = nn.Linear(inputs, outputs, bias=False, dtype=torch.float64)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x: Tensor, edge_index: Tensor, num_targets: int) -> Tensor:
        assert not torch.is_grad_enabled()
        row, col = edge_index
        total = x.new_zeros(num_targets, x.shape[1]).index_add_(0, col, x[row])
        degree = torch.bincount(col, minlength=num_targets).clamp(min=1).unsqueeze(1)
        return self.dropout(self.own(x[:num_targets]) + self.neighbours(total / degree)).relu()


@pytest.fixture
def arrays() -> dict[str, Any]:
    """A directed multigraph with self loops, nodes without edges, and a hub with a fifth of all in-edges."""
    generator = np.random.default_rng(0)
    edges = generator.integers(0, NODES - 20, size=(2, EDGES))
    edges[1, : EDGES // 5] = 7
    return {
        "edges": edges,
        "features": generator.normal(size=(NODES, WIDTH)),
        "edge_features": generator.normal(size=(EDGES, 3)),
    }


@pytest.fixture
def build(tmp_path: Path, arrays: dict[str, Any]) -> Callable[..., gm.Dataset]:
    def make(**options: Any) -> gm.Dataset:
        return gm.build(tmp_path / "ds", **(arrays | {"memory": "64MiB"} | options))

    return make


def in_memory(layers: list[Any], arrays: dict[str, Any]) -> np.ndarray:
    """The same layers on the whole graph at once."""
    x, edge_index = torch.from_numpy(arrays["features"]), torch.from_numpy(arrays["edges"])
    with torch.no_grad():
        for layer in layers:
            x = layer.eval()(x, edge_index, NODES)
    return x.numpy()


def sage_layers() -> list[Sage]:
    torch.manual_seed(0)
    return [Sage(WIDTH, 16), Sage(16, 5), Sage(5, 4)]


@pytest.mark.parametrize(
    "options",
    [{}, {"batch_size": 1}, {"batch_size": 7}, {"batch_size": 7, "memory": "200KiB"}],
    ids=str,
)
def test_the_result_is_that_of_the_whole_graph_at_once(
    tmp_path: Path, build: Callable[..., gm.Dataset], arrays: dict[str, Any], options: Any
) -> None:
    layers = sage_layers()
    expected = in_memory(layers, arrays)
    embeddings = gm.inference(build(), layers, tmp_path / "out.gd", **options)
    assert embeddings.dtype == np.float64
    np.testing.assert_allclose(embeddings.numpy(), expected, rtol=1e-12, atol=1e-12)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ds", "out.gd"]


def test_rows_of_a_renumbered_dataset_are_found_by_its_numbers(
    tmp_path: Path, build: Callable[..., gm.Dataset], arrays: dict[str, Any]
) -> None:
    layers = sage_layers()
    ds = build(order="hot")
    embeddings = gm.inference(ds, layers, tmp_path / "out.gd", batch_size=64)
    expected = in_memory(layers, arrays)
    found = embeddings[ds.node_ids(np.arange(NODES))]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    assert not np.allclose(embeddings.numpy(), expected)


def test_convolutions_of_pyg_are_taken_as_they_are(
    tmp_path: Path, build: Callable[..., gm.Dataset], arrays: dict[str, Any]
) -> None:
    from torch_geometric.nn import GATConv, SAGEConv

    layers = [SAGEConv(WIDTH, 6).double(), GATConv(6, 3, heads=2, edge_dim=3).double()]
    x, edge_index = torch.from_numpy(arrays["features"]), torch.from_numpy(arrays["edges"])
    # GATConv would add loops within a batch; whoever wants them adds them to the graph.
    layers[1].add_self_loops = False
    ds = build()
    with torch.no_grad():
        first = layers[0](x, edge_index)
        second = layers[1](first, edge_index, torch.from_numpy(arrays["edge_features"]))
    found = gm.inference(ds, layers[:1], tmp_path / "first.gd", batch_size=50)
    np.testing.assert_allclose(found.numpy(), first, rtol=1e-12, atol=1e-12)
    ds.add_table("h", found.numpy())
    found = gm.inference(
        ds, layers[1:], tmp_path / "second.gd", 50, table="h", edge_table="edge_attr"
    )
    np.testing.assert_allclose(found.numpy(), second, rtol=1e-12, atol=1e-12)


def test_layers_are_in_evaluation_mode_and_back_afterwards(
    tmp_path: Path, build: Callable[..., gm.Dataset]
) -> None:
    layers = sage_layers()
    layers[0].dropout.eval()
    before = [part.training for layer in layers for part in layer.modules()]
    assert True in before
    assert False in before
    gm.inference(build(), layers, tmp_path / "out.gd")
    assert [part.training for layer in layers for part in layer.modules()] == before
    wrong: list[Any] = [layers[0], lambda x, _edges, _n: x]
    with pytest.raises(ValueError, match="layer 1 returned Tensor of shape"):
        gm.inference(build(overwrite=True), wrong, tmp_path / "b.gd", batch_size=50)
    assert [part.training for layer in layers for part in layer.modules()] == before


def test_a_failure_leaves_nothing_and_the_old_file_as_it_was(
    tmp_path: Path, build: Callable[..., gm.Dataset]
) -> None:
    ds = build()
    out = tmp_path / "out.gd"
    gm.inference(ds, [lambda x, _edges, n: x[:n]], out)
    old = out.read_bytes()
    calls = []

    def failing(x: Tensor, _edges: Tensor, n: int) -> Tensor:
        calls.append(n)
        if len(calls) == 3:
            raise RuntimeError("out of ideas")
        return x[:n]

    def passing(x: Tensor, _edges: Tensor, n: int) -> Tensor:
        return x[:n] + 1

    for layers in ([failing], [passing, failing], [failing, passing]):
        calls.clear()
        with pytest.raises(RuntimeError, match="out of ideas"):
            gm.inference(ds, layers, out, batch_size=100, overwrite=True)
        assert len(calls) == 3
        assert sorted(path.name for path in tmp_path.iterdir()) == ["ds", "out.gd"]
        assert out.read_bytes() == old
        with ds._reserve(ds.memory, "everything"):
            pass


def test_what_cannot_work_is_told_before_anything_is_computed(
    tmp_path: Path, build: Callable[..., gm.Dataset]
) -> None:
    ds = build()

    def never(*_arguments: Any) -> Any:
        raise AssertionError("a layer was called")

    (tmp_path / "there.gd").touch()
    with pytest.raises(gm.ExistsError, match="overwrite=True"):
        gm.inference(ds, [never], tmp_path / "there.gd")
    with pytest.raises(gm.MissingError, match="folder"):
        gm.inference(ds, [never], tmp_path / "nowhere" / "out.gd")
    with pytest.raises(ValueError, match="empty"):
        gm.inference(ds, [], tmp_path / "out.gd")
    with pytest.raises(ValueError, match="batch_size"):
        gm.inference(ds, [never], tmp_path / "out.gd", batch_size=0)
    with pytest.raises(TypeError, match=r"layer\(x, edge_index, num_targets\)"):
        gm.inference(ds, [never, 3], tmp_path / "out.gd")
    with pytest.raises(KeyError, match="it has"):
        gm.inference(ds, [never], tmp_path / "out.gd", table="z")
    outward = gm.build(
        tmp_path / "outward", edges=[[0], [1]], features=np.zeros((2, 1)), direction="out"
    )
    with pytest.raises((gm.GraphmillError, ValueError), match="in"):
        gm.inference(outward, [never], tmp_path / "out.gd")
    with pytest.raises(KeyError, match="edge_attr"):
        gm.inference(outward, [never], tmp_path / "out.gd", edge_table="edge_attr")


def test_a_list_that_does_not_fit_is_named_before_anything_is_computed(
    tmp_path: Path, build: Callable[..., gm.Dataset]
) -> None:
    ds = build()

    def never(*_arguments: Any) -> Any:
        raise AssertionError("a layer was called")

    with pytest.raises(gm.MemoryBudgetError, match=r"node 7 has 8\d\d in-neighbours, which need"):
        gm.inference(ds, [never], tmp_path / "out.gd", memory="40KiB")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ds"]


def test_batches_are_split_by_degree_and_two_fit_into_memory(
    tmp_path: Path, build: Callable[..., gm.Dataset]
) -> None:
    ds = build()
    memory = 100 << 10
    seen, held = [], []
    reserve = type(ds)._reserve

    class Watched:
        """The dataset with every reservation written down."""

        def __getattr__(self, name: str) -> Any:
            return getattr(ds, name)

        def _reserve(self, need: int, what: str) -> Any:
            held.append(need)
            return reserve(ds, need, what)

    def layer(x: Tensor, edge_index: Tensor, n: int) -> Tensor:
        seen.append((n, len(x), edge_index.shape[1]))
        # What is really there is no more than what was reserved for it.
        assert x.nbytes + edge_index.nbytes <= held[len(seen) - 1]
        return x[:n]

    watched: Any = Watched()
    gm.inference(watched, [layer], tmp_path / "out.gd", batch_size=200, memory=memory)
    assert sum(n for n, _, _ in seen) == NODES
    assert max(held) <= memory
    # The hub takes more than half and goes alone; others share a batch.
    assert any(n == 1 and edges >= EDGES // 5 for n, _, edges in seen)
    assert max(n for n, _, _ in seen) > 1
    assert all(need <= memory // 2 for need, (n, _, _) in zip(held, seen, strict=True) if n > 1)


def test_the_next_batch_is_read_while_the_layer_computes(
    tmp_path: Path, build: Callable[..., gm.Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = {first: threading.Event() for first in range(0, NODES, 100)}
    read = _inference._Reader.read

    def noted(self: Any, first: int, last: int, need: int) -> Any:
        begun[first].set()
        return read(self, first, last, need)

    monkeypatch.setattr(_inference._Reader, "read", noted)
    at = iter([100, 200, None])

    def layer(x: Tensor, _edges: Tensor, n: int) -> Tensor:
        following = next(at)
        if following is not None:
            assert begun[following].wait(timeout=60), "nothing was read ahead"
        return x[:n]

    gm.inference(build(), [layer], tmp_path / "out.gd", batch_size=100)


def test_at_most_two_layers_are_on_disk(tmp_path: Path, build: Callable[..., gm.Dataset]) -> None:
    found = set()

    def layer(x: Tensor, _edges: Tensor, n: int) -> Tensor:
        found.add(tuple(sorted(p.name for p in tmp_path.glob(".out.gd.*/layer-*.gd"))))
        return x[:n]

    gm.inference(build(), [layer] * 4, tmp_path / "out.gd", batch_size=100)
    # What is read has no name any more, and what is written has another one as yet.
    assert found == {()}


def test_half_floats_can_be_widened_and_stored(tmp_path: Path, arrays: dict[str, Any]) -> None:
    narrow = arrays["features"].astype(np.float16)
    ds = gm.build(tmp_path / "ds", edges=arrays["edges"], features=narrow)
    kinds = []

    def layer(x: Tensor, _edges: Tensor, n: int) -> Tensor:
        kinds.append(x.dtype)
        return x[:n]

    embeddings = gm.inference(
        ds, [layer, layer], tmp_path / "out.gd", widen=True, dtype="float16", device="cpu"
    )
    assert set(kinds) == {torch.float32}
    np.testing.assert_array_equal(embeddings.numpy(), narrow)


def test_a_graph_without_nodes_has_embeddings_without_rows(tmp_path: Path) -> None:
    ds = gm.build(
        tmp_path / "ds", edges=np.zeros((2, 0), dtype=np.int64), features=np.zeros((0, 3))
    )
    embeddings = gm.inference(ds, [lambda x, _edges, n: x[:n, :2]], tmp_path / "out.gd")
    assert embeddings.shape == (0, 2)


def test_inference_works_without_torch(tmp_path: Path, build: Callable[..., gm.Dataset]) -> None:
    ds = build()
    run(
        f"""{WITHOUT_TORCH}
import numpy as np
import graphmill as gm
ds = gm.open({str(ds.path)!r})
def total(x, edge_index, n):
    assert type(x) is type(edge_index) is np.ndarray
    result = x[:n].copy()
    np.add.at(result, edge_index[1], x[edge_index[0]])
    return result
found = gm.inference(ds, [total], "out.gd", batch_size=50).numpy()
x = ds.features.numpy()
node = 11
np.testing.assert_allclose(found[node], x[node] + x[ds.graph.neighbors(node, "in")].sum(axis=0))
""",
        tmp_path,
    )


@needs_proc
def test_memory_stays_within_the_budget(tmp_path: Path) -> None:
    """128 MiB of rows and 8 MiB of lists are computed within 16 MiB."""
    generator = np.random.default_rng(0)
    nodes, width = 1 << 17, 256
    gm.build(
        tmp_path / "ds",
        edges=generator.integers(0, nodes, size=(2, 8 * nodes)),
        features=np.ones((nodes, width), dtype=np.float32),
        direction="in",
    )
    run(
        f"""
import torch, graphmill as gm
from tests.process import anonymous_memory
ds = gm.open({str(tmp_path / "ds")!r}, memory="16MiB")
most, batches = 0, 0
def degree(x, edge_index, n):
    global most, batches
    most, batches = max(most, anonymous_memory()), batches + 1
    return torch.bincount(edge_index[1], minlength=n)
torch.bincount(torch.arange(1 << 10))
before = anonymous_memory()
found = gm.inference(ds, [degree], {str(tmp_path / "out.gd")!r}, batch_size=1 << 17)
assert found.numpy().sum() == ds.num_edges
print(batches, "batches, grew by", most - before)
assert batches > 50
assert most - before < 1.1 * ds.memory + (64 << 20), most - before
""",
        Path(__file__).parents[1],
    )


KILLED = """
import os, signal, sys
import numpy as np
import graphmill as gm

ds = gm.open(sys.argv[1])

def die(x, edge_index, num_targets):
    if sys.argv[3] == "layers" or die.calls == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    die.calls += 1
    return np.zeros((num_targets, 4))

die.calls = 0
first = (lambda x, edge_index, num_targets: np.zeros((num_targets, 4)))
gm.inference(ds, [first, die] if sys.argv[3] == "layers" else [die, first], sys.argv[2], batch_size=50)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked")
def test_what_a_killed_inference_leaves_goes_with_the_next(
    tmp_path: Path, build: Callable[..., gm.Dataset]
) -> None:
    ds = build()
    out = tmp_path / "out"
    out.mkdir()
    foreign = out / ".rows.gd.notes.layers"
    foreign.mkdir()
    (foreign / "diary.txt").write_text("mine")
    for when in ["layers", "first"]:
        command = [sys.executable, "-c", KILLED, str(ds.path), str(out / "rows.gd"), when]
        assert subprocess.run(command).returncode == -9
    left = [path for path in out.iterdir() if path != foreign]
    assert left
    # Of a layer that was complete nothing is left: what there is belongs to the one that was being written.
    names = [name.name for path in left if path.is_dir() for name in path.iterdir()]
    assert names
    assert not [name for name in names if not name.startswith(".layer-0.gd.")], names

    def copy(x: Any, _edges: Any, num_targets: int) -> Any:
        return x[:num_targets]

    gm.inference(ds, [copy, copy], out / "rows.gd")
    assert sorted(path.name for path in out.iterdir()) == [foreign.name, "rows.gd"]
    assert (foreign / "diary.txt").read_text() == "mine"
