"""Installing peers: Python packages into an environment of their own, Rust programs into a folder.

What is installed is written down, so that nothing is installed twice. It must not know the peers.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Protocol, TypeVar


class InstallationFailed(RuntimeError):
    """A peer that cannot be had here, with the reason."""


class Installable(Protocol):
    """What has a name and can be installed."""

    @property
    def name(self) -> str: ...

    def install(self) -> None: ...


Peer = TypeVar("Peer", bound=Installable)


def those_installed(peers: Iterable[Peer]) -> tuple[dict[str, Peer], dict[str, str]]:
    """Install each: those that can be had here, and why the others cannot."""
    found: dict[str, Peer] = {}
    absent: dict[str, str] = {}
    for peer in peers:
        try:
            peer.install()
            found[peer.name] = peer
        except (OSError, RuntimeError) as error:
            absent[peer.name] = str(error)
            print(f"{peer.name}: cannot be had here: {error}")
    return found, absent


def python_packages(
    folder: Path,
    *steps: Sequence[str],
    versions: Sequence[str] = (),
) -> None:
    """Make an environment with an interpreter of one of these versions, and give each step to pip."""
    recipe = repr((steps, versions))
    if is_done(folder, recipe):
        return
    shutil.rmtree(folder, ignore_errors=True)
    run([interpreter(versions), "-m", "venv", str(folder)])
    for step in steps:
        run([str(python_of(folder)), "-m", "pip", "install", "--quiet", *step])
    write_down(folder, recipe)


def python_of(folder: Path) -> Path:
    """The interpreter of an environment."""
    return folder / "bin" / "python"


def script(folder: Path, code: str, *arguments: object) -> list[str]:
    """The command that runs a piece of Python in an environment, apart from all that surrounds it."""
    return [str(python_of(folder)), "-I", "-c", code, *map(str, arguments)]


def cargo_program(folder: Path, *arguments: str) -> None:
    """Compile a program with `cargo install`."""
    recipe = repr(arguments)
    if is_done(folder, recipe):
        return
    if shutil.which("cargo") is None:
        raise InstallationFailed("cargo not found")
    target = folder / "target"
    run(["cargo", "install", "--quiet", "--root", str(folder), *arguments], CARGO_TARGET_DIR=target)
    shutil.rmtree(target)
    write_down(folder, recipe)


def interpreter(versions: Sequence[str]) -> str:
    """An interpreter of one of these versions; this one where any will do."""
    this = f"{sys.version_info.major}.{sys.version_info.minor}"
    if not versions or this in versions:
        return sys.executable
    versions_of_pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in versions:
        choices = [f"python{version}", *versions_of_pyenv.glob(f"{version}.*/bin/python")]
        for choice in map(str, choices):
            # A name on the path may be a stand-in for a version that is not installed.
            if shutil.which(choice) and succeeds([choice, "-c", "import venv"]):
                return choice
    raise InstallationFailed(f"needs Python {' or '.join(versions)}, and only {this} is here")


def succeeds(command: list[str]) -> bool:
    """Whether a command ends well."""
    return subprocess.run(command, capture_output=True).returncode == 0


def run(
    command: list[str], stdin: IO[bytes] | int = subprocess.DEVNULL, **environment: object
) -> None:
    """Run one step, or raise with the last thing it said."""
    surroundings = {**os.environ, **{name: str(value) for name, value in environment.items()}}
    done = subprocess.run(
        command,
        env=surroundings,
        stdin=stdin,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise InstallationFailed(lines[-1][:300] if lines else f"{command[0]} failed silently")


def is_done(folder: Path, recipe: str) -> bool:
    """Whether this very recipe was carried out to its end."""
    note = folder / "installed"
    return note.is_file() and note.read_text() == recipe


def write_down(folder: Path, recipe: str) -> None:
    """Remember a recipe that was carried out."""
    (folder / "installed").write_text(recipe)
