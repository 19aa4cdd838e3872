"""The program that reads lists one by one, compiled from this repository: what no command and no Python call times.

A call from Python costs more than a neighbour, so this is an example of the crate that samples. It must not know what
its figures are held against.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks import compiled_programs
from benchmarks.child import Command

#: Random lists of a round, and rounds, of which the best counts; they are those of the program.
LISTS, ROUNDS = 200_000, 7


def compiled() -> str:
    """The program, compiled anew where the sources have changed."""
    return compiled_programs.example("graphmill-sample", "list_speed")


def read_lists(program: str, graph: Path, residency: str) -> Command:
    """The command that reads random in-lists, and neighbours of the longest."""
    return Command([program, str(graph), "in", residency])
