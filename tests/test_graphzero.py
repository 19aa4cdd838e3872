"""The drop-in: what GraphZero answers, call by call, and errors where it let things pass."""

from __future__ import annotations

import gc
import pickle
import struct
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphmill as gm
import graphmill.graphzero as gz
from tests import original
from tests.process import anonymous_memory, maps_of, needs_proc

pytest.importorskip("graphzero", reason="compares with GraphZero itself: pip install graphzero")

FACEBOOK = Path(__file__).parents[2] / "shared/data/facebook/facebook_edges.csv"

KINDS = {"INT32": "int32", "INT64": "int64", "FLOAT32": "float32", "FLOAT64": "float64"}


def assert_same_graph(path: Path, expected: dict[str, Any]) -> None:
    """Compare what the drop-in and the native class say with what GraphZero said."""
    nodes = range(expected["num_nodes"])
    drop_in, native = gz.Graph(str(path)), gm.Graph(path)
    for graph in (drop_in, native):
        assert graph.num_nodes == expected["num_nodes"]
        assert graph.num_edges == expected["num_edges"]
        assert graph.has_weights == expected["has_weights"]
    ids = [*nodes, len(nodes), len(nodes) + 1000]
    assert [drop_in.get_degree(node) for node in ids] == expected["degrees"]
    assert native.degrees().tolist() == expected["degrees"][:-2]
    for node in nodes:
        found = drop_in.get_neighbours(node)
        assert found.dtype == expected["neighbours"][node].dtype == np.int64
        np.testing.assert_array_equal(found, expected["neighbours"][node])
        np.testing.assert_array_equal(native.neighbors(node), expected["neighbours"][node])
        if expected["has_weights"]:
            weights = drop_in.get_weights(node)
            assert weights.dtype == expected["weights"][node].dtype == np.float32
            np.testing.assert_array_equal(weights, expected["weights"][node])


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("header", [False, True])
def test_graphs_answer_as_the_original_does(
    tmp_path: Path, directed: bool, weighted: bool, header: bool
) -> None:
    source = original.write_edges(tmp_path / "edges.csv", weighted=weighted, header=header)
    path = original.convert_graph(source, tmp_path / "graph.gl", directed=directed)
    content = original.graph_content(path)
    assert content["num_edges"] == len(original.EDGES) * (1 if directed else 2)
    assert content["has_weights"] == weighted
    assert_same_graph(path, content)


@pytest.mark.parametrize("kind", KINDS)
def test_features_answer_as_the_original_does(tmp_path: Path, kind: str) -> None:
    fraction = ".5" if kind.startswith("FLOAT") else ""
    rows = [f"{node},{node * 10}{fraction},{-node},7" for node in (0, 5, 2, 3)]
    # The original crashes on a header before int64 rows.
    header = [] if kind == "INT64" else ["id,a,b,c"]
    (tmp_path / "x.csv").write_text("\n".join([*header, *rows]) + "\n")
    path = original.convert_features(tmp_path / "x.csv", tmp_path / "x.gd", kind)
    expected = original.features_content(path)
    assert expected["tensor"].dtype == KINDS[kind]
    drop_in, native = gz.FeatureStore(str(path)), gm.Features(path)
    assert drop_in.num_nodes == expected["num_nodes"] == len(native) == 6
    assert drop_in.feature_dim == expected["feature_dim"] == native.shape[1] == 3
    for table in (drop_in.get_tensor(), native.numpy(), native.torch().numpy()):
        assert table.dtype == expected["tensor"].dtype
        np.testing.assert_array_equal(table, expected["tensor"])
    for node, row in enumerate(expected["rows"]):
        assert drop_in.get_data(node).shape == row.shape
        np.testing.assert_array_equal(drop_in.get_data(node), row)
    ids = [5, 0, 5]
    np.testing.assert_array_equal(native.gather(ids), expected["tensor"][ids])


def test_the_names_and_numbers_of_the_enumeration_are_kept() -> None:
    import graphzero

    assert gz.__version__ == graphzero.__version__
    for kind in KINDS:
        assert getattr(gz.DataType, kind).value == getattr(graphzero.DataType, kind).value


