"""PyTorch Geometric, where one of the libraries that do its work is installed.

None of these is a wheel on the package index, and one compiles for a quarter of an hour, so none is installed here: an
environment named `pyg` beside the other peers is used if there is one, and else the Python of the benchmarks.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from benchmarks.peers.installation import InstallationFailed, python_of, script

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


class Installed:
    """What there is of it."""

    def __init__(self, folder: Path) -> None:
        """Prefer an environment of its own among the peers."""
        own = folder / "pyg"
        self.environment = own if python_of(own).exists() else Path(sys.prefix)
        self._found: frozenset[str] = frozenset()

    def find(self) -> None:
        """Look for it, or raise with what is missing."""
        names = sorted({"torch_geometric", *SAMPLING, *WALKING})
        command = script(self.environment, FIND, *names)
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        self._found = frozenset(done.stdout.split())
        if not self._found - {"torch_geometric"}:
            raise InstallationFailed(
                "none of pyg_lib, torch_sparse and torch_cluster is installed beside "
                f"{python_of(self.environment)}, and PyG samples with nothing else"
            )

    def has(self, name: str) -> bool:
        """Whether a package was found."""
        return name in self._found

    def has_any(self, names: Iterable[str]) -> bool:
        """Whether at least one of these was found."""
        return not self._found.isdisjoint(names)
