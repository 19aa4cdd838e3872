"""PyTorch Geometric with the libraries that do its work, compiled against the torch of this environment.

None of them is a wheel on the package index: torch-sparse compiles for ten minutes, and pip keeps what it made.
An environment named `pyg` beside the other peers holds them; one that is there already, made by hand with other
libraries, is used as it is.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from benchmarks.peers.installation import (
    InstallationFailed,
    is_done,
    python_of,
    run,
    script,
    write_down,
)

SAMPLING = ("pyg_lib", "torch_sparse")
WALKING = ("pyg_lib", "torch_cluster")

FIND = """
import importlib.util, sys
print(" ".join(name for name in sys.argv[1:] if importlib.util.find_spec(name)))
"""


# torch_sparse does not tell how many edges each hop has, but it lists them hop by hop: those of the seeds lead to the
# nodes that the next hop expands, and so on.
ENDS_OF_HOPS = """
def ends_of_hops(batch):
    source, destination = batch.edge_index.numpy()
    ends, known = [0], batch.batch_size
    for _ in FANOUTS:
        ends.append(int(np.searchsorted(destination, known)))
        known = max(known, int(source[: ends[-1]].max(initial=-1)) + 1)
    return ends
"""


def install_torch_sparse(folder: Path) -> None:
    """An environment of its own over this one, so that all compare with the same torch and the same PyG."""
    recipe = f"torch-sparse and torch-scatter for {sys.version}"
    if is_done(folder, recipe):
        return
    run([sys.executable, "-m", "venv", "--clear", str(folder)])
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "this_environment.pth").write_text(sysconfig.get_path("purelib"))
    pip = [str(python_of(folder)), "-m", "pip", "install", "--quiet"]
    run([*pip, "--upgrade", "setuptools<81", "wheel", "scipy"])
    print("compiling torch-sparse, about ten minutes on two cores", flush=True)
    compiled = ["torch-scatter", "torch-sparse"]
    # They compile one file after the other, ninja or not, unless they are told otherwise.
    settings = folder / "compile.cfg"
    settings.write_text(f"[build_ext]\nparallel = {os.cpu_count() or 1}\n")
    command = [*pip, "--no-deps", "--no-build-isolation", *compiled]
    run(command, FORCE_ONLY_CPU=1, DIST_EXTRA_CONFIG=settings)
    write_down(folder, recipe)


class Installed:
    """What there is of it."""

    def __init__(self, folder: Path) -> None:
        """Know the environment, among those of the other peers."""
        self.environment = folder / "pyg"
        self._found: frozenset[str] = frozenset()

    def install(self) -> None:
        """Compile it where it is missing, and look for what there is, or raise with what is not."""
        if not python_of(self.environment).exists() or not self._find():
            install_torch_sparse(self.environment)
        if not self._find():
            raise InstallationFailed(
                f"none of {', '.join(SAMPLING)} is installed beside "
                f"{python_of(self.environment)}, and PyG samples with nothing else"
            )

    def _find(self) -> bool:
        """Whether there is something to sample with."""
        names = sorted({"torch_geometric", *SAMPLING, *WALKING})
        command = script(self.environment, FIND, *names)
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        self._found = frozenset(done.stdout.split())
        return self.has("torch_geometric") and self.has_any(SAMPLING)

    def has(self, name: str) -> bool:
        """Whether a package was found."""
        return name in self._found

    def has_any(self, names: Iterable[str]) -> bool:
        """Whether at least one of these was found."""
        return not self._found.isdisjoint(names)