def test_range_errors_are_runtime_errors_and_index_errors(
    weighted_file: Path, feature_file: Path
) -> None:
    graph, store = gz.Graph(weighted_file), gz.FeatureStore(feature_file)
    calls: list[Callable[[], Any]] = []
    for node in (graph.num_nodes, 10**6, 2**63, 2**64, -1, -(2**63), -(2**70)):
        for method in (graph.get_neighbours, graph.get_weights, store.get_data):
            calls.append(partial(method, node))
        if node < 0:
            calls.append(partial(graph.get_degree, node))
        else:
            assert graph.get_degree(node) == 0
    for call in calls:
        with pytest.raises(RuntimeError) as caught:
            call()
        assert isinstance(caught.value, IndexError), caught.value


def test_a_bool_is_a_number_of_a_node_and_a_float_is_none(
    weighted_file: Path, feature_file: Path
) -> None:
    graph, store = gz.Graph(weighted_file), gz.FeatureStore(feature_file)
    assert store.get_data(True).tolist() == [4, 5, 6]
    assert store.get_data(np.bool_(True).astype(int)).tolist() == [4, 5, 6]
    assert graph.get_degree(False) == len(graph.get_neighbours(False)) == 3
    for call in (store.get_data, graph.get_degree, graph.get_neighbours):
        with pytest.raises(TypeError):
            call(1.0)  # type: ignore[arg-type]


def test_lengths_that_no_array_has_are_value_errors(plain_file: Path) -> None:
    graph = gz.Graph(plain_file)
    for count in (2**63, 2**64, -(2**63) - 1):
        for call in (
            graph.batch_random_walk,
            graph.batch_random_walk_uniform,
            graph.batch_random_fanout,
        ):
            with pytest.raises(ValueError, match=str(count)):
                call([0], count)
        with pytest.raises(ValueError, match=str(count)):
            graph.sample_neighbours(0, count)


def test_a_path_given_by_both_names_is_a_type_error(tmp_path: Path) -> None:
    source = original.write_edges(tmp_path / "edges.csv", weighted=True, header=True)
    target = tmp_path / "out"
    for convert in (gz.convert_csv_to_gl, gz.convert_csv_to_gd):
        with pytest.raises(TypeError, match="csv_path or input_csv, found both"):
            convert(source, target, input_csv=source)
        with pytest.raises(TypeError, match="out_path or output_bin, found both"):
            convert(source, target, output_bin=target)
        with pytest.raises(TypeError, match="out_path or output_bin, found neither"):
            convert(source)
    assert not target.exists()


def test_ids_far_apart_are_allowed_by_the_number_of_rows(tmp_path: Path) -> None:
    source, target = tmp_path / "x.csv", tmp_path / "x.gd"
    source.write_text("0,1\n20000000,2\n")
    with pytest.raises(RuntimeError, match="saying their number"):
        gz.convert_csv_to_gd(source, target, gz.DataType.INT32)
    gz.convert_csv_to_gd(source, target, gz.DataType.INT32, num_nodes=20_000_001)
    store = gz.FeatureStore(target)
    assert store.num_nodes == 20_000_001
    assert store.get_data(20_000_000).tolist() == [2]


def test_weights_that_do_not_exist_are_runtime_errors(plain_file: Path) -> None:
    with pytest.raises(RuntimeError, match="weights"):
        gz.Graph(plain_file).get_weights(0)


def open_drop_in(path: Path) -> None:
    """Open a file by its ending and look at all of it."""
    if path.suffix == ".gl":
        graph = gz.Graph(path)
        for node in range(graph.num_nodes):
            graph.get_neighbours(node)
    else:
        gz.FeatureStore(path).get_tensor().sum()


def refused(path: Path, data: bytes, natural: type[Exception] = ValueError) -> None:
    path.write_bytes(data)
    with pytest.raises(RuntimeError) as caught:
        open_drop_in(path)
    assert isinstance(caught.value, gm.GraphmillError)
    assert isinstance(caught.value, natural)
    assert str(path) in str(caught.value)


def test_every_truncation_is_refused(
    tmp_path: Path, weighted_file: Path, plain_file: Path, feature_file: Path
) -> None:
    for source in (weighted_file, plain_file, feature_file):
        data = source.read_bytes()
        for length in range(len(data)):
            refused(tmp_path / source.name, data[:length])


