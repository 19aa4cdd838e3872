"""The real command, run as a user runs it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any


def graphmill(*arguments: Any, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run ``graphmill`` with these arguments and return what it printed."""
    command = [sys.executable, "-m", "graphmill", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    if check and done.returncode != 0:
        raise AssertionError(f"{command} exited with {done.returncode}:\n{done.stderr}")
    return done
