"""How often a test repeats what it tries: quickly in ``make test``, for long in ``make torture``.

The same as the crate ``graphmill-rounds`` is for Rust: ``make torture`` asks for more by the environment, piece by
piece, and gives each piece a number so that none repeats another.
"""

from __future__ import annotations

import os


def rounds(quick: int) -> int:
    """The number of rounds that ``GRAPHMILL_ROUNDS`` asks for, or ``quick``."""
    return int(os.environ.get("GRAPHMILL_ROUNDS", quick))


def piece() -> int:
    """The number of this piece of a long run, 0 in a quick one: part of every seed."""
    return int(os.environ.get("GRAPHMILL_PIECE", 0))