def test_files_that_grew_are_refused(
    tmp_path: Path, weighted_file: Path, plain_file: Path, feature_file: Path
) -> None:
    for source in (weighted_file, plain_file, feature_file):
        refused(tmp_path / source.name, source.read_bytes() + b"\0")


def test_headers_that_lie_are_refused(
    tmp_path: Path, weighted_file: Path, feature_file: Path
) -> None:
    lies = (0, 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1)
    graph, table = weighted_file.read_bytes(), feature_file.read_bytes()
    for data, name, offsets in (
        (graph, "lie.gl", range(8, 56, 8)),
        (table, "lie.gd", range(16, 32, 8)),
    ):
        for offset in offsets:
            for lie in lies:
                changed = bytearray(data)
                struct.pack_into("<Q", changed, offset, lie)
                if changed != data:
                    refused(tmp_path / name, bytes(changed))
    for dtype in (-1, 4, 2**31 - 1):
        changed = bytearray(table)
        struct.pack_into("<i", changed, 12, dtype)
        refused(tmp_path / "lie.gd", bytes(changed))


def test_lists_that_lie_are_refused_when_they_are_read(tmp_path: Path, plain_file: Path) -> None:
    data = plain_file.read_bytes()
    nodes = struct.unpack_from("<Q", data, 40)[0]
    for index in range(nodes + 1):
        for lie in (-1, 10**6, 2**62, -(2**63)):
            changed = bytearray(data)
            struct.pack_into("<q", changed, 64 + 8 * index, lie)
            refused(tmp_path / "lists.gl", bytes(changed))


def test_garbage_and_missing_files_are_refused(tmp_path: Path) -> None:
    for name in ("garbage.gl", "garbage.gd"):
        refused(tmp_path / name, b"")
        refused(tmp_path / name, b"not a graph at all" * 50)
        with pytest.raises(RuntimeError) as caught:
            open_drop_in(tmp_path / f"missing-{name}")
        assert isinstance(caught.value, FileNotFoundError)
        (tmp_path / f"folder-{name}").mkdir()
        with pytest.raises(RuntimeError):
            open_drop_in(tmp_path / f"folder-{name}")


@needs_proc
def test_views_outlive_the_objects(weighted_file: Path, feature_file: Path) -> None:
    graph, store = gz.Graph(weighted_file), gz.FeatureStore(feature_file)
    views: list[Any] = [
        graph.get_neighbours(0),
        graph.get_weights(0),
        store.get_tensor(),
        store.get_data(3),
    ]
    expected = [view.copy() for view in views]
    assert not any(view.flags.owndata for view in views)
    del graph, store
    gc.collect()
    for view, content in zip(views, expected, strict=True):
        np.testing.assert_array_equal(view, content)
    views.clear()
    del view
    gc.collect()
    assert maps_of(str(weighted_file)) == maps_of(str(feature_file)) == 0


def test_writing_to_a_tensor_changes_no_file(feature_file: Path) -> None:
    before = feature_file.read_bytes()
    tensor = gz.FeatureStore(feature_file).get_tensor()
    tensor[:] = -1
    assert feature_file.read_bytes() == before
    assert float(gz.FeatureStore(feature_file).get_tensor().min()) == 0


@needs_proc
def test_a_tensor_takes_no_anonymous_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.gd"
    rows, columns = 1 << 17, 128
    with path.open("wb") as file:
        file.write(b"GZDATA26" + struct.pack("<IiQQ", 0, gz.DataType.FLOAT32.value, rows, columns))
        block = np.ones((1 << 10, columns), dtype=np.float32)
        for _ in range(rows >> 10):
            block.tofile(file)
    store = gz.FeatureStore(path)
    gc.collect()
    before = anonymous_memory()
    tensor = store.get_tensor()
    assert float(tensor[::64].sum()) == rows // 64 * columns
    assert anonymous_memory() - before < 2 << 20


def test_handles_pickle(weighted_file: Path, feature_file: Path) -> None:
    graph = pickle.loads(pickle.dumps(gz.Graph(weighted_file)))
    assert graph.get_neighbours(0).tolist() == [6, 1, 1]
    store = pickle.loads(pickle.dumps(gz.FeatureStore(feature_file)))
    assert store.get_data(3).tolist() == [7, 8, 9]


