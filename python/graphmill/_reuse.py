"""What a dataset was built from, as a digest in its manifest, so that the same need not be built again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import _native
from ._errors import ExistsError
from ._sharing import open_share
from ._values import as_numpy

# Options that change how a dataset is built but not what is in it.
_WITHOUT_EFFECT = ("memory", "threads", "overwrite")
# Options whose texts are the paths of files.
_OF_FILES = ("edges", "features", "labels", "edge_features", "tables", "edge_tables", "splits")
_CHUNK_BYTES = 8 << 20
# Changes with what builds make of the same options.
_VERSION = "1"


@dataclass(frozen=True)
class Origin:
    """The digest of everything that a build takes."""

    digest: str

    @classmethod
    def of(cls, sources: Mapping[str, Any]) -> Origin:
        """Return the digest of a build's sources and options: of arrays by content, of files by name, size and time."""
        digest = hashlib.blake2b(_VERSION.encode(), digest_size=16)
        for name in sorted(sources.keys() - set(_WITHOUT_EFFECT)):
            _add(digest, name, sources[name], name in _OF_FILES)
        return cls(digest.hexdigest())

    def opened(
        self, path: str | os.PathLike[str], sources: Mapping[str, Any]
    ) -> _native.Dataset | None:
        """Open the dataset in the folder if it has this origin; None if one is to be built there."""
        if not (Path(path) / "dataset.json").exists():
            return None
        found = open_share(path, sources.get("memory"))
        if found._origin == self.digest:
            return found
        if sources.get("overwrite"):
            return None
        raise ExistsError(
            f"{path} has a dataset that was built from other data or options, or without reuse=True; "
            "give another folder, or overwrite=True to replace it"
        )

    def recorded(self, ds: _native.Dataset) -> _native.Dataset:
        """Write the digest into the manifest of a dataset that was just built."""
        ds._record_origin(self.digest)
        return ds


def _add(digest: Any, name: str, value: Any, is_file: bool) -> None:
    """Add a value with its name and type; what stands for it is as long as it says, so that nothing runs together."""
    if isinstance(value, Mapping):
        _add_text(digest, f"{name}: {len(value)} entries")
        for key in sorted(value):
            _add(digest, f"{name}[{key!r}]", value[key], is_file)
    elif is_file and isinstance(value, (str, os.PathLike)):
        status = os.stat(value)
        _add_text(
            digest, f"{name}: {os.path.abspath(value)!r} {status.st_size} {status.st_mtime_ns}"
        )
    elif value is None or isinstance(value, (str, bool, int, float)):
        _add_text(digest, f"{name} = {value!r}")
    elif hasattr(value, "dtype") and hasattr(value, "shape"):
        _add_text(digest, f"{name}: {value.dtype} {tuple(value.shape)}")
        _add_rows(digest, value)
    elif isinstance(value, (list, tuple)):
        _add_text(digest, f"{name}: {len(value)} items")
        for place, item in enumerate(value):
            _add(digest, f"{name}[{place}]", item, is_file)
    else:
        raise TypeError(
            f"reuse=True compares arrays, tensors, lists and paths, found {type(value).__name__} for {name}; "
            "give an array, or build without reuse"
        )


def _add_text(digest: Any, text: str) -> None:
    data = text.encode()
    digest.update(len(data).to_bytes(8, "little") + data)


def _add_rows(digest: Any, rows: Any) -> None:
    if str(rows.dtype) == "torch.bfloat16":
        # NumPy has no bfloat16, but its bits fit anywhere.
        import torch

        rows = rows.view(torch.int16)
    count = rows.shape[0] if len(rows.shape) else 0
    width = max(1, int(np.prod(rows.shape[1:], dtype=np.int64)) * 8)
    step = max(1, _CHUNK_BYTES // width)
    for start in range(0, count, step):
        piece = np.ascontiguousarray(as_numpy(rows[start : start + step]))
        digest.update(piece.reshape(-1).view(np.uint8))
