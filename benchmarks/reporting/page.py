"""The page of a run: the verdict first, then pictures, then every figure.

One HTML file that needs nothing else: styles and pictures are within it, and it has no script. It must not know how
figures came about.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any

from benchmarks.curves import PACE_BY_MEMORY
from benchmarks.reporting import charts, tables
from benchmarks.reporting.kernel_table import kernel_table
from benchmarks.reporting.recorded import Run, Target
from benchmarks.reporting.style import STYLE
from benchmarks.reporting.svg import element

MIB = 1 << 20


def page(run: Run) -> str:
    """The whole page."""
    title = f"graphmill benchmarks, {run.size}, {run.machine['begun'][:10]}"
    sections = "".join(section(run, name) for name in run.sections)
    body = "".join(
        [
            element("h1", html.escape(title)),
            element("p", html.escape(verdict(run)), class_="verdict"),
            headlines(run),
            element("p", html.escape(where(run)), class_="remark"),
            *(
                charts.curve_chart(curve)
                for curve in run.curves()
                if curve["title"] == PACE_BY_MEMORY
            ),
            element("h2", "Targets"),
            element("p", TARGETS, class_="remark"),
            *(targets_of(run, name) for name in run.sections),
            *curves(run),
            *epoch(run),
            element("h2", "What did not work"),
            failures(run),
            element("h2", "Every figure"),
            sections,
            element("h2", "Machine"),
            tables.machine_table(run),
        ]
    )
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark">{element("title", html.escape(title))}'
        f"{element('style', STYLE)}"
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


TARGETS = (
    "One bar for each target, as a ratio to it: to the right of the line it is met, to the left it is short; a bar to "
    "4x is four times as good as asked for, one to 1/4 a quarter of it. Targets are for the size medium on a machine "
    "that does nothing else."
)


def verdict(run: Run) -> str:
    """What came out, for a reader with a minute."""
    targets = run.targets()
    met, short = (sum(target.met is wanted for target in targets) for wanted in (True, False))
    open_ = len(targets) - met - short
    words = f"{met} of {len(targets)} targets are met, {short} short, {open_} not measured"
    if left_out := run.left_out:
        words += f"; left out of this run: {', '.join(left_out)}"
    if run.size == "small":
        words += (
            "; this is a small run, which tries the benchmark itself: the targets are for medium"
        )
    return f"{words}."


def headlines(run: Run) -> str:
    """The few targets that say most."""
    rows = [
        element(
            "li",
            html.escape(f"{target.section}, {target.name}: ")
            + element("strong", html.escape(target.found))
            + html.escape(f" (target {target.asked}, {target.verdict})"),
        )
        for target in run.headlines()
    ]
    return element("ul", "".join(rows)) if rows else ""


def where(run: Run) -> str:
    """The machine and the conditions, in a line."""
    machine, commits = run.machine, run.commits()
    pieces = f" In pieces, at {len(commits)} commits, named below." if len(commits) > 1 else ""
    return (
        f"{machine['processor']}, {machine['usable_cores']} cores, {machine['memory_bytes'] / 2**30:.0f} GiB, "
        f"Linux {machine['kernel']}, begun {tables.moment(machine['begun'])}. Medians of runs in turns, each a process "
        f"of its own on {machine['cores_of_a_process']} cores; batches of seeds, fan-outs, threads and cache state "
        f"stand with each picture and table.{pieces}"
    )


def targets_of(run: Run, name: str) -> str:
    """The bars of one section."""
    own: list[Target] = [target for target in run.targets() if target.section == name]
    return charts.target_chart(name, own) if own else ""


def curves(run: Run) -> Iterator[str]:
    """How figures follow others, beside the first."""
    found = [curve for curve in run.curves() if curve["title"] != PACE_BY_MEMORY]
    if found:
        yield element("h2", "Curves")
    yield from map(charts.curve_chart, found)


def epoch(run: Run) -> Iterator[str]:
    """An epoch from disk over time: pace, memory, disk."""
    chosen = course(run)
    if chosen is None:
        return
    title, who, told = chosen
    seconds, anonymous, file, read = map(list, zip(*told["moments"], strict=True))
    above = [(value - anonymous[0]) / MIB for value in anonymous]
    mapped = [(value - file[0]) / MIB for value in file]
    yield element("h2", "An epoch over time")
    bound = told["stats"]["bound"]
    words = f"{who} in “{title}”. Bound by {bound}." if bound else f"{who} in “{title}”."
    yield element("p", html.escape(words), class_="remark")
    pace = charts.windowed(seconds, range(len(seconds)))
    yield charts.course_chart("batches/s", seconds, [("ours", "graphmill", pace)])
    yield charts.course_chart(
        "memory above the start, MiB; dashed: the budget of the dataset",
        seconds,
        [("ours", "anonymous", above), ("peer-a", "mapped files", mapped)],
        told["budget"] / MIB,
    )
    rate = [value / 1e6 for value in charts.windowed(seconds, read)]
    yield charts.course_chart("read from disk, MB/s", seconds, [("ours", "disk", rate)])


def course(run: Run) -> tuple[str, str, dict[str, Any]] | None:
    """The epoch that is shown: within a quarter of the dataset if there is one, and else any that told its course."""
    found = [
        (contest.title, name, entry["told"][0])
        for section in run.sections
        for contest in run.contests(section)
        for name, entry in contest.contestants.items()
        if entry["failure"] is None and entry.get("told") and "moments" in entry["told"][0]
    ]
    quarter = [each for each in found if each[1].endswith("25%")]
    return next(iter(quarter or found), None)


def failures(run: Run) -> str:
    """Who could not be installed, was killed or failed, and what was not held."""
    found = run.failures()
    if not found:
        return element("p", "Everything was measured.", class_="remark")
    return tables.table(["section", "what", "who", "why"], found)


def section(run: Run, name: str) -> str:
    """All contests and figures of a section, folded."""
    file = run.sections[name]
    parts = [element("p", html.escape(tables.section_words(file)), class_="remark")]
    for contest in run.contests(name):
        parts += [element("h4", html.escape(contest.title)), tables.contest_table(contest)]
    if run.result(name).get("instructions"):
        parts.append(kernel_table(run.result(name)))
    rows = [(path, told(value)) for path, value in run.figures(name)]
    if rows:
        parts += [element("h4", "Other figures"), tables.table(["", ""], rows, numbers=[1])]
    return element("details", element("summary", html.escape(name)) + "".join(parts))


def told(value: Any) -> str:
    """A raw figure as it is."""
    return f"{value:,.6g}" if isinstance(value, float) else str(value)
