"""The Rust tests where more is seen: ``python -m torture.instrumented address|miri|westmere``.

All crates run under AddressSanitizer, and what they leave allocated is looked at when a test program ends. Miri
interprets: it cannot call the operating system as `graphmill-disk` does, so it runs what is pure. A processor without
AVX2, as QEMU pretends to be one, shows whether anything was chosen that is not there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

from torture.step import ROOT, TARGET

# By kind, the crates and which of their tests run; all where none is named.
TESTS: dict[str, dict[str, list[str]]] = {
    # graphmill-python is missing: it is a library for an interpreter to load and has no Rust tests. Its `unsafe` is
    # reached from Python only, and no interpreter here is built with the sanitizer.
    "address": {
        "graphmill-format": [],
        "graphmill-disk": [],
        "graphmill-ingest": [],
        "graphmill-store": [],
        "graphmill-sample": [],
        "graphmill-load": [],
        "graphmill": [],
        "graphmill-cli": [],
    },
    # Of the crates above the disk, what opens no file, maps nothing and never asks for the pool of threads.
    "miri": {
        "graphmill-format": [],
        "graphmill-disk": ["budget::", "scatter::"],
        "graphmill-sample": [
            *("choose::", "excluded::", "labels::", "random::", "scratch::", "sum_tree::"),
            "sweep::",
        ],
        "graphmill-load": [
            *("hot_ids::", "narrow_edges::", "read_stats::", "reading::", "row_copy::"),
        ],
    },
    "westmere": {"graphmill-format": [], "graphmill-store": [], "graphmill-sample": []},
}

NOT_UNDER_ADDRESS = [
    # The sanitizer maps memory of its own and keeps what is freed for a while, so that these, which ask the kernel for
    # the maps or the memory of a process, would measure the sanitizer.
    "rounds_leave_the_same",
    "attacks_are_refused_in_little_memory",
    "memory_stays_within_the_budget_when_the_data_does_not",
    # It plays a child that was forked, which must forget the handles of its parent's threads: a leak on purpose.
    "a_process_that_is_not_theirs_lets_threads_be",
]


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
    tests = TESTS[kind][package]
    own_folder = {"CARGO_TARGET_DIR": str(TARGET / "torture" / kind)}
    if kind == "address":
        # Each crate with the features that it has beside the others, so that nothing is compiled twice.
        together = {"CARGO_RESOLVER_FEATURE_UNIFICATION": "workspace"}
        nightly = ["cargo", "+nightly", "-Zfeature-unification", "test"]
        command = [*nightly, "--target", host(), "--tests", "--no-fail-fast"]
        without = [word for name in NOT_UNDER_ADDRESS for word in ("--skip", name)]
        # Tests ask for more memory than any machine has, and expect a refusal as they get it without the sanitizer.
        refuse = {"ASAN_OPTIONS": "allocator_may_return_null=1"}
        flags = {"RUSTFLAGS": "-Zsanitizer=address"} | refuse
        return [*command, *this, "--", *tests, *without], own_folder | together | flags
    # Both are slow: chance has fewer tries.
    few = {"GRAPHMILL_ROUNDS": "3", "PROPTEST_CASES": "4"}
    if kind == "miri":
        command = ["cargo", "+nightly", "miri", "test", "--lib"]
        flags = {"MIRIFLAGS": "-Zmiri-disable-isolation"}
        return [*command, *this, "--", *tests], own_folder | few | flags
    runner = {"CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER": "qemu-x86_64 -cpu Westmere"}
    return ["cargo", "test", "--tests", *this, "--", *tests], few | runner


def main(kind: str) -> int:
    """Run the tests of one kind, all crates whatever becomes of the others, and count them."""
    counts = {}
    failed = []
    for package in TESTS[kind]:
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
        passed = re.findall(r"^test result: ok. (\d+) passed", process.stdout, re.M)
        counts[package] = sum(map(int, passed))
        if process.returncode != 0:
            failed.append(package)
    for package, count in counts.items():
        print(f"{package}: {count} tests{', and some that failed' * (package in failed)}")
    print(f"counted {sum(counts.values())}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
