"""GraphZero 0.2's names over graphmill: ``import graphmill.graphzero as gz`` and keep the script.

Both kinds of file open, GraphZero's own and graphmill's. What GraphZero copied is a view here, and what it let pass
(damaged files, negative ids) raises. File and range errors are ``RuntimeError`` as they were, and the natural class
too.
"""

from __future__ import annotations

import enum
import operator
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._errors import GraphmillError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__version__ = "0.2.0"
__all__ = ["DataType", "FeatureStore", "Graph", "convert_csv_to_gd", "convert_csv_to_gl"]


class DataType(enum.Enum):
    """The element types of a GraphZero feature file.

    Example:
        >>> gz.DataType.FLOAT32.value, gz.DataType(1).name
        (2, 'INT64')
    """

    INT32 = 0
    INT64 = 1
    FLOAT32 = 2
    FLOAT64 = 3

    def __repr__(self) -> str:
        return str(self)


class Graph:
    """A topology on disk, by GraphZero's names.

    Example:
        >>> g = gz.Graph("graph.gl")
        >>> g.get_degree(0)
        2
    """

    def __init__(self, filename: str | os.PathLike[str]) -> None:
        """Open a ``.gl`` file."""
        with _runtime_errors():
            self._graph = _native.Graph(filename)

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self._graph.num_nodes

    @property
    def num_edges(self) -> int:
        """Number of stored edges."""
        return self._graph.num_edges

    @property
    def has_weights(self) -> bool:
        """Whether edges have weights."""
        return self._graph.has_weights

    def get_degree(self, node_id: int) -> int:
        """Return the number of neighbours; 0 for an id past the end.

        Example:
            >>> g = gz.Graph("graph.gl")
            >>> g.get_degree(0), g.get_degree(100)
            (2, 0)
        """
        node_id = operator.index(node_id)
        with _runtime_errors():
            if node_id < 0:
                raise IndexError(f"node {node_id} is negative")
            if node_id >= self.num_nodes:
                return 0
            return int(self._graph.degrees([node_id])[0])

    def get_neighbours(self, node_id: int) -> NDArray[np.int64]:
        """Return the neighbours as int64: a view where the file stores int64, which outlives the graph.

        Example:
            >>> gz.Graph("graph.gl").get_neighbours(0)
            array([1, 2])
        """
        with _runtime_errors():
            return self._graph.neighbors(node_id).astype(np.int64, copy=False)

    def get_weights(self, node_id: int) -> NDArray[np.float32]:
        """Return the weights of a node's edges, a view which outlives the graph.

        Example:
            >>> _ = gm.write_graph("weighted.gl", [[0, 0], [1, 2]], weights=[0.5, 2.0])
            >>> gz.Graph("weighted.gl").get_weights(0).tolist()
            [0.5, 2.0]
        """
        node_id = operator.index(node_id)
        with _runtime_errors():
            weights: NDArray[np.float32] | None = self._graph.weights()
            if weights is None:
                raise RuntimeError(f"{self._graph.path} has no weights")
            start, end = self._graph.list_range(node_id)
            return weights[start:end]

    def batch_random_walk(
        self,
        start_nodes: Any,
        walk_length: int,
        p: float = 1.0,
        q: float = 1.0,
        *,
        seed: int | None = None,
    ) -> NDArray[np.int64]:
        """Walk from every start as node2vec does, by weight where the graph has weights.

        A dead end is repeated to the end of its row. A ``seed`` gives the same walks every time, on any number of
        threads.

        Example:
            >>> gz.Graph("graph.gl").batch_random_walk([0, 3], 5, p=1.0, q=0.5, seed=0).shape
            (2, 6)
        """
        with _runtime_errors():
            walks: NDArray[np.int64] = self._graph.walk(
                _nodes(start_nodes),
                _count(walk_length, "walk_length"),
                p,
                q,
                seed=seed,
                stay=True,
            )
            return walks

    def batch_random_walk_uniform(
        self, start_nodes: Any, walk_length: int, *, seed: int | None = None
    ) -> NDArray[np.int64]:
        """Walk from every start, taking all edges of a node equally often.

        Example:
            >>> gz.Graph("graph.gl").batch_random_walk_uniform(range(4), 5, seed=0)[:, 0]
            array([0, 1, 2, 3])
        """
        with _runtime_errors():
            walks: NDArray[np.int64] = self._graph.walk(
                _nodes(start_nodes),
                _count(walk_length, "walk_length"),
                weighted=False,
                seed=seed,
                stay=True,
            )
            return walks

    def batch_random_fanout(
        self, start_nodes: Any, K: int, pad: int = 0, *, seed: int | None = None
    ) -> NDArray[np.int64]:
        """Pick up to ``K`` distinct edges of every node; a row with fewer is filled up with ``pad``.

        GraphZero fills with 0, which is a node as well; ``pad=-1`` tells the two apart.

        Example:
            >>> gz.Graph("graph.gl").batch_random_fanout([0, 0], 3, pad=-1)
            array([[ 1,  2, -1],
                   [ 1,  2, -1]])
        """
        with _runtime_errors():
            rows: NDArray[np.int64] = self._graph._neighbor_matrix(
                _nodes(start_nodes), _count(K, "K"), pad, seed
            )
            return rows

    def sample_neighbours(
        self, start_node: int, K: int, *, seed: int | None = None
    ) -> NDArray[np.int64]:
        """Pick ``min(K, degree)`` distinct edges of one node.

        Example:
            >>> gz.Graph("graph.gl").sample_neighbours(0, 10)
            array([1, 2])
        """
        with _runtime_errors():
            degree = int(self._graph.degrees([start_node])[0])
            row: NDArray[np.int64] = self._graph._neighbor_matrix(
                [start_node], min(_count(K, "K"), degree), 0, seed
            )[0]
            return row

    def __repr__(self) -> str:
        """Tell nodes and edges."""
        return f"graphzero.{self._graph!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by path."""
        return Graph, (self._graph.path,)


