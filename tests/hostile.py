"""Attacks on the readers, run in a process of their own, because a crash is what they look for.

``python -m tests.hostile KIND SEED ROUNDS`` works in the current folder. The file that is being tried lies there, so
that a crash leaves its cause behind.
"""

from __future__ import annotations

import random
import re
import resource
import shutil
import struct
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

import graphmill as gm
import graphmill.graphzero as gz
from graphmill._native import run_command
from tests.sparse import crc32c

ALLOWED: tuple[type[Exception], ...] = (gm.GraphmillError, OSError, ValueError, IndexError)
NUMBERS = [0, 1, 2, 3, 255, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1]
LOOKED_AT = 300


def limit_resources() -> None:
    """A wrong size must end in an error of ours, not in all of the machine's memory or disk."""
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))


def flipped(data: bytes, rng: random.Random) -> bytes:
    """Some bytes changed, cut, doubled or moved."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(changed)) if changed else 0
        match rng.randrange(6):
            case 0 | 1:
                changed[at : at + 1] = bytes([rng.randrange(256)])
            case 2:
                changed[at : at + 8] = struct.pack("<Q", rng.choice(NUMBERS))
            case 3:
                del changed[at : at + rng.choice([1, 8, 4096])]
            case 4:
                changed[at:at] = rng.randbytes(rng.choice([1, 8, 4096]))
            case 5:
                del changed[at:]
    return bytes(changed)


def lying(data: bytes, rng: random.Random) -> bytes:
    """Numbers of the header and of the data changed, with a checksum that fits again."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        # Description and section table are where the numbers are; zeros elsewhere are checked as such.
        start, stop = rng.choice([(8, 64), (64, 96), (256, 576), (4096, len(changed))])
        at = rng.randrange(start, stop, rng.choice([1, 4, 8]))
        size = rng.choice([1, 4, 8])
        value = rng.choice([*NUMBERS, rng.randrange(2**16), changed[at] + rng.choice([-1, 1])])
        changed[at : at + size] = (value % 2 ** (8 * size)).to_bytes(size, "little")
    del changed[len(data) :]
    struct.pack_into("<I", changed, 4092, crc32c(bytes(changed[:4092])))
    return bytes(changed)


def lying_manifest(text: str, rng: random.Random) -> str:
    """A manifest with other numbers, names and characters, and a checksum that fits again."""
    manifest = text[text.index('"manifest": ') + len('"manifest": ') : text.rindex("}")]
    spots = list(re.finditer(r'\d+|"[^"]*"|[\[\]{}:,]|true|false', manifest))
    for spot in sorted(rng.sample(spots, rng.randint(1, 2)), key=lambda s: -s.start()):
        new = rng.choice(
            [
                str(rng.choice(NUMBERS)),
                "-1",
                "1e99",
                "null",
                '"../x.1.gd"',
                '"x.1.gd"',
                "[",
                "{",
                "",
            ]
        )
        manifest = manifest[: spot.start()] + new + manifest[spot.end() :]
    return f'{{"crc32c": {crc32c(manifest.encode())},\n"manifest": {manifest}}}\n'


def look_at_graph(path: Path) -> None:
    """Use everything that a graph offers."""
    for open_graph in (gm.Graph, gz.Graph):
        open_graph(path)
    g = gm.Graph(path)
    nodes = range(min(g.num_nodes, LOOKED_AT))
    for look in (
        lambda: repr(g),
        lambda: [g.neighbors(node).sum() for node in nodes],
        lambda: [g.neighbors(node, "in").sum() for node in nodes],
        lambda: [g.neighbor_lists(nodes), g.neighbor_lists(nodes, "in")],
        lambda: g.degrees(),
        lambda: g.sample(nodes, [3, 2], seed=1),
        lambda: g.sample(nodes, [-1, 2], "out", seed=1),
        lambda: g.sample(nodes, [4], "out", replace=True, seed=1),
        lambda: [np.asarray(g.weights()).sum(), np.asarray(g.edge_ids()).sum()],
        lambda: [gz.Graph(path).get_neighbours(node) for node in nodes],
    ):
        attempt(look)


