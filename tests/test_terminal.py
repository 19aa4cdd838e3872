"""Names in files may be hostile: what the command prints of them moves no cursor, and no length of them ends it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import graphmill as gm
from tests.command import graphmill

HOSTILE = "\x1b[2J\x1b]0;owned\x07\r\x9b31m\u202e\x7f"


def crc32c(data: bytes) -> int:
    """The checksum of manifests, bit by bit."""
    found = 0xFFFFFFFF
    for byte in data:
        found ^= byte
        for _ in range(8):
            found = found >> 1 ^ (0x82F63B78 if found & 1 else 0)
    return found ^ 0xFFFFFFFF


def forge(folder: Path, order: str) -> None:
    """Let the manifest of a dataset name this order of nodes."""
    path = folder / "dataset.json"
    manifest = json.loads(path.read_text())["manifest"]
    manifest["order"] = order
    text = json.dumps(manifest, ensure_ascii=False)
    envelope = f'{{"crc32c": {crc32c(text.encode())}, "manifest": {text}}}'
    path.write_text(envelope)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    gm.build(tmp_path / "ds", edges=np.array([[0, 1], [1, 2]]), features=np.zeros((3, 2)))
    return tmp_path / "ds"


@pytest.mark.parametrize("verb", ["inspect", "inspect --json", "verify"])
def test_control_characters_of_files_are_escaped(folder: Path, verb: str) -> None:
    forge(folder, f"by {HOSTILE} order")
    name, *flags = verb.split()
    done = graphmill(name, folder, *flags, check=False)
    printed = done.stdout + done.stderr
    assert not any(letter in printed for letter in HOSTILE if not letter.isprintable())
    if verb == "inspect":
        assert r"by \u001b[2J\u001b]0;owned\u0007\u000d\u009b31m\u202e\u007f order" in printed
    if flags:
        assert json.loads(done.stdout)["order"] == f"by {HOSTILE} order"


@pytest.mark.parametrize("length", [65_535, 65_536, 200_000])
def test_an_order_of_any_length_is_printed(folder: Path, length: int) -> None:
    forge(folder, "x" * length)
    assert "x" * length in graphmill("inspect", folder).stdout