class FeatureStore:
    """Features on disk, by GraphZero's names.

    Example:
        >>> store = gz.FeatureStore("features.gd")
        >>> store.get_tensor().shape
        (4, 2)
    """

    def __init__(self, filename: str | os.PathLike[str]) -> None:
        """Open a ``.gd`` file."""
        with _runtime_errors():
            self._features = _native.Features(filename)

    @property
    def num_nodes(self) -> int:
        """Number of rows."""
        return len(self._features)

    @property
    def feature_dim(self) -> int:
        """Values per row."""
        shape = self._features.shape
        return shape[1] if len(shape) == 2 else 1

    def get_data(self, node_id: int) -> NDArray[Any]:
        """Return one row, a copy-on-write view.

        Example:
            >>> gz.FeatureStore("features.gd").get_data(1).tolist()
            [2.0, 3.0]
        """
        # A bool is a number here; as an index of NumPy's it would be a mask.
        node_id = operator.index(node_id)
        with _runtime_errors():
            if not 0 <= node_id < self.num_nodes:
                raise IndexError(
                    f"node {node_id} is out of range: {self._features.path} has {self.num_nodes} rows"
                )
            row: NDArray[Any] = self.get_tensor()[node_id]
            return row

    def get_tensor(self) -> NDArray[Any]:
        """Return all rows as one array: a copy-on-write view that takes no memory until it is written to.

        Example:
            >>> gz.FeatureStore("features.gd").get_tensor()[2].tolist()
            [4.0, 5.0]
        """
        with _runtime_errors():
            table: NDArray[Any] = self._features.numpy(writable=True)
            return table.reshape(self.num_nodes, self.feature_dim)

    def __repr__(self) -> str:
        """Tell shape and type."""
        return f"graphzero.{self._features!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by path."""
        return FeatureStore, (self._features.path,)


def convert_csv_to_gl(
    csv_path: str | os.PathLike[str] | None = None,
    out_path: str | os.PathLike[str] | None = None,
    directed: bool = False,
    *,
    input_csv: str | os.PathLike[str] | None = None,
    output_bin: str | os.PathLike[str] | None = None,
) -> None:
    """Convert a CSV of edges, as GraphZero does: 64-bit ids in file order, a third column is the weight.

    An undirected graph, the default, stores each edge both ways. The file is one of graphmill's, checked and
    crash-safe; a malformed line raises with its number, where GraphZero made a wrong edge of it. An existing target is
    replaced.

    Example:
        >>> gz.convert_csv_to_gl("edges.csv", "edges.gl", directed=True)
        >>> gz.Graph("edges.gl").num_edges
        5
    """
    source = _one_of(csv_path=csv_path, input_csv=input_csv)
    target = _one_of(out_path=out_path, output_bin=output_bin)
    if not isinstance(directed, (bool, np.bool_)):
        # A word such as "no" would be true.
        raise TypeError(
            f"directed must be True or False, found {directed!r} of type {type(directed).__name__}"
        )
    with _runtime_errors():
        _native.convert_file(
            [os.fspath(source)],
            os.fspath(target),
            None,
            _native.SourceOptions(format="csv", third_is_weight=True),
            False,
            False,
            False,
            False,
            None,
            not directed,
            "out" if directed else None,
            "file",
            "i64",
            False,
            None,
            True,
        )


