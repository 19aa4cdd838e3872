"""The report of a run shows what the raw numbers say, all of it, and needs nothing but itself.

The run in ``recorded_run`` was made by ``python -m benchmarks.run all --size small`` on a busy machine and cut down to
a few contests, so its figures mean nothing; what matters is that the page repeats them.
"""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from benchmarks.curves import LATER, PACE_BY_MEMORY
from benchmarks.reporting import kernel_table, readme, recorded
from benchmarks.reporting.page import page

RECORDED = Path(__file__).parent / "recorded_run"
#: Elements that have no end.
VOID = {"meta"}
TARGET = re.compile(
    r"(?P<name>.+): (?P<found>\S+)(?: [^,]+)?, (?P<sign>[≥≤]) (?P<bound>\S+): (?P<verdict>.+)"
)


class Page(HTMLParser):
    """Everything that a page says and asks for, and that its elements are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        #: Rows of cells by the heading above their table.
        self.rows: dict[str, list[list[str]]] = {}
        self.heading = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.setdefault(self.heading, []).append([])
        elif tag in ("th", "td"):
            self.rows[self.heading][-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        around = self.open[-1] if self.open else ""
        if around in ("h2", "h4"):
            self.heading = data
        elif around in ("th", "td"):
            self.rows[self.heading][-1][-1] += data
        if data.strip():
            self.texts.append((around, data))

    @property
    def tags(self) -> set[str]:
        return {tag for tag, _ in self.elements}

    def within(self, tag: str) -> Iterator[str]:
        return (text for around, text in self.texts if around == tag)


@pytest.fixture(scope="module")
def run() -> recorded.Run:
    return recorded.read(RECORDED)


@pytest.fixture(scope="module")
def text(run: recorded.Run) -> str:
    return page(run)


@pytest.fixture(scope="module")
def shown(text: str) -> Page:
    return Page(text)


def raw() -> dict[str, dict[str, Any]]:
    """The sections of the recorded run, read without the report's own code."""
    files = (file for file in RECORDED.glob("*.json") if file.name != "machine.json")
    return {file.stem: json.loads(file.read_text()) for file in files}


def close(told: str, number: float) -> bool:
    """Whether a figure on the page is this number, as far as its digits go, and they go far enough."""
    digits = len(told.partition(".")[2])
    off = abs(float(told.replace(",", "")) - number)
    return off <= 0.5000001 * 10**-digits and off <= max(0.005, 0.01 * abs(number))


def test_every_target_is_shown_with_its_figure_and_verdict(shown: Page) -> None:
    rows = [found for title in shown.within("title") if (found := TARGET.fullmatch(title))]
    musts = [must for file in raw().values() for must in file["result"].get("musts", [])]
    assert len(musts) >= 5
    assert sorted(row["name"] for row in rows) == sorted(must["name"] for must in musts)
    by_name = {must["name"]: must for must in musts}
    for row in rows:
        must = by_name[row["name"]]
        is_least = row["sign"] == "≥"
        assert float(row["bound"]) == (must["at_least"] if is_least else must["at_most"])
        if must["measured"] is None:
            assert (row["found"], row["verdict"]) == ("-", "not measured")
            continue
        assert close(row["found"], must["measured"])
        bound = float(row["bound"])
        is_met = must["measured"] >= bound if is_least else must["measured"] <= bound
        assert row["verdict"] == ("met" if is_met else "short")


def test_bars_stand_on_the_side_of_their_verdict(shown: Page) -> None:
    bars, counts = [], {"bar met": 0, "bar short": 0}
    for tag, found in shown.elements:
        if tag == "rect":
            bars.append(found)
        elif tag == "line" and found["class"] == "target":
            line = float(found["x1"] or "")
            for bar in bars:
                start = float(bar["x"] or "")
                end = start + float(bar["width"] or "")
                is_right = abs(start - line) < 0.11 < end - line
                is_left = abs(end - line) < 0.11 < line - start
                # One that is missed by a hair is as wide as a hair.
                assert is_right if bar["class"] == "bar met" else is_left or end - start == 2.0
                counts[bar["class"] or ""] += 1
            bars = []
    musts = [must for file in raw().values() for must in file["result"].get("musts", [])]
    assert counts["bar met"] == sum(must["met"] is True for must in musts) > 0
    assert counts["bar short"] == sum(must["met"] is False for must in musts) > 0