def test_two_graphs_of_one_process_do_not_mix(weighted_file: Path, plain_file: Path) -> None:
    weighted, plain = gz.Graph(weighted_file), gz.Graph(plain_file)
    assert weighted.has_weights
    assert not plain.has_weights
    with pytest.raises(RuntimeError):
        plain.get_weights(0)
    assert weighted.get_weights(0).tolist() == [0.5, 1.5, 0.25]


@pytest.mark.parametrize("weighted", [False, True])
def test_our_own_files_open_through_the_drop_in(tmp_path: Path, weighted: bool) -> None:
    edges = np.array([line[:2] for line in original.EDGES]).T
    weights = [line[2] for line in original.EDGES] if weighted else None
    source = original.write_edges(tmp_path / "edges.csv", weighted=weighted, header=False)
    theirs = original.convert_graph(source, tmp_path / "theirs.gl", directed=True)
    gm.write_graph(
        tmp_path / "ours.gl",
        edges,
        weights=weights,
        direction="out",
        neighbor_order="file",
        encoding="i64",
    )
    assert_same_graph(tmp_path / "ours.gl", original.graph_content(theirs))
    assert not gz.Graph(tmp_path / "ours.gl").get_neighbours(0).flags.owndata
    rows = np.arange(12.0).reshape(4, 3)
    gm.write_features(tmp_path / "ours.gd", rows)
    np.testing.assert_array_equal(gz.FeatureStore(tmp_path / "ours.gd").get_tensor(), rows)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("undirected", [False, True])
def test_graphs_written_for_the_original_open_in_it(
    tmp_path: Path, weighted: bool, undirected: bool
) -> None:
    edges = np.random.default_rng(3).integers(0, 30, size=(2, 120))
    weights = np.arange(120, dtype=np.float32) / 8 if weighted else None
    g = gm.write_graph(
        tmp_path / "ours.gl",
        edges,
        num_nodes=33,
        weights=weights,
        undirected=undirected,
        neighbor_order="file",
    )
    lost = "edge ids" if weighted else "the mark as undirected"
    with pytest.warns(UserWarning, match=lost) if weighted or undirected else nullcontext():
        gm.convert(tmp_path / "ours.gl", tmp_path / "theirs.gl", to="graphzero")
    content = original.graph_content(tmp_path / "theirs.gl")
    assert content["num_nodes"] == 33
    assert content["num_edges"] == g.num_edges == 120 * (2 if undirected else 1)
    assert content["has_weights"] == weighted
    for node in range(33):
        np.testing.assert_array_equal(content["neighbours"][node], g.neighbors(node))
        if weighted:
            stored = g.weights()
            assert stored is not None
            start, end = g.list_range(node)
            np.testing.assert_array_equal(content["weights"][node], stored[start:end])
    assert_same_graph(tmp_path / "theirs.gl", content)


@pytest.mark.parametrize("dtype", KINDS.values())
def test_features_written_for_the_original_open_in_it(tmp_path: Path, dtype: str) -> None:
    rows = np.random.default_rng(4).integers(-9, 9, size=(20, 5)).astype(dtype)
    gm.write_features(tmp_path / "ours.gd", rows)
    gm.convert(tmp_path / "ours.gd", tmp_path / "theirs.gd", to="graphzero")
    content = original.features_content(tmp_path / "theirs.gd")
    assert content["tensor"].dtype == rows.dtype
    np.testing.assert_array_equal(content["tensor"], rows)


@pytest.mark.skipif(not FACEBOOK.exists(), reason="needs facebook_edges.csv beside the repository")
def test_a_real_graph_has_the_same_lists_either_way(tmp_path: Path) -> None:
    path = original.convert_graph(FACEBOOK, tmp_path / "theirs.gl", directed=False)
    edges = np.loadtxt(FACEBOOK, delimiter=",", skiprows=1, dtype=np.int64).T
    ours = gm.write_graph(tmp_path / "ours.gl", edges, undirected=True)
    theirs, native = gz.Graph(path), gm.Graph(path)
    assert theirs.num_nodes == ours.num_nodes == 22470
    assert theirs.num_edges == ours.num_edges == 2 * edges.shape[1]
    np.testing.assert_array_equal(native.degrees(), ours.degrees())
    for node in range(ours.num_nodes):
        np.testing.assert_array_equal(np.sort(theirs.get_neighbours(node)), ours.neighbors(node))
