"""Poor surroundings: few descriptors, small stacks, no rings, no place to write. The same results, or errors."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import graphmill as gm
from tests.command import graphmill
from tests.page_cache import forget
from tests.process import needs_proc
from tests.rounds import rounds
from tests.shared_work import work

pytestmark = needs_proc
ROOT = Path(__file__).parents[1]
# Prints a digest of work that reads in every way; what a poor surrounding does is put before it.
READ = """
import sys
import graphmill as gm
from tests.shared_work import work
ds = gm.open(sys.argv[1], memory="32MiB")
print(*(work(ds, int(number)) for number in sys.argv[2:]))
"""
# The first is without loaders, and so without the time that torch takes to be imported.
SIMPLE, ALL = (3,), (3, 8)


def in_surroundings(before: str, *arguments: object, script: str = READ) -> str:
    """Run a script in a process that first does something to itself."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", before + script, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "panicked" not in done.stderr, done.stderr[-2000:]
    return done.stdout


def ordinary_results(papers: Path, numbers: tuple[int, ...]) -> list[str]:
    """What this process gets."""
    ds = gm.open(papers, memory="32MiB")
    return [work(ds, number) for number in numbers]


def assert_same_results(before: str, papers: Path, numbers: tuple[int, ...]) -> None:
    """What comes back is what ordinary surroundings give."""
    expected = ordinary_results(papers, numbers)
    assert in_surroundings(before, papers, *numbers).split() == expected


FEW_DESCRIPTORS = """
import resource, torch
resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
"""
SMALL_STACKS = """
import resource, threading
resource.setrlimit(resource.RLIMIT_STACK, (2 << 20, 2 << 20))
threading.stack_size(256 << 10)
"""
NO_LOCKED_MEMORY = """
import resource
resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))
"""
# Seccomp by its bare calls: io_uring_setup (425), io_setup (206), process_madvise (440) and statx (332) are refused.
SANDBOX = """
import ctypes, struct
libc = ctypes.CDLL(None, use_errno=True)
steps = [(0x20, 0, 0, 0)]
for call in (425, 206, 440, 332):
    steps += [(0x15, 0, 1, call), (0x06, 0, 0, 0x00050000 | 1)]
steps += [(0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_void_p)]
program = Program(len(steps), ctypes.addressof(code))
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(program)) == 0
"""
CLOCKS = """
import time, itertools
jumps = itertools.cycle([0.0, 4e9, -1.0, 5.0, 1e5])
real = time.time
time.time = lambda: real() + next(jumps)
time.monotonic = time.perf_counter = lambda: next(jumps)
"""


POOR = {
    "40 descriptors": FEW_DESCRIPTORS,
    "stacks of 2 MiB": SMALL_STACKS,
    "no locked memory": NO_LOCKED_MEMORY,
    "clocks that jump": CLOCKS,
}
if os.uname().machine == "x86_64":
    # The numbers of the calls are its own.
    POOR["a sandbox without rings"] = SANDBOX


# At once in quick runs; a long one tells which it was.
@pytest.mark.parametrize("poor", ["all at once", *list(POOR)[: rounds(1) - 1]])
def test_poor_surroundings_give_the_same_results(papers: Path, poor: str) -> None:
    assert_same_results(POOR.get(poor) or "".join(POOR.values()), papers, ALL)


@pytest.mark.skipif("a sandbox without rings" not in POOR, reason="needs x86_64")
def test_the_sandbox_is_one() -> None:
    script = "print(libc.syscall(425, 8, 0), ctypes.get_errno())"
    assert in_surroundings(SANDBOX, script=script).split() == ["-1", "1"]


OPEN_UNTIL_REFUSED = """
import resource, sys
import graphmill as gm
resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
kept = []
try:
    while len(kept) < 100:
        kept.append(gm.open(sys.argv[1], memory="32MiB"))
except (gm.GraphmillError, OSError) as error:
    message = str(error)
assert "Too many open files" in message, message
opened = len(kept)
kept.clear()
kept.append(gm.open(sys.argv[1], memory="32MiB").table("x").gather([1, 2]))
print(opened)
"""


def test_without_descriptors_opening_fails_by_name_and_works_again(papers: Path) -> None:
    assert 0 < int(in_surroundings("", papers, script=OPEN_UNTIL_REFUSED)) < 40


@contextmanager
def mounted(*arguments: object) -> Iterator[None]:
    """Something mounted; skip where that is not possible."""
    target = str(arguments[-1])
    done = subprocess.run(["mount", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"needs a mount, which fails: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", target], check=True)


