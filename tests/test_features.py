"""Rows by id: what NumPy indexing would give, or an error that says why not."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import graphmill as gm
from tests.rounds import rounds

ids_of_1000 = st.lists(st.integers(0, 999), max_size=200)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ids=ids_of_1000)
def test_gather_equals_indexing(features: gm.Features, rows: np.ndarray, ids: list[int]) -> None:
    expected = rows[np.asarray(ids, dtype=np.int64)]
    np.testing.assert_array_equal(features.gather(ids), expected)
    np.testing.assert_array_equal(features[np.asarray(ids, dtype=np.int32)], expected)
    tensor = features[torch.tensor(ids, dtype=torch.int64)]
    assert isinstance(tensor, torch.Tensor)
    np.testing.assert_array_equal(tensor.numpy(), expected)


def test_ids_come_in_many_forms(features: gm.Features, rows: np.ndarray) -> None:
    forms = [
        [5, 3],
        (5, 3),
        range(5, 1, -2),
        np.array([5, 3], dtype=np.uint8),
        np.array([5, 0, 3, 0], dtype=np.int64)[::2],
        torch.tensor([5, 3], dtype=torch.int32),
    ]
    for ids in forms:
        np.testing.assert_array_equal(np.asarray(features.gather(ids)), rows[[5, 3]])
    assert features.gather([]).shape == (0, 16)
    np.testing.assert_array_equal(features[7], rows[7])
    np.testing.assert_array_equal(features[-1], rows[-1])
    np.testing.assert_array_equal(features[10:20:3], rows[10:20:3])
    np.testing.assert_array_equal(features[np.int64(4)], rows[4])


@pytest.mark.parametrize("dtype", ["int64", "int8", "float32", "bool", "bfloat16"])
@pytest.mark.parametrize("shape", [(5,), (5, 3), (5, 0), (0,)])
def test_no_ids_give_no_rows_of_the_right_type(
    tmp_path: Path, dtype: str, shape: tuple[int, ...]
) -> None:
    kind = getattr(torch, dtype)
    x = gm.write_features(tmp_path / "x.gd", torch.zeros(shape, dtype=kind))
    nothing = torch.empty(0, dtype=torch.long)
    for found in (
        x[nothing],
        x.gather(nothing),
        x.gather([], out=torch.empty(0, *shape[1:]).to(kind)),
    ):
        assert isinstance(found, torch.Tensor)
        assert found.dtype == kind
        assert tuple(found.shape) == (0, *shape[1:])
    if dtype != "bfloat16":
        assert x[[]].shape == (0, *shape[1:])
        assert x[[]].dtype == x.dtype


def test_a_mask_selects_rows_as_in_numpy(features: gm.Features, rows: np.ndarray) -> None:
    rng = np.random.default_rng(0)
    masks = [rng.random(1000) < share for share in (0.0, 0.3, 1.0)]
    for mask in masks:
        found = features[mask]
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, rows[mask])
        tensor = features[torch.from_numpy(mask)]
        assert isinstance(tensor, torch.Tensor)
        np.testing.assert_array_equal(tensor.numpy(), rows[mask])
    for wrong in (masks[1][:-1], np.ones(1001, dtype=bool), np.ones(0, dtype=bool)):
        for form in (wrong, torch.from_numpy(wrong.copy())):
            with pytest.raises(
                IndexError, match=f"the mask has {len(wrong)} entries, expected 1000"
            ):
                features[form]
    with pytest.raises(TypeError, match="2-dimensional bool"):
        features[np.ones((1000, 16), dtype=bool)]


def test_what_may_mean_rows_or_a_cell_is_refused(features: gm.Features) -> None:
    tuples: list[Any] = [(2, 1), (2,), (), (slice(None), 1), (..., 0), ([1], [2])]
    for key in tuples:
        with pytest.raises(TypeError, match=r"x\[\[2, 1\]\] for rows .* x\[2\]\[1\] or x.numpy"):
            features[key]
    for key in (True, False, np.True_, np.array(True), torch.tensor(True)):
        with pytest.raises(TypeError, match="found a bool"):
            features[key]
    for key in (1000, -1001, 2**63, 2**70, -(2**70), np.array(2**63, dtype=np.uint64)):
        with pytest.raises(IndexError):
            features[key]
    for key in (1.5, None, "x", ..., np.array(1.5), torch.tensor(1.5)):
        with pytest.raises(TypeError):
            features[key]


def test_gather_fills_the_callers_memory(features: gm.Features, rows: np.ndarray) -> None:
    out = np.empty((2, 16), dtype=np.float32)
    assert features.gather([8, 9], out=out) is out
    np.testing.assert_array_equal(out, rows[[8, 9]])
    tensor = torch.empty(2, 16)
    assert features.gather([1, 1], out=tensor) is tensor
    np.testing.assert_array_equal(tensor.numpy(), rows[[1, 1]])


def test_what_cannot_be_filled_is_refused(features: gm.Features) -> None:
    with pytest.raises(ValueError, match=r"shape .*expected \(2, 16\)"):
        features.gather([1, 2], out=np.empty((3, 16), dtype=np.float32))
    with pytest.raises(TypeError, match="dtype float64, expected float32"):
        features.gather([1], out=np.empty((1, 16)))
    with pytest.raises(ValueError, match="contiguous"):
        features.gather([1], out=np.empty((1, 32), dtype=np.float32)[:, ::2])
    frozen = np.empty((1, 16), dtype=np.float32)
    frozen.setflags(write=False)
    with pytest.raises(ValueError, match="writable"):
        features.gather([1], out=frozen)
    with pytest.raises(TypeError, match="out must be"):
        features.gather([1], out="x")


@pytest.mark.parametrize(
    "bad", [[1000], [-1], [5, 2**40], np.array([2**63], dtype=np.uint64), range(2**70)]
)
def test_ids_out_of_range_are_index_errors(features: gm.Features, bad: object) -> None:
    with pytest.raises(IndexError):
        features.gather(bad)


@pytest.mark.parametrize(
    "bad", [None, 1.5, [0.5], np.array([1.0]), "abc", [[1, 2]], np.array(3), {"a": 1}, [True]]
)
def test_what_is_not_a_list_of_integers_is_a_type_error(features: gm.Features, bad: object) -> None:
    with pytest.raises(TypeError, match="ids must be a one-dimensional list or array of integers"):
        features.gather(bad)


def test_a_truncated_file_is_an_error_for_gather(tmp_path: Path, rows: np.ndarray) -> None:
    path = tmp_path / "cut.gd"
    for length in range(0, 40_000, 2_000):
        x = gm.write_features(path, rows)
        with path.open("r+b") as file:
            file.truncate(length)
        with pytest.raises(gm.CorruptError, match=r"cut\.gd"):
            x.gather([999])
        with pytest.raises(gm.CorruptError, match=r"cut\.gd"):
            x.numpy()
        with pytest.raises(gm.GraphmillError, match=r"cut\.gd"):
            gm.Features(path)
        path.unlink()


def test_errors_have_their_natural_classes(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.gd"):
        gm.Features(tmp_path / "nothing.gd")
    (tmp_path / "text.gd").write_text("not a table, but long enough to be one")
    with pytest.raises(gm.FormatError, match="not a ta"):
        gm.Features(tmp_path / "text.gd")
    with pytest.raises(gm.DiskError, match="not a regular file"):
        gm.Features(tmp_path)
    gm.write_features(tmp_path / "x.gd", np.zeros((2, 2)))
    with pytest.raises(FileExistsError, match="overwrite"):
        gm.write_features(tmp_path / "x.gd", np.zeros((2, 2)))
    assert issubclass(gm.MemoryBudgetError, MemoryError)
    assert issubclass(gm.CorruptError, gm.GraphmillError)


def test_ids_may_lie_under_the_result_or_change_meanwhile(tmp_path: Path) -> None:
    """Ids were checked and then read again, so that another thread could make them any number in between."""
    values = np.random.default_rng(0).integers(0, 1000, size=1000)
    backends: list[Literal["auto", "mapped", "pread"]] = ["auto", "mapped", "pread"]
    for backend in backends:
        x = gm.Features(gm.write_features(tmp_path / "x.gd", values, overwrite=True).path, backend)
        ids = np.arange(1000)[::-1].copy()
        assert x.gather(ids, out=ids) is ids
        np.testing.assert_array_equal(ids, values[::-1])
        both = np.arange(1500)
        x.gather(both[:1000], out=both[500:])
        np.testing.assert_array_equal(both[500:], values)

        stop = threading.Event()
        shared = np.zeros(200_000, dtype=np.int64)

        def change(shared: Any = shared, stop: threading.Event = stop) -> None:
            while not stop.is_set():
                for number in [1 << 62, -1, 999, 1 << 40, 5]:
                    shared[:] = number

        thread = threading.Thread(target=change)
        thread.start()
        try:
            for _ in range(rounds(30)):
                try:
                    found = x.gather(shared)
                except IndexError:
                    continue
                # Every row is one of those that were asked for at some moment.
                assert set(np.unique(found)) <= {values[0], values[5], values[999]}
        finally:
            stop.set()
            thread.join()
