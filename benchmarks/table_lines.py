"""Lines about tables: text against GraphZero, an array against a copy of it, an archive against inflating it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from benchmarks.bench import MEMORY, Bench, size
from benchmarks.child import Command
from benchmarks.contest import Contestant, WrongResult, ratio
from benchmarks.graphmill_command import Traits
from benchmarks.inputs import COLUMNS
from benchmarks.musts import Must
from benchmarks.peers import GraphZero

INFLATE = """
import sys, zipfile

with zipfile.ZipFile(sys.argv[1]) as archive:
    for name in archive.namelist():
        with archive.open(name) as member:
            while member.read(1 << 20):
                pass
"""


def table_text(bench: Bench) -> None:
    """Text to a table, against GraphZero."""
    table = bench.inputs.table_text()
    wanted = bench.inputs.scale.text_rows, COLUMNS
    contestants = [ours(bench, table, wanted)]
    graphzero = bench.peers.get("graphzero")
    if isinstance(graphzero, GraphZero):
        command = graphzero.features(table, bench.out)
        shape = graphzero.shape
        contestants.append(
            Contestant(
                graphzero.name, ".gd", command, [table], lambda _: shaped(shape(bench.out), wanted)
            )
        )
    outcomes = bench.hold(f"x.csv, {size(table)}, to .gd", "graphmill", contestants)
    measured = ratio(outcomes, "graphzero", "graphmill")
    bench.musts.append(Must("features from CSV: speed over graphzero", measured, at_least=3.0))


def table_array(bench: Bench) -> None:
    """An array to a table, against copying its bytes as durably."""
    table = bench.inputs.table_array()
    copy = bench.out / "copy.npy"
    shell = ["sh", "-c", 'cp "$0" "$1" && sync "$1"', str(table), str(copy)]
    limit = Contestant("cp + sync", "copy", Command(shell), [table], lambda _: size(copy))
    contestants = [ours(bench, table, (1 << bench.inputs.scale.nodes_power, COLUMNS)), limit]
    outcomes = bench.hold(f"x.npy, {size(table)}, to .gd", "graphmill", contestants)
    measured = ratio(outcomes, limit.name, "graphmill")
    bench.musts.append(Must("features from .npy: speed over cp + sync", measured, at_least=0.8))


def archive(bench: Bench) -> None:
    """A dataset in OGB's layout, against inflating its archive into nothing."""
    folder, scale = bench.inputs.archive(), bench.inputs.scale
    data = folder / "raw" / "data.npz"
    wanted = scale.archive_rows, scale.archive_edges
    traits = Traits(features=(scale.archive_rows, COLUMNS))
    limit = inflation(data)
    title = f"OGB folder with data.npz, {size(data)}, to a dataset"
    outcomes = bench.datasets(title, lambda: [bench.build(folder, wanted, traits), limit])
    measured = ratio(outcomes, limit.name, "build")
    bench.musts.append(Must("OGB .npz: speed over unzip", measured, at_least=0.7))


def ours(bench: Bench, table: Path, wanted: tuple[int, int]) -> Contestant:
    """Our own part in a contest about tables."""
    target = bench.out / "x.gd"
    return Contestant(
        name="graphmill",
        work=f".gd, synced, --memory {MEMORY}MiB",
        command=bench.graphmill.convert(table, target, "--memory", f"{MEMORY}MiB"),
        inputs=[table],
        check=lambda _: shaped(bench.graphmill.shape(target), wanted),
    )


def inflation(data: Path) -> Contestant:
    """What merely reading an archive takes, by unzip where it is installed."""
    if shutil.which("unzip"):
        command = ["sh", "-c", 'exec unzip -p "$0" > /dev/null', str(data)]
        name = "unzip"
    else:
        command = [sys.executable, "-I", "-c", INFLATE, str(data)]
        name = "zipfile (no unzip here)"
    return Contestant(name, "inflate into nothing", Command(command), [data], lambda _: size(data))


def shaped(found: tuple[int, int], wanted: tuple[int, int]) -> str:
    """Rows and columns for the table, once they are what they must be."""
    if found != wanted:
        raise WrongResult(f"made {found[0]:,} x {found[1]}, must be {wanted[0]:,} x {wanted[1]}")
    return f"{found[0]:,} x {found[1]}"
