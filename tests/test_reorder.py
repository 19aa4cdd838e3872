"""A dataset in another order means what it meant before, whatever it holds."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphmill as gm
from tests.command import graphmill

ORDERS = ["hot", "visits", "bfs", "community"]


def lists(ds: gm.Dataset, direction: str, names: list[Any]) -> list[tuple[Any, ...]]:
    """Every stored edge of a direction, by the ids of the source, with all that is known of it."""
    graph = ds.graph
    nodes = np.arange(ds.num_nodes)
    starts = np.append(0, np.cumsum(graph.degrees(nodes, direction=direction)))
    neighbours = np.concatenate(
        [graph.neighbors(node, direction=direction) for node in range(ds.num_nodes)]
    )
    owners = np.repeat(np.arange(ds.num_nodes), np.diff(starts))
    columns = [graph.edge_ids(direction), graph.weights(direction), graph.times(direction)]
    kept = [np.asarray(column).tolist() for column in columns if column is not None]
    ends = [[names[node] for node in nodes] for nodes in (owners, neighbours)]
    for start, end in pairwise(starts):
        order = neighbours[start:end] if graph.neighbor_order == "id" else kept[-1][start:end]
        assert list(order) == sorted(order)
    return sorted(zip(*ends, *kept, strict=True))


def content(ds: gm.Dataset) -> dict[str, Any]:
    """Everything a dataset says, by the ids of the source."""
    names = list(ds.original_ids(np.arange(ds.num_nodes)))
    assert list(ds.node_ids(names)) == list(range(ds.num_nodes))
    said: dict[str, Any] = {"ids": sorted(names), "edges": ds.num_edges}
    said["stored"] = ds.graph.directions, ds.graph.is_undirected, ds.graph.neighbor_order
    for direction in ds.graph.directions:
        said[direction] = lists(ds, "out" if direction == "both" else direction, names)
    for name in ds.tables:
        table = ds.table(name).numpy()
        rows = {names[node]: table[node].tolist() for node in range(ds.num_nodes)}
        said[name] = rows, table.dtype, table.shape, table.strides, ds.classes.get(name)
    said["splits"] = {name: list(ds.split(name)) for name in ds.splits}
    said["edge tables"] = {name: ds.edge_table(name).numpy().tolist() for name in ds.edge_tables}
    return said


@pytest.fixture(
    params=["in", "both", "undirected", "everything", "mapped", "text", "hot", "packed"]
)
def built(request: pytest.FixtureRequest, tmp_path: Path, edges: np.ndarray) -> gm.Dataset:
    """Datasets of every kind."""
    out, rng = tmp_path / "before", np.random.default_rng(1)
    nodes = np.arange(100)
    options: dict[str, Any] = {"num_nodes": 100, "features": rng.random((100, 3), np.float32)}
    match request.param:
        case "undirected":
            options |= {"undirected": True, "edge_ids": True}
        case "everything":
            options |= {
                "features": rng.random((100, 100)).astype(np.float16),
                "align_rows": True,
                "labels": rng.integers(0, 5, 100),
                "tables": {"age": nodes.astype(np.int32), "place": rng.random((100, 2))},
                "weights": rng.random(edges.shape[1], np.float32),
                "times": rng.integers(0, 50, edges.shape[1]),
                "edge_features": rng.random((edges.shape[1], 2), np.float32),
                "neighbor_order": "time",
                "splits": {"train": nodes[::-3], "test": nodes[1::2]},
            }
        case "mapped" | "text":
            named = request.param == "text"
            ids = [f"page {node * 7 % 101}" if named else node * 1000 for node in range(100)]
            lines = [f"{ids[source]},{ids[to]}" for source, to in edges.T]
            (tmp_path / "edges.csv").write_text("\n".join(lines) + "\n")
            (tmp_path / "kind.csv").write_text(
                "\n".join(["id,kind", *(f"{one},{'ab'[n % 2]}" for n, one in enumerate(ids))])
                + "\n"
            )
            mapping: dict[str, Any] = {"string_ids" if named else "map_ids": True}
            return gm.build(
                out, edges=tmp_path / "edges.csv", labels=tmp_path / "kind.csv", **mapping
            )
        case "packed":
            options |= {"encoding": "packed", "edge_ids": True}
        case "hot":
            options |= {"order": "hot", "splits": {"train": nodes[::-3]}}
        case direction:
            options |= {"direction": direction}
    return gm.build(out, edges=edges, **options)


@pytest.mark.parametrize("order", ORDERS)
def test_nothing_changes_but_the_numbers(built: gm.Dataset, tmp_path: Path, order: str) -> None:
    out = tmp_path / "after"
    done = graphmill("reorder", built.path, out, "--order", order, "--memory", "64MiB")
    assert f"{order} order" in done.stdout
    graphmill("verify", out)
    ds = gm.open(out)
    assert ds.order == order
    assert content(ds) == content(built)
    assert ("packed" in repr(ds.graph)) == ("packed" in repr(built.graph))
    # And once more, from what is renumbered by now.
    graphmill("reorder", out, tmp_path / "again", "--order", "hot", "--quiet")
    assert content(gm.open(tmp_path / "again")) == content(built)


@pytest.mark.parametrize("order", ORDERS)
def test_an_order_of_a_build_is_that_of_the_same_dataset_reordered(
    tmp_path: Path, edges: np.ndarray, order: str
) -> None:
    x = np.random.default_rng(1).random((100, 3), np.float32)
    at_once = gm.build(tmp_path / "at once", edges=edges, features=x, num_nodes=100, order=order)
    gm.build(tmp_path / "plain", edges=edges, features=x, num_nodes=100)
    graphmill("reorder", tmp_path / "plain", tmp_path / "later", "--order", order, "--quiet")
    later = gm.open(tmp_path / "later")
    nodes = np.arange(100)
    assert at_once.original_ids(nodes).tolist() == later.original_ids(nodes).tolist()
    assert content(at_once) == content(later)


def test_communities_need_fewer_blocks_than_the_order_of_the_source(tmp_path: Path) -> None:
    size, count = 64, 200
    rng = np.random.default_rng(3)
    members = rng.permutation(size * count).reshape(count, size)
    near = np.stack([members.repeat(6, 1), rng.permuted(members.repeat(6, 1), axis=1)])
    gm.build(tmp_path / "plain", edges=near.reshape(2, -1))
    graphmill("reorder", tmp_path / "plain", tmp_path / "near", "--order", "community", "--quiet")
    seeds = members[:10].ravel()

    def blocks(ds: gm.Dataset) -> int:
        sample = ds.graph.sample(ds.node_ids(seeds), [5, 5], seed=0)
        return len(np.unique(np.asarray(sample.n_id) // 8))

    assert blocks(gm.open(tmp_path / "near")) * 4 < blocks(gm.open(tmp_path / "plain"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--order", "none"), "build the dataset from it again"),
        (("--order", "sideways"), "none of none, hot, visits, bfs, community"),
        ((), "--order"),
    ],
)
def test_what_cannot_be_reordered_is_told(
    papers: Path, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = graphmill("reorder", papers, tmp_path / "out", *arguments, check=False)
    assert done.returncode in (1, 2)
    assert said in done.stderr


def test_a_dataset_is_not_reordered_into_itself(replace: Any) -> None:
    folder = replace(1)
    done = graphmill("reorder", folder, folder, "--order", "hot", "--overwrite", check=False)
    assert done.returncode == 1
    assert "source and target" in done.stderr
    graphmill("verify", folder)


def test_memory_that_does_not_suffice_is_named(papers: Path, tmp_path: Path) -> None:
    flags = ("--order", "community", "--memory", "64KiB")
    done = graphmill("reorder", papers, tmp_path / "out", *flags, check=False)
    assert done.returncode == 1
    assert "memory" in done.stderr
    assert not (tmp_path / "out" / "dataset.json").exists()
