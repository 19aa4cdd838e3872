"""The program that reads lists one by one, compiled from this repository: what no command and no Python call times.

A call from Python costs more than a neighbour, so this is an example of the crate that samples. It must not know what
its figures are held against.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from benchmarks.child import Command

#: Random lists of a round, and rounds, of which the best counts; they are those of the program.
LISTS, ROUNDS = 200_000, 7
ROOT = Path(__file__).parents[1]


def compiled() -> str:
    """The program, compiled anew where the sources have changed."""
    command = ["cargo", "build", "--release", "--locked", "--message-format", "json"]
    example = ["--package", "graphmill-sample", "--example", "list_speed"]
    done = subprocess.run([*command, *example], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    messages = map(json.loads, done.stdout.splitlines())
    [program] = [
        message["executable"]
        for message in messages
        if message["reason"] == "compiler-artifact" and message["target"]["name"] == "list_speed"
    ]
    return str(program)


def read_lists(program: str, graph: Path, residency: str) -> Command:
    """The command that reads random in-lists, and neighbours of the longest."""
    return Command([program, str(graph), "in", residency])
