"""The table of a run for the README, between two comments that mark its place."""

from __future__ import annotations

from pathlib import Path
from statistics import median

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
            series = {each["name"]: each["points"] for each in curve["series"]}
            later = {point["x"]: point["y"] for point in series.pop(LATER, [])}
            lines += [f"| {curve['x']} | who | {curve['y']} | after a quarter of them | disk |"]
            lines += ["|--:|---|--:|--:|---|"]
            for name, points in series.items():
                for point in points:
                    share = f"{point['x']:.0f}" if point["x"] else "-"
                    paces = (point["y"], later.get(point["x"], "") if name == "graphmill" else "")
                    told = " | ".join(map(pace_words, paces))
                    disk = disk_words(run, f"{name}, {share}%")
                    lines.append(f"| {share} | {name} | {told} | {disk} |")
            lines += ["", curve["remark"], ""]
    return "\n".join(lines)


def pace_words(pace: float | str | None) -> str:
    """A pace, or why there is none."""
    if isinstance(pace, str):
        return pace
    return "failed" if pace is None else figure(pace)


def disk_words(run: Run, name: str) -> str:
    """How much a contestant read, and how busy the disk was meanwhile: whether it was what it waited for."""
    for contest in run.contests("training"):
        if said := contest.contestants.get(name, {}).get("told"):
            pace = median(each["stats"]["bytes_read"] / each["seconds"] for each in said)
            # Runs of older versions do not tell.
            busy = [each["stats"].get("device_utilisation") for each in said]
            told = "" if None in busy else f", {median(busy):.0%} busy"
            return f"{figure(pace / 1e9)} GB/s{told}"
    return ""


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
