"""``from_pyg(..., reuse=True)``: the same data is built once, other data never taken for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

import graphmill as gm
from graphmill._reuse import Origin


def some_data() -> Data:
    return Data(
        x=torch.arange(12.0).view(4, 3).to(torch.bfloat16),
        edge_index=torch.tensor([[0, 1, 3], [1, 2, 0]]),
        edge_attr=torch.rand(3, 2, generator=torch.Generator().manual_seed(0)),
        y=torch.tensor([0.0, float("nan"), 1.0, 2.0]),
        train_mask=torch.tensor([True, False, True, True]),
    )


def built_when(folder: Path) -> list[tuple[str, int]]:
    return sorted((file.name, file.stat().st_mtime_ns) for file in folder.iterdir())


def test_the_same_data_is_opened_and_not_built(tmp_path: Path) -> None:
    first = gm.from_pyg(some_data(), tmp_path / "ds", reuse=True, order="hot")
    before = built_when(tmp_path / "ds")
    again = gm.from_pyg(some_data(), tmp_path / "ds", reuse=True, order="hot", memory="32MiB")
    assert built_when(tmp_path / "ds") == before
    assert (again.memory, again.generation) == (32 << 20, first.generation)
    # What came later is kept.
    first.add_table("extra", np.arange(4))
    assert gm.from_pyg(some_data(), tmp_path / "ds", reuse=True, order="hot").tables == [
        "extra",
        "x",
        "y",
    ]


CHANGES: dict[str, Callable[[Data], Any]] = {
    "x": lambda data: data.x[3].fill_(7),
    "type of x": lambda data: setattr(data, "x", data.x.float()),
    "shape of y": lambda data: setattr(data, "y", data.y.view(4, 1)),
    "an edge": lambda data: data.edge_index[1].copy_(torch.tensor([1, 2, 1])),
    "mask": lambda data: data.train_mask.logical_not_(),
    "name": lambda data: setattr(data, "other_mask", data.train_mask),
    "no edge_attr": lambda data: delattr(data, "edge_attr"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_other_data_is_never_taken_for_it(tmp_path: Path, change: str) -> None:
    gm.from_pyg(some_data(), tmp_path / "ds", reuse=True)
    other = some_data()
    CHANGES[change](other)
    before = built_when(tmp_path / "ds")
    with pytest.raises(gm.GraphmillError, match="overwrite=True"):
        gm.from_pyg(other, tmp_path / "ds", reuse=True)
    assert built_when(tmp_path / "ds") == before
    gm.from_pyg(other, tmp_path / "ds", reuse=True, overwrite=True)
    after = built_when(tmp_path / "ds")
    assert after != before
    gm.from_pyg(other, tmp_path / "ds", reuse=True, overwrite=True)
    assert built_when(tmp_path / "ds") == after


def test_other_options_make_another_dataset(tmp_path: Path) -> None:
    gm.from_pyg(some_data(), tmp_path / "ds", reuse=True)
    for options in ({"order": "hot"}, {"splits": {"test": [0]}}, {"encoding": "i64"}):
        with pytest.raises(gm.GraphmillError, match="other data or options"):
            gm.from_pyg(some_data(), tmp_path / "ds", reuse=True, **options)


def test_a_dataset_that_lost_a_part_or_never_said_is_not_reused(tmp_path: Path) -> None:
    ds = gm.from_pyg(some_data(), tmp_path / "ds", reuse=True)
    ds.remove_table("x")
    plain = gm.from_pyg(some_data(), tmp_path / "plain")
    for path in (ds.path, plain.path):
        with pytest.raises(gm.GraphmillError, match="without reuse=True"):
            gm.from_pyg(some_data(), path, reuse=True)


def test_files_among_the_options_are_known_by_size_and_time(tmp_path: Path) -> None:
    file = tmp_path / "year.npy"
    np.save(file, np.arange(4))
    make: Callable[[], gm.Dataset] = lambda: gm.from_pyg(  # noqa: E731
        some_data(), tmp_path / "ds", reuse=True, tables={"year": file}
    )
    make()
    before = built_when(tmp_path / "ds")
    make()
    assert built_when(tmp_path / "ds") == before
    os.utime(file, ns=(0, 0))
    with pytest.raises(gm.GraphmillError, match="other data"):
        make()


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    tables = {"year": pandas.DataFrame({"year": [1, 2, 3, 4]})}
    with pytest.raises(TypeError, match=r"DataFrame for tables\['year'\]; give an array"):
        gm.from_pyg(some_data(), tmp_path / "ds", reuse=True, tables=tables)


ARRAYS = st.builds(
    lambda values, dtype: np.array(values, dtype=dtype),
    st.lists(st.integers(0, 3), max_size=4),
    st.sampled_from([np.int8, np.int32, np.float32]),
)
SOURCES = st.dictionaries(
    st.sampled_from(["labels", "features", "tables", "order"]),
    ARRAYS | st.none() | st.dictionaries(st.sampled_from(["a", "b"]), ARRAYS, max_size=2),
)


def described(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: described(item) for key, item in value.items()}
    return (value.dtype, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value


@settings(max_examples=300, deadline=None)
@given(first=SOURCES, second=SOURCES)
def test_digests_are_equal_exactly_where_sources_are(first: Any, second: Any) -> None:
    assert (Origin.of(first) == Origin.of(second)) == (described(first) == described(second))
    assert Origin.of(first) == Origin.of({**first, "memory": 5, "overwrite": True})
