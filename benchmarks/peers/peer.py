"""What the benchmarks ask of a system that is measured beside graphmill.

Each peer has a file of its own in this folder. A peer knows how it is installed, which command builds a graph, and how
to count what was built; it must not know how it is measured.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from benchmarks.child import Command, Figures


@dataclass(frozen=True)
class EdgeList:
    """Edges as text without a header, and what is true of them."""

    path: Path
    nodes: int
    edges: int
    distinct_edges: int


class Peer(ABC):
    """A system that builds a graph from a list of edges."""

    name: ClassVar[str]
    #: What its figure is the time of.
    work: ClassVar[str]
    #: Whether two equal edges stay two.
    keeps_duplicates: ClassVar[bool] = True

    def __init__(self, folder: Path) -> None:
        """Keep to one folder for all that is installed."""
        self.folder = folder

    @abstractmethod
    def install(self) -> None:
        """Install it, or raise with the reason why that cannot be done."""

    @abstractmethod
    def build(self, edges: EdgeList, out: Path) -> Command:
        """The command that builds a graph below the folder `out`, which exists and is empty."""

    @abstractmethod
    def counts(self, out: Path, figures: Figures) -> tuple[int, int]:
        """Nodes and edges of what was built."""

    def expected(self, edges: EdgeList) -> tuple[int, int]:
        """Nodes and edges that it must have built."""
        return edges.nodes, edges.edges if self.keeps_duplicates else edges.distinct_edges
