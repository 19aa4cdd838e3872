"""Packed lists answer as plain ones do, and refuse views."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphmill as gm
from tests.command import graphmill


@pytest.fixture(scope="module")
def both(papers: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, gm.Dataset]:
    """One graph with weights in both encodings."""
    folder, rng = tmp_path_factory.mktemp("packed"), np.random.default_rng(0)
    starts, ends = gm.open(papers).graph.csr()
    edges = np.stack([np.repeat(np.arange(len(starts) - 1), np.diff(starts)), ends])
    weights = rng.random(edges.shape[1], np.float32)
    x = rng.random((len(starts) - 1, 8), np.float32)
    return {
        encoding: gm.build(
            folder / encoding, edges=edges, weights=weights, features=x, encoding=encoding
        )
        for encoding in ("i32", "packed")
    }


def test_the_encoding_is_told(both: dict[str, gm.Dataset]) -> None:
    assert {name: ds.graph.encoding for name, ds in both.items()} == {
        "i32": "i32",
        "packed": "packed",
    }
    assert "packed" in repr(both["packed"].graph)


def test_samples_walks_and_pairs_are_those_of_plain_lists(both: dict[str, gm.Dataset]) -> None:
    plain, packed = both["i32"].graph, both["packed"].graph
    nodes = np.arange(plain.num_nodes)
    seeds = nodes[::7]
    for direction in ("in", "out"):
        np.testing.assert_array_equal(
            plain.degrees(nodes, direction=direction), packed.degrees(nodes, direction=direction)
        )
        for node in range(0, plain.num_nodes, 97):
            found = packed.neighbors(node, direction=direction)
            np.testing.assert_array_equal(plain.neighbors(node, direction=direction), found)
            assert found.dtype == np.int64
        # More than a thread is handed at once.
        asked = np.concatenate([nodes[::-1], nodes[:5], nodes[:5]])
        assert len(asked) > 4096
        for graph in (plain, packed):
            indptr, indices = graph.neighbor_lists(asked, direction)
            assert indptr.dtype == indices.dtype == np.int64
            np.testing.assert_array_equal(np.diff(indptr), plain.degrees(asked, direction))
            lists = [plain.neighbors(node, direction) for node in asked.tolist()]
            np.testing.assert_array_equal(indices, np.concatenate(lists))
        for weighted in (False, True):
            one, other = (
                graph.sample(seeds, [5, 3], direction=direction, weighted=weighted, seed=1)
                for graph in (plain, packed)
            )
            for name in ("n_id", "row", "col", "e_id"):
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    laws: list[dict[str, Any]] = [{}, {"p": 0.5, "q": 2.0}]
    for options in laws:
        np.testing.assert_array_equal(
            plain.walk(seeds, 10, **options, seed=2), packed.walk(seeds, 10, **options, seed=2)
        )
    np.testing.assert_array_equal(
        plain.negative_edges(500, seed=3), packed.negative_edges(500, seed=3)
    )


@pytest.mark.parametrize("residency", ["mapped", "ram"])
def test_batches_are_those_of_plain_lists(both: dict[str, gm.Dataset], residency: Any) -> None:
    def batches(name: str) -> list[list[np.ndarray]]:
        ds = gm.open(both[name].path, memory="64MiB", residency=residency)
        loader = gm.NeighborLoader(ds, [5, 3], 512, shuffle=True, seed=4)
        return [[np.asarray(value) for _, value in batch] for batch in loader]

    for one, other in zip(batches("i32"), batches("packed"), strict=True):
        for value, again in zip(one, other, strict=True):
            np.testing.assert_array_equal(value, again)


def test_there_are_no_views(both: dict[str, gm.Dataset]) -> None:
    graph = both["packed"].graph
    views: list[Callable[[], Any]] = [
        lambda: graph.indices,
        lambda: graph.indptr,
        graph.csr,
        graph.csc,
    ]
    for view in views:
        with pytest.raises(ValueError, match="packed"):
            view()


def test_conversion_goes_both_ways(both: dict[str, gm.Dataset], tmp_path: Path) -> None:
    for source, target in (("i32", "packed"), ("packed", "i32")):
        out = tmp_path / f"{target}.gl"
        graphmill("convert", both[source].graph.path, out, "--encoding", target, "--quiet")
        graphmill("verify", out)
        assert out.read_bytes() == Path(both[target].graph.path).read_bytes()
    small, large = (tmp_path / f"{name}.gl" for name in ("packed", "i32"))
    assert small.stat().st_size < large.stat().st_size


def test_a_flipped_bit_is_found(both: dict[str, gm.Dataset], tmp_path: Path) -> None:
    content = bytearray(Path(both["packed"].graph.path).read_bytes())
    rng = np.random.default_rng(5)
    for number, place in enumerate(rng.integers(4096, len(content), 12)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << (number % 8)
        path = tmp_path / f"{number}.gl"
        path.write_bytes(damaged)
        assert graphmill("verify", path, check=False).returncode == 1
        # Whatever it says, nothing crashes.
        with suppress(gm.CorruptError):
            gm.Graph(path).sample(np.arange(500), [5, 5], seed=0)
