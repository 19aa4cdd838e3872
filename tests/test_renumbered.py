"""Renumbered datasets: users speak the ids of the source, files and batches speak numbers."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

import graphmill as gm
from tests.command import graphmill
from tests.renumbering import by_heat, publish_again, write_dataset

COUNT = 200
KINDS = ["reordered", "mapped", "mapped in order", "text", "text in order"]


class Source(NamedTuple):
    """A dataset and what it was made from; node i of the arrays has the id ``ids[i]``."""

    ds: gm.Dataset
    edges: np.ndarray
    x: np.ndarray
    y: np.ndarray
    ids: Any
    train: np.ndarray

    def nodes(self, ids: Any) -> np.ndarray:
        """The nodes with these ids, found the slow way."""
        known = {id: node for node, id in enumerate(list(self.ids))}
        return np.array([known[id] for id in list(ids)], dtype=np.int64)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One dataset of each kind, of a graph whose in- and out-degrees differ."""
    edges = source_edges()
    x, y, train = rows()
    parent = tmp_path_factory.mktemp("renumbered")
    found = {}
    for kind in KINDS:
        order = np.arange(COUNT) if "in order" in kind else by_heat(edges, COUNT)
        extra: dict[str, Any] = {}
        if kind.startswith("mapped"):
            extra["ids"] = scattered()
        if kind.startswith("text"):
            extra["names"] = names()
        found[kind] = write_dataset(
            parent / kind.replace(" ", "-"),
            edges,
            order,
            tables={"x": x, "y": y},
            splits={"train": train},
            classes={"y": ["cat", "dog", "owl"]},
            **extra,
        )
    return found


def source_edges() -> np.ndarray:
    rng = np.random.default_rng(5)
    edges = np.stack([COUNT * rng.random(2000) ** 3, COUNT * rng.random(2000)]).astype(np.int64)
    in_degrees, out_degrees = (np.bincount(ends, minlength=COUNT) for ends in edges[::-1])
    assert np.corrcoef(in_degrees, out_degrees)[0, 1] < 0.5
    return edges


def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x = np.arange(COUNT * 4, dtype=np.float32).reshape(COUNT, 4)
    return x, np.arange(COUNT) % 4 - 1, np.random.default_rng(6).permutation(COUNT)[:50]


def scattered() -> np.ndarray:
    return np.arange(COUNT, dtype=np.int64) ** 5 * 7 + 3


def names() -> list[str]:
    return sorted({f"node {i:03} é" for i in range(COUNT - 2)} | {"", "b\0"})


@pytest.fixture(params=KINDS)
def source(made: dict[str, Path], request: pytest.FixtureRequest, tmp_path: Path) -> Source:
    """A copy of a dataset, which tests may change."""
    kind = request.param
    folder = tmp_path / "ds"
    shutil.copytree(made[kind], folder)
    ids: Any = np.arange(COUNT)
    if kind.startswith("mapped"):
        ids = scattered()
    if kind.startswith("text"):
        ids = names()
    x, y, train = rows()
    return Source(gm.open(folder, memory="64MiB"), source_edges(), x, y, ids, train)


def listed(ids: Any) -> list[Any]:
    return list(ids) if isinstance(ids, list) else ids.tolist()


def test_ids_lead_to_numbers_and_back(source: Source) -> None:
    ds = source.ds
    numbers = np.random.default_rng(1).permutation(COUNT)
    ids = ds.original_ids(numbers)
    nodes = source.nodes(ids)
    np.testing.assert_array_equal(ds.table("x")[numbers], source.x[nodes])
    np.testing.assert_array_equal(ds.node_ids(ids), numbers)
    assert ds.node_ids(ids).dtype == np.int64
    assert ds.node_ids(listed(ids)[:3]).tolist() == numbers[:3].tolist()
    assert ds.original_ids([]).shape == ds.node_ids([]).shape == (0,)
    for wrong in ([COUNT], [0, -1]):
        with pytest.raises(IndexError, match=str(wrong[-1])):
            ds.original_ids(wrong)


def test_text_is_given_and_taken_as_str(made: dict[str, Path]) -> None:
    ds = gm.open(made["text"])
    found = ds.original_ids(range(COUNT))
    assert sorted(found) == names()
    assert {type(name) for name in found} == {str}
    fixed = np.array(["node 003 é", "node 001 é"])
    assert ds.original_ids(ds.node_ids(fixed)).tolist() == fixed.tolist()
    with pytest.raises(KeyError, match=r"nobody.* at position 1"):
        ds.node_ids(["node 003 é", "nobody"])
    # The last claims a length that no memory holds.
    others = (torch.tensor([1]), [b"a"], range(10**18))
    for wrong in ([1, 2], "node 003 é", None, np.array([["a"]]), *others):
        with pytest.raises(TypeError, match="str"):
            ds.node_ids(wrong)


