"""What figures were taken on: processor, memory, disk, file system, limits and versions.

Linux tells all of it in files; what a machine does not tell is None and not guessed. It must not know what is measured.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.child import CORES
from benchmarks.graphmill_command import Graphmill
from benchmarks.peers.installation import python_of, script

ROOT = Path(__file__).parents[1]
PACKAGES = ["numpy", "torch", "torch_geometric", "pyg_lib", "torch_sparse", "torch_cluster"]
PEER_PACKAGES = [*PACKAGES, "dgl", "graphzero", "pandas", "scipy"]
TELL_VERSIONS = """
import importlib.metadata, json, sys

found = {}
for name in sys.argv[1:]:
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""


def describe(work: Path, graphmill: Graphmill) -> dict[str, Any]:
    """The machine, and the disk that holds a folder."""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "usable_cores": len(os.sched_getaffinity(0)),
        "cores_of_a_process": CORES,
        "memory_bytes": memory_info("MemTotal"),
        "cgroup_limit_bytes": cgroup_limit(),
        "kernel": platform.release(),
        "system": platform.platform(),
        "transparent_huge_pages": first_line(Path("/sys/kernel/mm/transparent_hugepage/enabled")),
        "disk": disk(work),
        "file_system": file_system(work),
        "disk_profile": profile(work, graphmill),
    }


def versions(graphmill: Graphmill, peers: Path) -> dict[str, Any]:
    """Ours, those of Python's packages, and those of the peers that are installed by now."""
    found: dict[str, Any] = {
        "graphmill": graphmill.version(),
        "commit": commit(),
        "python": platform.python_version(),
    }
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    found["fio"] = told_by(["fio", "--version"]) if shutil.which("fio") else None
    found["peers"] = {}
    for folder in sorted(peers.iterdir()) if peers.is_dir() else []:
        if python_of(folder).exists():
            said = told_by(script(folder, TELL_VERSIONS, *PEER_PACKAGES))
            found["peers"][folder.name] = json.loads(said) if said else None
        else:
            # A program that cargo compiled; the recipe names its version.
            found["peers"][folder.name] = first_line(folder / "installed")
    return found


def name() -> str:
    """A name for files: the processor and its cores."""
    words = re.sub(r"[^a-z0-9]+", "-", processor().lower()).strip("-")
    return f"{words}-{os.cpu_count()}-cores"


def processor() -> str:
    """The model of the processor."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def memory_info(key: str) -> int:
    """Bytes of one line of /proc/meminfo."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return 1024 * int(line.split()[1])
    raise LookupError(f"/proc/meminfo has no {key}")


def page_cache() -> int:
    """Bytes of files that the kernel has in memory now."""
    return memory_info("Cached") + memory_info("Buffers")


def cgroup_limit() -> int | None:
    """Bytes that the cgroup of this process may have; None where there is no limit."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            file = Path("/sys/fs/cgroup/memory") / path.lstrip("/") / "memory.limit_in_bytes"
        elif not controllers:
            file = Path("/sys/fs/cgroup") / path.lstrip("/") / "memory.max"
        else:
            continue
        text = first_line(file)
        # The first version says "no limit" by a number that no machine has.
        if text and text.isdigit() and int(text) < 1 << 60:
            return int(text)
    return None


def block_device(folder: Path) -> Path | None:
    """The folder in which the kernel describes the disk below a file system; None where there is no single disk."""
    device = folder.stat().st_dev
    entry = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
    if not entry.exists():
        return None
    entry = entry.resolve()
    return entry if (entry / "queue").is_dir() else entry.parent


def disk(folder: Path) -> dict[str, Any] | None:
    """The disk that holds a folder."""
    device = block_device(folder)
    if device is None:
        return None
    model = first_line(device / "device" / "model")
    sectors = first_line(device / "size")
    read_ahead = first_line(device / "queue" / "read_ahead_kb")
    return {
        "name": device.name,
        # A virtual disk has no model, but a driver.
        "model": model or driver(device),
        "bytes": 512 * int(sectors) if sectors else None,
        "rotational": first_line(device / "queue" / "rotational") == "1",
        "scheduler": first_line(device / "queue" / "scheduler"),
        "read_ahead_bytes": 1024 * int(read_ahead) if read_ahead else None,
    }


def driver(device: Path) -> str | None:
    """What serves a disk."""
    link = device / "device" / "driver"
    return f"driver {link.resolve().name}" if link.exists() else None


def disk_counters(folder: Path) -> dict[str, int] | None:
    """Requests and bytes at the disk below a folder since the machine started, by everybody."""
    device = block_device(folder)
    if device is None:
        return None
    numbers = [int(number) for number in (device / "stat").read_text().split()]
    return {
        "read_requests": numbers[0],
        "read_bytes": 512 * numbers[2],
        "write_requests": numbers[4],
        "written_bytes": 512 * numbers[6],
    }


def file_system(folder: Path) -> dict[str, Any]:
    """The kind of file system that holds a folder, how it is mounted, and what is free."""
    device = folder.stat().st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    found: dict[str, Any] = {"kind": None, "options": None}
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split()
        if fields[2] == wanted:
            found = {"kind": after.split()[0], "options": fields[5]}
    return {**found, "free_bytes": shutil.disk_usage(folder).free}


def profile(folder: Path, graphmill: Graphmill) -> dict[str, Any] | None:
    """What `graphmill inspect --disk` measures; None where this version does not."""
    if not graphmill.has_flag("inspect", "--disk"):
        return None
    found: dict[str, Any] = json.loads(graphmill.disk(folder))["disk"]
    return found


def commit() -> str | None:
    """The commit of this clone, with a plus if files differ from it; None outside a clone."""
    found = told_by(["git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD"])
    if not found:
        return None
    # What was measured does not differ because a run is gone on with.
    but_runs = ["--", ".", ":!benchmarks/runs"]
    status = ["git", "-C", str(ROOT), "status", "--porcelain", "--untracked-files=no", *but_runs]
    return f"{found}+" if told_by(status) else found


def told_by(command: list[str]) -> str | None:
    """What a command prints; None where it fails or does not exist."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def first_line(path: Path) -> str | None:
    """The first line of a small file; None where it does not exist or may not be read."""
    try:
        return path.read_text().partition("\n")[0].strip()
    except OSError:
        return None
