"""Some lines of a section, measured again, in place of what an earlier run of it left.

A section keeps what all its lines found side by side, with an index that tells which line left what. It must not know
what lines measure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

#: What a line leaves, in lists whose entries have these names; contests are told by their titles alone.
NAMED = {"musts": "name", "curves": "title"}


def index(found: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, list[str]]:
    """The names of what a line left: everything after the entries that were there before it."""
    return {
        "contests": [*found["contests"]][len(before["contests"]) :],
        **{
            kind: [entry[key] for entry in found[kind][len(before[kind]) :]]
            for kind, key in NAMED.items()
        },
    }


def merged(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a section: lines of `now`, and those of `before` that were not measured again."""
    # Lines keep the order in which they were first measured.
    lines = {**before["lines"], **now["lines"]}
    source = {line: now if line in now["lines"] else before for line in lines}
    return {
        **before,
        **now,
        "absent": {**before["absent"], **now["absent"]},
        "contests": {
            title: source[line]["contests"][title]
            for line in lines
            for title in lines[line]["contests"]
        },
        **{
            kind: [
                entry
                for line in lines
                for entry in those(source[line][kind], key, lines[line][kind])
            ]
            for kind, key in NAMED.items()
        },
        "lines": lines,
    }


def those(
    entries: Iterable[Mapping[str, Any]], key: str, names: Iterable[str]
) -> Iterable[Mapping[str, Any]]:
    """The entries of these names."""
    wanted = set(names)
    return (entry for entry in entries if entry[key] in wanted)
