"""The same columns in every library that a build takes them from."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp
import torch

# What `np.dtype` and `torch` call the types whose numbers a table can be made of.
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
DTYPES = [*INTEGERS, *FLOATS, "bool"]


def typed_vectors(values: list[Any], dtype: str) -> dict[str, Any]:
    """One vector of one type, in every library that has the type."""
    array = np.array(values, dtype=dtype)
    tensor = torch.from_numpy(array.copy()) if dtype != "bool" else torch.tensor(values)
    return {
        "numpy": array,
        "big-endian": array.astype(array.dtype.newbyteorder(">")),
        "strided": np.repeat(array, 2)[::2],
        "torch": tensor,
        "pandas": pd.Series(array),
        "polars": pl.Series(array),
        "pyarrow": pa.array(array),
        "chunked": pa.chunked_array([pa.array(array[:1]), pa.array(array[1:])]),
    }


def vectors_with_gaps(values: list[int | None]) -> dict[str, Any]:
    """Integers of which some are missing."""
    return {
        "list": values,
        "object": np.array([*values, 0], dtype=object)[:-1],
        "pandas": pd.Series(values, dtype="Int64"),
        "arrow in pandas": pd.Series(values, dtype=pd.ArrowDtype(pa.int64())),
        "polars": pl.Series(values, dtype=pl.Int64),
        "pyarrow": pa.array(values, type=pa.int64()),
    }


def word_vectors(words: list[str]) -> dict[str, Any]:
    """One vector of words."""
    return {
        "list": words,
        "numpy": np.array(words, dtype=str),
        "object": np.array([*words, ""], dtype=object)[:-1],
        "bytes": np.array([word.encode() for word in words], dtype=object),
        "pandas": pd.Series(words, dtype="str"),
        "categories": pd.Series(words, dtype="category"),
        "polars": pl.Series(words, dtype=pl.String),
        "pyarrow": pa.array(words, type=pa.string()),
        "dictionary": pa.array(words, type=pa.string()).dictionary_encode(),
    }


def tables(columns: dict[str, Any]) -> dict[str, Any]:
    """One table of columns that are lists or arrays."""
    arrays = {name: np.asarray(column) for name, column in columns.items()}
    made: dict[str, Any] = {
        "dict": columns,
        "pandas": pd.DataFrame(columns),
        "polars": pl.DataFrame(columns),
        "pyarrow": pa.table({name: pa.array(column) for name, column in arrays.items()}),
    }
    if all(array.dtype.kind in "iuf" for array in arrays.values()):
        kinds = [(name, array.dtype) for name, array in arrays.items()]
        made["structured"] = np.array(list(zip(*arrays.values(), strict=True)), dtype=kinds)
    return made


def indexed(columns: dict[str, Any], key: str) -> pd.DataFrame:
    """A frame of pandas whose index is one of the columns."""
    return pd.DataFrame(columns).set_index(key)


def as_is(value: Any) -> Any:
    """Return the value."""
    return value


def edge_kinds(edges: list[tuple[int, int]]) -> dict[str, Callable[[], Any]]:
    """Edges of small ids in everything that keeps their order."""
    columns = [[edge[end] for edge in edges] for end in (0, 1)]
    made: dict[str, Callable[[], Any]] = {
        "lists": lambda: columns,
        "tuple": lambda: tuple(columns),
        "arrays": lambda: (np.array(columns[0], np.int16), torch.tensor(columns[1])),
        "torch": lambda: torch.tensor(columns, dtype=torch.int64).reshape(2, -1),
    }
    for dtype in INTEGERS:
        array = np.array(columns, dtype=dtype).reshape(2, -1)
        made[dtype] = partial(as_is, array)
    if len(edges) != 2:
        made["pairs"] = lambda: edges
        made["rows"] = lambda: np.array(edges, dtype=np.int64).reshape(-1, 2)
    if edges:
        for name, table in tables({"src": columns[0], "dst": columns[1]}).items():
            made[f"table of {name}"] = partial(as_is, table)
        shape = (max(map(max, edges)) + 1,) * 2
        values = np.ones(len(edges))
        made["scipy"] = lambda: sp.coo_array((values, tuple(map(np.array, columns))), shape=shape)
    return made


def graph_of(edges: list[tuple[Any, Any]], nodes: list[Any], weights: list[float]) -> Any:
    """A directed multigraph of networkx."""
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(nodes)
    for (source, destination), weight in zip(edges, weights, strict=True):
        graph.add_edge(source, destination, weight=weight)
    return graph


def dates(seconds: list[int]) -> dict[str, Any]:
    """Times of day zero and later, in seconds, as every library has dates."""
    array = np.array(seconds, dtype="datetime64[s]")
    utc = [datetime.datetime.fromtimestamp(second, datetime.timezone.utc) for second in seconds]
    return {
        "numpy": array,
        "pandas": pd.Series(array),
        "zone": pd.Series(array).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
        "pyarrow": pa.array(utc, type=pa.timestamp("s", tz="UTC")),
    }
