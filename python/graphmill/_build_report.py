"""What a build did, for programs and for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SourceReport:
    """What became of the rows of one source.

    Attributes:
        rows: Rows that were read and could be used.
        skipped: Rows that were left out because they could not be, with ``on_bad_row="skip"``.
        duplicates: Rows that were left out because there was one before: of an edge with ``dedup=True``, of a node
            with ``on_bad_row="skip"``.
        examples: The first few rows that were skipped, each with its position and what was wrong.
    """

    rows: int
    skipped: int
    duplicates: int
    examples: tuple[str, ...]


@dataclass(frozen=True)
class EdgeReport(SourceReport):
    """What became of the rows of the edges.

    Attributes:
        self_loops: Rows that were left out because they lead from a node to itself, with ``drop_self_loops=True``.
    """

    self_loops: int


@dataclass(frozen=True)
class TableReport(SourceReport):
    """What became of the rows of a table.

    Attributes:
        by_ids: Whether a column of ids says whose row each is, rather than its position.
        filled: Nodes without a row; theirs hold zeros, or -1 in labels and in tables of words.
        columns: Numbers of a row.
        dtype: The type of the numbers.
        classes: Names of classes, if the rows were words.
    """

    by_ids: bool
    filled: int
    columns: int
    dtype: str
    classes: int


@dataclass(frozen=True)
class BuildReport:
    """What a build read, left out, filled and took; :attr:`graphmill.Dataset.build_report`.

    Attributes:
        num_nodes: Nodes of the dataset.
        num_edges: Edges of the dataset, stored in one direction.
        edges: The rows of the edges.
        tables: The tables of the nodes by name, features as ``x`` and labels as ``y``.
        edge_tables: The tables of the edges by name.
        splits: The number of nodes of every split.
        seconds: How long the build took.
        stages: How long each stage of it took.
        peak_memory: The most of the memory budget that was in use at once.
        bytes: The size of the dataset.

    ``str(report)`` says the same in a few lines.

    Example:
        >>> report = gm.build("cycle", edges=[[0, 1, 2, 2], [1, 2, 0, 0]], dedup=True).build_report
        >>> report.num_edges, report.edges.duplicates, report.skipped
        (3, 1, 0)
    """

    num_nodes: int
    num_edges: int
    edges: EdgeReport
    tables: dict[str, TableReport]
    edge_tables: dict[str, TableReport]
    splits: dict[str, int]
    seconds: float
    stages: dict[str, float]
    peak_memory: int
    bytes: int

    @property
    def skipped(self) -> int:
        """Rows of all sources that were skipped.

        Example:
            >>> gm.build("cycle", edges=[[0, 1], [1, 0]]).build_report.skipped
            0
        """
        sources = [self.edges, *self.tables.values(), *self.edge_tables.values()]
        return sum(source.skipped for source in sources)

    def __str__(self) -> str:
        nodes, edges = counted(self.num_nodes, "node"), counted(self.num_edges, "edge")
        lines = [f"{nodes}, {edges} in {self.seconds:.2f} s"]
        lines.append(_line("edges", self.edges, self.edges.self_loops, "self loops left out"))
        for name, table in [*self.tables.items(), *self.edge_tables.items()]:
            lines.append(_line(f"table {name}", table, table.filled, "filled"))
        splits = self.splits.items()
        lines.extend(f"split {name}: {counted(count, 'node')}" for name, count in splits)
        lines.append(f"{self.bytes:,} bytes on disk, {self.peak_memory:,} bytes of memory at most")
        return "\n".join(lines)


def report_of(found: dict[str, Any], seconds: float) -> BuildReport:
    """Make a report of what the native code counted."""
    edges = found["edges"]
    tables: dict[bool, dict[str, TableReport]] = {False: {}, True: {}}
    for table in found["tables"]:
        tables[table["of_edges"]][table["name"]] = TableReport(
            **_rows(table),
            by_ids=table["by_ids"],
            filled=table["filled"],
            columns=table["columns"],
            dtype=table["dtype"],
            classes=table["classes"],
        )
    return BuildReport(
        num_nodes=found["num_nodes"],
        num_edges=found["num_edges"],
        edges=EdgeReport(**_rows(edges), self_loops=edges["self_loops"]),
        tables=tables[False],
        edge_tables=tables[True],
        splits=dict(found["splits"]),
        seconds=seconds,
        stages=dict(found["stages"]),
        peak_memory=found["peak_memory"],
        bytes=found["bytes"],
    )


def counted(number: int, what: str) -> str:
    """Say how many of something there are."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _rows(source: dict[str, Any]) -> dict[str, Any]:
    names = ("rows", "skipped", "duplicates")
    return {**{name: source[name] for name in names}, "examples": tuple(source["examples"])}


def _line(name: str, source: SourceReport, more: int, what: str) -> str:
    notes = [(source.skipped, "skipped"), (source.duplicates, "duplicates left out"), (more, what)]
    told = [f"{count:,} {note}" for count, note in notes if count]
    return ", ".join([f"{name}: {counted(source.rows, 'row')}", *told])
