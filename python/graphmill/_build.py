"""Raw sources, in files or in memory, become a dataset."""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Mapping
from typing import Any

from . import _native
from ._build_report import BuildReport, counted, report_of
from ._edges import EdgeArrays, GraphFacts
from ._sharing import open_share
from ._sources import (
    edge_source,
    edge_table_source,
    edge_table_sources,
    refuse_words,
    split_source,
    table_source,
    table_sources,
)
from ._writers import element_name

_LOGGER = logging.getLogger("graphmill")
# Without handlers of its own, logging would print warnings a second time.
_LOGGER.addHandler(logging.NullHandler())


def build(
    out: str | os.PathLike[str],
    edges: Any,
    *,
    features: Any = None,
    labels: Any = None,
    edge_features: Any = None,
    edge_tables: Mapping[str, Any] | None = None,
    tables: Mapping[str, Any] | None = None,
    splits: Mapping[str, Any] | None = None,
    weights: Any = None,
    times: Any = None,
    undirected: bool = False,
    direction: str | None = None,
    order: str = "none",
    encoding: str = "auto",
    neighbor_order: str = "id",
    src_column: str | int | None = None,
    dst_column: str | int | None = None,
    weight_column: str | int | None = None,
    time_column: str | int | None = None,
    id_column: str | int | None = None,
    label_column: str | int | None = None,
    edge_ids: bool = False,
    map_ids: bool = False,
    string_ids: bool = False,
    num_nodes: int | None = None,
    dedup: bool = False,
    drop_self_loops: bool = False,
    add_self_loops: bool = False,
    header: bool | None = None,
    delimiter: str | None = None,
    format: str | None = None,
    dtype: Any = None,
    side_by_side: bool = False,
    align_rows: bool = False,
    on_bad_row: str = "stop",
    memory: str | int | None = None,
    threads: int | None = None,
    overwrite: bool = False,
) -> _native.Dataset:
    """Compile edges, features, labels and splits into a dataset, within a memory budget, and open it.

    A source is a path, a list of paths (one after the other), a pattern such as ``"part-*.csv.gz"``, an array or
    tensor, a pandas, polars or pyarrow table, or a dict of columns. Files are text of any delimiter (``.gz`` and
    ``.zst`` too), Parquet, ``.npy``, ``.npz``, ``.gl``, ``.gd``, or for ``edges`` the folder of an OGB, MAG240M or IGB
    dataset, which brings its features, labels and splits along. The dataset appears complete or not at all.

    What goes in comes out, or is refused: a value that the stored type cannot hold is an error that names it (floats
    are rounded, but never to infinity). ``ds.build_report`` says what was read, left out and filled; nodes without a
    row and rows that were skipped are a warning too. The logger ``graphmill`` has progress at the level of debugging,
    the report as information, and the warnings.

    Args:
        out: The folder of the dataset.
        edges: ``src,dst`` rows; in memory ids of shape ``[2, E]`` or ``[E, 2]`` (``[2, 2]`` is ``[2, E]``), a pair of
            columns, a list of pairs, a table, an adjacency matrix of SciPy (entry ``[u, v]`` is an edge from u to v;
            ``weight_column="data"`` takes its values), or a graph of networkx (an undirected one is stored as
            ``undirected=True``; columns are attributes of its edges).
        features: A row for each node, in the order of the ids unless a column, or the index of pandas, is named ``id``
            or ``node_id``; a sparse matrix is written out. Nodes without a row get zeros, with a warning.
        labels: A label for each node, likewise: numbers, or words that become the numbers of classes; missing ones
            are -1, and those of nodes without a row are so with a warning.
        edge_features: A row for each row of the edges, in their order; ``batch.edge_attr`` joins them by ``e_id``.
        edge_tables: Further tables of the edges by name, likewise; each has numbers alone.
        tables: Further tables of the nodes by name.
        splits: Lists of node ids, each id once, or masks of booleans, by name.
        weights: Weights of edges in memory; ``weight_column`` names those of files and tables.
        times: Times of edges in memory, integers or dates (``datetime64`` counts in its own unit from 1970 on);
            ``time_column`` names those of files and tables.
        undirected: Store each edge both ways in one set of lists.
        direction: ``"both"`` (default), ``"out"`` or ``"in"``: which lists a directed graph stores.
        order: ``"none"`` keeps the ids; ``"hot"`` renumbers nodes so that those come first that are neighbours most
            often, ``"visits"`` those that sampling meets most in several hops (fewer blocks than ``"hot"`` where edges
            lead one way), ``"bfs"`` so that neighbours follow each other, ``"community"`` so that those lie together
            that are linked among each other.
        encoding: ``"i32"``, ``"i64"``, ``"packed"`` (few bits an edge, no view of ``indices``) or ``"auto"`` (the
            narrower one that fits; packed if that would fill more than a quarter of the machine's memory).
        neighbor_order: Order within a list: ``"id"``, ``"time"`` or ``"file"``.
        src_column: The column of sources, by name or by number from 0; by default the one called ``src``, ``source``,
            ``from`` or the like, else the first that nothing else is read from.
        dst_column: The column of destinations, likewise.
        weight_column: The column of weights, by name or by number from 0.
        time_column: The column of times, by name or by number from 0.
        id_column: The column of a table that says whose row it is; for pandas also the name of an index.
        label_column: The column of the labels, where their table has several.
        edge_ids: Store the source row of every edge; weights, times and tables of edges imply it.
        map_ids: Ids are any integers: number the nodes and keep the ids with them.
        string_ids: Ids are words: number the nodes and keep the words with them. Without it, words are refused.
        num_nodes: At least this many nodes.
        dedup: Of edges with the same ends keep the first.
        drop_self_loops: Leave out edges from a node to itself.
        add_self_loops: Add an edge from every node to itself.
        header: Whether the first line of a text names its columns; found by default.
        delimiter: What separates its fields; found by default.
        format: What the edges are, instead of what they look like.
        dtype: The type of the features; float32 for text and that of the array otherwise.
        side_by_side: Several sources of features hold further columns of the same nodes, not further nodes.
        align_rows: Let every row of the features start on a multiple of 512 bytes.
        on_bad_row: ``"stop"`` with an error that names line and column, or ``"skip"`` such rows and warn.
        memory: Budget for building and for the dataset that is returned, such as ``"2GiB"``; that of the dataset is
            divided among processes as :func:`graphmill.open` does.
        threads: Threads to build with; one for each core by default.
        overwrite: Replace a dataset that exists.

    Example:
        >>> ds = gm.build("cycle/", edges=[[0, 1, 2], [1, 2, 0]], labels=["a", "b", "a"])
        >>> ds.num_nodes, ds.classes["y"]
        (3, ['a', 'b'])
    """
    source_options = _native.SourceOptions(
        format=format,
        header=header,
        delimiter=delimiter,
        src_column=None if src_column is None else str(src_column),
        dst_column=None if dst_column is None else str(dst_column),
        weight_column=None if weight_column is None else str(weight_column),
        time_column=None if time_column is None else str(time_column),
        id_column=None if id_column is None else str(id_column),
        dtype=None if dtype is None else element_name(dtype),
        on_bad_row=on_bad_row,
    )
    edge_rows = edge_source(
        edges, weights, times, (src_column, dst_column), weight_column, time_column
    )
    feature_rows = table_sources(features, id_column, side_by_side)
    label_rows = None if labels is None else table_source(labels, id_column, label_column)
    table_rows = {name: table_source(table, id_column) for name, table in (tables or {}).items()}
    refuse_words(string_ids, "the edges", edge_rows)
    for name, source in [*(("features", rows) for rows in feature_rows), ("labels", label_rows)]:
        refuse_words(string_ids, name, source)
    for name, source in table_rows.items():
        refuse_words(string_ids, f"table {name!r}", source)
    facts = edge_rows.facts if isinstance(edge_rows, EdgeArrays) else GraphFacts()
    if not (map_ids or string_ids):
        # A graph has nodes without edges too, where ids are their numbers.
        num_nodes = max(num_nodes or 0, facts.num_nodes) or num_nodes
    settings = _native.BuildSettings(
        undirected=undirected or facts.is_undirected,
        direction=direction,
        order=order,
        encoding=encoding,
        neighbor_order=neighbor_order,
        label_column=None if label_column is None else str(label_column),
        edge_ids=edge_ids,
        map_ids=map_ids,
        string_ids=string_ids,
        num_nodes=num_nodes,
        dedup=dedup,
        drop_self_loops=drop_self_loops,
        add_self_loops=add_self_loops,
        align_rows=align_rows,
        threads=threads,
        overwrite=overwrite,
    )
    _LOGGER.info("building %s", os.fspath(out))
    start = time.monotonic()
    found = _native.build_dataset(
        os.fspath(out),
        edge_rows,
        feature_rows,
        label_rows,
        edge_table_sources(edge_features, side_by_side),
        [(name, edge_table_source(table)) for name, table in (edge_tables or {}).items()],
        list(table_rows.items()),
        [(name, split_source(split)) for name, split in (splits or {}).items()],
        source_options,
        settings,
        memory,
    )
    report = report_of(found, time.monotonic() - start)
    for line in str(report).splitlines():
        _LOGGER.info("%s: %s", os.fspath(out), line)
    for problem in _problems(report, facts):
        _LOGGER.warning("%s: %s", os.fspath(out), problem)
        warnings.warn(problem, stacklevel=2)
    ds = open_share(out, memory)
    ds._set_build_report(report)
    return ds


