"""A build within limits: memory, disk, signals. Nothing half-written is ever left or accepted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import graphmill as gm
from tests.command import graphmill
from tests.memory_group import memory_group
from tests.process import needs_proc
from tests.rounds import rounds

pytestmark = needs_proc
MIB = 1 << 20


def build_command(out: Path, *arguments: object) -> list[str]:
    return [sys.executable, "-m", "graphmill", "build", str(out), *map(str, arguments)]


def peak_anonymous(command: list[str], group: Path | None = None) -> tuple[int, str]:
    """Run a command and give the most RssAnon that it was seen with."""
    if group is not None:
        join = 'echo $$ > "$0/cgroup.procs" && exec "$@"'
        command = ["/bin/sh", "-c", join, str(group), *command]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    status = Path(f"/proc/{child.pid}/status")
    peak = 0
    while child.poll() is None:
        try:
            lines = status.read_text().splitlines()
        except OSError:
            break
        for line in lines:
            if line.startswith("RssAnon:"):
                peak = max(peak, int(line.split()[1]) * 1024)
        time.sleep(0.005)
    stdout, stderr = child.communicate()
    assert child.returncode == 0, stderr
    return peak, stdout


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sources of a dataset of more than 8 times 64 MiB, with ids in any order."""
    folder = tmp_path_factory.mktemp("large")
    graphmill("generate", "rmat", folder / "edges.csv", "--scale", 20, "--edges", "24M", "--quiet")
    rows = 1 << 20
    x = np.lib.format.open_memmap(folder / "x.npy", mode="w+", dtype=np.float32, shape=(rows, 128))
    x[:, 0] = np.arange(rows)
    x.flush()
    del x
    return folder


