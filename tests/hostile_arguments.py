"""Arguments of every type for everything public, in a process of their own: errors are fine, crashes are not.

``python -m tests.hostile_arguments EXAMPLES`` works in the current folder, which holds a dataset.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import graphmill as gm
import graphmill.graphzero as gz
from tests.hostile import limit_resources

integers = st.one_of(
    st.integers(-10, 10), st.integers(), st.sampled_from([2**31, 2**63 - 1, 2**63, -(2**63), 2**64])
)
anything = st.one_of(
    integers,
    st.none(),
    st.booleans(),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.lists(integers, max_size=5),
    st.tuples(integers, integers),
    st.lists(st.lists(integers, max_size=3), max_size=3),
    st.dictionaries(st.text(max_size=2), integers, max_size=2),
    arrays.arrays(
        arrays.scalar_dtypes(), arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
    ),
    st.sampled_from(["in", "out", "both", "id", "time", "file", "i32", "i64", "x", "y", "train"]),
    st.sampled_from(["uniform", "labor", "last", "induced", "edges", "binary", "triplet"]),
    st.sampled_from(["pread", "mapped", "auto", "1MiB", "torch", "numpy", "float16"]),
    st.builds(lambda values: torch.tensor(values), st.lists(st.integers(-9, 9), max_size=4)),
    st.just(torch.empty(3, requires_grad=True)),
    st.just(torch.empty(2, 3, dtype=torch.complex64)),
    st.builds(object),
    st.just(range(10**18)),
    st.just(slice(None, None, -1)),
    st.just(Ellipsis),
    st.just(np.array(5)),
    st.just(np.arange(20)[::-2]),
)


def calls(folder: Path) -> dict[str, Callable[..., object]]:
    """Everything public that takes arguments, by name."""
    ds = gm.open(folder / "dataset", memory="16MiB")
    g, x = ds.graph, ds.table("x")
    named = gm.open(folder / "renumbered", memory="16MiB")
    numbers = itertools.count()
    old_graph, old_table = gz.Graph(g.path), gz.FeatureStore(x.path)

    def first_batch(*arguments: Any, **options: Any) -> object:
        options["threads"] = 1
        return next(iter(gm.NeighborLoader(ds, *arguments, **options)), None)

    def first_links(*arguments: Any, **options: Any) -> object:
        options["threads"] = 1
        return next(iter(gm.LinkNeighborLoader(ds, *arguments, **options)), None)

    # The default budget is larger than what this process may have.
    def write_graph(*arguments: Any, **options: Any) -> object:
        options = {"memory": "16MiB"} | options | {"overwrite": True}
        return gm.write_graph(folder / "written.gl", *arguments, **options)

    def write_features(*arguments: Any, **options: Any) -> object:
        return gm.write_features(folder / "written.gd", *arguments, **options | {"overwrite": True})

    def convert(**options: Any) -> None:
        options = {"memory": "16MiB"} | options | {"overwrite": True}
        gm.convert(g.path, folder / "converted.gl", **options)

    return {
        "Graph": gm.Graph,
        "Features": gm.Features,
        "open": gm.open,
        "graphzero.Graph": gz.Graph,
        "graphzero.FeatureStore": gz.FeatureStore,
        "csr": g.csr,
        "weights": g.weights,
        "edge_ids": g.edge_ids,
        "degrees": g.degrees,
        "neighbors": g.neighbors,
        "neighbor_lists": g.neighbor_lists,
        "list_range": g.list_range,
        "sample": g.sample,
        "sample some": lambda *a, **o: g.sample([0, 1, 2], *a, **o),
        "sample_edges": g.sample_edges,
        "sample_edges some": lambda *a, **o: g.sample_edges([[0, 1], [1, 2]], *a, **o),
        "walk": g.walk,
        "walk some": lambda *a, **o: g.walk([0, 1, 2], *a, **o),
        "negative_edges": g.negative_edges,
        "negative_edges some": lambda *a, **o: g.negative_edges(3, *a, **o),
        "gather": x.gather,
        "gather some": lambda out: x.gather([0, 1], out=out),
        "index": lambda key: x[key],
        "array": x.__array__,
        "advise": x.advise,
        "table": ds.table,
        "split": ds.split,
        "original_ids": ds.original_ids,
        "node_ids": ds.node_ids,
        "original_ids named": named.original_ids,
        "node_ids named": named.node_ids,
        "add_table": lambda *a, **o: named.add_table(f"t{next(numbers)}", *a, **o),
        "add_table some": lambda ids, **o: named.add_table(f"t{next(numbers)}", ONES, ids=ids, **o),
        "add_split": lambda nodes: named.add_split(f"s{next(numbers)}", nodes),
        "NeighborLoader": first_batch,
        "NeighborLoader some": lambda **o: first_batch([2], **o),
        "LinkNeighborLoader": first_links,
        "LinkNeighborLoader some": lambda **o: first_links([2], [[0, 1], [1, 2]], **o),
        "write_graph": write_graph,
        "write_graph some": lambda **o: write_graph([[0, 1], [1, 0]], **o),
        "write_features": write_features,
        "convert": convert,
        "get_degree": old_graph.get_degree,
        "get_neighbours": old_graph.get_neighbours,
        "get_weights": old_graph.get_weights,
        "batch_random_walk": old_graph.batch_random_walk,
        "batch_random_walk_uniform": old_graph.batch_random_walk_uniform,
        "batch_random_fanout": old_graph.batch_random_fanout,
        "sample_neighbours": old_graph.sample_neighbours,
        "get_data": old_table.get_data,
    }


ONES = np.ones(2)
OPTIONS = [
    *("direction", "replace", "seed", "fanouts", "batch_size", "seeds", "shuffle", "drop_last"),
    *("columns", "prefetch", "backend", "num_nodes", "weights", "times", "undirected"),
    *("neighbor_order", "encoding", "edge_ids", "memory", "dtype", "align_rows", "to", "out"),
    *("original", "ids", "fill"),
    *("weighted", "disjoint", "method", "threads", "time", "node_time", "temporal", "window"),
    *("layer_dependency", "subgraph", "exclude"),
    *("time_window", "rank", "world_size", "hot_memory", "widen", "pin_memory", "device"),
    *("edge_label", "negatives", "neg_ratio", "exclude_seed_edges"),
    *("length", "p", "q", "restart", "stay", "strict", "src", "pad"),
]


def attack(folder: Path, examples: int) -> None:
    """Call everything with anything."""
    known = calls(folder)

    @settings(
        max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(
        st.sampled_from(sorted(known)),
        st.lists(anything, max_size=4),
        st.dictionaries(st.sampled_from(OPTIONS), anything, max_size=2),
    )
    @example("sample some", [[2**40]], {"replace": True})
    @example("sample some", [range(10**18)], {})
    @example("node_ids named", [range(10**18)], {})
    @example("walk some", [2**40], {})
    @example("batch_random_fanout", [[0], 2**40], {})
    @example("negative_edges", [2**40], {})
    @example("write_graph some", [], {"num_nodes": 2**40})
    @example("NeighborLoader some", [], {"batch_size": 2**62})
    @example("NeighborLoader some", [], {"rank": 2**64 - 2, "world_size": 2**64 - 1})
    @example("LinkNeighborLoader some", [], {"negatives": "binary", "neg_ratio": 1e300})
    @example("LinkNeighborLoader some", [], {"negatives": "triplet", "neg_ratio": 2**63})
    def call(name: str, arguments: list[Any], options: dict[str, Any]) -> None:
        # Whoever reads this after a crash wants to know what was called.
        Path("last-call.txt").write_text(f"{name} {arguments!r} {options!r}")
        try:
            known[name](*arguments, **options)
        except Exception:
            return

    call()


if __name__ == "__main__":
    limit_resources()
    attack(Path.cwd(), int(sys.argv[1]))
