"""The pictures of a report: a curve with its points, bars beside their targets, and the course of an epoch."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from benchmarks.reporting import svg
from benchmarks.reporting.figure_places import FigurePlaces
from benchmarks.reporting.recorded import Target, figure

WIDTH = 800
LEFT, RIGHT, TOP = 56, 24, 30
#: Colours of series, ours first.
CLASSES = ["ours", "peer-a", "peer-b", "peer-c", "peer-d", "peer-e"]

ROW = 28
LABELS, FIGURES = 310, 220
#: Bars reach so many times beyond their target, or below it, and no further; their figure is written beside them.
REACH = 16.0


def curve_chart(curve: dict[str, Any]) -> str:
    """Every series with its points; what failed is a cross on the ground, and its reason stands below."""
    height, bottom = 330.0, 46
    series = curve["series"]
    points = [point for each in series for point in each["points"]]
    heights = [point["y"] for point in points if point["y"] is not None]
    top = 1.15 * max(heights, default=1.0)
    across, marks = horizontal([point["x"] for point in points if point["x"] > 0], series)
    up = svg.linear(0, top, height - bottom, TOP)
    parts = [svg.text(curve["y"], 0, 14, class_="axis")]
    for level in svg.ticks(top):
        parts.append(svg.line(LEFT, up(level), WIDTH - RIGHT, up(level), "grid"))
        parts.append(svg.text(f"{level:g}", LEFT - 8, up(level) + 4, text_anchor="end"))
    for mark in marks:
        parts.append(
            svg.text(f"{mark:g}", across(mark), height - bottom + 20, text_anchor="middle")
        )
    parts.append(svg.text(curve["x"], WIDTH - RIGHT, height - 6, text_anchor="end", class_="axis"))
    seen = [(across(point["x"]), up(point["y"])) for point in points if point["y"] is not None]
    places = FigurePlaces(seen)
    for place, each in enumerate(series):
        below = has_figures_below(series, place)
        parts.append(drawn(each["points"], colour(place), across, up, places, below=below))
    return figure_of(
        curve["title"],
        svg.picture(WIDTH, height, curve["title"], parts),
        legend([each["name"] for each in series]) + remarks(curve),
    )


def has_figures_below(series: Sequence[Any], place: int) -> bool:
    """Whether figures of a series go under its points first: they do where another has points above them."""
    own = {point["x"]: point["y"] for point in series[place]["points"] if point["y"] is not None}
    distances = [
        point["y"] - own[point["x"]]
        for number, each in enumerate(series)
        for point in each["points"]
        if number != place and point["x"] in own and point["y"] is not None
    ]
    return sum(distances) > 0 if distances else place % 2 == 1


def horizontal(values: Sequence[float], series: Sequence[Any]) -> tuple[svg.Scale, list[float]]:
    """A scale for these places and its marks: those of our own points, and round ones beyond."""
    low, high = min(values, default=1.0), max(values, default=1.0)
    own = sorted({point["x"] for point in series[0]["points"]})
    if high < 4 * low:
        return svg.linear(low, high, LEFT + 40, WIDTH - RIGHT - 40), own
    beyond = [mark for mark in svg.round_ratios(low, high) if mark > 1.5 * own[-1]]
    return svg.logarithmic(low, high, LEFT + 40, WIDTH - RIGHT - 40), [*own, *beyond]


def drawn(
    points: Sequence[Any],
    name: str,
    across: svg.Scale,
    up: svg.Scale,
    places: FigurePlaces,
    *,
    below: bool,
) -> str:
    """The line and the points of one series, each with its figure."""
    found = sorted((point for point in points if point["y"] is not None), key=lambda at: at["x"])
    dots = [(across(point["x"]), up(point["y"])) for point in found]
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in dots)
    parts = [svg.element("polyline", points=joined, class_=f"line {name}")]
    for point, (x, y) in zip(found, dots, strict=True):
        parts.append(svg.element("circle", cx=x, cy=y, r=5, class_=f"dot {name}"))
        said = figure(point["y"])
        spot = places.beside(said, x, y, below=below)
        attributes = {"text_anchor": spot.anchor, "class_": f"value {name}"}
        parts.append(svg.text(said, spot.x, spot.y, **attributes))
    for point in points:
        if point["y"] is None and point["x"] > 0:
            x, y = across(point["x"]), up(0)
            cross = f"M{x - 6:.1f} {y - 6:.1f}l12 12m0 -12l-12 12"
            parts.append(svg.element("path", d=cross, class_="cross"))
            parts.append(svg.text("failed", x, y - 12, text_anchor="middle", class_="value short"))
    return "".join(parts)


def remarks(curve: dict[str, Any]) -> str:
    """What has to be known beside a curve, and why points are missing."""
    parts = [svg.element("p", html.escape(curve["remark"]), class_="remark")]
    for each in curve["series"]:
        for point in each["points"]:
            if point["y"] is None:
                who = f"{each['name']} at {point['x']:g}" if point["x"] else each["name"]
                words = html.escape(f"{who}: {point['note']}")
                parts.append(svg.element("p", words, class_="remark failed"))
    return "".join(parts)


def target_chart(title: str, targets: Sequence[Target]) -> str:
    """A bar for each target: to the right of the line it is met, to the left it is short."""
    start, end = LABELS + 24, WIDTH - FIGURES - 30
    across = svg.logarithmic(1 / REACH, REACH, start, end)
    height = float(TOP + ROW * len(targets) + 10)
    parts = [
        svg.text("target", across(1), 16, text_anchor="middle", class_="axis"),
        svg.text("measured, target", WIDTH - FIGURES, 16, class_="axis"),
    ]
    for place, words in ((1 / 16, "1/16"), (1 / 4, "1/4"), (4, "4x"), (16, "16x")):
        parts.append(svg.line(across(place), TOP - 8, across(place), height - 6, "grid"))
        parts.append(svg.text(words, across(place), 16, text_anchor="middle"))
    for place, target in enumerate(targets):
        parts.append(target_bar(target, float(TOP + ROW * place), across))
    parts.append(svg.line(across(1), TOP - 8, across(1), height - 6, "target"))
    return figure_of(title, svg.picture(WIDTH, height, title, parts), "")


def target_bar(target: Target, y: float, across: svg.Scale) -> str:
    """One row of it."""
    parts = [svg.text(shortened(target.name), 0, y + 15)]
    if target.margin is not None:
        margin = min(max(target.margin, 1 / REACH), REACH)
        left, right = sorted((across(margin), across(1)))
        name = "bar met" if target.met else "bar short"
        parts.append(
            svg.element(
                "rect", x=left, y=y + 3, width=max(right - left, 2.0), height=16, rx=2, class_=name
            )
        )
    words = f"{target.found}, {target.bound}: {target.verdict}"
    name = {True: "met", False: "short", None: "axis"}[target.met]
    parts.append(svg.text(words, WIDTH - FIGURES, y + 15, class_=f"value {name}"))
    full = svg.element("title", html.escape(f"{target.name}: {words}"))
    return svg.element("g", full + "".join(parts), class_="row")


def course_chart(
    title: str,
    seconds: Sequence[float],
    lines: Sequence[tuple[str, str, Sequence[float]]],
    mark: float | None = None,
) -> str:
    """Values over seconds, each with its colour and name; the mark is a dashed line across."""
    height, bottom = 170.0, 26
    top = 1.1 * max([*(value for _, _, values in lines for value in values), mark or 0, 1e-9])
    across = svg.linear(0, seconds[-1], LEFT, WIDTH - RIGHT)
    up = svg.linear(0, top, height - bottom, 12)
    parts = []
    for level in svg.ticks(top, 3):
        parts.append(svg.line(LEFT, up(level), WIDTH - RIGHT, up(level), "grid"))
        parts.append(svg.text(f"{level:,g}", LEFT - 8, up(level) + 4, text_anchor="end"))
    for second in svg.ticks(seconds[-1], 6):
        parts.append(svg.text(f"{second:g} s", across(second), height - 6, text_anchor="middle"))
    for name, _, values in lines:
        joined = " ".join(
            f"{across(at):.1f},{up(value):.1f}" for at, value in zip(seconds, values, strict=True)
        )
        parts.append(svg.element("polyline", points=joined, class_=f"line {name}"))
    if mark is not None:
        parts.append(svg.line(LEFT, up(mark), WIDTH - RIGHT, up(mark), "target dashed"))
    below = legend([label for _, label, _ in lines]) if len(lines) > 1 else ""
    return figure_of(title, svg.picture(WIDTH, height, title, parts), below)


def legend(names: Sequence[str]) -> str:
    """Who has which colour."""
    parts = [
        svg.element("span", svg.element("i", class_=colour(place)) + html.escape(name))
        for place, name in enumerate(names)
    ]
    return svg.element("p", "".join(parts), class_="legend")


def figure_of(title: str, drawing: str, below: str) -> str:
    """A picture with its heading."""
    caption = svg.element("figcaption", html.escape(title))
    return svg.element("figure", caption + svg.element("div", drawing, class_="drawing") + below)


def colour(place: int) -> str:
    """The class of a series."""
    return CLASSES[min(place, len(CLASSES) - 1)]


def shortened(name: str) -> str:
    """A name that fits beside its bar; the whole one is told when one points at it."""
    most = 46
    return name if len(name) <= most else f"{name[: most - 1]}…"


def windowed(seconds: Sequence[float], counts: Sequence[float]) -> list[float]:
    """How fast a count grew, over a twentieth of the time each, so that a single batch is no spike."""
    wide = seconds[-1] / 20 or 1e-9
    found, first = [], 0
    for place, second in enumerate(seconds):
        while first < place and seconds[first + 1] <= second - wide:
            first += 1
        passed = second - seconds[first]
        found.append((counts[place] - counts[first]) / passed if passed > 0 else 0.0)
    return found
