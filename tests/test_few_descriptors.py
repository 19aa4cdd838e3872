"""A change of a dataset without descriptors to spare is made or not, and the error says which."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import graphmill as gm
from tests.process import open_files

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="counts open descriptors")


def test_a_change_that_is_published_is_never_called_a_failure_alone(tmp_path: Path) -> None:
    import resource

    edges = np.array([[0, 1], [1, 2]])
    ds = gm.build(tmp_path / "ds", edges=edges, features=np.zeros((3, 2)))
    # More files to open than to write.
    for number in range(12):
        ds.add_split(f"kept{number}", [0])
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    outcomes = set()
    for spare in range(1, 60):
        name = f"split{spare}"
        used = max(map(int, os.listdir("/proc/self/fd"))) + 1
        taken = [os.open("/dev/null", os.O_RDONLY) for _ in range(used - open_files() + 1)]
        resource.setrlimit(resource.RLIMIT_NOFILE, (used + 1 + spare, hard))
        try:
            ds.add_split(name, [0, 2])
            outcome = "made"
        except gm.DiskError as error:
            outcome = "published" if "the change is published" in str(error) else "failed"
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            for descriptor in taken:
                os.close(descriptor)
        there = gm.open(tmp_path / "ds")
        assert (name in there.splits) == (outcome != "failed"), (spare, outcome)
        outcomes.add(outcome)
        # A journal may wait for the next writer, who has descriptors.
        if outcome == "failed":
            there.add_split(name, [1])
        there.remove_split(name)
        assert not [path for path in (tmp_path / "ds").iterdir() if path.name.startswith(".")]
    assert outcomes == {"failed", "published", "made"}
