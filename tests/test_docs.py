"""What the documentation says is true: examples run, names exist, torch is optional."""

from __future__ import annotations

import ast
import doctest
import inspect
import os
import re
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphmill as gm
import graphmill.graphzero as gz
import graphmill.torch as gt
from graphmill import _native, pyg
from tests.command import graphmill

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
STUBS = ast.parse((ROOT / "python/graphmill/_native.pyi").read_text())

WITHOUT_TORCH = """
import sys
from importlib.machinery import PathFinder

class WithoutTorch(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            return None
        return super().find_spec(name, path, target)

sys.meta_path[:] = [WithoutTorch if finder is PathFinder else finder for finder in sys.meta_path]
"""


def run(script: str, folder: Path, *, lines: str = "") -> subprocess.CompletedProcess[str]:
    """Run a Python script, and then shell lines, as a user with the environment activated would."""
    # The command stands beside the interpreter; following its link would leave the environment.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = [sys.executable, "-c", script] if script else ["/bin/sh", "-e", "-c", lines]
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def with_values_checked(script: str) -> str:
    """Turn every ``expression  # array(...): remark`` into a check of the promised value."""
    return re.sub(
        r"^(\S.*?)  # (array\(.*)$",
        lambda line: f"assert {line[2]!r}.startswith(repr({line[1]})), repr({line[1]})",
        script,
        flags=re.MULTILINE,
    )


def test_the_readme_runs_from_top_to_bottom(tmp_path: Path) -> None:
    script = with_values_checked("\n".join(blocks("python")))
    assert script.count("startswith(repr(") >= 2
    run(script, tmp_path)
    commands = [
        line
        for block in blocks("sh")
        for line in block.splitlines()
        if line.startswith("graphmill ")
    ]
    assert {line.split()[1] for line in commands} >= {"inspect", "verify", "convert"}
    for line in commands:
        run("", tmp_path, lines=line)
    assert np.load(tmp_path / "x.npy").tolist() == np.arange(8.0).reshape(4, 2).tolist()


def test_a_wrong_value_in_the_readme_would_be_seen(tmp_path: Path) -> None:
    script = "import numpy as np\nnp.arange(2)  # array([0, {}]): a view"
    run(with_values_checked(script.format(1)), tmp_path)
    with pytest.raises(AssertionError, match=r"array\(\[0, 1\]\)"):
        run(with_values_checked(script.format(7)), tmp_path)


def documented() -> Iterator[tuple[str, Any]]:
    """Everything public that may have a docstring, Rust-made classes included."""
    for module in (gm, gz, gt, pyg):
        for name in module.__all__:
            thing = getattr(module, name)
            yield f"{module.__name__}.{name}", thing
            if inspect.isclass(thing) and not issubclass(thing, BaseException):
                for attribute, value in vars(thing).items():
                    if not attribute.startswith("_"):
                        yield f"{module.__name__}.{name}.{attribute}", value


EXAMPLES = {
    name: doc
    for name, thing in documented()
    if ">>>" in (doc := getattr(thing, "__doc__", "") or "")
}


