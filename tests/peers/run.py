"""Run by ``make test-peers``: tests that need a second torch or a long compile, each in an environment of its own.

An environment is made once and kept beside ``.venv``. One that cannot be had here is named with the reason, and its
tests are left out.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers import graphbolt
from benchmarks.peers.installation import (
    InstallationFailed,
    is_done,
    python_of,
    python_packages,
    run,
    write_down,
)

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".venv-peers"
TESTING = ("pytest==9.*", "pytest-timeout==2.*")


@dataclass(frozen=True)
class Environment:
    """What is installed where, and which tests want it."""

    name: str
    install: Callable[[Path], None]
    tests: tuple[str, ...]


def install_dgl(folder: Path) -> None:
    python_packages(folder, graphbolt.PACKAGES, TESTING, versions=graphbolt.PYTHONS)


def install_torch_sparse(folder: Path) -> None:
    """Compile it against the torch of this environment, which is used as it is; pip keeps the wheels."""
    recipe = "torch-sparse and torch-scatter for " + sys.version
    if is_done(folder, recipe):
        return
    run([sys.executable, "-m", "venv", "--clear", str(folder)])
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "this_environment.pth").write_text(sysconfig.get_path("purelib"))
    pip = [str(python_of(folder)), "-m", "pip", "install", "--quiet"]
    run([*pip, "--upgrade", "setuptools<81", "wheel", "ninja", "scipy"])
    print("compiling torch-sparse, about a quarter of an hour on two cores", flush=True)
    compiled = ["torch-scatter", "torch-sparse"]
    run([*pip, "--no-deps", "--no-build-isolation", *compiled], FORCE_ONLY_CPU=1)
    write_down(folder, recipe)


OF_PYG = ("tests/peers/test_pyg_loaders.py", "tests/test_pyg_stores.py", "tests/test_accuracy.py")
ENVIRONMENTS = (
    Environment("dgl", install_dgl, ("tests/peers/test_graphbolt.py",)),
    Environment("torch-sparse", install_torch_sparse, OF_PYG),
)


def main() -> int:
    failed = []
    for environment in ENVIRONMENTS:
        folder = FOLDER / environment.name
        folder.parent.mkdir(exist_ok=True)
        try:
            environment.install(folder)
        except (OSError, InstallationFailed) as error:
            print(f"{environment.name}: left out, as it cannot be had here: {error}")
            continue
        # Warnings of frameworks this old, or this new, are theirs.
        pytest = [str(python_of(folder)), "-m", "pytest", "-W", "default", *environment.tests]
        paths = os.pathsep.join([str(ROOT / "python"), str(ROOT)])
        if subprocess.run(pytest, cwd=ROOT, env=os.environ | {"PYTHONPATH": paths}).returncode:
            failed.append(environment.name)
    print(f"failed with {', '.join(failed)}" if failed else "all that could be had passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
