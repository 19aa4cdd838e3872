"""Stores: what opening, looking at and verifying a file costs, and what it does not depend on."""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import graphmill as gm
from benchmarks import musts
from benchmarks.choices import add_places
from benchmarks.contest import WrongResult
from benchmarks.graphmill_command import Graphmill
from benchmarks.measure import interleaved, memory_limit, python
from benchmarks.musts import Must

GIB = 1 << 30
COLUMNS = 128
#: Bytes of the table; a graph of a quarter of that is made beside it.
SCALES = {"small": 1 << 28, "full": 1 << 33}

# Runs in a cgroup: opens the table, looks at random rows, and tells what it took.
LOOK = """
import json, sys, time
import numpy as np, torch
import graphmill as gm

path, rows = sys.argv[1], int(sys.argv[2])
torch.zeros(1)
ids = np.random.default_rng(1).integers(0, rows, 20_000)
before = gm.memory_in_use()["anonymous"]
start = time.perf_counter()
view = gm.Features(path).torch()
opened = time.perf_counter() - start
first = np.array([view[i, 0].item() for i in ids.tolist()])
last = np.array([view[i, 127].item() for i in ids.tolist()])
expected = ids.astype(np.float32)
right = bool((first == expected).all() and (last == expected + np.float32(127)).all())
after = gm.memory_in_use()["anonymous"]
print(json.dumps({"open_ms": 1000 * opened, "rows_right": right, "anonymous_growth": after - before}))
"""


def table(path: Path, size: int) -> int:
    """A float32 table of about this size; element (r, c) is r + c. Returns its rows."""
    rows = size // (4 * COLUMNS)

    def chunks() -> Iterator[np.ndarray[Any, Any]]:
        columns = np.arange(COLUMNS, dtype=np.float32)
        for start in range(0, rows, 1 << 17):
            ids = np.arange(start, min(rows, start + (1 << 17)), dtype=np.float32)
            yield ids[:, None] + columns

    gm.write_features(path, chunks())
    return rows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be chosen on the command line."""
    parser.add_argument("--scale", choices=SCALES, default="full", help="targets are for full")
    add_places(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Every measurement of this section, then the targets."""
    graphmill, work = Graphmill(arguments.command), arguments.work.absolute()
    work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="stores-", dir=work) as folder:
        found = measurements(Path(folder), SCALES[arguments.scale], graphmill)
    targets = [
        Must("open: large file over small", found["open"]["ratio"], at_most=1.5),
        Must(
            "views: anonymous memory for 20,000 rows",
            growth(found["views"]),
            at_most=16.0,
            unit="MiB",
        ),
        Must("views: opening one", found["views"].get("open_ms"), at_most=5.0, unit="ms"),
        *(
            Must(f"verify, {each['file']}: speed over cat", each["ratio"], at_least=0.8)
            for each in found["verify"]
        ),
    ]
    note = "" if arguments.scale == "full" else " (targets are for --scale full)"
    musts.show(targets, note)
    return {
        "command": graphmill.version(),
        "scale": arguments.scale,
        **found,
        "musts": [must.record() for must in targets],
    }


def growth(views: dict[str, Any]) -> float | None:
    """MiB that looking at rows took; None where that was not measured or the rows were wrong."""
    if "skipped" in views:
        return None
    if not views["rows_right"]:
        raise WrongResult("views show other rows than were written")
    return float(views["anonymous_growth"]) / 2**20


def measurements(folder: Path, size: int, graphmill: Graphmill) -> dict[str, Any]:
    """All of them, on data made in a folder."""
    small, large = folder / "small.gd", folder / "large.gd"
    table(small, 1 << 20)
    rows = table(large, size)
    graph = folder / "graph.gl"
    graphmill.generate("rmat", graph, "--scale", "24", "--edges", str(size // 32))
    return {
        "open": opening(small, large),
        "views": views(large, rows, size),
        "verify": [verification(large, graphmill), verification(graph, graphmill)],
    }


def opening(small: Path, large: Path) -> dict[str, float]:
    """Opening must not depend on the size of the file."""
    times = interleaved(
        500, small=lambda: gm.Features(small).torch(), large=lambda: gm.Features(large).torch()
    )
    ratio = times["large"] / times["small"]
    print(
        f"open + torch(): {size_of(small)} {1e6 * times['small']:.0f} us, {size_of(large)} ", end=""
    )
    print(f"{1e6 * times['large']:.0f} us: ratio {ratio:.2f}")
    return {"small_us": 1e6 * times["small"], "large_us": 1e6 * times["large"], "ratio": ratio}


def views(path: Path, rows: int, size: int) -> dict[str, Any]:
    """A view of a file that is far larger than the memory the process may use."""
    limit = max(size // 8, GIB // 2)
    with memory_limit(limit) as run_limited:
        if run_limited is None:
            print("views under a memory limit: no cgroup can be made here, not measured")
            return {"skipped": "no cgroup"}
        subprocess.run(["sync"], check=True)
        result: dict[str, Any] = json.loads(run_limited(python(LOOK, str(path), str(rows))))
    print(
        f"{size_of(path)} table in a cgroup of {limit / GIB:.1f} GiB: torch() after {result['open_ms']:.2f} ms, "
        f"20,000 random rows {'right' if result['rows_right'] else 'WRONG'}, "
        f"anonymous memory grew by {result['anonymous_growth'] / 2**20:.1f} MiB"
    )
    return {"limit": limit, **result}


def verification(path: Path, graphmill: Graphmill) -> dict[str, Any]:
    """Verify against the speed at which the same bytes can be read at all."""

    def cat() -> None:
        with open("/dev/null", "wb") as nothing:
            subprocess.run(["cat", str(path)], stdout=nothing, check=True)

    def verify() -> None:
        subprocess.run([graphmill.program, "verify", str(path), "--quiet"], check=True)

    cat()
    times = interleaved(7, cat=cat, verify=verify)
    size = path.stat().st_size
    ratio = times["cat"] / times["verify"]
    print(
        f"verify {path.name}, {size_of(path)}, warm: {size / times['verify'] / 1e9:.2f} GB/s, ",
        end="",
    )
    print(f"cat {size / times['cat'] / 1e9:.2f} GB/s: ratio {ratio:.2f}")
    return {"file": path.name, "bytes": size, "ratio": ratio, **times}


def size_of(path: Path) -> str:
    """The size of a file for people."""
    size = path.stat().st_size
    return f"{size / GIB:.1f} GiB" if size >= GIB else f"{size / 2**20:.0f} MiB"
