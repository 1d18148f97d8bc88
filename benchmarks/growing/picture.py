"""Curves of a growing store as SVG: what one more row costs against the rows there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from qiaocrawl.news.pictures.charts import document
from qiaocrawl.text.visible import markup_text

_WIDTH, _HEIGHT, _LEFT, _TOP = 430, 250, 60, 62
_COLOURS = ("#1f6feb", "#c2570c", "#6e7781", "#8250df")

Curves = Mapping[str, Sequence[tuple[float, float]]]
"""Points by name of the line."""


def draw(path: Path, panels: Mapping[str, Curves]) -> None:
    """One panel a figure, side by side, each from 0."""
    parts: list[str] = []
    for at, (title, curves) in enumerate(panels.items()):
        parts += _panel(at * (_WIDTH + 20), title, curves)
    width = len(panels) * (_WIDTH + 20)
    path.write_text(document(width, _HEIGHT + 100, "A store that grows", parts), encoding="utf-8")


def _panel(left: int, title: str, curves: Curves) -> list[str]:
    points = [point for line in curves.values() for point in line]
    most_x = max((x for x, _ in points), default=1) or 1
    most_y = max((y for _, y in points), default=1) or 1
    right, bottom = left + _WIDTH - 20, _TOP + _HEIGHT

    def place(x: float, y: float) -> str:
        wide = left + _LEFT + (right - left - _LEFT) * x / most_x
        return f"{wide:.1f},{bottom - _HEIGHT * y / (1.1 * most_y):.1f}"

    parts = [
        f'<text x="{left + 14}" y="50" font-size="13">{markup_text(title)}</text>',
        f'<path d="M{left + _LEFT},{_TOP}V{bottom}H{right}" fill="none" stroke="#888"/>',
    ]
    for share in (0.5, 1.0):
        x, y = place(share * most_x, share * most_y).split(",")
        parts += [
            f'<text x="{left + _LEFT - 6}" y="{y}" text-anchor="end" font-size="11">'
            f"{share * most_y:,.0f}</text>",
            f'<text x="{x}" y="{bottom + 16}" text-anchor="middle" font-size="11">'
            f"{share * most_x:,.0f}</text>",
        ]
    for number, (name, line) in enumerate(curves.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        joined = " ".join(place(*point) for point in line)
        parts += [
            f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="2"/>',
            f'<text x="{left + _LEFT + 110 * number}" y="{bottom + 38}" font-size="12"'
            f' fill="{colour}">{markup_text(name)}</text>',
        ]
    return parts