@pytest.fixture(scope="module")
def small_dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of 4 nodes of which one or two are for training."""
    folder = tmp_path_factory.mktemp("examples") / "papers"
    sizes = ("--nodes", 4, "--edges", 5, "--features", 2, "--classes", 2)
    for seed in range(50):
        graphmill("generate", "sbm", folder, *sizes, "--seed", seed, "--overwrite", "--quiet")
        if 1 <= len(gm.open(folder).split("train")) <= 2:
            return folder
    raise AssertionError("no seed gives a training node")


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_of_docstrings_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_dataset: Path, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "papers").symlink_to(small_dataset)
    rows = np.arange(8, dtype=np.float32).reshape(4, 2)
    g = gm.write_graph("graph.gl", [[0, 0, 1, 2, 3], [1, 2, 2, 3, 0]])
    x = gm.write_features("features.gd", rows)
    (tmp_path / "edges.csv").write_text("0,1\n0,2\n1,2\n2,3\n3,0\n")
    if 'write_features("x.gd"' not in EXAMPLES[name]:
        gm.write_features("x.gd", rows)
    known = {"gm": gm, "gz": gz, "pyg": pyg, "np": np, "g": g, "x": x, "ds": gm.open("papers")}
    example = doctest.DocTestParser().get_doctest(EXAMPLES[name], known, name, None, None)
    assert example.examples
    complaints: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(example, out=complaints.append)
    assert not complaints, "".join(complaints)


def test_the_rust_made_classes_and_the_writers_have_examples() -> None:
    assert EXAMPLES.keys() >= {
        *("graphmill.Graph", "graphmill.Features", "graphmill.NeighborLoader", "graphmill.open"),
        *("graphmill.write_graph", "graphmill.write_features", "graphmill.convert"),
        *("graphmill.graphzero.Graph", "graphmill.graphzero.FeatureStore"),
    }


def test_everything_public_is_documented() -> None:
    bare = [
        name
        for name, thing in documented()
        if not isinstance(thing, str) and not (getattr(thing, "__doc__", None) or "").strip()
    ]
    assert bare == []
    # A class without a docstring shows its parent's, which would pass unseen.
    own = [name for name in gm.__all__ if inspect.isclass(thing := getattr(gm, name)) and thing]
    assert all(vars(getattr(gm, name)).get("__doc__") for name in own)


def test_every_public_function_has_an_example() -> None:
    functions = [
        f"{module.__name__}.{name}"
        for module in (gm, pyg)
        for name in module.__all__
        if inspect.isroutine(getattr(module, name))
    ]
    assert [name for name in functions if name not in EXAMPLES] == []


@pytest.mark.parametrize("kind", [gm.Graph, gm.Features, gm.Dataset, gm.Sample])
def test_the_rust_made_classes_and_their_methods_have_examples(kind: type) -> None:
    public = [
        f"graphmill.{kind.__name__}.{name}"
        for name, thing in vars(kind).items()
        if callable(thing) and not name.startswith("_")
    ]
    assert [name for name in [f"graphmill.{kind.__name__}", *public] if name not in EXAMPLES] == []


def test_every_class_and_method_written_in_python_has_an_example() -> None:
    written = [
        name
        for name, thing in documented()
        if inspect.isfunction(thing)
        or (
            inspect.isclass(thing)
            and not issubclass(thing, BaseException)
            and thing.__module__ != "graphmill._native"
        )
    ]
    assert {"graphmill.Batch.to", "graphmill.graphzero.FeatureStore.get_data"} <= set(written)
    assert [name for name in written if name not in EXAMPLES] == []


def test_all_names_everything_public_and_nothing_else() -> None:
    public = {
        name
        # Some are there only once they have been asked for.
        for name in {*vars(gm), *vars(gm)["_HOMES"]}
        if not name.startswith("_") and not isinstance(getattr(gm, name), types.ModuleType)
    }
    public.discard("annotations")
    assert public | {"__version__"} == set(gm.__all__)
    assert set(gm.__all__) <= set(dir(gm))
    with pytest.raises(AttributeError, match="'graphmill' has no attribute 'biuld'"):
        _ = gm.biuld  # type: ignore[attr-defined]


def stub_members(node: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}


STUB_CLASSES = {node.name: node for node in STUBS.body if isinstance(node, ast.ClassDef)}
STUB_FUNCTIONS = {node.name: node for node in STUBS.body if isinstance(node, ast.FunctionDef)}


def test_the_stubs_name_what_the_module_has() -> None:
    real = {name: thing for name, thing in vars(_native).items() if not name.startswith("_")}
    assert {name for name, thing in real.items() if inspect.isclass(thing)} == set(STUB_CLASSES)
    assert {n for n, thing in real.items() if not inspect.isclass(thing)} == set(STUB_FUNCTIONS)


@pytest.mark.parametrize("name", STUB_CLASSES)
def test_the_stubs_name_what_the_classes_have(name: str) -> None:
    real = vars(getattr(_native, name))
    stubbed = stub_members(STUB_CLASSES[name])
    assert {member for member in real if not member.startswith("_")} == {
        member for member in stubbed if not member.startswith("_")
    }
    special = {member for member in stubbed if member.startswith("__")}
    assert special <= set(real)
    for member, node in stubbed.items():
        is_property = any(ast.unparse(d) == "property" for d in node.decorator_list)
        # Methods of Rust are descriptors that can be called; properties cannot.
        assert is_property != callable(real[member]), f"{name}.{member}"


def parameters(node: ast.FunctionDef) -> list[tuple[str, bool, bool]]:
    """Name, whether it has a default, and whether it is keyword-only, without the first of a method."""
    positional = node.args.posonlyargs + node.args.args
    required = len(positional) - len(node.args.defaults)
    found = [(argument.arg, at >= required, False) for at, argument in enumerate(positional)]
    for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        found.append((argument.arg, default is not None, True))
    return [entry for entry in found if entry[0] not in ("self", "cls")]


def real_parameters(thing: Any) -> list[tuple[str, bool, bool]]:
    return [
        (name, p.default is not p.empty, p.kind is p.KEYWORD_ONLY)
        for name, p in inspect.signature(thing).parameters.items()
        if name != "self"
    ]


@pytest.mark.parametrize("name", ["Graph", "Features", "Dataset", "BatchSource", "RawBatch"])
def test_the_stubs_take_the_arguments_that_the_methods_take(name: str) -> None:
    real = getattr(_native, name)
    for member, node in stub_members(STUB_CLASSES[name]).items():
        if node.decorator_list or member in ("__len__", "__getitem__"):
            continue
        target = real if member == "__new__" else getattr(real, member)
        assert parameters(node) == real_parameters(target), f"{name}.{member}"


@pytest.mark.parametrize("name", STUB_FUNCTIONS)
def test_the_stubs_take_the_arguments_that_the_functions_take(name: str) -> None:
    assert parameters(STUB_FUNCTIONS[name]) == real_parameters(getattr(_native, name))


def test_importing_graphmill_does_not_import_torch(tmp_path: Path, papers: Path) -> None:
    run(
        f"""