def test_integers_are_given_and_taken_as_int64(made: dict[str, Path]) -> None:
    ds = gm.open(made["mapped"])
    tensor = torch.tensor([4, 2])
    ids = ds.original_ids(tensor)
    assert torch.equal(ds.node_ids(ids), tensor)
    for wrong in (0, 4, -1, 2**62):
        with pytest.raises(IndexError, match=f"original id {wrong} at position 1"):
            ds.node_ids([3, wrong])
    with pytest.raises(TypeError, match="integers"):
        ds.node_ids(["a"])


def test_a_dataset_tells_that_it_is_renumbered(made: dict[str, Path], papers: Path) -> None:
    expected = {
        "reordered": ("hot", "reordered"),
        "mapped": ("hot", "mapped"),
        "mapped in order": ("none", "mapped"),
        "text": ("hot", "text"),
        "text in order": ("none", "text"),
    }
    for kind, (order, ids) in expected.items():
        ds = pickle.loads(pickle.dumps(gm.open(made[kind])))
        assert (ds.order, ds.ids) == (order, ids)
        assert f"renumbered(order={order}, ids={ids})" in repr(ds)
        assert ds.classes == {"y": ["cat", "dog", "owl"]}
        assert graphmill("verify", made[kind]).returncode == 0
    plain = gm.open(papers)
    assert (plain.order, plain.ids, plain.classes) == ("none", "same", {})
    assert "renumbered" not in repr(plain)
    assert plain.node_ids(plain.original_ids([7, 3])).tolist() == [7, 3]


def check_batch(source: Source, batch: gm.Batch, seeds: Any, ids: Any) -> None:
    """Everything in a batch is what the source says about the nodes with these ids."""
    nodes = source.nodes(ids)
    np.testing.assert_array_equal(batch.x.numpy(), source.x[nodes])
    np.testing.assert_array_equal(batch.y.numpy(), source.y[nodes])
    np.testing.assert_array_equal(nodes[batch.edge_index.numpy()], source.edges[:, batch.e_id])
    given = source.nodes(seeds)[batch.input_id.numpy()]
    np.testing.assert_array_equal(nodes[: batch.batch_size], given)


@pytest.mark.parametrize("direction", ["in", "out"])
def test_seeds_are_ids_of_the_source(source: Source, direction: str) -> None:
    ds = source.ds
    seeds = [listed(source.ids)[node] for node in source.train]
    options: dict[str, Any] = {"batch_size": 16, "shuffle": True, "seed": 2, "direction": direction}
    numbered = gm.NeighborLoader(ds, [3, 2], seeds=seeds, **options)
    original = gm.NeighborLoader(ds, [3, 2], seeds=seeds, original=True, **options)
    for batch, other in zip(numbered, original, strict=True):
        np.testing.assert_array_equal(ds.table("x")[batch.n_id.numpy()], batch.x.numpy())
        check_batch(source, batch, seeds, ds.original_ids(batch.n_id.numpy()))
        check_batch(source, other, seeds, listed(other.n_id))
        assert torch.equal(batch.input_id, other.input_id)
        other.to("cpu")


def test_a_split_and_its_ids_are_the_same_seeds(source: Source) -> None:
    ds = source.ds
    train = ds.split("train")
    np.testing.assert_array_equal(source.nodes(train), source.train)
    by_name = gm.NeighborLoader(ds, [3], 16, "train", shuffle=True, seed=0)
    by_ids = gm.NeighborLoader(ds, [3], 16, train, shuffle=True, seed=0)
    for one, other in zip(by_name, by_ids, strict=True):
        for name in ("n_id", "e_id", "edge_index", "input_id", "x"):
            assert torch.equal(one[name], other[name])


def test_without_seeds_all_nodes_come_in_the_order_of_their_ids(source: Source) -> None:
    loader = gm.NeighborLoader(source.ds, [1], 64, original=True)
    ids = [id for batch in loader for id in listed(batch.n_id)[: batch.batch_size]]
    assert ids == listed(source.ids)


