"""Tables in memory by columns: pandas, polars, pyarrow, dicts of columns and structured arrays of NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._values import is_sparse

_ID_NAMES = ("id", "node_id")


@dataclass(frozen=True)
class Columns:
    """Columns in their order; a name may come twice as long as nobody asks for it."""

    names: list[Any]
    columns: list[Any]

    def position(self, column: str | int) -> int:
        """Find a column by its name in any case, or by its number from 0."""
        if isinstance(column, int) or (str(column).isdigit() and column not in self.names):
            if not 0 <= int(column) < len(self.names):
                raise ValueError(f"there is no column {column}; the table has {len(self.names)}")
            return int(column)
        wanted = str(column).lower()
        found = [at for at, name in enumerate(self.names) if str(name).lower() == wanted]
        exact = [at for at in found if self.names[at] == column]
        if not found:
            raise ValueError(f"there is no column {column!r}; the table has {self.names}")
        if len(found) > 1 and len(exact) != 1:
            raise ValueError(f"{len(found)} columns are named {column!r}; rename all but one")
        return exact[0] if exact else found[0]

    def __getitem__(self, column: str | int) -> Any:
        return self.columns[self.position(column)]

    def ids(self, id_column: str | int | None) -> int | None:
        """The column that says whose row each is: the one asked for, or one that is named so."""
        if id_column is not None:
            return self.position(id_column)
        names = enumerate(self.names)
        return next((at for at, name in names if str(name).lower() in _ID_NAMES), None)


def columns_of(
    table: Any, id_column: str | int | None = None, *, with_index: bool = False
) -> Columns | None:
    """The columns of a table, None for anything else.

    With its index, a frame of pandas has one more column, if that is named ``id`` or ``node_id``, or as ``id_column``
    says, and no column is.
    """
    if is_sparse(table):
        # Some sparse matrices are dicts.
        return None
    library = type(table).__module__.partition(".")[0]
    if library == "polars" and hasattr(table, "collect"):
        raise TypeError("a LazyFrame of polars has no rows yet; give frame.collect()")
    if library == "pandas" and hasattr(table, "columns"):
        names = list(table.columns)
        columns = [table.iloc[:, at] for at in range(len(names))]
        index = id_index(table, id_column) if with_index else None
        if index is not None and _is_new(names, table.index.name, id_column):
            names, columns = [*names, table.index.name], [*columns, index]
        return Columns(names, columns)
    if library == "polars" and hasattr(table, "get_columns"):
        return Columns(list(table.columns), table.get_columns())
    if library == "pyarrow" and hasattr(table, "column_names"):
        return Columns(list(table.column_names), list(table.columns))
    if isinstance(table, Mapping):
        if any(isinstance(name, tuple) for name in table):
            raise TypeError(
                f"a dict of columns has one name for each, found {list(table)}; types of nodes and edges are not built"
            )
        return Columns(list(table), list(table.values()))
    if isinstance(table, np.ndarray) and table.dtype.names is not None:
        return Columns(list(table.dtype.names), [table[name] for name in table.dtype.names])
    return None


def id_index(table: Any, id_column: str | int | None) -> Any:
    """The index of a frame or series of pandas if it holds ids by its name, else None."""
    if type(table).__module__.partition(".")[0] != "pandas" or not hasattr(table, "index"):
        return None
    names = [str(name).lower() for name in table.index.names if name is not None]
    wanted = _ID_NAMES if id_column is None else (str(id_column).lower(),)
    if not any(name in wanted for name in names):
        return None
    if len(table.index.names) > 1:
        raise TypeError(
            f"the index has {len(table.index.names)} levels {list(table.index.names)}, expected one of ids; "
            "give frame.reset_index()"
        )
    return table.index


def _is_new(names: list[Any], index: Any, id_column: str | int | None) -> bool:
    """Whether no column says whose row each is, so that the index does."""
    wanted = _ID_NAMES if id_column is None else (str(index).lower(),)
    return not any(str(name).lower() in wanted for name in names)
