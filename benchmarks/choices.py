"""What can be chosen on the command line of every section that is held against peers."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks.inputs import SCALES


def add_choices(
    parser: argparse.ArgumentParser,
    peers: Iterable[str],
    lines: Iterable[str],
    repeats: int,
    scales: Iterable[str] = SCALES,
) -> None:
    """Add scale, repeats, peers, lines, work folder and command."""
    peers, lines = list(peers), list(lines)
    parser.add_argument("--scale", choices=[*scales], default="full", help="targets are for full")
    parser.add_argument(
        "--repeats", type=positive, default=repeats, help=f"runs of each; {repeats} by default"
    )
    parser.add_argument(
        "--peers",
        type=names_among(peers),
        default=peers,
        help=f"which of {','.join(peers)}, or none; all by default",
    )
    parser.add_argument(
        "--lines",
        type=names_among(lines),
        default=lines,
        help=f"which of {','.join(lines)}; all by default",
    )
    add_places(parser)


def add_places(parser: argparse.ArgumentParser) -> None:
    """Add the work folder and the command."""
    add_work(parser)
    parser.add_argument("--command", default="graphmill", help="the command; the one on the path")


def add_work(parser: argparse.ArgumentParser) -> None:
    """Add the work folder."""
    parser.add_argument(
        "--work",
        type=Path,
        default=Path(__file__).parent / "data",
        help="where inputs and peers are kept; benchmarks/data by default",
    )


def positive(text: str) -> int:
    """A number of runs."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least one run is needed for a median")
    return number


def names_among(known: Iterable[str]) -> Callable[[str], list[str]]:
    """A reader of `a,b` where both are known."""

    def read(text: str) -> list[str]:
        names = [] if text == "none" else text.split(",")
        if unknown := [name for name in names if name not in known]:
            raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: not among {', '.join(known)}")
        return names

    return read