def test_seeds_that_no_node_has_are_refused(made: dict[str, Path]) -> None:
    for kind, seeds, error in (
        ("reordered", [0, COUNT], IndexError),
        ("mapped", [3, 0], IndexError),
        ("text", ["", "nobody"], KeyError),
        ("text", [1], TypeError),
        ("mapped", ["3"], TypeError),
        ("mapped", "valid", KeyError),
    ):
        with pytest.raises(error):
            gm.NeighborLoader(gm.open(made[kind]), [1], seeds=seeds)


def year_of(ds: gm.Dataset, source: Source, name: str) -> np.ndarray:
    """A column in the order of the nodes of the source."""
    return ds.table(name)[ds.node_ids(source.ids)]


def test_rows_are_added_by_id(source: Source) -> None:
    ds = source.ds
    shuffled = np.random.default_rng(3).permutation(COUNT)
    ids = [listed(source.ids)[node] for node in shuffled]
    wide = np.arange(COUNT * 2, dtype=np.float64).reshape(COUNT, 2)
    ds.add_table("wide", wide[shuffled], ids=ids)
    np.testing.assert_array_equal(year_of(ds, source, "wide"), wide)
    array = ds.original_ids(ds.node_ids(ids))
    ds.add_table("half", torch.from_numpy(wide[shuffled]), "f16", ids=array)
    np.testing.assert_array_equal(year_of(ds, source, "half"), wide.astype(np.float16))
    some = shuffled[:7]
    ds.add_table("few", np.arange(7), ids=ids[:7], fill=-1)
    expected = np.full(COUNT, -1)
    expected[some] = np.arange(7)
    np.testing.assert_array_equal(year_of(ds, source, "few"), expected)
    brain = torch.arange(7, dtype=torch.bfloat16)
    ds.add_table("brain", brain, ids=ids[:7], fill=0.5)
    found = ds.table("brain").torch()[torch.from_numpy(ds.node_ids(source.ids))]
    assert found[torch.from_numpy(some)].equal(brain)
    assert float(found.sum()) == float(brain.sum()) + 0.5 * (COUNT - 7)
    ds.add_table("none", np.zeros((0, 3)), ids=[], fill=np.nan)
    assert np.isnan(ds.table("none").numpy()).all()
    assert graphmill("verify", ds.path).returncode == 0


def test_rows_by_position_follow_the_ids(source: Source) -> None:
    ds = source.ds
    year = np.arange(COUNT) * 10
    if ds.ids in ("mapped", "text"):
        with pytest.raises(ValueError, match="give ids=, the id of each row"):
            ds.add_table("year", year)
        assert "year" not in gm.open(ds.path).tables
        return
    ds.add_table("year", year)
    np.testing.assert_array_equal(year_of(ds, source, "year"), year)
    ds.add_table("again", ds.table("year"), ids=ds.original_ids(range(COUNT)))
    np.testing.assert_array_equal(ds.table("again").numpy(), ds.table("year").numpy())
    with pytest.raises(TypeError, match="one array"):
        ds.add_table("parts", (np.zeros(50) for _ in range(4)))
    with pytest.raises(ValueError, match="expected 200 rows"):
        ds.add_table("short", np.zeros(3))


def test_ids_order_rows_of_plain_datasets_too(papers: Path, tmp_path: Path) -> None:
    shutil.copytree(papers, tmp_path / "ds")
    ds = gm.open(tmp_path / "ds")
    ids = np.arange(5000)[::-1]
    ds.add_table("year", ids * 2, ids=ids)
    assert ds.table("year")[[0, 1, 4999]].tolist() == [0, 2, 9998]


def test_tables_that_leave_doubts_are_refused(source: Source) -> None:
    ds, ids = source.ds, listed(source.ids)
    before = sorted(path.name for path in Path(ds.path).iterdir())
    column = np.arange(COUNT)
    unknown = "nobody" if ds.ids == "text" else -5
    with pytest.raises(gm.SourceError, match="1 of 200 nodes have no row"):
        ds.add_table("t", column[1:], ids=ids[1:])
    with pytest.raises(gm.SourceError, match="rows 0 and 199 have the same id"):
        ds.add_table("t", column, ids=[*ids[:-1], ids[0]])
    with pytest.raises(gm.SourceError, match=f"{unknown}.* at position 1"):
        ds.add_table("t", column[:2], ids=[ids[0], unknown], fill=0)
    with pytest.raises(ValueError, match="expected 2 rows, one for each of ids"):
        ds.add_table("t", column[:3], ids=ids[:2])
    with pytest.raises(ValueError, match="give ids too"):
        ds.add_table("t", column, fill=0)
    for fill in (np.nan, 0.5, 2**70):
        with pytest.raises((ValueError, TypeError)):
            ds.add_table("t", column[:2], ids=ids[:2], fill=fill)
    with pytest.raises(ValueError, match="id-"):
        ds.add_table("id-places", column, ids=ids)
    assert sorted(path.name for path in Path(ds.path).iterdir()) == before


