"""dd: the whole file past the page cache, one request after the other."""

from __future__ import annotations

import shutil
from collections.abc import Mapping

from benchmarks.child import Command
from benchmarks.feature_inputs import Asked
from benchmarks.peers.installation import InstallationFailed
from benchmarks.readers.reader import Reader

SCAN = """
import subprocess

path, asked = sys.argv[1:]
command = ["dd", f"if={path}", "of=/dev/null", "iflag=direct", "bs=1M", "status=none"]
_, seconds = timed(lambda: subprocess.run(command, check=True))
tell(int(asked), seconds, did=f"whole file, {os.path.getsize(path) / seconds / 1e9:.2f} GB/s")
"""


class Dd(Reader):
    """A part of every system with GNU tools."""

    name = "dd"

    def install(self) -> None:
        if shutil.which(self.name) is None:
            raise InstallationFailed("no command `dd` here: install coreutils")

    def scan(self, asked: Asked) -> Mapping[str, Command]:
        return {f"{self.name}, 1 MiB": self.program(SCAN, asked.table, asked.count)}