def test_the_first_sentence_counts_the_targets(shown: Page) -> None:
    musts = [must for file in raw().values() for must in file["result"].get("musts", [])]
    met, short = (sum(must["met"] is wanted for must in musts) for wanted in (True, False))
    verdict = next(shown.within("p"))
    assert verdict.startswith(
        f"{met} of {len(musts)} targets are met, {short} short, {len(musts) - met - short} not measured"
    )
    told = list(shown.within("li"))
    for must in musts:
        assert any(f", {must['name']}: " in words for words in told) == must["headline"]


def test_every_point_of_every_curve_is_shown(shown: Page) -> None:
    drawn = list(shown.within("text"))
    curves = [curve for file in raw().values() for curve in file["result"].get("curves", [])]
    assert curves
    captions = list(shown.within("figcaption"))
    assert captions[0] == "Pace by memory"
    for curve in curves:
        assert curve["title"] in captions
        assert curve["remark"] in shown.within("p")
        for series in curve["series"]:
            assert series["name"] in shown.within("span")
            for point in series["points"]:
                if point["y"] is None:
                    assert any(point["note"] in words for words in shown.within("p"))
                else:
                    assert any(
                        re.fullmatch(r"[\d.,]+", told) and close(told, point["y"]) for told in drawn
                    )


def test_whoever_failed_stands_there_with_the_message(shown: Page) -> None:
    rows, failed = shown.rows["What did not work"], 0
    for file in raw().values():
        for name, reason in file["result"].get("absent", {}).items():
            assert [file["section"], "not installed", name, reason] in rows
        for title, contest in file["result"].get("contests", {}).items():
            for name, entry in contest.items():
                if isinstance(entry, dict) and entry.get("failure"):
                    failed += 1
                    assert [file["section"], title, name, entry["failure"]] in rows
    assert failed, "the recorded run holds somebody who was killed"


def test_every_contest_and_its_medians_are_shown(shown: Page) -> None:
    held = 0
    for file in raw().values():
        for title, contest in file["result"].get("contests", {}).items():
            for name, entry in contest.items():
                if isinstance(entry, dict) and entry.get("runs") and not entry["failure"]:
                    held += 1
                    [row] = [row for row in shown.rows[title] if row[:1] == [name]]
                    pace = entry["rate"] if "rate" in entry else entry["median_seconds"]
                    is_large = shown.rows[title][0][2].startswith("million ")
                    assert close(row[2], pace / 1e6 if is_large else pace)
    assert held


def test_the_page_asks_for_nothing_outside_itself(shown: Page, text: str) -> None:
    assert not shown.open, "every element is closed"
    assert not shown.tags & {"script", "link", "img", "iframe", "object", "embed", "image", "use"}
    attributes = {name for _, found in shown.elements for name in found}
    assert not attributes & {"src", "srcset", "href", "xlink:href", "data", "action", "style"}
    assert not re.search(r"url\(|@import|//", text)


