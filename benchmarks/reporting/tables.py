"""Tables of a report: who was how fast, what the machine is, what did not work."""

from __future__ import annotations

import html
import statistics
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from benchmarks.reporting.recorded import Contest, Run, figure
from benchmarks.reporting.svg import element

MIB = 1 << 20
GIB = 1 << 30


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()) -> str:
    """A table; columns of numbers stand to the right."""
    right = set(numbers)

    def cells(tag: str, values: Sequence[str]) -> str:
        return "".join(
            element(tag, html.escape(value), class_="number" if place in right else "words")
            for place, value in enumerate(values)
        )

    body = "".join(element("tr", cells("td", row)) for row in rows)
    top = element("thead", element("tr", cells("th", head))) if any(head) else ""
    return element("div", element("table", top + element("tbody", body)), class_="wide")


def contest_table(contest: Contest) -> str:
    """Everybody who took part, ours first."""
    if contest.skipped is not None:
        return element("p", html.escape(f"Not held: {contest.skipped}"), class_="remark failed")
    entries = contest.contestants
    heading, each = unit_of(entries)
    head = [
        "who",
        "ours x",
        heading,
        "spread",
        "anon MiB",
        "file MiB",
        "disk MB",
        "inputs",
        "result",
    ]
    own = next(iter(entries.values()))
    rows = []
    for name, entry in entries.items():
        if entry["failure"] is not None:
            rows.append([name, "-", "-", "-", "-", "-", "-", "-", f"failed: {entry['failure']}"])
            continue
        runs = entry["runs"]
        values = paces(entry)
        middle = statistics.median(values)
        rows.append(
            [
                name,
                times(own, entry),
                figure(middle / each),
                f"{(max(values) - min(values)) / middle:.0%}" if len(values) > 1 else "one run",
                figure(max(run["peak_anonymous"] for run in runs) / MIB),
                figure(max(run["peak_file"] for run in runs) / MIB),
                figure(max(run["read_bytes"] for run in runs) / 1e6),
                "cold" if entry["cold"] else "warm",
                "; ".join(filter(None, [entry["work"], entry["result"], limit_of(entry)])),
            ]
        )
    return table(head, rows, numbers=range(1, 7))


def unit_of(entries: dict[str, dict[str, Any]]) -> tuple[str, float]:
    """What a contest is about, for people, and how much of it makes one."""
    found = [entry for entry in entries.values() if entry.get("rate") is not None]
    if not found:
        return "seconds", 1.0
    # As in the tables of the sections: millions where all are large.
    is_large = min(entry["rate"] for entry in found) >= 1e5
    unit = found[0]["unit"]
    return (f"million {unit}/s", 1e6) if is_large else (f"{unit}/s", 1.0)


def paces(entry: dict[str, Any]) -> list[float]:
    """What each run is compared by: its rate where it told one, and else its seconds."""
    if "rate" in entry:
        return [said["amount"] / said["seconds"] for said in entry["told"]]
    return [run["seconds"] for run in entry["runs"]]


def times(own: dict[str, Any], entry: dict[str, Any]) -> str:
    """How many times as fast ours is."""
    if own["failure"] is not None:
        return "-"
    ours, its = statistics.median(paces(own)), statistics.median(paces(entry))
    return figure(ours / its if "rate" in entry else its / ours)


def limit_of(entry: dict[str, Any]) -> str:
    """What held a loader back, by its own word."""
    said = [told["stats"].get("bound") for told in entry.get("told", []) if "stats" in told]
    bound = next(filter(None, said), None)
    return f"bound by {bound}" if bound else ""


def machine_table(run: Run) -> str:
    """What the figures were taken on."""
    machine = run.machine
    disk, profile, versions = machine["disk"], machine["disk_profile"], machine["versions"]
    limit = machine["cgroup_limit_bytes"]
    rows = [
        (
            "processor",
            f"{machine['processor']}, {machine['usable_cores']} of {machine['cores']} cores",
        ),
        (
            "memory",
            f"{machine['memory_bytes'] / GIB:.1f} GiB, cgroup limit "
            + (f"{limit / GIB:.1f} GiB" if limit else "none"),
        ),
        ("kernel", f"{machine['kernel']}, huge pages {machine['transparent_huge_pages']}"),
        ("disk", "not told by the kernel" if disk is None else disk_words(disk)),
        ("file system", f"{machine['file_system']['kind']}, {machine['file_system']['options']}"),
        ("disk profile", "not measured" if profile is None else profile_words(profile)),
        ("graphmill", "; ".join(run.commits())),
        (
            "versions",
            ", ".join(
                f"{name} {version}"
                for name, version in versions.items()
                if isinstance(version, str) and name not in ("graphmill", "commit")
            ),
        ),
        ("peers", "; ".join(peer_words(*item) for item in versions["peers"].items()) or "none"),
    ]
    return table(["", ""], rows)


def disk_words(disk: dict[str, Any]) -> str:
    """A disk in a line."""
    ahead = disk["read_ahead_bytes"]
    parts = [
        f"{disk['name']}, {disk['model'] or 'model not told'}",
        f"{disk['bytes'] / 1e9:,.0f} GB" if disk["bytes"] else "size not told",
        f"read-ahead {ahead / 1024:,.0f} KiB" if ahead is not None else "read-ahead not told",
    ]
    return ", ".join(parts)


def profile_words(profile: dict[str, Any]) -> str:
    """What a disk can do, in a line."""
    return (
        f"{profile['random_4k_per_second'] / 1e3:,.0f} k random 4 KiB reads/s at depth "
        f"{profile['best_depth']}, {profile['bytes_per_second'] / 1e9:.2f} GB/s"
    )


def peer_words(name: str, versions: dict[str, str] | str | None) -> str:
    """What is installed of a peer."""
    if isinstance(versions, dict):
        found = ", ".join(f"{package} {version}" for package, version in versions.items())
        return f"{name} ({found})"
    return f"{name} ({versions or 'version not told'})"


def section_words(file: dict[str, Any]) -> str:
    """How long a section took, and what surrounded it."""
    cache, disk = file["page_cache_bytes"], file["disk"]
    parts = [
        f"{file['seconds'] / 60:.1f} minutes from {moment(file['begun'])}",
        f"load {file['load_before']:.1f} when it began",
        f"page cache {cache['before'] / GIB:.1f} GiB before, {cache['after'] / GIB:.1f} GiB after",
    ]
    if disk is not None:
        parts.append(
            f"the disk served {disk['read_requests']:,} reads of {disk['read_bytes'] / 1e9:.1f} GB and "
            f"{disk['write_requests']:,} writes of {disk['written_bytes'] / 1e9:.1f} GB, inputs included"
        )
    return "; ".join(parts) + "."


def moment(told: str) -> str:
    """A time as the files have it, for people."""
    return f"{datetime.fromisoformat(told):%Y-%m-%d %H:%M} UTC"
