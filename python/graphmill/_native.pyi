import os
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ._build_report import BuildReport
from ._edges import EdgeArrays
from ._sources import TableArray

__version__: str

_Path = str | os.PathLike[str]
_Ids = Any
_Direction = Literal["in", "out"]

class Graph:
    def __new__(
        cls,
        path: _Path,
        residency: Literal["auto", "mapped", "ram"] = "auto",
        memory: str | int | None = None,
    ) -> Graph: ...
    @property
    def path(self) -> os.PathLike[str]: ...
    @property
    def residency(self) -> Literal["mapped", "ram"]: ...
    @property
    def num_nodes(self) -> int: ...
    @property
    def num_edges(self) -> int: ...
    @property
    def has_weights(self) -> bool: ...
    @property
    def has_edge_ids(self) -> bool: ...
    @property
    def is_undirected(self) -> bool: ...
    @property
    def directions(self) -> tuple[str, ...]: ...
    @property
    def encoding(self) -> str: ...
    @property
    def neighbor_order(self) -> str: ...
    @property
    def indptr(self) -> NDArray[np.int64]: ...
    @property
    def indices(self) -> NDArray[Any]: ...
    def csr(self, framework: Literal["numpy", "torch"] = "numpy") -> tuple[Any, Any]: ...
    def csc(self, framework: Literal["numpy", "torch"] = "numpy") -> tuple[Any, Any]: ...
    def weights(
        self, direction: str = "out", framework: Literal["numpy", "torch"] = "numpy"
    ) -> Any: ...
    def times(
        self, direction: str = "out", framework: Literal["numpy", "torch"] = "numpy"
    ) -> Any: ...
    def edge_ids(
        self, direction: str = "out", framework: Literal["numpy", "torch"] = "numpy"
    ) -> Any: ...
    def degrees(self, ids: _Ids | None = None, direction: str = "out") -> NDArray[np.int64]: ...
    def neighbors(self, id: int, direction: str = "out") -> NDArray[Any]: ...
    def neighbor_lists(
        self, ids: _Ids, direction: str = "out", *, threads: int | None = None
    ) -> tuple[Any, Any]: ...
    def list_range(self, id: int, direction: str = "out") -> tuple[int, int]: ...
    def has_edges(self, src: _Ids, dst: _Ids) -> NDArray[np.bool_]: ...
    def edge_index(self) -> NDArray[np.int64]: ...
    def to_scipy(self) -> Any: ...
    def sample(
        self,
        seeds: _Ids,
        fanouts: Sequence[int],
        direction: str = "in",
        replace: bool = False,
        weighted: bool = False,
        disjoint: bool = False,
        method: str = "uniform",
        seed: int | None = None,
        threads: int | None = None,
        *,
        time: _Ids | None = None,
        node_time: _Ids | None = None,
        temporal: Literal["uniform", "last"] = "uniform",
        window: int | None = None,
        layer_dependency: bool = False,
        subgraph: Literal["directional", "bidirectional", "induced"] = "directional",
    ) -> Sample: ...
    def sample_edges(
        self,
        edges: Any,
        fanouts: Sequence[int],
        direction: str = "in",
        replace: bool = False,
        weighted: bool = False,
        disjoint: bool = False,
        method: str = "uniform",
        seed: int | None = None,
        threads: int | None = None,
        *,
        exclude: Literal["edges", "both"] | None = None,
        time: _Ids | None = None,
        node_time: _Ids | None = None,
        temporal: Literal["uniform", "last"] = "uniform",
        window: int | None = None,
        layer_dependency: bool = False,
        subgraph: Literal["directional", "bidirectional", "induced"] = "directional",
    ) -> Sample: ...
    def walk(
        self,
        starts: _Ids,
        length: int = 20,
        p: float = 1.0,
        q: float = 1.0,
        weighted: bool | None = None,
        restart: float = 0.0,
        direction: str = "out",
        seed: int | None = None,
        threads: int | None = None,
        *,
        stay: bool = False,
    ) -> Any: ...
    def negative_edges(
        self,
        n: int,
        weighted: bool = False,
        strict: bool = True,
        seed: int | None = None,
        *,
        src: _Ids | None = None,
        threads: int | None = None,
    ) -> Any: ...
    def _neighbor_matrix(
        self,
        nodes: _Ids,
        count: int,
        pad: int,
        seed: int | None = None,
        threads: int | None = None,
    ) -> Any: ...
    def check(self) -> None: ...
    def __len__(self) -> int: ...

