"""What graphmill is made of: where `unsafe` is, where libraries come from, what they allow, what the package says."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
INVENTORY = ROOT / "tests" / "unsafe.txt"
CRATES = sorted(path.parent for path in ROOT.glob("crates/*/Cargo.toml"))
# Everything that is linked may be passed on under MIT or Apache-2.0 with its notices: the list of `make audit`.
_ALLOWED = (
    (ROOT / "deny.toml").read_text().split("[licenses]")[1].split("allow = [")[1].split("]")[0]
)
LICENCES = set(re.findall(r'"(.*)"', _ALLOWED))


def code(path: Path) -> str:
    """A Rust file without its comments."""
    return re.sub(r"//.*", "", path.read_text())


def test_unsafe_is_where_the_inventory_says() -> None:
    found = Counter(
        {
            str(path.relative_to(ROOT)): len(re.findall(r"\bunsafe\b", code(path)))
            for path in ROOT.glob("crates/*/src/**/*.rs")
        }
    )
    lines = "".join(f"{number} {path}\n" for path, number in sorted((+found).items()))
    expected = INVENTORY.read_text()
    assert lines == expected, f"review what is new, then write this to {INVENTORY}:\n{lines}"


def test_crates_without_unsafe_forbid_it() -> None:
    has_unsafe = {line.split("/")[1] for line in INVENTORY.read_text().splitlines()}
    assert has_unsafe == {"graphmill-disk", "graphmill-python"}
    for crate in CRATES:
        forbids = "#![forbid(unsafe_code)]" in (crate / "src/lib.rs").read_text()
        assert forbids == (crate.name not in has_unsafe), crate.name


@pytest.mark.parametrize("lock", ["Cargo.lock", "fuzz/Cargo.lock"])
def test_every_library_comes_from_the_registry_with_a_checksum(lock: str) -> None:
    packages = (ROOT / lock).read_text().split("[[package]]")[1:]
    assert len(packages) > 20
    for package in packages:
        name = re.search(r'name = "(.*)"', package)[1]  # type: ignore[index]
        if not name.startswith("graphmill"):
            assert re.search(r'source = "registry\+', package), name
            assert re.search(r'checksum = "[0-9a-f]{64}"', package), name


@cache
def metadata() -> Any:
    """What cargo knows about every package, without asking anybody."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"needs the sources of all libraries: {done.stderr.strip()[-200:]}")
    return json.loads(done.stdout)


def is_allowed(expression: str) -> bool:
    """Whether a licence expression leaves a choice that is allowed."""
    # Old manifests write a slash for OR.
    expression = expression.replace("/", " OR ")
    required = re.split(r"\s+AND\s+", expression)
    choices = [re.split(r"\s+OR\s+", part.strip("() ")) for part in required]
    return all(any(one.strip("() ") in LICENCES for one in choice) for choice in choices)


def test_licences_are_read_right() -> None:
    assert {"MIT", "Apache-2.0 WITH LLVM-exception"} <= LICENCES
    assert is_allowed("MIT/Apache-2.0")
    assert is_allowed("(MIT OR GPL-3.0) AND Unicode-3.0")
    assert not is_allowed("MIT AND GPL-3.0")
    assert not is_allowed("GPL-3.0-only")
    assert not is_allowed("")


def test_every_library_may_be_passed_on() -> None:
    refused = {
        package["name"]: package["license"]
        for package in metadata()["packages"]
        if not is_allowed(package["license"] or "")
    }
    assert refused == {}


def test_every_dependency_is_used() -> None:
    """By its own crate: in its code, or for tests in its tests."""
    unused = []
    for package in metadata()["packages"]:
        crate = Path(package["manifest_path"]).parent
        if crate not in CRATES:
            continue
        words = set(re.findall(r"\w+", " ".join(map(code, (crate / "src").rglob("*.rs")))))
        # Examples in comments are tests too.
        everywhere = " ".join(path.read_text() for path in crate.rglob("*.rs"))
        words_of_tests = set(re.findall(r"\w+", everywhere))
        for dependency in package["dependencies"]:
            name = (dependency["rename"] or dependency["name"]).replace("-", "_")
            if name not in (words_of_tests if dependency["kind"] == "dev" else words):
                unused.append(f"{crate.name}: {name} ({dependency['kind'] or 'normal'})")
    assert unused == []


def test_the_package_says_who_and_what_it_is() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    project = text[text.index("[project]") : text.index("[dependency-groups]")]
    for field in (
        *("name", "description", "readme", "requires-python", "license", "license-files"),
        *("authors", "keywords", "classifiers", "dependencies", "dynamic"),
    ):
        assert re.search(rf"^{field} = ", project, re.MULTILINE), field
    for link in ("Repository", "Documentation", "Changelog", "Issues"):
        assert re.search(rf"^{link} = ", project, re.MULTILINE), link
    for name in re.findall(r'"([A-Z][A-Z-]*)"', project.split("license-files")[1].split("]")[0]):
        assert (ROOT / name).is_file(), name
    assert (ROOT / "python/graphmill/py.typed").is_file()
    oldest = re.search(r'requires-python = ">=3\.(\d+)"', project)[1]  # type: ignore[index]
    assert f"abi3-py3{oldest}" in (ROOT / "Cargo.toml").read_text()
