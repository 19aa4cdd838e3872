"""A feature for GraphBolt where dgl is not installed: its base class stands in; tests/peers asks the real one."""

from __future__ import annotations

import importlib
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

import graphmill as gm


class Base:
    """GraphBolt's Feature."""


class InMemory(Base):
    """As much of its TorchBasedFeature as is used."""

    def __init__(self, rows: torch.Tensor, metadata: dict[str, Any]) -> None:
        self.rows, self.metadata = rows, metadata


@pytest.fixture
def feature_class(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    bolt: Any = ModuleType("dgl.graphbolt")
    bolt.Feature, bolt.TorchBasedFeature = Base, InMemory
    dgl: Any = ModuleType("dgl")
    dgl.graphbolt = bolt
    monkeypatch.setitem(sys.modules, "dgl", dgl)
    monkeypatch.setitem(sys.modules, "dgl.graphbolt", bolt)
    before = sys.modules.pop("graphmill.graphbolt", None)
    yield importlib.import_module("graphmill.graphbolt").Feature
    del sys.modules["graphmill.graphbolt"]
    if before is not None:
        sys.modules["graphmill.graphbolt"] = before


@pytest.fixture
def rows() -> torch.Tensor:
    return torch.arange(240.0).view(20, 12)


@pytest.fixture
def path(tmp_path: Path, rows: torch.Tensor) -> Path:
    gm.write_features(tmp_path / "x.gd", rows)
    return tmp_path / "x.gd"


@pytest.mark.parametrize("shape", [None, (12,), (3, 4), (2, 3, 2)])
def test_rows_may_have_several_dimensions(
    feature_class: Any, path: Path, rows: torch.Tensor, shape: tuple[int, ...] | None
) -> None:
    feature, expected = feature_class(path, row_shape=shape), rows.view(20, *(shape or (12,)))
    ids = torch.tensor([3, 0, 3])
    assert feature.size() == expected.shape[1:]
    assert feature.count() == 20
    assert torch.equal(feature.read(ids), expected[ids])
    assert torch.equal(feature.read(), expected)
    assert feature.read(ids[:0]).shape == (0, *expected.shape[1:])
    assert torch.equal(next(iter(feature.read_async(ids))).wait(), expected[ids])
    assert torch.equal(pickle.loads(pickle.dumps(feature)).read(), expected)


def test_a_shape_of_other_rows_is_refused(feature_class: Any, path: Path) -> None:
    with pytest.raises(ValueError, match=r"row_shape is \(5, 2\), but rows .* have 12 values"):
        feature_class(path, row_shape=(5, 2))


def test_a_vector_has_rows_without_dimensions(feature_class: Any, tmp_path: Path) -> None:
    gm.write_features(tmp_path / "y.gd", np.arange(5))
    feature = feature_class(tmp_path / "y.gd")
    assert feature.size() == torch.Size([])
    assert feature.read(torch.tensor([4, 1])).tolist() == [4, 1]
    assert feature.read().tolist() == [0, 1, 2, 3, 4]


def test_rows_in_memory_are_a_copy(feature_class: Any, path: Path, rows: torch.Tensor) -> None:
    memory = feature_class(path, {"a": 1}, (3, 4)).read_into_memory()
    assert isinstance(memory, InMemory)
    assert memory.metadata == {"a": 1}
    memory.rows[0] = -1
    assert torch.equal(feature_class(path).read(), rows)


def test_moving_and_pinning_leave_the_rows_on_disk(feature_class: Any, path: Path) -> None:
    feature = feature_class(path)
    with pytest.warns(UserWarning, match=r"to\('cuda'\) has no effect.*read_into_memory") as told:
        assert feature.to("cuda") is feature
    with pytest.warns(UserWarning, match=r"pin_memory_\(\) has no effect"):
        assert feature.pin_memory_() is feature
    assert told[0].filename == __file__


def test_it_shows_itself_as_graphbolts_features_do(feature_class: Any, tmp_path: Path) -> None:
    gm.write_features(tmp_path / "small.gd", np.array([[1, 2], [3, 4]]))
    assert repr(feature_class(tmp_path / "small.gd", {"a": 1})) == (
        "Feature(\n    feature=tensor([[1, 2],\n                    [3, 4]]),\n    metadata={'a': 1},\n)"
    )