def _problems(report: BuildReport, facts: GraphFacts) -> list[str]:
    """What a user may not have meant."""
    problems = []
    if report.skipped:
        sources = [report.edges, *report.tables.values(), *report.edge_tables.values()]
        examples = [example for source in sources for example in source.examples][:3]
        rows = counted(report.skipped, "row")
        problems.append("; ".join([f"{rows} of the sources skipped", *examples]))
    if report.num_edges == 0 and report.edges.rows > 0:
        problems.append(f"the source has {counted(report.edges.rows, 'edge')}, and none is stored")
    if facts.nodes > report.num_nodes:
        missing = counted(facts.nodes - report.num_nodes, "node")
        problems.append(
            f"{missing} of the graph without edges left out: where ids are mapped or words, an edge or a table has to "
            "name a node"
        )
    for name, table in report.tables.items():
        are_labels = name == "y" or table.classes > 0
        # Labels of some nodes by their ids are what they say; zeros as features come from no source.
        if table.filled and not (are_labels and table.by_ids):
            value = "-1" if are_labels else "zeros"
            rows, nodes = counted(table.rows, "row"), counted(report.num_nodes, "node")
            missing = counted(table.filled, "node")
            problems.append(
                f"table {name!r} has {rows} for {nodes}: {missing} without a row filled with {value}; give a row for "
                "each node, or check that num_nodes and the ids of the edges are right"
            )
    return problems
