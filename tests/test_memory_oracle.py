"""Random builds from memory, of every library and type, against dictionaries: what goes in comes out or is refused."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import graphmill as gm
from tests import memory_kinds as kinds
from tests.rounds import rounds

REFUSED = (gm.SourceError, ValueError, TypeError)
STORED = [
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "bool",
    "float16",
    "bfloat16",
    *kinds.FLOATS[1:],
]
SMALL_IDS = st.integers(0, 11)


@contextmanager
def folder() -> Iterator[Path]:
    """A folder for one example."""
    path = Path(tempfile.mkdtemp())
    try:
        yield path / "set"
    finally:
        shutil.rmtree(path)


def stored_edges(
    ds: gm.Dataset, direction: str
) -> list[tuple[Any, Any, int, float | None, int | None]]:
    """Every stored edge by the ids of the source, with its row, weight and time."""
    graph = ds.graph
    offsets, neighbours = graph.neighbor_lists(np.arange(ds.num_nodes), direction)
    owners = np.repeat(np.arange(ds.num_nodes), np.diff(offsets))
    ends = [ds.original_ids(owners).tolist(), ds.original_ids(neighbours).tolist()]
    sources, destinations = ends if direction == "out" else ends[::-1]
    rows = graph.edge_ids(direction).tolist()
    weights = graph.weights(direction)
    times = graph.times(direction)
    count = len(rows)
    return list(
        zip(
            sources,
            destinations,
            rows,
            [None] * count if weights is None else weights.tolist(),
            [None] * count if times is None else times.tolist(),
            strict=True,
        )
    )


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, Any]:
    """Edges with values, tables and splits, as Python has them."""
    edges = draw(st.lists(st.tuples(SMALL_IDS, SMALL_IDS), min_size=1, max_size=20))
    naming = draw(st.sampled_from(["numbers", "mapped", "words"]))
    names: dict[int, Any] = {id: id for id in range(12)}
    if naming == "mapped":
        large = st.integers(0, 2**63 - 2)
        names = dict(enumerate(draw(st.lists(large, min_size=12, max_size=12, unique=True))))
    elif naming == "words":
        words = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=4)
        names = dict(enumerate(draw(st.lists(words, min_size=12, max_size=12, unique=True))))
    count = len(edges)
    floats = st.floats(0, 2.0**100, width=32)
    return {
        "edges": edges,
        "naming": naming,
        "names": names,
        "weights": draw(st.none() | st.lists(floats, min_size=count, max_size=count)),
        "times": draw(
            st.none() | st.lists(st.integers(-(2**63), 2**63 - 1), min_size=count, max_size=count)
        ),
        "rows": draw(st.permutations(range(12))),
        "given": draw(st.integers(1, 12)),
        "columns": draw(st.integers(1, 3)),
        "split": draw(st.lists(SMALL_IDS, unique=True, max_size=12)),
        "undirected": draw(st.booleans()),
        "order": draw(st.sampled_from(["none", "hot", "visits"])),
        "data": draw(st.data()),
    }


def edges_of(case: dict[str, Any]) -> Any:
    """The edges of a case in one of the kinds that there are."""
    names, pairs, data = case["names"], case["edges"], case["data"]
    if case["naming"] == "numbers":
        made = kinds.edge_kinds(pairs)
        return made[data.draw(st.sampled_from(sorted(made)), label="edges as")]()
    columns = [[names[pair[end]] for pair in pairs] for end in (0, 1)]
    if case["naming"] == "mapped":
        all_of = [kinds.typed_vectors(column, "int64") for column in columns]
    else:
        all_of = [kinds.word_vectors(column) for column in columns]
    ends = [made[data.draw(st.sampled_from(sorted(made)), label="ids as")] for made in all_of]
    if data.draw(st.booleans(), label="as a table"):
        made = kinds.tables(dict(zip(("src", "dst"), columns, strict=True)))
        return made[data.draw(st.sampled_from(sorted(made)), label="table of")]
    return tuple(ends)


@settings(max_examples=rounds(60), deadline=None)
@given(graphs())
def test_random_builds_from_memory_hold_what_was_given(case: dict[str, Any]) -> None:
    data, names, pairs = case["data"], case["names"], case["edges"]
    by_name = [case["names"][at] for at in case["rows"][: case["given"]]]
    x = np.arange(12 * case["columns"], dtype=np.float32).reshape(12, -1)[: case["given"]] + 0.5
    columns = {"id": by_name, **{f"c{at}": x[:, at] for at in range(case["columns"])}}
    made = {**kinds.tables(columns), "index": kinds.indexed(columns, "id")}
    features = made[data.draw(st.sampled_from(sorted(made)), label="features as")]
    labels = {"node_id": by_name, "kind": [f"kind {at % 3}" for at in range(case["given"])]}
    made = {**kinds.tables(labels), "index": kinds.indexed(labels, "node_id")}
    labelled = made[data.draw(st.sampled_from(sorted(made)), label="labels as")]
    known = {name for pair in pairs for name in pair} | set(case["rows"][: case["given"]])
    if case["naming"] == "numbers":
        known = set(range(max(known) + 1))
    split = [names[id] for id in case["split"] if id in known]
    options = {"map_ids": case["naming"] == "mapped", "string_ids": case["naming"] == "words"}
    with (
        folder() as path,
        pytest.warns(UserWarning, match="without a row")
        if len(known) > case["given"]
        else _nothing(),
    ):
        ds = gm.build(
            path,
            edges_of(case),
            features=features,
            labels=labelled,
            weights=case["weights"],
            times=case["times"],
            splits={"train": np.array(split, dtype=object) if split else []},
            edge_ids=True,
            undirected=case["undirected"],
            order=case["order"],
            memory="64MiB",
            num_nodes=max(known) + 1 if case["naming"] == "numbers" else None,
            **options,
        )
        originals = ds.original_ids(np.arange(ds.num_nodes)).tolist()
        assert sorted(originals) == sorted(names[id] for id in known)
        rows = {name: row.tolist() for name, row in zip(by_name, x, strict=True)}
        zeros = [0.0] * case["columns"]
        assert ds.features is not None
        assert ds.features.numpy().tolist() == [rows.get(name, zeros) for name in originals]
        kind = {name: at % 3 for at, name in enumerate(by_name)}
        assert ds.labels is not None
        assert ds.labels.numpy().tolist() == [kind.get(name, -1) for name in originals]
        assert ds.split("train").tolist() == split
        weights = case["weights"] or [None] * len(pairs)
        times = case["times"] or [None] * len(pairs)
        expected = [
            (names[a], names[b], row, weights[row], times[row]) for row, (a, b) in enumerate(pairs)
        ]
        if case["undirected"]:
            expected += [(b, a, *rest) for a, b, *rest in expected]
        for direction in ds.graph.directions:
            assert sorted(stored_edges(ds, direction), key=repr) == sorted(expected, key=repr)
        report = ds.build_report
        assert report is not None
        assert (report.num_nodes, report.edges.rows) == (ds.num_nodes, len(pairs))
        assert report.tables["x"].filled == len(known) - case["given"]


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@settings(max_examples=rounds(20), deadline=None)
@given(
    st.lists(st.tuples(SMALL_IDS, SMALL_IDS), max_size=20),
    st.sampled_from(["numbers", "words"]),
    st.booleans(),
    st.data(),
)
def test_graphs_of_networkx_and_scipy_come_out_as_they_are(
    pairs: list[tuple[int, int]], naming: str, weighted: bool, data: st.DataObject
) -> None:
    name = (lambda id: f"node {id}") if naming == "words" else (lambda id: id)
    named = [(name(a), name(b)) for a, b in pairs]
    weights = data.draw(
        st.lists(st.floats(0.5, 2, width=32), min_size=len(pairs), max_size=len(pairs))
    )
    # Words are nodes only where an edge has them; of numbers all below the largest one are.
    nodes = [name(0)] if naming == "words" else list(range(12))
    nodes = sorted({id for pair in named for id in pair} | set(nodes))
    graph = kinds.graph_of(named, nodes, weights)
    column = "weight" if weighted else None
    lost = len(nodes) > len({id for pair in named for id in pair}) and naming == "words"
    with folder() as path, pytest.warns(UserWarning, match="left out") if lost else _nothing():
        ds = gm.build(
            path, graph, weight_column=column, string_ids=naming == "words", edge_ids=True
        )
        found = stored_edges(ds, "out")
        expected = sorted(
            (a, b, w if weighted else None) for (a, b), w in zip(named, weights, strict=True)
        )
        assert sorted((a, b, w) for a, b, _, w, _ in found) == expected
        assert [row for *_, row, _, _ in sorted(found, key=lambda edge: edge[2])] == list(
            range(len(pairs))
        )
    if naming == "words":
        return
    matrix = sp.coo_array(
        (np.array(weights), (*np.array(pairs, int).reshape(-1, 2).T,)), shape=(12, 12)
    )
    for convert in (sp.coo_array.tocoo, sp.coo_array.tocsr, sp.coo_array.tocsc):
        with folder() as path:
            ds = gm.build(path, convert(matrix), weight_column="data")
            assert ds.num_nodes == 12
            np.testing.assert_allclose(ds.to_scipy().toarray(), matrix.toarray(), rtol=1e-6)


def exact(value: Any) -> Fraction | float:
    """A number without any rounding; NaN and infinity stay floats."""
    value = value.item() if hasattr(value, "item") else value
    return Fraction(value) if isinstance(value, (bool, int)) or np.isfinite(value) else float(value)


def fits(value: Fraction | float, stored: str) -> bool | None:
    """Whether a type holds a number, if need be rounded to a float; None where rounding decides."""
    if stored == "bool":
        return value in (0, 1)
    if stored in kinds.INTEGERS:
        limits = np.iinfo(stored)
        whole = isinstance(value, Fraction) and value.denominator == 1
        return whole and limits.min <= value <= limits.max
    if isinstance(value, float):
        return True
    largest = Fraction(torch.finfo(getattr(torch, stored)).max)
    if abs(value) <= largest:
        return True
    return False if abs(value) > largest * Fraction(1001, 1000) and stored != "bfloat16" else None


def assert_is(found: float, value: Fraction | float, stored: str) -> None:
    """What came out is the number that went in, rounded only to a float."""
    if isinstance(value, float):
        assert found == value or (np.isnan(found) and np.isnan(value))
        return
    if stored in kinds.INTEGERS or stored == "bool":
        assert Fraction(found) == value
        return
    step = torch.finfo(getattr(torch, stored))
    allowed = max(
        abs(value) * Fraction(step.eps), Fraction(step.smallest_normal) * Fraction(step.eps)
    )
    assert abs(Fraction(found) - value) <= allowed, (found, value, stored)


def numbers_of(dtype: str) -> st.SearchStrategy[list[Any]]:
    """Numbers of a type, its extremes and those of the other types among them."""
    if dtype == "bool":
        return st.lists(st.booleans(), min_size=1, max_size=6)
    edges = [
        sign * (2**bits + more)
        for bits in (0, 7, 8, 11, 15, 16, 24, 31, 32, 53, 63, 64)
        for more in (-1, 0, 1)
        for sign in (1, -1)
    ]
    if dtype in kinds.FLOATS:
        width: Any = int(dtype.removeprefix("float"))
        largest = float(np.finfo(dtype).max)
        fixed = [float(np.dtype(dtype).type(v)) for v in edges if abs(v) <= largest]
        numbers = st.floats(width=width) | st.sampled_from([*fixed, 65504.0, -0.0, 0.5])
        return st.lists(numbers, min_size=1, max_size=6)
    limits = np.iinfo(dtype)
    fixed_ints = [value for value in edges if limits.min <= value <= limits.max]
    numbers_in = st.integers(int(limits.min), int(limits.max)) | st.sampled_from(fixed_ints)
    return st.lists(numbers_in, min_size=1, max_size=6)


def attempt(make: Callable[[], Any]) -> tuple[Any, str | None]:
    """What a call returns, or why it refuses."""
    try:
        return make(), None
    except REFUSED as error:
        return None, str(error)


@pytest.mark.parametrize("dtype", kinds.DTYPES)
@settings(max_examples=rounds(25), deadline=None)
@given(data=st.data())
def test_numbers_of_every_type_are_stored_exactly_or_refused(
    dtype: str, data: st.DataObject
) -> None:
    values = data.draw(numbers_of(dtype))
    stored = data.draw(st.sampled_from(STORED), label="stored as")
    exacts = [exact(value) for value in np.array(values, dtype=dtype)]
    judged = [fits(value, stored) for value in exacts]
    vectors = kinds.typed_vectors(values, dtype)
    kind = data.draw(st.sampled_from(sorted(vectors)), label="kind")
    ring = [list(range(len(values))), [*range(1, len(values)), 0]]
    with folder() as path:
        file = path.with_suffix(".npy")
        np.save(file, vectors["strided"])
        ways = {
            "build": lambda: gm.build(path, ring, features=vectors[kind], dtype=stored).features,
            "npy": lambda: gm.build(path, ring, features=file, dtype=stored).features,
            "write": lambda: gm.write_features(path, vectors["big-endian"], dtype=stored),
            "torch": lambda: gm.write_features(path, vectors["torch"], dtype=stored),
        }
        table, refusal = attempt(ways[data.draw(st.sampled_from(sorted(ways)), label="way")])
        if refusal is not None:
            assert not all(judged), refusal
            return
        assert False not in judged
        assert str(table.torch().dtype) == f"torch.{stored}"
        found = table.torch().to(torch.float64) if "float" in stored else table.torch()
        for number, value in zip(found.tolist(), exacts, strict=True):
            assert_is(number, value, stored)


@pytest.mark.parametrize("dtype", kinds.DTYPES)
@settings(max_examples=rounds(25), deadline=None)
@given(data=st.data())
def test_ids_labels_times_and_weights_of_every_type_are_exact_or_refused(
    dtype: str, data: st.DataObject
) -> None:
    values = data.draw(numbers_of(dtype))
    exacts = [exact(value) for value in np.array(values, dtype=dtype)]
    # Every node has one edge, to the next, so that lists are in the order of the rows.
    ring = [list(range(len(values))), [*range(1, len(values)), 0]]
    whole = dtype in kinds.INTEGERS
    allowed = {
        "times": whole and all(fits(value, "int64") for value in exacts),
        "labels": all(fits(v, "int64") or (isinstance(v, float) and np.isnan(v)) for v in exacts),
        "weights": all(isinstance(v, Fraction) and v >= 0 for v in exacts),
        "ids": whole and all(0 <= value <= 2**63 - 2 for value in exacts),
    }
    vectors = kinds.typed_vectors(values, dtype)
    vector = vectors[data.draw(st.sampled_from(sorted(vectors)), label="kind")]
    role = data.draw(st.sampled_from(sorted(allowed)), label="role")
    with folder() as path:
        if role == "ids":
            make = lambda: gm.build(path, (vector, vector), map_ids=True, edge_ids=True)  # noqa: E731
        else:
            make = lambda: gm.build(path, ring, **{role: vector})  # noqa: E731
        ds, refusal = attempt(make)
        if refusal is not None:
            # Weights may not vanish or overflow; nothing else that fits is refused.
            assert not allowed[role] or (role == "weights" and "float32" in refusal), refusal
            return
        assert allowed[role]
        if role == "ids":
            found = sorted(stored_edges(ds, "out"), key=lambda edge: edge[2])
            assert [edge[0] for edge in found] == [int(value) for value in exacts]
        elif role == "labels":
            expected = [-1 if isinstance(v, float) else int(v) for v in exacts]
            assert ds.labels.numpy().tolist() == expected
        elif role == "times":
            assert ds.graph.times().tolist() == [int(value) for value in exacts]
        else:
            for number, value in zip(ds.graph.weights().tolist(), exacts, strict=True):
                assert_is(number, value, "float32")


@settings(max_examples=rounds(12), deadline=None)
@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8))
def test_integers_with_gaps_keep_their_values(values: list[int | None]) -> None:
    ring = [list(range(len(values))), list(range(len(values)))]
    for kind, vector in kinds.vectors_with_gaps(values).items():
        with folder() as path:
            ds = gm.build(path, ring, labels=vector)
            assert ds.labels is not None
            expected = [-1 if value is None else value for value in values]
            assert ds.labels.numpy().tolist() == expected, kind
            if None in values:
                for role in ("times", "weights", "features"):
                    with pytest.raises(REFUSED):
                        gm.build(path, ring, overwrite=True, **{role: vector})


@settings(max_examples=rounds(6), deadline=None)
@given(st.lists(st.integers(0, 2**40), min_size=1, max_size=6))
def test_dates_count_from_1970_in_their_unit(seconds: list[int]) -> None:
    seconds = [second % (10**10) for second in seconds]
    ring = [list(range(len(seconds))), list(range(len(seconds)))]
    for kind, vector in kinds.dates(seconds).items():
        with folder() as path:
            ds = gm.build(path, ring, times=vector)
            assert ds.graph.times().tolist() == seconds, kind


@settings(max_examples=rounds(12), deadline=None)
@given(
    st.integers(1, 9),
    st.integers(1, 9),
    # SciPy has no sparse float16.
    st.sampled_from([*kinds.INTEGERS, "bool", "float32", "float64"]),
    st.data(),
)
def test_sparse_features_are_written_out(
    rows: int, columns: int, dtype: str, data: st.DataObject
) -> None:
    cells = data.draw(
        st.lists(st.sampled_from([0, 0, 0, 1]), min_size=rows * columns, max_size=rows * columns)
    )
    x = np.array(cells).reshape(rows, columns).astype(dtype)
    ring = [list(range(rows)), list(range(rows))]
    matrix = sp.coo_array(x)
    twice = sp.coo_array(
        (np.tile(matrix.data, 2), tuple(np.tile(axis, 2) for axis in (matrix.row, matrix.col))),
        shape=x.shape,
    )
    made: dict[str, tuple[Any, Any]] = {
        name: (matrix.asformat(name), x) for name in ("coo", "csr", "csc", "lil", "dok")
    }
    if dtype != "bool":
        made["duplicates"] = (twice, x + x)
    if dtype != "uint64" and not dtype.startswith("uint1") and dtype != "uint32":
        made["torch"] = (torch.from_numpy(x).to_sparse(), x)
    for kind, (given_rows, expected) in made.items():
        with folder() as path:
            ds = gm.build(path, ring, features=given_rows, memory="64MiB")
            assert ds.features is not None
            assert ds.features.numpy().tolist() == expected.tolist(), kind