@pytest.mark.parametrize("order", ["none", "hot", "visits"])
@pytest.mark.parametrize("megabytes", [64, 128, 256][: rounds(1)])
def test_memory_stays_within_the_budget(
    tmp_path: Path, large: Path, order: str, megabytes: int
) -> None:
    baseline, _ = peak_anonymous([sys.executable, "-c", "import graphmill, time; time.sleep(.1)"])
    budget = megabytes * MIB
    # As often as the budget is larger, so that the data is always more than 8 times as much.
    features = [large / "x.npy"] * (megabytes // 64)
    command = build_command(
        tmp_path / "set",
        *("--edges", large / "edges.csv", "--features", *features),
        *("--memory", f"{megabytes}MiB", "--order", order, "--quiet"),
    )
    with memory_group(budget + 448 * MIB) as group:
        peak, _ = peak_anonymous(command, group)
    assert peak - baseline <= 1.1 * budget + 64 * MIB, (peak - baseline) / MIB
    ds = gm.open(tmp_path / "set")
    ids = np.array([0, 12345, ds.num_nodes - 1])
    expected = ds.original_ids(ids) % (1 << 20)
    np.testing.assert_array_equal(ds.table("x").numpy()[ids, 0], expected.astype(np.float32))


def test_mapped_ids_stay_within_the_budget(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    np.save(tmp_path / "edges.npy", rng.integers(0, 1 << 62, size=(2, 4_000_000)))
    baseline, _ = peak_anonymous([sys.executable, "-c", "import graphmill, time; time.sleep(.1)"])
    peak, _ = peak_anonymous(
        build_command(
            *(tmp_path / "set", "--edges", tmp_path / "edges.npy", "--map-ids"),
            *("--memory", "32MiB", "--quiet"),
        )
    )
    assert peak - baseline <= 1.1 * 32 * MIB + 64 * MIB, (peak - baseline) / MIB
    ds = gm.open(tmp_path / "set")
    edges = np.load(tmp_path / "edges.npy", mmap_mode="r")
    assert ds.num_nodes == len(np.unique(edges))


@contextmanager
def tiny_disk(folder: Path, size: int) -> Iterator[Path]:
    """A tmpfs of this size; skip where none can be mounted."""
    folder.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"needs a tmpfs, and mounting one fails: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("order", ["none", "hot", "visits"])
def test_a_full_disk_leaves_the_old_dataset_and_nothing_else(tmp_path: Path, order: str) -> None:
    graphmill("generate", "rmat", tmp_path / "edges.csv", "--scale", 14, "--edges", "400k", "-q")
    np.save(tmp_path / "x.npy", np.ones((1 << 14, 32), dtype=np.float32))
    sources = ("--edges", tmp_path / "edges.csv", "--features", tmp_path / "x.npy")
    refused = 0
    # The largest is enough, the others lie between nothing and it.
    sizes = [64 * MIB, *(6 * MIB * place // rounds(8) for place in range(1, rounds(8)))]
    for size in sizes:
        with tiny_disk(tmp_path / "disk", size) as disk:
            gm.build(disk / "set", edges=[[0, 1], [1, 2]], labels=[1, 2, 3])
            before = sorted(path.name for path in disk.rglob("*"))
            done = graphmill(
                *("build", disk / "set", *sources, "--order", order, "--overwrite"),
                *("--memory", "8MiB"),
                check=False,
            )
            graphmill("verify", disk / "set")
            # No handle stays open: its maps would keep the disk mounted.
            num_nodes = gm.open(disk / "set").num_nodes
            if done.returncode == 0:
                assert num_nodes == 1 << 14
                continue
            refused += 1
            assert done.returncode == 1
            assert str(disk) in done.stderr
            assert "bytes" in done.stderr
            assert gm.open(disk / "set").table("y").numpy().tolist() == [1, 2, 3]
            assert sorted(path.name for path in disk.rglob("*")) == before
    assert 2 <= refused < len(sizes), "some sizes fit and some do not"


@pytest.mark.parametrize("delay", [0.0, 0.1, 0.3, 0.6, 1.0])
def test_ctrl_c_ends_a_build_within_a_second_and_leaves_nothing(
    tmp_path: Path, large: Path, delay: float
) -> None:
    out = tmp_path / "set"
    child = subprocess.Popen(
        build_command(
            *(out, "--edges", large / "edges.csv", "--features", large / "x.npy"),
            *("--memory", "64MiB", "--order", "hot", "--threads", 1),
        ),
        stderr=subprocess.PIPE,
        text=True,
    )
    patience = time.monotonic() + 60
    while not out.exists():
        assert time.monotonic() < patience
        assert child.poll() is None
        time.sleep(0.005)
    time.sleep(delay)
    child.send_signal(signal.SIGINT)
    sent = time.monotonic()
    _, stderr = child.communicate(timeout=30)
    took = time.monotonic() - sent
    assert child.returncode == 1, stderr
    assert "nothing was written" in stderr
    assert list(tmp_path.iterdir()) == []
    # The promise is a second on a machine of one's own; a shared one may stall for longer.
    assert took < 10, took


def test_ctrl_c_in_python_is_a_keyboard_interrupt(tmp_path: Path, large: Path) -> None:
    script = (
        "import graphmill as gm, sys\n"
        "try:\n    gm.build(sys.argv[1], edges=sys.argv[2], memory='64MiB', threads=1)\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
    )
    out = tmp_path / "set"
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(out), str(large / "edges.csv")],
        stdout=subprocess.PIPE,
        text=True,
    )
    patience = time.monotonic() + 60
    while not out.exists():
        assert time.monotonic() < patience
        assert child.poll() is None
        time.sleep(0.005)
    os.kill(child.pid, signal.SIGINT)
    stdout, _ = child.communicate(timeout=30)
    assert stdout == "interrupted\n"
    assert not out.exists()


def test_what_a_build_wrote_does_not_stay_in_the_page_cache(tmp_path: Path, large: Path) -> None:
    graphmill(
        *("build", tmp_path / "set", "--edges", large / "edges.csv", "--quiet"),
        *("--memory", "256MiB"),
    )
    done = graphmill("inspect", tmp_path / "set")
    (line,) = [line for line in done.stdout.splitlines() if "in page cache" in line][:1]
    share = line.split("in page cache")[1].split("%")[0].strip()
    if share.startswith("unknown"):
        pytest.skip("the kernel does not tell what is in its page cache")
    assert int(share) <= 10, line