def look_at_table(path: Path) -> None:
    """Use everything that a table offers."""
    x = gm.Features(path)
    rows = range(min(len(x), LOOKED_AT))
    for look in (
        lambda: repr(x),
        lambda: x.numpy()[: len(rows)].sum(),
        lambda: x.numpy(writable=True)[-1:].sum(),
        lambda: x.gather(rows),
        lambda: x[-1],
        lambda: gz.FeatureStore(path).get_tensor()[: len(rows)].sum(),
    ):
        attempt(look, TypeError)


def look_at_dataset(path: Path) -> None:
    """Open a dataset and load from it."""
    ds = gm.open(path, memory="16MiB")
    repr(ds)
    for look in (
        lambda: [ds.table(name).gather(range(10)) for name in ds.tables],
        lambda: [len(ds.split(name)) for name in ds.splits],
        lambda: [batch.n_id for batch in gm.NeighborLoader(ds, [2, 2], 64, "train")],
        lambda: [batch.n_id for batch in gm.NeighborLoader(ds, [1], 64, original=True)],
        lambda: [ds.node_ids(ds.original_ids([node])) for node in range(LOOKED_AT)],
        lambda: [ds.ids, ds.order, ds.classes],
    ):
        attempt(look, KeyError)


TRIED: Counter[str] = Counter()


def attempt(look: Callable[[], object], *more: type[Exception]) -> None:
    """Errors of ours are answers; panics are no ``Exception`` and pass through."""
    allowed = ALLOWED + more
    try:
        look()
        TRIED["answered"] += 1
    except allowed as error:
        TRIED[type(error).__name__] += 1


def attack_files(kind: str, rng: random.Random, rounds: int) -> None:
    """Mutate the files of a kind, open them, use them, and verify some."""
    suffix = "gl" if "graph" in kind else "gd"
    look = look_at_graph if suffix == "gl" else look_at_table
    originals = [path.read_bytes() for path in sorted(Path().glob(f"{kind}-*.{suffix}"))]
    target = Path(f"tried.{suffix}")
    for round in range(rounds):
        data = rng.choice(originals)
        ours = data.startswith(b"\x89GM")
        data = lying(data, rng) if ours and rng.random() < 0.6 else flipped(data, rng)
        target.write_bytes(data)
        attempt(lambda: look(target))
        if round % 10 == 0:
            code = run_command(["graphmill", "verify", "--quiet", str(target)])
            assert code in (0, 1), code
            assert run_command(["graphmill", "inspect", "--quiet", str(target)]) in (0, 1)


def attack_dataset(original: Path, rng: random.Random, rounds: int) -> None:
    """Mutate a manifest, or a file that it names."""
    folder = Path("tried")
    shutil.copytree(original, folder)
    text = (original / "dataset.json").read_text()
    for round in range(rounds):
        (folder / "dataset.json").write_text(text)
        victim = rng.choice(sorted(original.iterdir()))
        data = victim.read_bytes()
        if rng.random() < 0.7:
            manifest = lying_manifest(text, rng)
            (folder / "dataset.json").write_text(manifest)
        else:
            damaged = flipped(data, rng)
            if victim.suffix in (".gl", ".gd") and rng.random() < 0.5:
                # What stands in the data is believed until it is used.
                damaged = data[:4096] + lying(data, rng)[4096:]
            (folder / victim.name).write_bytes(damaged)
        attempt(lambda: look_at_dataset(folder))
        if round % 10 == 0:
            code = run_command(["graphmill", "verify", "--quiet", str(folder)])
            assert code in (0, 1), code
        (folder / victim.name).write_bytes(data)


def main(kind: str, seed: int, rounds: int) -> None:
    """Run one attack."""
    limit_resources()
    rng = random.Random(seed)
    if kind in ("dataset", "renumbered"):
        attack_dataset(Path(kind), rng, rounds)
    else:
        attack_files(kind, rng, rounds)
    print(dict(TRIED))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