def convert_csv_to_gd(
    csv_path: str | os.PathLike[str] | None = None,
    out_path: str | os.PathLike[str] | None = None,
    dtype: DataType | None = None,
    *,
    input_csv: str | os.PathLike[str] | None = None,
    output_bin: str | os.PathLike[str] | None = None,
    num_nodes: int | None = None,
) -> None:
    r"""Convert a CSV of features, as GraphZero does: the first column is the node's id, the rest are its features.

    Rows may come in any order; ids without a row are zeros, and of two rows for one id the last stays. The file is one
    of graphmill's, checked and crash-safe. Text, empty cells, overflow, fractions in integers and rows of another
    length raise with the line. An existing target is replaced. ``num_nodes`` allows for so many rows where ids lie far
    apart, which raises otherwise. As in GraphZero, ``dtype`` has to be given.

    Example:
        >>> from pathlib import Path
        >>> _ = Path("features.csv").write_text("id,a,b\n1,0.5,2\n0,1,3\n")
        >>> gz.convert_csv_to_gd("features.csv", "features.gd", gz.DataType.FLOAT32)
        >>> gz.FeatureStore("features.gd").get_data(1).tolist()
        [0.5, 2.0]
    """
    source = _one_of(csv_path=csv_path, input_csv=input_csv)
    target = _one_of(out_path=out_path, output_bin=output_bin)
    with _runtime_errors():
        _native.convert_file(
            [os.fspath(source)],
            os.fspath(target),
            None,
            _native.SourceOptions(
                format="csv", first_is_id=True, dtype=_data_type(dtype).name.lower()
            ),
            False,
            False,
            False,
            False,
            num_nodes,
            False,
            None,
            None,
            "auto",
            False,
            None,
            True,
        )


def _data_type(dtype: Any) -> DataType:
    """Return the type of a feature file, which GraphZero takes as a member or its number, and nothing for granted."""
    try:
        return DataType(dtype)
    except ValueError:
        found = "none" if dtype is None else repr(dtype)
        raise TypeError(
            f"convert_csv_to_gd needs dtype=, one of {', '.join(map(str, DataType))}; found {found}"
        ) from None


def _nodes(start_nodes: Any) -> Any:
    """Return the nodes as NumPy sees them, since GraphZero answers tensors with arrays too."""
    if not hasattr(start_nodes, "__array__"):
        return start_nodes
    nodes = np.asarray(start_nodes)
    # No nodes have no type: NumPy makes floats of an empty list.
    return nodes.astype(np.int64) if nodes.shape == (0,) else nodes


def _count(value: Any, what: str) -> int:
    """Return a number of steps or neighbours; one that no array can have is a wrong value and no wrong node."""
    count = operator.index(value)
    if not -(2**63) <= count < 2**63:
        raise ValueError(f"{what} is {count}, expected at least 0 and below 2^63")
    return count


def _one_of(**given: str | os.PathLike[str] | None) -> str | os.PathLike[str]:
    """Return the path that has come by one of the names that GraphZero and its documentation use."""
    paths = [path for path in given.values() if path is not None]
    if len(paths) != 1:
        found = "both" if paths else "neither"
        raise TypeError(f"give {' or '.join(given)}, found {found}")
    return paths[0]


@contextmanager
def _runtime_errors() -> Iterator[None]:
    """Raise graphmill's errors of file and range as ``RuntimeError`` too."""
    try:
        yield
    except (GraphmillError, IndexError, OverflowError) as error:
        if isinstance(error, RuntimeError):
            raise
        natural = IndexError if isinstance(error, OverflowError) else type(error)
        both = type(natural.__name__, (natural, RuntimeError), {"__module__": __name__})
        raise both(*error.args) from error
