"""Where the figures of a picture stand: beside their points, and upon no other figure or point.

Widths are guessed, since only a browser knows its letters. It must not know what figures say.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

#: Half of a point's width.
POINT = 6.0
#: A letter of a figure, and what it takes above and below its base line.
LETTER, ASCENT, DESCENT = 8.5, 12.0, 3.0
#: Spots around a point: how far from it a figure begins, ends or has its middle.
ABOVE, BELOW = (0.0, -11.0, "middle"), (0.0, 20.0, "middle")
RIGHT, LEFT = (11.0, 5.0, "start"), (-11.0, 5.0, "end")


@dataclass(frozen=True)
class Box:
    """A part of a picture."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Whether something of it is covered."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


@dataclass(frozen=True)
class Spot:
    """The base line of a figure, from where on, and to which side."""

    x: float
    y: float
    anchor: str

    def box(self, letters: int) -> Box:
        """What a figure of so many letters covers."""
        width = letters * LETTER
        left = self.x - {"start": 0.0, "middle": width / 2, "end": width}[self.anchor]
        return Box(left, self.y - ASCENT, left + width, self.y + DESCENT)


class FigurePlaces:
    """What points and figures have taken of a picture."""

    def __init__(self, points: Iterable[tuple[float, float]]) -> None:
        """Know all points, those whose figures come later too."""
        self.taken = [Box(x - POINT, y - POINT, x + POINT, y + POINT) for x, y in points]

    def beside(self, figure: str, x: float, y: float, *, below: bool) -> Spot:
        """A free spot beside a point, and if there is none the one that is wanted."""
        sides = [BELOW, ABOVE] if below else [ABOVE, BELOW]
        spots = [Spot(x + dx, y + dy, anchor) for dx, dy, anchor in [*sides, RIGHT, LEFT]]
        chosen = next((spot for spot in spots if self.is_free(spot.box(len(figure)))), spots[0])
        self.taken.append(chosen.box(len(figure)))
        return chosen

    def is_free(self, box: Box) -> bool:
        """Whether nothing stands there."""
        return not any(box.overlaps(other) for other in self.taken)