class Sample:
    @property
    def n_id(self) -> Any: ...
    @property
    def row(self) -> Any: ...
    @property
    def col(self) -> Any: ...
    @property
    def e_id(self) -> Any: ...
    @property
    def nodes_per_hop(self) -> list[int]: ...
    @property
    def edges_per_hop(self) -> list[int]: ...
    @property
    def batch(self) -> Any: ...
    @property
    def edge_label_index(self) -> Any: ...

class Features:
    def __new__(
        cls,
        path: _Path,
        backend: Literal["auto", "mapped", "pread", "ring"] = "auto",
        memory: str | int | None = None,
    ) -> Features: ...
    @property
    def backend(self) -> Literal["auto", "mapped", "pread", "ring"]: ...
    @property
    def path(self) -> os.PathLike[str]: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def dtype(self) -> Any: ...
    @property
    def nbytes(self) -> int: ...
    def numpy(self, *, writable: bool = False) -> NDArray[Any]: ...
    def torch(self) -> Any: ...
    def gather(self, ids: _Ids, out: Any = None, *, widen: bool = False) -> Any: ...
    def stats(self) -> dict[str, Any]: ...
    def advise(self, pattern: str) -> None: ...
    def __getitem__(self, key: Any) -> Any: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]: ...
    def __len__(self) -> int: ...

class Dataset:
    def __new__(
        cls,
        path: _Path,
        memory: str | int | None = None,
        residency: Literal["auto", "mapped", "ram"] = "auto",
    ) -> Dataset: ...
    @property
    def path(self) -> os.PathLike[str]: ...
    @property
    def num_nodes(self) -> int: ...
    @property
    def num_edges(self) -> int: ...
    @property
    def memory(self) -> int: ...
    @property
    def generation(self) -> int: ...
    @property
    def graph(self) -> Graph: ...
    @property
    def features(self) -> Features | None: ...
    @property
    def labels(self) -> Features | None: ...
    def table(self, name: str) -> Features: ...
    @property
    def tables(self) -> list[str]: ...
    def edge_table(self, name: str) -> Features: ...
    @property
    def edge_tables(self) -> list[str]: ...
    def split(self, name: str) -> NDArray[Any]: ...
    @property
    def splits(self) -> list[str]: ...
    @property
    def order(self) -> str: ...
    @property
    def ids(self) -> Literal["same", "reordered", "mapped", "text"]: ...
    @property
    def classes(self) -> dict[str, list[str]]: ...
    def original_ids(self, ids: _Ids) -> Any: ...
    def node_ids(self, original: Any) -> Any: ...
    def add_table(
        self, name: str, array: Any, dtype: Any = None, *, ids: Any = None, fill: Any = None
    ) -> None: ...
    def add_split(self, name: str, nodes: Any) -> None: ...
    def add_edge_table(self, name: str, array: Any, dtype: Any = None) -> None: ...
    def remove_table(self, name: str) -> None: ...
    def remove_split(self, name: str) -> None: ...
    @property
    def num_source_rows(self) -> int: ...
    @property
    def num_features(self) -> int: ...
    @property
    def num_node_features(self) -> int: ...
    @property
    def num_edge_features(self) -> int: ...
    @property
    def num_classes(self) -> int: ...
    def mask(self, split: str) -> NDArray[np.bool_]: ...
    def __getitem__(self, name: str) -> Any: ...
    def __contains__(self, key: object) -> bool: ...
    def has_edge(self, src: Any, dst: Any) -> Any: ...
    def edge_index(self) -> NDArray[np.int64]: ...
    def to_scipy(self) -> Any: ...
    @property
    def _origin(self) -> str | None: ...
    def _record_origin(self, digest: str) -> None: ...
    @property
    def build_report(self) -> BuildReport | None: ...
    def _set_build_report(self, report: BuildReport) -> None: ...
    def _reserve(self, bytes: int, what: str) -> AbstractContextManager[None]: ...

class RawBatch:
    def entries(self, torch: bool) -> dict[str, Any]: ...