import sys
import graphmill as gm
import graphmill.graphzero
ds = gm.open({str(papers)!r})
ds.graph.sample([1, 2], [3]); ds.table("x").gather([1]); ds.table("x").numpy()
gm.write_graph("g.gl", [[0], [1]])
loaded = [name for name in sys.modules if name.partition(".")[0] in ("torch", "torch_geometric")]
assert not loaded, loaded
import torch
assert "torch" in sys.modules
""",
        tmp_path,
    )


def test_the_command_does_not_import_numpy(tmp_path: Path) -> None:
    run(
        """
import sys
import graphmill.__main__
assert "numpy" not in sys.modules
import graphmill as gm
gm.NeighborLoader
assert "numpy" in sys.modules
""",
        tmp_path,
    )


def test_everything_but_torch_works_without_torch(tmp_path: Path, papers: Path) -> None:
    run(
        f"""{WITHOUT_TORCH}
import numpy as np
import graphmill as gm
try:
    import torch
except ModuleNotFoundError:
    pass
else:
    raise AssertionError("torch is there")
ds = gm.open({str(papers)!r}, memory="64MiB")
x = ds.table("x").numpy()
for batch in gm.NeighborLoader(ds, [3, 2], 128, "train", shuffle=True, seed=0, threads=2):
    for name in ("x", "y", "edge_index", "n_id", "e_id", "input_id"):
        assert type(batch[name]) is np.ndarray, name
    assert np.array_equal(batch.x, x[batch.n_id])
    assert batch.to("cpu").x is batch.x
sample = ds.graph.sample([1, 2], [3], seed=0)
assert type(sample.n_id) is np.ndarray
assert type(ds.table("x").gather([3, 1])) is np.ndarray
g = gm.write_graph("g.gl", [[0, 1], [1, 0]], weights=[0.5, 1.0])
f = gm.write_features("x.gd", np.zeros((4, 2), dtype=np.float16))
gm.convert("x.gd", "x.npy")
for call in (f.torch, lambda: g.csr("torch")):
    try:
        call()
    except ImportError as error:
        assert "torch" in str(error), error
    else:
        raise AssertionError("torch was found")
""",
        tmp_path,
    )