def test_a_read_only_file_system_is_read_and_not_written(tmp_path: Path, papers: Path) -> None:
    shown = tmp_path / "shown"
    shown.mkdir()
    with mounted("--bind", "-o", "ro", papers.parent, shown):
        if os.access(shown, os.W_OK):
            subprocess.run(["mount", "-o", "remount,bind,ro", str(shown)], check=True)
        assert_same_results("", shown / papers.name, SIMPLE)
        graphmill("verify", shown / papers.name, "--quiet")
        graphmill("inspect", shown / papers.name)
        (tmp_path / "edges.csv").write_text("0,1\n")
        done = graphmill("build", shown / "new", "--edges", tmp_path / "edges.csv", check=False)
        assert done.returncode == 1
        assert "Read-only file system" in done.stderr
        assert str(shown) in done.stderr


@contextmanager
def slow_disk(device: int, bytes_per_second: int) -> Iterator[Path]:
    """A group of processes for whom a disk is slow; skip where none can be made."""
    group = Path("/sys/fs/cgroup/blkio") / f"graphmill-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"needs a blkio cgroup, and making one fails: {error}")
    try:
        try:
            limit = f"{os.major(device)}:{os.minor(device)} {bytes_per_second}"
            (group / "blkio.throttle.read_bps_device").write_text(limit)
        except OSError as error:
            pytest.skip(f"needs a disk that can be throttled: {error}")
        yield group
    finally:
        group.rmdir()


def test_a_slow_disk_gives_the_same_results(papers: Path) -> None:
    expected = ordinary_results(papers, SIMPLE)
    with slow_disk(papers.stat().st_dev, 1 << 20) as group:
        for file in papers.iterdir():
            forget(file)
        join = "import graphmill, numpy, os\n"
        join += f"open('{group}/cgroup.procs', 'w').write(str(os.getpid()))\n"
        assert in_surroundings(join, papers, *SIMPLE).split() == expected


AS_NOBODY = """
import os
os.setgroups([]); os.setgid(65534); os.setuid(65534)
"""
WRITE = """
import sys
import graphmill as gm
for build in (
    lambda: gm.build(sys.argv[1] + "/new", edges=[[0], [1]], memory="16MiB"),
    lambda: gm.write_features(sys.argv[1] + "/x.gd", numpy.ones((2, 2))),
    lambda: gm.write_graph(sys.argv[1] + "/g.gl", [[0], [1]], memory="16MiB"),
):
    try:
        build()
        print("written")
    except (gm.DiskError, PermissionError) as error:
        print("Permission denied" in str(error) and sys.argv[1] in str(error))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to become somebody else")
def test_a_folder_that_may_not_be_written_is_refused_by_name(tmp_path: Path) -> None:
    # Where nobody may look for it, all of the package is imported before.
    before = "import numpy\nfrom graphmill import *\nfrom graphmill import _native\n" + AS_NOBODY
    folder = Path("/var/tmp") / f"graphmill-{os.getpid()}"
    folder.mkdir(mode=0o755)
    try:
        printed = in_surroundings(before, folder, script=WRITE)
        assert list(folder.iterdir()) == []
    finally:
        shutil.rmtree(folder)
    assert printed.split() == ["True"] * 3


def test_links_are_followed_to_read_and_never_written_through(tmp_path: Path, papers: Path) -> None:
    (tmp_path / "link").symlink_to(papers)
    assert gm.open(tmp_path / "link").num_nodes == gm.open(papers).num_nodes
    precious = tmp_path / "precious"
    precious.write_text("keep me")
    # Where a file is published, and where it is written before that.
    (tmp_path / "x.gd").symlink_to(precious)
    gm.write_features(tmp_path / "x.gd", np.ones((3, 2)), overwrite=True)
    assert not (tmp_path / "x.gd").is_symlink()
    (tmp_path / ".x.gd.partial").symlink_to(precious)
    with pytest.raises((gm.GraphmillError, OSError), match=r"x\.gd"):
        gm.write_features(tmp_path / "x.gd", np.ones((3, 2)), overwrite=True)
    assert precious.read_text() == "keep me"
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    with pytest.raises((gm.GraphmillError, OSError), match="circle"):
        gm.open(tmp_path / "circle")


WITHOUT_SHARED_MEMORY = """
import os
# A name space of its own, in which the place of shared memory is read-only.
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x00020000) != 0:
    print("cannot"); raise SystemExit
assert os.system("mount --make-rprivate / && mount -t tmpfs -o ro tmpfs /dev/shm") == 0
try:
    open("/dev/shm/x", "w")
    print("cannot"); raise SystemExit
except OSError:
    pass
"""


def test_nothing_needs_shared_memory(papers: Path) -> None:
    if in_surroundings(WITHOUT_SHARED_MEMORY, script="").strip() == "cannot":
        pytest.skip("needs a name space of its own, which cannot be made")
    assert_same_results(WITHOUT_SHARED_MEMORY, papers, SIMPLE)