class BatchSource:
    def __new__(cls, dataset: Dataset, start: Any, options: dict[str, Any]) -> BatchSource: ...
    def epoch(
        self, seed: int, epoch: int, share: tuple[int, int], first: int, step: int
    ) -> EpochStream: ...
    def num_batches(self, world_size: int) -> int: ...
    def num_seeds(self) -> int: ...
    def digests(self) -> tuple[int, int | None]: ...
    def stats(self) -> dict[str, Any]: ...
    def slow_reading(self) -> str | None: ...

class EpochStream:
    def take(self) -> RawBatch | None: ...
    def stop(self) -> None: ...

def write_edges(
    path: str,
    sources: NDArray[Any],
    destinations: NDArray[Any],
    num_nodes: int | None,
    weights: NDArray[np.float32] | None,
    times: NDArray[np.int64] | None,
    undirected: bool,
    direction: str,
    neighbor_order: str,
    encoding: str,
    edge_ids: bool,
    memory: str | int | None,
    overwrite: bool,
    original_ids: NDArray[np.int64] | None = None,
) -> None: ...
def write_table(
    path: str,
    element: str,
    rows: int | None,
    columns: int | None,
    align_rows: bool,
    overwrite: bool,
    pieces: Iterable[NDArray[np.uint8]],
) -> None: ...
def amend_table(
    folder: str,
    name: str,
    element: str,
    rows: int,
    columns: int | None,
    pieces: Iterable[NDArray[np.uint8]],
    numbered: Dataset | None = None,
    of_edges: bool = False,
) -> None: ...
def amend_split(
    folder: str, name: str, ids: NDArray[Any], numbered: Dataset | None = None
) -> None: ...
def remove_dataset(folder: str) -> None: ...
def stored_rows(
    bytes: NDArray[np.uint8],
    numbers: str,
    element: str,
    columns: int,
    first_row: int,
) -> NDArray[np.uint8]: ...
def amend_removal(folder: str, what: str, name: str) -> None: ...

class SourceOptions:
    def __new__(
        cls,
        *,
        format: str | None = None,
        header: bool | None = None,
        delimiter: str | None = None,
        src_column: str | None = None,
        dst_column: str | None = None,
        weight_column: str | None = None,
        time_column: str | None = None,
        third_is_weight: bool = False,
        id_column: str | None = None,
        first_is_id: bool = False,
        dtype: str | None = None,
        on_bad_row: str = "stop",
    ) -> SourceOptions: ...

class BuildSettings:
    def __new__(
        cls,
        *,
        undirected: bool,
        direction: str | None,
        order: str,
        encoding: str,
        neighbor_order: str,
        label_column: str | None,
        edge_ids: bool,
        map_ids: bool,
        string_ids: bool,
        num_nodes: int | None,
        dedup: bool,
        drop_self_loops: bool,
        add_self_loops: bool,
        align_rows: bool,
        threads: int | None,
        overwrite: bool,
    ) -> BuildSettings: ...

def endpoint_columns(
    names: list[str], source: int | None, destination: int | None, taken: list[int]
) -> tuple[int, int]: ...
def build_dataset(
    out: str,
    edges: list[str] | EdgeArrays,
    features: list[list[str] | TableArray],
    labels: list[str] | TableArray | None,
    edge_features: list[list[str] | TableArray],
    edge_tables: list[tuple[str, list[str] | TableArray]],
    tables: list[tuple[str, list[str] | TableArray]],
    splits: list[tuple[str, list[str] | TableArray]],
    source: SourceOptions,
    settings: BuildSettings,
    memory: str | int | None,
) -> dict[str, Any]: ...
def convert_file(
    sources: list[str],
    target: str,
    to: str | None,
    source: SourceOptions,
    edge_ids: bool,
    dedup: bool,
    drop_self_loops: bool,
    add_self_loops: bool,
    num_nodes: int | None,
    undirected: bool,
    direction: str | None,
    neighbor_order: str | None,
    encoding: str,
    align_rows: bool,
    memory: str | int | None,
    overwrite: bool,
    internal_ids: bool = False,
    table: str | None = None,
) -> None: ...
def size_of(memory: str | int) -> int: ...
def memory_in_use() -> dict[str, int | None]: ...
def run_command(arguments: list[str]) -> int: ...
