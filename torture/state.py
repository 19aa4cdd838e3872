"""What has been reached so far, kept in a file so that runs add up, killed ones included."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass
class Total:
    """What all runs together did of one step."""

    reached: int = 0
    pieces: int = 0
    failures: int = 0
    seconds: float = 0.0
    unable: str | None = None
    """Why this machine cannot run it, as of the last time."""


class State:
    """The totals of every step, saved after each piece."""

    def __init__(self, path: Path) -> None:
        self.path = path
        known = json.loads(path.read_text()) if path.exists() else {}
        self.totals = {name: Total(**fields) for name, fields in known.items()}

    def of(self, name: str) -> Total:
        """The total of a step, empty at first."""
        return self.totals.setdefault(name, Total())

    def save(self) -> None:
        """Replace the file whole, so that a run that is killed leaves the numbers before its last piece."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_suffix(".partial")
        text = json.dumps({name: asdict(total) for name, total in self.totals.items()}, indent=1)
        beside.write_text(text + "\n")
        os.replace(beside, self.path)
