"""Programs compiled from this repository: the command itself, and examples of its crates.

The installed command is a script of Python's, and some things no command does. It must not know what programs are for.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


def command() -> str:
    """The command `graphmill`, as it is released."""
    return compiled("graphmill-cli", "graphmill", "--bin", "graphmill")


def example(package: str, name: str) -> str:
    """An example of a crate."""
    return compiled(package, name, "--example", name)


def compiled(package: str, name: str, *target: str) -> str:
    """A program, compiled anew where the sources have changed."""
    build = ["cargo", "build", "--release", "--locked", "--message-format", "json"]
    done = subprocess.run(
        [*build, "--package", package, *target], cwd=ROOT, stdout=subprocess.PIPE, check=True
    )
    [program] = [
        message["executable"]
        for message in map(json.loads, done.stdout.splitlines())
        # A library may have the name of a program.
        if message["reason"] == "compiler-artifact"
        and message["target"]["name"] == name
        and message["executable"]
    ]
    return str(program)


def compiler() -> str:
    """The compiler of these programs, with its version."""
    done = subprocess.run(
        ["rustc", "--version"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout.strip()
