"""The command ``graphmill``, also reached as ``python -m graphmill``."""

from __future__ import annotations

import signal
import sys

from ._native import run_command


def main() -> int:
    """Run the command line and return its exit code."""
    # The command listens for Ctrl-C itself; Python would raise KeyboardInterrupt on top of it, after the fact.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run_command(["graphmill", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
