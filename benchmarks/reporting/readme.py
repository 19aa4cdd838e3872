"""The table of a run for the README, between two comments that mark its place."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.curves import LATER, PACE_BY_MEMORY
from benchmarks.reporting.recorded import Run, figure

BEGIN = "<!-- benchmarks: written by python -m benchmarks.report, not by hand -->"
END = "<!-- benchmarks: end -->"


def block(run: Run) -> str:
    """The text between the comments."""
    machine, targets = run.machine, run.targets()
    met = sum(target.met is True for target in targets)
    lines = [
        f"{met} of {len(targets)} targets of [the benchmarks](docs/benchmarks.md) are met (size {run.size}, "
        f"{machine['begun'][:10]}, {machine['processor']}, {machine['usable_cores']} cores, "
        f"{machine['memory_bytes'] / 2**30:.0f} GiB; {versions(run)}).",
        "",
    ]
    if headlines := run.headlines():
        lines += ["| what | measured | target | |", "|---|--:|--:|---|"]
        for target in headlines:
            name = f"{target.section}, {target.name}"
            lines.append(f"| {name} | {target.found} | {target.asked} | {target.verdict} |")
        lines.append("")
    for curve in run.curves():
        if curve["title"] == PACE_BY_MEMORY:
            lines += [f"| {curve['x']} | who | {curve['y']} | after a quarter of them | disk |"]
            lines += ["|--:|---|--:|--:|---|"]
            for series in curve["series"]:
                # That one is a column here.
                for point in series["points"] if series["name"] != LATER else []:
                    pace = "failed" if point["y"] is None else figure(point["y"])
                    share = f"{point['x']:.0f}" if point["x"] else "-"
                    said = told(run, f"{series['name']}, {share}%")
                    further = f"{later_words(said)} | {disk_words(said)}"
                    lines.append(f"| {share} | {series['name']} | {pace} | {further} |")
            lines += ["", curve["remark"], ""]
    return "\n".join(lines)


def told(run: Run, name: str) -> list[dict[str, Any]]:
    """What the runs of a contestant of the training section told; nothing where it failed or did not take part."""
    for contest in run.contests("training"):
        if said := contest.contestants.get(name, {}).get("told"):
            return list(said)
    return []


def later_words(said: list[dict[str, Any]]) -> str:
    """The pace once memory is filled and windows are long."""
    return figure(median(each["steady"] for each in said)) if said else ""


def disk_words(said: list[dict[str, Any]]) -> str:
    """How much a contestant read, and how busy the disk was meanwhile: whether it was what it waited for."""
    if not said:
        return ""
    pace = median(each["stats"]["bytes_read"] / each["seconds"] for each in said)
    # Runs of older versions do not tell.
    busy = [each["stats"].get("device_utilisation") for each in said]
    how_busy = "" if None in busy else f", {median(busy):.0%} busy"
    return f"{figure(pace / 1e9)} GB/s{how_busy}"


def versions(run: Run) -> str:
    """What was measured: one version, or of how many the run is put together; the report names them."""
    commits = run.commits()
    return commits[0] if len(commits) == 1 else f"in pieces, at {len(commits)} commits"


def rewrite(path: Path, run: Run) -> None:
    """Put the table of a run into a file, in place of the one before."""
    text = path.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise SystemExit(
            f"{path} must have each of these lines once, in this order:\n{BEGIN}\n{END}"
        )
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    path.write_text(f"{before}{BEGIN}\n{block(run)}{END}{after}")
