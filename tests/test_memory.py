"""Files far larger than memory: opening reads a page, and views take no memory of ours."""

from __future__ import annotations

import ctypes
import mmap
import os
from pathlib import Path

import numpy as np
import pytest
import torch

import graphmill as gm
from tests.command import graphmill
from tests.memory_group import memory_group, run_in
from tests.page_cache import forget
from tests.process import needs_proc
from tests.sparse import crc32c, recognisable, write_sparse

pytestmark = needs_proc

COLUMNS = 128
ROWS = 1 << 24
LIMIT = 1 << 30
OPENING = 64 << 10

LOOK = """
import sys, time
from pathlib import Path
import numpy as np
import torch
import graphmill as gm
from tests.process import anonymous_memory
from tests.sparse import recognisable

path, filled = Path(sys.argv[1]), np.load(sys.argv[2])
ids = torch.from_numpy(filled)
expected = np.stack([recognisable(int(row), 128) for row in filled])
torch.zeros(10, 10)[torch.tensor([1, 2])].sum()
before = anonymous_memory()
started = time.perf_counter()
x = gm.Features(path)
tensor = x.torch()
print(f"opened {x.nbytes / 2**30:.0f} GiB in {(time.perf_counter() - started) * 1e6:.0f} us")
assert tuple(tensor.shape) == (1 << 24, 128), tensor.shape
for name, rows in {
    "torch": tensor[ids],
    "numpy": x.numpy()[filled],
    "gather": x.gather(filled),
    "gather of torch ids": x.gather(ids),
}.items():
    np.testing.assert_array_equal(np.asarray(rows), expected, err_msg=name)
del rows
grown = anonymous_memory() - before
print(f"grew by {grown}")
assert grown < 16 << 20, grown
if sys.argv[3:] == ["copy"]:
    tensor.clone()
"""


@pytest.fixture(scope="module")
def filled() -> np.ndarray:
    """2,000 rows in random order, the first and the last among them."""
    drawn = np.random.default_rng(0).choice(np.arange(1, ROWS - 1), 1998, replace=False)
    return np.random.default_rng(1).permutation(np.concatenate([drawn, [0, ROWS - 1]]))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory, filled: np.ndarray) -> Path:
    """8 GiB of features, nearly all of them holes."""
    path = tmp_path_factory.mktemp("large") / "large.gd"
    write_sparse(path, ROWS, COLUMNS, filled.tolist())
    if path.stat().st_blocks * 512 > 1 << 30:
        pytest.skip("needs a file system with sparse files")
    return path


def test_the_hand_made_header_is_graphmills_own(tmp_path: Path) -> None:
    assert crc32c(b"123456789") == 0xE3069283
    array = np.stack([recognisable(row, 8) for row in range(1000)])
    gm.write_features(tmp_path / "real.gd", array)
    write_sparse(tmp_path / "made.gd", 1000, 8, list(range(1000)))
    real, made = ((tmp_path / name).read_bytes() for name in ("real.gd", "made.gd"))
    assert len(real) == len(made)
    # All but the digests, which the hand-made file does not have.
    assert real[:48] + real[56:4092] == made[:48] + made[56:4092]
    assert real[4096 : 4096 + array.nbytes] == made[4096 : 4096 + array.nbytes]
    assert graphmill("verify", tmp_path / "made.gd", check=False).returncode == 1


def test_features_eight_times_the_memory_open_and_read_right(
    tmp_path: Path, large: Path, filled: np.ndarray
) -> None:
    assert large.stat().st_size > 8 * LIMIT
    np.save(tmp_path / "filled.npy", filled)
    with memory_group(LIMIT) as group:
        done = run_in(group, LOOK, large, tmp_path / "filled.npy")
    print(done.stdout)
    assert done.returncode == 0, done.stderr


def test_the_limit_of_memory_is_real(tmp_path: Path, large: Path, filled: np.ndarray) -> None:
    np.save(tmp_path / "filled.npy", filled)
    with memory_group(LIMIT) as group:
        done = run_in(group, LOOK, large, tmp_path / "filled.npy", "copy")
    assert done.returncode != 0, "a copy of 8 GiB was made in 1 GiB"
    assert "grew by" in done.stdout


def resident_bytes(path: Path) -> int:
    """How much of a file is in the page cache."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    size = path.stat().st_size
    descriptor = os.open(path, os.O_RDONLY)
    try:
        start = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
        pages = np.zeros(-(-size // mmap.PAGESIZE), dtype=np.uint8)
        assert libc.mincore(start, size, pages.ctypes.data) == 0
        libc.munmap(start, size)
    finally:
        os.close(descriptor)
    return int((pages & 1).sum()) * mmap.PAGESIZE


def bytes_read() -> int:
    """What this process read, by system calls or past the page cache."""
    counts = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(counts["rchar"]) + int(counts["read_bytes"])


@pytest.mark.parametrize("size", ["small", "large"])
def test_opening_reads_a_page_whatever_the_size(tmp_path: Path, large: Path, size: str) -> None:
    path = large
    if size == "small":
        path = tmp_path / "small.gd"
        write_sparse(path, 1000, COLUMNS, [1, 999])
    forget(path)
    if resident_bytes(path) != 0:
        pytest.skip("this file system does not let pages be forgotten")
    before = bytes_read()
    x = gm.Features(path)
    views = x.numpy(), x.torch()
    assert isinstance(views[1], torch.Tensor)
    assert bytes_read() - before < OPENING
    assert resident_bytes(path) < OPENING
    # The measures do see what is read.
    assert float(views[0][: 1 << 10].sum()) > 0
    with open(path, "rb") as file:
        file.read(2 * OPENING)
    assert bytes_read() - before > OPENING
    assert resident_bytes(path) > OPENING


def test_opening_a_graph_reads_a_page(tmp_path: Path) -> None:
    edges = np.random.default_rng(0).integers(0, 50_000, size=(2, 200_000))
    gm.write_graph(tmp_path / "graph.gl", edges)
    forget(tmp_path / "graph.gl")
    if resident_bytes(tmp_path / "graph.gl") != 0:
        pytest.skip("this file system does not let pages be forgotten")
    before = bytes_read()
    g = gm.Graph(tmp_path / "graph.gl")
    _ = g.csr(), g.csc("torch")
    assert bytes_read() - before < OPENING
    assert resident_bytes(tmp_path / "graph.gl") < OPENING
