"""Pieces of pictures: elements, scales and ticks.

Colours are names of the page's classes, so that one picture serves light and dark. It must not know what is drawn.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence

Scale = Callable[[float], float]


def element(tag: str, content: str = "", /, **attributes: object) -> str:
    """One element; an underscore at the end of a name is for Python alone, one within stands for a dash."""
    said = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{html.escape(rounded(value))}"'
        for name, value in attributes.items()
    )
    return f"<{tag}{said}>{content}</{tag}>"


def rounded(value: object) -> str:
    """Coordinates with a tenth of a pixel, everything else as it is."""
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def text(words: str, x: float, y: float, **attributes: object) -> str:
    """A piece of text."""
    return element("text", html.escape(words), x=float(x), y=float(y), **attributes)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> str:
    """A straight line."""
    return element("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), class_=class_)


def picture(width: int, height: float, title: str, parts: Sequence[str]) -> str:
    """The whole, with a title for those who do not see it."""
    label = element("title", html.escape(title))
    return element(
        "svg",
        label + "".join(parts),
        viewBox=f"0 0 {width} {height:.0f}",
        role="img",
        preserveAspectRatio="xMinYMin meet",
    )


def linear(low: float, high: float, start: float, end: float) -> Scale:
    """Equal steps for equal differences."""
    width = (high - low) or 1.0
    return lambda value: start + (end - start) * (value - low) / width


def logarithmic(low: float, high: float, start: float, end: float) -> Scale:
    """Equal steps for equal ratios."""
    straight = linear(math.log(low), math.log(high), start, end)
    return lambda value: straight(math.log(value))


def ticks(highest: float, about: int = 4) -> list[float]:
    """Round numbers from zero on."""
    if highest <= 0:
        return [0.0]
    raw = highest / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)
    return [step * place for place in range(int(highest / step) + 1)]


def round_ratios(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, 20, 50 ... between two numbers."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    candidates = [factor * 10.0**power for power in range(first, last + 1) for factor in (1, 2, 5)]
    return [value for value in candidates if low <= value <= high]
