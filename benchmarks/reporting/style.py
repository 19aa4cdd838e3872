"""How a page looks, by day and by night."""

from __future__ import annotations

COLOURS = {
    # name: by day, by night
    "paper": ("#ffffff", "#11151c"),
    "ink": ("#1c2530", "#e4e8ee"),
    "faint": ("#5d6876", "#9aa6b5"),
    "grid": ("#e3e7ec", "#2b3440"),
    "ours": ("#1f5fd0", "#6ea8ff"),
    "met": ("#17803d", "#4cc777"),
    "short": ("#c2410c", "#ff9357"),
    "peer-a": ("#8b3fc7", "#c893f5"),
    "peer-b": ("#0b7f92", "#45c3d6"),
    "peer-c": ("#a16207", "#e0b04a"),
    "peer-d": ("#be185d", "#f583b3"),
    "peer-e": ("#5b6470", "#a8b1bd"),
}
SERIES = ["ours", "met", "short", "peer-a", "peer-b", "peer-c", "peer-d", "peer-e"]


def variables(night: bool) -> str:
    """The colours of one half of the day."""
    return "".join(f"--{name}:{pair[night]};" for name, pair in COLOURS.items())


STYLE = (
    f":root{{{variables(False)}}}"
    f"@media(prefers-color-scheme:dark){{:root{{{variables(True)}}}}}"
    + """
*{box-sizing:border-box}
body{font:16px/1.55 system-ui,sans-serif;max-width:900px;margin:2rem auto;padding:0 1rem;
  color:var(--ink);background:var(--paper)}
h1{font-size:1.6rem;margin:0 0 .6rem}
h2{font-size:1.2rem;margin:2.4rem 0 .4rem;border-bottom:1px solid var(--grid);padding-bottom:.2rem}
h4{margin:1.4rem 0 .3rem}
.verdict{font-size:1.1rem;margin:.4rem 0}
ul{margin:.3rem 0 .6rem;padding-left:1.2rem}
.remark{color:var(--faint);font-size:.9rem;margin:.3rem 0}
.failed{color:var(--short)}
figure{margin:1.2rem 0 1.6rem}
figcaption{font-weight:600;margin-bottom:.3rem}
.drawing{overflow-x:auto}
svg{width:100%;min-width:640px;display:block}
text{font-size:13px;fill:var(--faint);font-family:system-ui,sans-serif}
.row text:first-of-type{fill:var(--ink)}
text.axis{font-weight:600}
text.value{font-weight:600}
.grid{stroke:var(--grid)}
.target{stroke:var(--ink);stroke-width:1.5}
.dashed{stroke-dasharray:6 5}
.line{fill:none;stroke-width:2}
.cross{stroke:var(--short);stroke-width:2.5;fill:none}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;font-size:.9rem;margin:.2rem 0}
.legend i{display:inline-block;width:.8em;height:.8em;border-radius:50%;margin-right:.4em}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.85rem;width:100%}
th,td{padding:.25rem .6rem .25rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--grid)}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
details{margin:.6rem 0}
summary{cursor:pointer;font-weight:600}
"""
    + "".join(
        f".line.{name}{{stroke:var(--{name})}}.dot.{name},.bar.{name},text.value.{name}{{fill:var(--{name})}}"
        f".legend .{name}{{background:var(--{name})}}\n"
        for name in SERIES
    )
)
