"""A folder of inputs that are made once and kept for the next time.

Sections say what their inputs are by deriving from it; a file that is there is whole. It must not know what is in them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path


class KeptFiles:
    """The inputs of one scale, in a folder of their own."""

    def __init__(self, folder: Path, scale: str, disk: int) -> None:
        """Refuse a disk that has fewer bytes for it before anything is written."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        if room(folder) < disk:
            raise SystemExit(
                f"{folder} has {shutil.disk_usage(folder).free / 1e9:.1f} GB of free disk, and --scale {scale} takes "
                f"{disk / 1e9:.0f} GB: free some, or name another folder with --work"
            )

    def _once(self, name: str, write: Callable[[Path], object]) -> Path:
        """Write a file or folder aside and give it its name when it is whole, unless it is there."""
        path = self.folder / name
        if not path.exists():
            print(f"making {path}", flush=True)
            aside = self.folder / f"unfinished-{name}"
            if aside.is_dir():
                shutil.rmtree(aside)
            aside.unlink(missing_ok=True)
            write(aside)
            os.replace(aside, path)
        return path


def room(folder: Path) -> int:
    """Bytes that inputs in this folder may take, those that are there included."""
    there = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return there + shutil.disk_usage(folder).free