def test_the_order_of_rows_takes_its_memory_from_the_budget(made: dict[str, Path]) -> None:
    ds = gm.open(made["mapped"], memory="1KiB")
    with pytest.raises(gm.MemoryBudgetError, match="the order of the rows"):
        ds.add_table("t", np.zeros(COUNT), ids=scattered())


def test_splits_are_added_by_id(source: Source) -> None:
    ds, ids = source.ds, listed(source.ids)
    ds.add_split("some", [ids[9], ids[2], ids[5]])
    assert listed(ds.split("some")) == [ids[9], ids[2], ids[5]]
    with pytest.raises(gm.SourceError, match=r"positions 0 and 2.*twice"):
        ds.add_split("twice", [ids[9], ids[2], ids[9]])
    ds.add_split("none", [])
    assert len(ds.split("none")) == 0
    with pytest.raises(gm.SourceError, match="position 1"):
        ds.add_split("far", [ids[0], "nobody" if ds.ids == "text" else 10**17])
    mask = np.zeros(COUNT, dtype=bool)
    mask[[3, 8]] = True
    if ds.ids == "reordered":
        ds.add_split("mask", mask)
        assert ds.split("mask").tolist() == [3, 8]
    else:
        with pytest.raises(ValueError, match="give a list of ids"):
            ds.add_split("mask", mask)
    with pytest.raises(ValueError, match="shape"):
        ds.add_split("mask2", mask[:5])
    batch = next(iter(gm.NeighborLoader(ds, [2], 8, "some", original=True)))
    assert listed(batch.n_id)[:3] == [ids[9], ids[2], ids[5]]
    assert graphmill("verify", ds.path).returncode == 0


def test_a_dataset_built_anew_is_not_changed_by_an_old_handle(
    made: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "ds"
    shutil.copytree(made["reordered"], folder)
    ds = gm.open(folder)
    shutil.rmtree(folder)
    edges = source_edges()[::-1]
    write_dataset(folder, edges, by_heat(edges, COUNT))
    before = sorted(path.name for path in folder.iterdir())
    for change in (
        lambda: ds.add_table("year", np.zeros(COUNT)),
        lambda: ds.add_split("some", [1, 2]),
    ):
        with pytest.raises(ValueError, match="built anew since it was opened"):
            change()
    assert sorted(path.name for path in folder.iterdir()) == before


def damage(path: Path, at: int, value: bytes) -> None:
    data = bytearray(path.read_bytes())
    data[4096 + at : 4096 + at + len(value)] = value
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("kind", "file", "at", "value"),
    [
        ("reordered", "id-places.1.gd", 40, (-1).to_bytes(4, "little", signed=True)),
        ("reordered", "id-places.1.gd", 40, (2**30).to_bytes(4, "little")),
        ("mapped", "id-places.1.gd", 400, (COUNT).to_bytes(4, "little")),
        ("text", "id-places.1.gd", 0, b"\xff" * 4),
        ("text", "id-ends.1.gd", 80, b"\xff" * 8),
        ("text", "id-ends.1.gd", 80, b"\xff" * 7 + b"\x7f"),
        ("text", "id-names.1.gd", 30, b"\xff\xfe"),
    ],
)
def test_files_that_lie_give_errors_and_never_another_node(
    made: dict[str, Path], tmp_path: Path, kind: str, file: str, at: int, value: bytes
) -> None:
    folder = tmp_path / "ds"
    shutil.copytree(made[kind], folder)
    honest = gm.open(made[kind])
    ids = honest.original_ids(range(COUNT))
    damage(folder / file, at, value)
    publish_again(folder)
    ds = gm.open(folder)
    errors = 0
    for number, id in enumerate(ids):
        for ask, given, expected in ((ds.node_ids, id, number), (ds.original_ids, number, id)):
            try:
                assert ask([given])[0] == expected
            except (gm.CorruptError, KeyError, IndexError):
                errors += 1
    assert errors
    assert graphmill("verify", folder, check=False).returncode == 1
    repr(ds)
