"""Kill a build at each of its calls of the kernel that change the disk, and look at what is left.

``python -m torture.killed_calls``: strace ends the process when it is about to make the N-th call of a kind, for every
N, over a dataset that is there already and over none. What is there afterwards is the old dataset, the new one or none,
whole; and the next build works and leaves no more than its own files.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import graphmill as gm
from graphmill._native import run_command

CALLS = [
    *("write", "pwrite64", "pwritev2", "fsync", "fdatasync", "sync_file_range", "ftruncate"),
    *("fallocate", "rename", "renameat2", "unlink", "unlinkat", "mkdir", "rmdir", "flock", "fcntl"),
]
OLD, NEW = 7, 11


def write_sources(folder: Path) -> None:
    """A ring of ``NEW`` nodes as text."""
    nodes = range(NEW)
    (folder / "edges.csv").write_text("".join(f"{node},{(node + 1) % NEW}\n" for node in nodes))
    (folder / "x.csv").write_text("".join(f"{node}.5\n" for node in nodes))
    (folder / "train.csv").write_text("0\n1\n")


def build_command(folder: Path) -> list[str]:
    """The build whose calls are killed."""
    options = ["--overwrite", "--quiet", "--memory", "16MiB", "--threads", "1", "--order", "hot"]
    sources = ["--edges", "edges.csv", "--features", "x.csv", "--split", "train=train.csv"]
    return [sys.executable, "-m", "graphmill", "build", str(folder / "set"), *sources, *options]


def build_old(folder: Path) -> None:
    """Another dataset under the same name."""
    ring = [list(range(OLD)), [(node + 1) % OLD for node in range(OLD)]]
    gm.build(folder / "set", edges=ring, labels=[0] * OLD, memory="16MiB")


def killed_at(folder: Path, call: str, number: int) -> bool:
    """Build, and be killed at a call; whether there was such a call."""
    # Calls of the interpreter count too: it makes the same ones before and after the build.
    inject = f"inject={call}:signal=KILL:when={number}"
    strace = ["strace", "-f", "-o", os.devnull, "-e", f"trace={call}", "-e", inject]
    command = [*strace, *build_command(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode not in (0, -signal.SIGKILL, 128 + signal.SIGKILL):
        raise SystemExit(f"{call} {number}: exit {done.returncode}: {done.stderr}")
    return done.returncode != 0


def nodes_of(folder: Path) -> int | None:
    """How many nodes the dataset has that is there, which must be sound."""
    if not (folder / "set" / "dataset.json").exists():
        return None
    if run_command(["graphmill", "verify", "--quiet", str(folder / "set")]) != 0:
        raise SystemExit(f"{folder}/set is damaged")
    return gm.open(folder / "set", memory="16MiB").num_nodes


def kill_every(folder: Path, call: str, had: bool) -> int:
    """Kill at the first call of a kind, at the second, and so on until a build gets through."""
    number = 0
    while True:
        number += 1
        shutil.rmtree(folder / "set", ignore_errors=True)
        if had:
            build_old(folder)
        killed = killed_at(folder, call, number)
        found = nodes_of(folder)
        allowed = {NEW, OLD if had else None} if killed else {NEW}
        if found not in allowed:
            raise SystemExit(f"{call} {number}: {found} nodes after {killed=}, {had=}")
        if not killed:
            return number - 1
        # Whatever is left, the next build works and clears it.
        subprocess.run(build_command(folder), cwd=folder, check=True)
        files = {path.suffix for path in (folder / "set").iterdir()}
        if nodes_of(folder) != NEW or files != {".gl", ".gd", ".json"}:
            raise SystemExit(f"{call} {number}: {files} after the next build")
        others = {path.name for path in folder.iterdir()}
        if others != {"set", "edges.csv", "x.csv", "train.csv"}:
            raise SystemExit(f"{call} {number}: {others} beside the dataset")


def main() -> None:
    """Every call, over nothing and over a dataset."""
    total = 0
    for call in CALLS:
        for had in (True, False):
            with tempfile.TemporaryDirectory() as name:
                write_sources(Path(name))
                kills = kill_every(Path(name), call, had)
            print(f"{call}: {kills} calls, over {'a dataset' if had else 'nothing'}", flush=True)
            total += kills
    print(f"counted {total}")


if __name__ == "__main__":
    main()
