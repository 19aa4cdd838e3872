"""The Rust tests where more is seen: ``python -m torture.instrumented address|miri|westmere``.

The crates that have `unsafe` of their own, or that call those that have, run under AddressSanitizer. Miri interprets:
it cannot call the operating system as `graphmill-disk` does, so it runs what is pure. A processor without AVX2, as
QEMU pretends to be one, shows whether anything was chosen that is not there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

from torture.step import ROOT, TARGET

PACKAGES = {
    "address": ["graphmill-format", "graphmill-disk", "graphmill-store", "graphmill-sample"],
    "miri": ["graphmill-format"],
    "westmere": ["graphmill-format", "graphmill-store", "graphmill-sample"],
}


def lacks_emulator() -> str | None:
    """Whether QEMU for single programs is missing."""
    return None if shutil.which("qemu-x86_64") else "no qemu-x86_64 (apt install qemu-user)"


def host() -> str:
    """The target that the compiler makes programs for, which a sanitizer wants named."""
    told = subprocess.run(["rustc", "+nightly", "-vV"], capture_output=True, text=True, check=True)
    return re.search(r"^host: (.*)$", told.stdout, re.MULTILINE)[1]  # type: ignore[index]


def command_of(kind: str, package: str) -> tuple[list[str], dict[str, str]]:
    """How cargo is called, and what its environment holds."""
    this = ["--package", package]
    own_folder = {"CARGO_TARGET_DIR": str(TARGET / "torture" / kind)}
    if kind == "address":
        command = ["cargo", "+nightly", "test", "--target", host(), "--tests", "--no-fail-fast"]
        # The sanitizer maps memory of its own, which the test that counts all maps takes for a leak.
        without = ["--", "--skip", "rounds_leave_the_same"]
        return [*command, *this, *without], own_folder | {"RUSTFLAGS": "-Zsanitizer=address"}
    # Both are slow: chance has fewer tries.
    few = {"GRAPHMILL_ROUNDS": "3", "PROPTEST_CASES": "4"}
    if kind == "miri":
        command = ["cargo", "+nightly", "miri", "test", "--lib"]
        return [*command, *this], own_folder | few | {"MIRIFLAGS": "-Zmiri-disable-isolation"}
    runner = {"CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER": "qemu-x86_64 -cpu Westmere"}
    return ["cargo", "test", "--tests", *this], few | runner


def main(kind: str) -> int:
    """Run the tests of one kind and count them."""
    total = 0
    for package in PACKAGES[kind]:
        command, variables = command_of(kind, package)
        process = subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        print(process.stdout, flush=True)
        if process.returncode != 0:
            return process.returncode
        total += sum(map(int, re.findall(r"^test result: ok. (\d+) passed", process.stdout, re.M)))
    print(f"counted {total}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
