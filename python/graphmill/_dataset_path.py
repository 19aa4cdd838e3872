"""What a path is that was meant to be a dataset."""

from __future__ import annotations

import os
import re

from ._errors import MissingError

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_OPENERS = {".gl": "a topology: open it with gm.Graph", ".gd": "a table: open it with gm.Features"}


def expanded(path: str | os.PathLike[str]) -> str:
    """Return the path with ``~`` replaced by the home folder, as a shell does."""
    return os.path.expanduser(os.fspath(path))


def why_no_dataset(path: str) -> Exception | None:
    """Return what is wrong with a path that could not be opened; None if it holds a dataset."""
    if _URL.match(path):
        return ValueError(
            f"cannot open {path!r}: found a URL, expected a folder; download the dataset and open the copy"
        )
    if os.path.isfile(path):
        opener = _OPENERS.get(os.path.splitext(path)[1])
        if opener is not None:
            return ValueError(
                f"cannot open {path!r} as a dataset: found {opener}({path!r}), expected a folder that gm.build made"
            )
        return ValueError(
            f"cannot open {path!r}: found a file, expected a folder that gm.build made; "
            f"gm.build(OUT, edges={path!r}) makes one of a file of edges"
        )
    if not os.path.isdir(path):
        return MissingError(
            f"cannot open {path!r}: found nothing there, expected a folder that gm.build made; check the path"
        )
    if not os.path.lexists(os.path.join(path, "dataset.json")):
        return MissingError(
            f"cannot open {path!r}: found a folder without dataset.json, expected one that gm.build made; "
            f"gm.build(OUT, edges={path!r}) makes one of a folder of raw data, such as OGB's"
        )
    return None
