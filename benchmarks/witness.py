"""Whether what was timed is right: sampled edges are edges, as many as asked for, and walks follow them.

Contestants leave a part of what they made in a file, and here it is held against the lists with NumPy alone. It must
not know who made it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.contest import WrongResult
from benchmarks.sampling_inputs import Lists

Ids = npt.NDArray[np.integer]
#: Edges that are looked up one by one.
LOOKED_AT = 2000


def right_fanout(kept: Path, lists: Lists, seeds: Ids, fanouts: list[int]) -> None:
    """Every node that a hop expands got all its edges or as many as the fan-out, and every edge exists.

    Hops follow each other: the first expands the seeds, and the next what was found.
    """
    offsets, _ = lists.load()
    degrees = np.diff(offsets)
    reached = np.unique(seeds)
    with np.load(kept) as hops:
        for hop, fanout in enumerate(fanouts):
            source, destination = hops[f"source{hop}"], hops[f"destination{hop}"]
            expanded, picks = np.unique(destination, return_counts=True)
            if not np.array_equal(picks, np.minimum(degrees[expanded], fanout)):
                raise WrongResult(f"hop {hop}: nodes with too few or too many edges")
            if len(np.setdiff1d(expanded, reached)):
                raise WrongResult(f"hop {hop} expands nodes that no hop has found")
            if hop == 0 and not np.array_equal(expanded, reached[degrees[reached] > 0]):
                raise WrongResult("the first hop does not expand the seeds")
            check_edges(lists, destination, source)
            reached = np.union1d(reached, source)


def right_rows(kept: Path, lists: Lists, starts: Ids, width: int) -> None:
    """Every row begins with neighbours of its start: all, or as many as fit."""
    offsets, neighbours = lists.load()
    rows = np.load(kept)
    if rows.shape != (min(len(rows), len(starts)), width) or not len(rows):
        raise WrongResult(f"rows of shape {rows.shape}")
    for start, row in zip(starts, rows, strict=False):
        listed = neighbours[offsets[start] : offsets[start + 1]]
        found = row[: min(len(listed), width)]
        # Equal edges may be picked as often as they are stored.
        values, counts = np.unique(found, return_counts=True)
        stored = np.searchsorted(listed, values, "right") - np.searchsorted(listed, values)
        if (counts > stored).any():
            raise WrongResult(f"node {start} has no such neighbours: {found.tolist()}")


def right_walks(kept: Path, lists: Lists, starts: Ids, length: int, *, last: bool = True) -> str:
    """Every step follows an edge, until a dead end is repeated or followed by -1; gives how many steps were real.

    GraphZero's uniform walks have 0 in their last column; without `last` it is not looked at.
    """
    walks = np.load(kept)
    if walks.shape[1] != length + 1 or not np.array_equal(walks[:, 0], starts[: len(walks)]):
        raise WrongResult(f"walks of shape {walks.shape} do not begin at the starts")
    walks = walks if last else walks[:, :-1]
    degrees = np.diff(lists.load()[0])
    here, there = walks[:, :-1].ravel(), walks[:, 1:].ravel()
    is_end = (here < 0) | (degrees[np.maximum(here, 0)] == 0)
    if not ((there == -1) | (there == here))[is_end].all():
        raise WrongResult("walks go on after a dead end")
    if (there[~is_end] < 0).any():
        raise WrongResult("walks end at nodes that have edges")
    check_edges(lists, here[~is_end], there[~is_end])
    return f"{100 * np.mean(~is_end):.0f}% of steps before dead ends"


def check_edges(lists: Lists, listing: Ids, listed: Ids) -> None:
    """Look some of these up in the lists, which are sorted."""
    offsets, neighbours = lists.load()
    some = np.random.default_rng(0).choice(len(listing), min(len(listing), LOOKED_AT), False)
    for node, neighbour in zip(listing[some], listed[some], strict=True):
        known = neighbours[offsets[node] : offsets[node + 1]]
        place = np.searchsorted(known, neighbour)
        if place == len(known) or known[place] != neighbour:
            raise WrongResult(f"{neighbour} is no neighbour of {node}")
