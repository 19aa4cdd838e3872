"""The Rust tests under AddressSanitizer or Miri, by a nightly compiler: ``python -m torture.sanitizer address|miri``.

The crates that have `unsafe` of their own, or that call those that have, run under AddressSanitizer. Miri interprets:
it cannot call the operating system as `graphmill-disk` does, so it runs what is pure.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

from torture.step import ROOT, TARGET

ADDRESS = ["graphmill-format", "graphmill-disk", "graphmill-store", "graphmill-sample"]
ADDRESS += ["graphmill-load"]
MIRI = ["graphmill-format"]


def host() -> str:
    """The target that the compiler makes programs for, which a sanitizer wants named."""
    told = subprocess.run(["rustc", "+nightly", "-vV"], capture_output=True, text=True, check=True)
    return re.search(r"^host: (.*)$", told.stdout, re.MULTILINE)[1]  # type: ignore[index]


def main(kind: str) -> int:
    """Run the tests of one kind and count them."""
    variables = {"CARGO_TARGET_DIR": str(TARGET / "torture" / kind)}
    if kind == "address":
        packages = ADDRESS
        command = ["cargo", "+nightly", "test", "--target", host(), "--tests", "--all-features"]
        variables |= {"RUSTFLAGS": "-Zsanitizer=address", "ASAN_OPTIONS": "detect_leaks=1"}
    else:
        packages = MIRI
        command = ["cargo", "+nightly", "miri", "test", "--lib"]
        variables |= {"MIRIFLAGS": "-Zmiri-disable-isolation", "PROPTEST_CASES": "4"}
    total = 0
    for package in packages:
        process = subprocess.run(
            [*command, "--package", package],
            cwd=ROOT,
            env=os.environ | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        print(process.stdout)
        if process.returncode != 0:
            return process.returncode
        total += sum(map(int, re.findall(r"^test result: ok. (\d+) passed", process.stdout, re.M)))
    print(f"counted {total}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
