"""One thing that is tried often: which command tries it, what a piece of it is, and how its output is counted.

Steps call the ordinary tests with more rounds (``GRAPHMILL_ROUNDS``) wherever that is possible. A piece is what one
command does; a long run is many pieces, each with a number (``GRAPHMILL_PIECE``) that the tests make part of their
seeds.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()


class NotCounted(Exception):
    """A command ended well without saying that it did what was asked."""


@dataclass(frozen=True)
class Step:
    """What is tried, and how often."""

    name: str
    unit: str
    asked: int
    piece: int
    command: Callable[[int, int], list[str]]
    """From the rounds and the number of a piece."""
    count: Callable[[str, int], int]
    """From the output of a piece and its rounds to what was really done."""
    lacks: Callable[[], str | None] = lambda: None
    """What this machine does not have for it."""


def passed(output: str, tests: int) -> int:
    """How many tests passed, which are at least as many as were named, and none was skipped."""
    skipped = re.findall(r"^SKIPPED.*$", output, re.MULTILINE)
    if skipped:
        raise NotCounted("; ".join(skipped))
    found = sum(map(int, re.findall(r"\b(\d+) passed", output)))
    if found < tests:
        raise NotCounted(f"{found} of {tests} tests ran")
    return found


def rust(
    package: str, tests: list[str], unit: str, asked: int = 1, piece: int | None = None
) -> Step:
    """Tests of a crate, found by name wherever they lie, as often as asked; once if they try everything anyway."""

    def command(rounds: int, number: int) -> list[str]:
        quiet = ["--quiet", "--package", package, "--all-features", "--tests"]
        return ["cargo", "test", *quiet, "--", *tests]

    def count(output: str, rounds: int) -> int:
        passed(output, len(tests))
        return rounds

    return Step(tests[0], unit, asked, piece or asked, command, count)


def python(
    file: str, tests: str, unit: str, asked: int = 1, piece: int | None = None, each: bool = False
) -> Step:
    """Tests of a file of ``tests/``; with ``each``, one test that passes is one of what is asked."""

    def command(rounds: int, number: int) -> list[str]:
        # A piece may take longer than a quick test may.
        options = ["-q", "-rs", "-p", "no:cacheprovider", "--timeout", "3000"]
        return [sys.executable, "-m", "pytest", *options, f"tests/{file}.py", "-k", tests]

    def count(output: str, rounds: int) -> int:
        tests_passed = passed(output, 1)
        return tests_passed if each else rounds

    return Step(f"{file}: {tests}", unit, asked, piece or asked, command, count)


def fuzz(target: str, asked: int) -> Step:
    """Executions of a fuzz target by libFuzzer, which keeps what it finds for the next piece."""

    def command(rounds: int, number: int) -> list[str]:
        scratch = TARGET / "torture" / "fuzz" / target
        scratch.mkdir(parents=True, exist_ok=True)
        # A machine that is busy or halted for a while must not look like a parser that hangs.
        options = [f"-runs={rounds}", f"-seed={number + 1}", "-print_final_stats=1", "-timeout=120"]
        corpus = [str(scratch), f"fuzz/corpus/{target}"]
        built = ["--target-dir", str(TARGET / "fuzz")]
        # Some targets write their input to a file, in memory three times as fast.
        memory = ["env", "TMPDIR=/dev/shm"] if Path("/dev/shm").is_dir() else []
        fuzz = ["cargo", "+nightly", "fuzz", "run", *built, target, *corpus]
        return [*memory, *fuzz, "--", *options]

    def count(output: str, rounds: int) -> int:
        found = re.search(r"stat::number_of_executed_units:\s*(\d+)", output)
        if found is None:
            raise NotCounted("the fuzzer does not say how often it ran")
        return int(found[1])

    return Step(f"fuzz {target}", "executions", asked, 1_000_000, command, count, lacks_fuzzer)


def script(
    name: str,
    unit: str,
    *arguments: str,
    asked: int = 1,
    lacks: Callable[[], str | None] = lambda: None,
) -> Step:
    """A module of this package, which ends with the line ``counted N``."""

    def command(rounds: int, number: int) -> list[str]:
        return [sys.executable, "-m", f"torture.{name}", *arguments]

    def count(output: str, rounds: int) -> int:
        found = re.search(r"^counted (\d+)$", output, re.MULTILINE)
        if found is None:
            raise NotCounted("the last line does not say how much was counted")
        return int(found[1])

    return Step(" ".join([name, *arguments]), unit, asked, asked, command, count, lacks)


@cache
def lacks_nightly(component: str = "rustc") -> str | None:
    """Whether a nightly Rust with this command is missing."""
    asked = subprocess.run(["cargo", "+nightly", component, "--version"], capture_output=True)
    if component == "rustc":
        asked = subprocess.run(["rustc", "+nightly", "--version"], capture_output=True)
    if asked.returncode == 0:
        return None
    remedy = f"rustup toolchain install nightly --component {component}"
    return f"no nightly Rust with {component} ({remedy})"


def lacks_fuzzer() -> str | None:
    """Whether cargo-fuzz or its compiler is missing."""
    if shutil.which("cargo-fuzz") is None:
        return "no cargo-fuzz (cargo install cargo-fuzz)"
    return lacks_nightly()


def lacks_strace() -> str | None:
    """Whether strace is missing or may not trace."""
    if shutil.which("strace") is None:
        return "no strace"
    tried = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, text=True)
    return None if tried.returncode == 0 else f"strace may not trace: {tried.stderr.strip()}"
