"""The pictures of a report can be read: every figure stands beside its point, and upon no other."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

import pytest

from benchmarks.reporting import charts, recorded
from benchmarks.reporting.figure_places import FigurePlaces, Spot

#: What failed has a word instead of one, on the ground.
FIGURE = re.compile(
    r'<text x="([^"]+)" y="([^"]+)" text-anchor="([^"]+)" class="value (?!short)[^"]+">([^<]+)<'
)


def line(*heights: float | None) -> dict[str, Any]:
    return {"points": [{"x": x, "y": y} for x, y in zip((10, 50, 100), heights, strict=False)]}


def spots(chart: str) -> list[tuple[str, Spot]]:
    """The figures of a chart and where they stand."""
    found = FIGURE.findall(chart)
    return [(said, Spot(float(x), float(y), anchor)) for x, y, anchor, said in found]


@pytest.mark.parametrize(
    "name", sorted(file.parent.name for file in recorded.RUNS.glob("*/training.json"))
)
def test_no_figure_of_a_kept_run_covers_another(name: str) -> None:
    for curve in recorded.read(recorded.RUNS / name).curves():
        drawn = spots(charts.curve_chart(curve))
        points = [point for series in curve["series"] for point in series["points"]]
        assert len(drawn) == sum(point["y"] is not None for point in points)
        boxes = [(said, spot.box(len(said))) for said, spot in drawn]
        for (said, one), (other_said, other) in combinations(boxes, 2):
            assert not one.overlaps(other), f"{curve['title']}: {said} and {other_said}"


def test_figures_of_points_that_crowd_go_to_their_free_sides() -> None:
    crowd = [(100.0, 100.0), (100.0, 118.0), (125.0, 110.0)]
    places = FigurePlaces(crowd)
    # The wanted side is taken by the point below, the next one is free.
    assert places.beside("1.0", *crowd[0], below=True) == Spot(100.0, 89.0, "middle")
    assert places.beside("2.0", *crowd[1], below=True) == Spot(100.0, 138.0, "middle")
    # Above it would touch the first figure, and below it the second.
    assert places.beside("3.0", *crowd[2], below=False) == Spot(136.0, 115.0, "start")
    # Above, below, right and left; a fifth has no room, and goes where it is wanted.
    around = FigurePlaces([(50.0, 50.0)])
    found = [around.beside("9.9", 50.0, 50.0, below=False) for _ in range(5)]
    assert [spot.anchor for spot in found] == ["middle", "middle", "start", "end", "middle"]
    assert found[4] == found[0]


def test_figures_of_two_lines_stand_on_their_outer_sides() -> None:
    upper, lower, apart = line(1.0, 3.0, 9.0), line(1.5, 2.0, None), line()
    for lines in ([upper, lower, apart], [lower, upper, apart]):
        below = [charts.has_figures_below(lines, place) for place in range(3)]
        assert below == [lines[0] is lower, lines[1] is lower, False]
    assert charts.has_figures_below([upper, apart], 1)
