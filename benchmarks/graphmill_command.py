"""The command `graphmill` as the benchmarks call it.

Sections say what they want built, and get the command line for it. It must not know how commands are measured.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.child import Command


@dataclass(frozen=True)
class Traits:
    """What a dataset was asked to be."""

    features: tuple[int, ...] | None = None
    order: str = "none"
    directions: frozenset[str] = frozenset({"in", "out"})


class Graphmill:
    """One installed version of the command."""

    def __init__(self, program: str) -> None:
        """Find the program, on the path unless it is named with its folder."""
        found = shutil.which(program)
        if found is None:
            raise SystemExit(
                f"no command `{program}` here: run `make bench`, or name it with --command"
            )
        self.program = found

    def version(self) -> str:
        """What it says it is."""
        return self._run("--version").strip()

    def has(self, verb: str) -> bool:
        """Whether this version knows a verb."""
        done = subprocess.run([self.program, verb, "--help"], capture_output=True)
        return done.returncode == 0

    def has_flag(self, verb: str, flag: str) -> bool:
        """Whether this version knows a verb and a flag of it."""
        done = subprocess.run([self.program, verb, "--help"], capture_output=True, text=True)
        return done.returncode == 0 and f"{flag} " in done.stdout

    def generate(self, kind: str, target: Path, *flags: str) -> None:
        """Write a synthetic graph now."""
        self._run("generate", kind, str(target), "--quiet", "--overwrite", *flags)

    def convert(self, source: Path, target: Path, *flags: str) -> Command:
        """The command that converts one file."""
        return Command([self.program, "convert", str(source), str(target), "--quiet", *flags])

    def build(self, target: Path, edges: Path, *flags: str) -> Command:
        """The command that builds a dataset."""
        return Command(
            [self.program, "build", str(target), "--edges", str(edges), "--quiet", *flags]
        )

    def reorder(self, dataset: Path, target: Path, *flags: str) -> Command:
        """The command that writes a dataset in another order."""
        return Command([self.program, "reorder", str(dataset), str(target), "--quiet", *flags])

    def counts(self, path: Path) -> tuple[int, int]:
        """Nodes and edges of a topology or a dataset."""
        found = self._inspect(path)
        return found["num_nodes"], found["num_edges"]

    def traits(self, path: Path) -> Traits:
        """What a dataset is, apart from its counts."""
        found = self._inspect(path)
        features = found["tables"].get("x")
        return Traits(
            directions=frozenset(found["graph"]["directions"]),
            order=found["order"],
            features=tuple(features["shape"]) if features else None,
        )

    def shape(self, path: Path) -> tuple[int, int]:
        """Rows and columns of a table."""
        rows, columns = self._inspect(path)["shape"]
        return rows, columns

    def lists_bytes(self, path: Path) -> int:
        """What a topology takes without original ids and what is stored for each edge; header and digests included."""
        found = self._inspect(path)
        lists = ("offsets.", "neighbours.", "compact-offsets.", "packed-neighbours.", "digests")
        others = [each["bytes"] for each in found["sections"] if not each["name"].startswith(lists)]
        return int(found["bytes"]) - sum(others)

    def bits_per_edge(self, path: Path) -> float:
        """What neighbours and offsets take, by what the command says."""
        return float(self._inspect(path)["bits_per_edge"])

    def disk(self, path: Path) -> str:
        """What is measured of the disk that holds a path, as JSON."""
        return self._run("inspect", "--disk", str(path), "--json")

    def estimate(self, dataset: Path, *flags: str) -> dict[str, Any]:
        """What it says that batches of a dataset will cost."""
        found: dict[str, Any] = json.loads(self._run("estimate", str(dataset), "--json", *flags))
        return found

    def _inspect(self, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._run("inspect", str(path), "--json"))
        return found

    def _run(self, *arguments: str) -> str:
        done = subprocess.run([self.program, *arguments], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"graphmill {arguments[0]} failed: {done.stderr.strip()[-500:]}")
        return done.stdout