def test_words_from_a_run_cannot_become_elements(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(RECORDED, folder)
    for file in folder.glob("*.json"):
        file.write_text(file.read_text().replace("graphmill, 25%", "<script>&25%"))
    changed = Page(page(recorded.read(folder)))
    assert "script" not in changed.tags
    assert "<script>&25%" in changed.within("td")


def test_a_section_that_failed_is_told_and_the_others_are_shown(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(RECORDED, folder)
    file = folder / "training.json"
    content = json.loads(file.read_text())
    del content["result"]
    file.write_text(json.dumps(content | {"failure": "OSError: the disk is gone"}))
    shown = Page(page(recorded.read(folder)))
    failure = ["training", "everything", "-", "OSError: the disk is gone"]
    assert failure in shown.rows["What did not work"]
    assert any(heading.startswith("edges.csv") for heading in shown.rows)


def test_a_section_that_was_left_out_is_told(tmp_path: Path) -> None:
    folder = shutil.copytree(RECORDED, tmp_path / "run")
    (folder / "training.json").unlink()
    rows = Page(page(recorded.read(folder))).rows["What did not work"]
    assert ["training", "everything", "-", "not measured in this run"] in rows


def test_a_line_that_was_left_out_is_told(tmp_path: Path) -> None:
    folder = shutil.copytree(RECORDED, tmp_path / "run")
    machine, file = folder / "machine.json", folder / "sampling.json"
    about, content = json.loads(machine.read_text()), json.loads(file.read_text())
    machine.write_text(json.dumps(about | {"lines": {"sampling": ["warm", "cold"]}}))
    content["result"]["lines"] = {"warm": {"graphmill": "9.9", "commit": "abc"}}
    file.write_text(json.dumps(content))
    run = recorded.read(folder)
    # The README's table asks for this too.
    assert run.left_out == ["sampling:cold"]
    shown = Page(page(run))
    row = ["sampling", "line cold", "-", "not measured in this run"]
    assert row in shown.rows["What did not work"]
    assert "left out of this run: sampling:cold;" in next(shown.within("p"))


def with_counts(folder: Path, instructions: dict[str, float], baseline: Any) -> Page:
    """The page of the recorded run once instructions were counted in it, too."""
    shutil.copytree(RECORDED, folder)
    about = json.loads((folder / "machine.json").read_text())
    about["sections"].insert(-1, "kernels")
    (folder / "machine.json").write_text(json.dumps(about))
    content = json.loads((folder / "orders.json").read_text())
    content["result"] = {
        "rustc": "rustc 1.0",
        "valgrind": "valgrind-3.0",
        "absent": {} if instructions else {"valgrind": "install valgrind"},
        "instructions": instructions,
        "spread": dict.fromkeys(instructions, 0.00012),
        "baseline": baseline,
        "musts": [],
    }
    (folder / "kernels.json").write_text(json.dumps(content | {"section": "kernels"}))
    return Page(page(recorded.read(folder)))


def test_counts_stand_beside_those_of_an_earlier_run(tmp_path: Path) -> None:
    now, then = {"edge": 110.0, "new": 2.54}, {"edge": 100.0, "gone": 7.0}
    versions = {"rustc": "rustc 0.9", "valgrind": "valgrind-2.0"}
    shown = with_counts(tmp_path / "run", now, {"run": "before", **versions, "instructions": then})
    rows = shown.rows[kernel_table.TITLE]
    assert rows == [
        ["kernel", "now", "then", "change", "spread of two"],
        ["edge", "110.0", "100.0", "+10.00%", "0.012%"],
        ["new", "2.5", "-", "-", "0.012%"],
        ["gone", "-", "7.0", "-", "-"],
    ]
    [reading] = [words for words in shown.within("p") if words.startswith(kernel_table.READING)]
    for word in ("rustc 1.0", "valgrind-3.0", "before", "rustc 0.9", "valgrind-2.0"):
        assert word in reading
    first = with_counts(tmp_path / "first", now, None)
    assert ["edge", "110.0", "-", "-", "0.012%"] in first.rows[kernel_table.TITLE]


def test_a_run_without_counts_has_no_table_of_them(shown: Page, tmp_path: Path) -> None:
    # A run from before there were counts does not list them, so nothing is missing from it.
    assert kernel_table.TITLE not in shown.rows
    assert "kernels" not in [row[0] for row in shown.rows["What did not work"]]
    absent = with_counts(tmp_path / "run", {}, None)
    assert kernel_table.TITLE not in absent.rows
    reason = ["kernels", "not installed", "valgrind", "install valgrind"]
    assert reason in absent.rows["What did not work"]


@pytest.mark.parametrize(
    "name", sorted(file.parent.name for file in recorded.RUNS.glob("*/report.html"))
)
def test_every_run_that_is_kept_has_a_page(name: str) -> None:
    assert not Page(page(recorded.read(recorded.RUNS / name))).open


def test_the_table_of_the_readme_is_rewritten_in_place(run: recorded.Run, tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(f"before\n{readme.BEGIN}\nan older table\n{readme.END}\nafter\n")
    readme.rewrite(path, run)
    once = path.read_text()
    readme.rewrite(path, run)
    assert path.read_text() == once
    assert once.startswith(f"before\n{readme.BEGIN}\n")
    assert once.endswith(f"{readme.END}\nafter\n")
    assert "an older table" not in once
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in once.splitlines()
        if line.startswith("| ")
    ]
    for file in raw().values():
        for must in file["result"].get("musts", []):
            found = [row for row in rows if row[0].endswith(f", {must['name']}")]
            assert len(found) == must["headline"]
            if found and must["measured"] is not None:
                assert close(found[0][1].split()[0], must["measured"])
    contests = raw()["training"]["result"]["contests"]
    [contest] = [held for title, held in contests.items() if title.startswith("memory")]
    for share in (100, 50, 25):
        said = contest[f"graphmill, {share}%"]["told"]
        pace = median(each["stats"]["bytes_read"] / each["seconds"] for each in said)
        [row] = [row for row in rows if row[:2] == [f"{share}", "graphmill"]]
        assert close(row[4].split()[0], pace / 1e9)
    # Who was killed has read nothing that was told, and peers have all in memory.
    assert all(row[4] == "" for row in rows if row[1].startswith("graphbolt"))


def test_the_readme_tells_our_later_pace_in_a_column(run: recorded.Run, tmp_path: Path) -> None:
    folder = shutil.copytree(RECORDED, tmp_path / "run")
    file = folder / "training.json"
    content = json.loads(file.read_text())
    [curve] = [it for it in content["result"]["curves"] if it["title"] == PACE_BY_MEMORY]
    curve["series"].append({"name": LATER, "points": [{"x": 100, "y": 33.3, "note": ""}]})
    file.write_text(json.dumps(content))
    block = readme.block(recorded.read(folder))
    assert block == readme.block(run)
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in block.splitlines()]
    contests = content["result"]["contests"]
    [contest] = [held for title, held in contests.items() if title.startswith("memory")]
    for share in (100, 50, 25):
        pace = median(each["steady"] for each in contest[f"graphmill, {share}%"]["told"])
        [row] = [row for row in rows if row[:2] == [f"{share}", "graphmill"]]
        assert close(row[3], pace)


def test_the_readme_tells_how_busy_the_disk_was(tmp_path: Path) -> None:
    folder = shutil.copytree(RECORDED, tmp_path / "run")
    file = folder / "training.json"
    content = json.loads(file.read_text())
    contests = content["result"]["contests"]
    [contest] = [held for title, held in contests.items() if title.startswith("memory")]
    once = contest["graphmill, 25%"]["told"][0]
    stats = {"bytes_read": 3 * 10**9}
    contest["graphmill, 25%"]["told"] = [
        {**once, "seconds": seconds, "stats": {**stats, "device_utilisation": busy}}
        for seconds, busy in ((1.0, 0.2), (2.0, 0.97), (3.0, 0.98))
    ]
    file.write_text(json.dumps(content))
    said = readme.told(recorded.read(folder), "graphmill, 25%")
    assert readme.disk_words(said) == "1.50 GB/s, 97% busy"
    assert readme.disk_words([]) == ""


def test_a_machine_that_tells_little_is_described_as_far_as_it_goes(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(RECORDED, folder)
    machine = folder / "machine.json"
    untold = {"disk": None, "disk_profile": None, "cgroup_limit_bytes": 2 << 30}
    machine.write_text(json.dumps(json.loads(machine.read_text()) | untold))
    section = folder / "training.json"
    section.write_text(json.dumps(json.loads(section.read_text()) | {"disk": None}))
    rows = Page(page(recorded.read(folder))).rows["Machine"]
    assert ["disk", "not told by the kernel"] in rows
    assert ["disk profile", "not measured"] in rows
    assert any(row[0] == "memory" and row[1].endswith("cgroup limit 2.0 GiB") for row in rows)


@pytest.mark.parametrize(
    ("size", "more", "is_told"),
    [("small", [], False), ("medium", [], True), ("medium", ["walks"], False)],
)
def test_only_a_whole_run_of_full_size_goes_into_the_readme(
    tmp_path: Path, size: str, more: list[str], is_told: bool
) -> None:
    folder, path = tmp_path / "run", tmp_path / "README.md"
    shutil.copytree(RECORDED, folder)
    machine = folder / "machine.json"
    about = json.loads(machine.read_text())
    sections = [file.stem for file in folder.glob("*.json") if file != machine]
    machine.write_text(json.dumps(about | {"size": size, "sections": [*sections, *more]}))
    before = f"{readme.BEGIN}\n{readme.END}\n"
    path.write_text(before)
    command = [sys.executable, "-m", "benchmarks.report", str(folder), "--readme", str(path)]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert Page((folder / "report.html").read_text(encoding="utf-8")).tags >= {"svg", "table"}
    assert (path.read_text() != before) == is_told
    assert (f"left {path} alone" in done.stdout) != is_told


def test_a_readme_without_its_marks_is_left_alone(run: recorded.Run, tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(f"{readme.END}\n{readme.BEGIN}\n")
    with pytest.raises(SystemExit, match="once, in this order"):
        readme.rewrite(path, run)
    assert path.read_text() == f"{readme.END}\n{readme.BEGIN}\n"


def test_our_own_readme_has_the_marks(run: recorded.Run, tmp_path: Path) -> None:
    copy = tmp_path / "README.md"
    shutil.copyfile(Path(__file__).parents[1] / "README.md", copy)
    readme.rewrite(copy, run)


def test_a_browser_draws_the_page(text: str, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("needs chromium or google-chrome on the path")
    (tmp_path / "report.html").write_text(text, encoding="utf-8")
    picture = tmp_path / "report.png"
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1000,1600"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", f"--screenshot={picture}"]
    subprocess.run(
        [*command, (tmp_path / "report.html").as_uri()],
        check=True,
        capture_output=True,
        timeout=120,
    )
    content = picture.read_bytes()
    assert struct.unpack(">II", content[16:24]) == (1000, 1600)
    # An empty page of this size packs to a few thousand bytes.
    assert len(content) > 40_000
