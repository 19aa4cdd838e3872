"""fio: what the disk gives, by random reads of 4 KiB and from front to back.

Which engine, depth and number of jobs are best depends on the machine, so all are tried once, and the few best take
part in every round. The best rate that it reached at any time counts: whatever disturbs fio makes the disk look slower
than it is, and a target that is a share of it too easy.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from itertools import product
from pathlib import Path

from benchmarks import rates
from benchmarks.child import CORES, Command, measure
from benchmarks.feature_inputs import Asked
from benchmarks.peers.installation import InstallationFailed
from benchmarks.readers.reader import Reader

SETTINGS = [
    f"{engine}:{depth}:{jobs}"
    for engine, depth, jobs in product(["io_uring", "libaio"], [32, 64, 128], [1, 2])
]
SHORTLIST = 3
SCAN_DEPTHS = [1, 8]

RANDOM = """
import subprocess

path, seconds, *settings = sys.argv[1:]

def rate(setting):
    engine, depth, jobs = setting.split(":")
    command = ["fio", "--name=random", f"--filename={path}", "--readonly", "--rw=randread", "--bs=4k", "--direct=1",
               f"--ioengine={engine}", f"--iodepth={depth}", f"--numjobs={jobs}", "--group_reporting",
               "--time_based", f"--runtime={1000 * float(seconds):.0f}ms", "--norandommap", "--randrepeat=0",
               "--output-format=json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr or done.stdout, file=sys.stderr)
        return 0.0
    return json.loads(done.stdout)["jobs"][0]["read"]["iops"]

found = {setting: rate(setting) for setting in settings}
best = max(found, key=found.get)
if not found[best]:
    sys.exit(1)
engine, depth, jobs = best.split(":")
tell(found[best], 1.0, did=f"4 KiB reads by {engine}, depth {depth}, {jobs} jobs", settings=found)
"""

SCAN = """
import subprocess

path, depth, asked = sys.argv[1:]
command = ["fio", "--name=scan", f"--filename={path}", "--readonly", "--rw=read", "--bs=1M", "--direct=1",
           "--ioengine=io_uring", f"--iodepth={depth}", "--output-format=json"]
done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
read = json.loads(done.stdout)["jobs"][0]["read"]
tell(int(asked), read["runtime"] / 1000, did=f"whole file, {read['bw_bytes'] / 1e9:.2f} GB/s")
"""


class Fio(Reader):
    """A system package; not installed here."""

    name = "fio"
    #: Seconds of one measurement; the section sets what suits its scale.
    seconds = 3.0
    #: The best rate of all settings, before the contests.
    swept = 0.0
    _best: tuple[str, ...] = ()

    def install(self) -> None:
        if shutil.which(self.name) is None:
            raise InstallationFailed("no command `fio` here: install fio")

    def cold(self, asked: Asked, kept: Path) -> Mapping[str, Command]:
        return {f"{self.name}, best": self._random(asked, self._shortlist(asked))}

    def scan(self, asked: Asked) -> Mapping[str, Command]:
        return {
            f"{self.name}, 1 MiB, depth {depth}": self.program(
                SCAN, asked.table, depth, asked.count
            )
            for depth in SCAN_DEPTHS
        }

    def _random(self, asked: Asked, settings: tuple[str, ...]) -> Command:
        return self.program(RANDOM, asked.table, self.seconds, *settings)

    def _shortlist(self, asked: Asked) -> tuple[str, ...]:
        if not self._best:
            figures = measure(self._random(asked, tuple(SETTINGS)), timeout=600)
            found: dict[str, float] = rates.told(figures)["settings"]
            print(f"\nfio, random reads of 4 KiB past the page cache, {CORES} cores")
            for setting, rate in found.items():
                engine, depth, jobs = setting.split(":")
                print(f"  {engine:8}  depth {depth:>3}  {jobs} jobs  {rate / 1e3:8.1f} k/s")
            self.swept = max(found.values())
            self._best = tuple(sorted(found, key=lambda each: -found[each])[:SHORTLIST])
        return self._best
