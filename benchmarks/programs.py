"""Somebody whose Python programs are timed: where they live, and how one is started.

Samplers and readers say what their programs do. It must not know what is measured.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from benchmarks.child import Command
from benchmarks.peers.installation import script


class Programs(ABC):
    """The programs of one system, which begin with what all of a section have in common."""

    name: ClassVar[str]
    prelude: ClassVar[str]

    def __init__(self, folder: Path) -> None:
        """Keep to one folder of peers for all that is installed."""
        self.folder = folder

    @abstractmethod
    def install(self) -> None:
        """Install it, or raise with the reason why that cannot be done."""

    @property
    @abstractmethod
    def environment(self) -> Path:
        """The folder of its Python."""

    def program(self, code: str, *arguments: object) -> Command:
        """The command that runs one of its programs."""
        return Command(script(self.environment, self.prelude + code, *arguments))
