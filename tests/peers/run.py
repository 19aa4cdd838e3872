"""Run by ``make test-peers``: tests that need a second torch or a long compile, each in an environment of its own.

An environment is made once and kept beside ``.venv``. One that cannot be had here is named with the reason, and its
tests are left out.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers import graphbolt
from benchmarks.peers.installation import InstallationFailed, python_of, python_packages
from benchmarks.peers.pyg import install_torch_sparse

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


OF_PYG = (
    *("tests/peers/test_pyg_loaders.py", "tests/test_pyg_stores.py", "tests/test_accuracy.py"),
    "tests/test_pyg_examples.py",
)
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
