"""Counts over time as SVG: columns, what is usual as a line, bursts, the forecast with its band."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from qiaocrawl.analysis import svg
from qiaocrawl.language import CHINESE, _, using_language

if TYPE_CHECKING:
    from datetime import datetime

    from qiaocrawl.analysis.trends.trend import Trend

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _FOOT = 900, 320, 46, 16, 46, 56
_COLUMN, _BURST, _USUAL, _BAND, _INK = "#9db7d0", "#b3261e", "#31516f", "#f0dcc9", "#5b6875"
_MOST_LABELS = 10
_MARKS = 4


def trend_svg(trend: Trend, title: str, language: str = CHINESE) -> str:
    """The picture; a column of a step that is not over is lighter."""
    with using_language(language):
        return svg.document(_WIDTH, _HEIGHT, title, _parts(trend))


def _parts(trend: Trend) -> Iterator[str]:
    ahead = [
        step for step in trend.forecast if not trend.steps or step.start > trend.steps[-1].start
    ]
    starts = [*(step.start for step in trend.steps), *(step.start for step in ahead)]
    tops = [max(step.count, step.expected or 0.0) for step in trend.steps]
    highest = max([*tops, *(float(step.high) for step in ahead), 1.0])
    # So that the marks of the axis are whole numbers: articles are.
    most = math.ceil(highest / _MARKS) * _MARKS
    width = (_WIDTH - _LEFT - _RIGHT) / max(len(starts), 1)
    yield from _axis(most)
    for at, step in enumerate(trend.steps):
        colour = _BURST if step.is_burst else _COLUMN
        tip = f"{_label(trend, step.start)} {step.holiday}: {step.count}"
        yield (f'<rect x="{_x(at, width) + 1:.1f}" y="{_y(step.count, most):.1f}"'
               f' width="{max(width - 2, 1):.1f}" height="{_bottom() - _y(step.count, most):.1f}"'
               f' fill="{colour}" opacity="{1 if step.is_whole else 0.5}">'
               f"<title>{svg.text(tip)}</title></rect>")  # fmt: skip
    for at, coming in enumerate(ahead, len(trend.steps)):
        low, high = _y(coming.low, most), _y(coming.high, most)
        yield (f'<rect x="{_x(at, width):.1f}" y="{high:.1f}" width="{width:.1f}"'
               f' height="{max(low - high, 1):.1f}" fill="{_BAND}"/>')  # fmt: skip
    usual = [*(step.expected for step in trend.steps), *(step.expected for step in ahead)]
    line = " ".join(f"{_x(at + 0.5, width):.1f},{_y(value, most):.1f}"
                    for at, value in enumerate(usual) if value is not None)  # fmt: skip
    yield f'<polyline points="{line}" fill="none" stroke="{_USUAL}" stroke-width="1.6"/>'
    every = -(-len(starts) // _MOST_LABELS)
    for at, start in list(enumerate(starts))[:: max(every, 1)]:
        x = _x(at + 0.5, width)
        yield _written(x, _bottom() + 16, _label(trend, start), ' text-anchor="middle"')
    yield from _legend(trend, bool(ahead))


def _axis(most: float) -> Iterator[str]:
    for mark in range(_MARKS + 1):
        value = most * mark / _MARKS
        y = _y(value, most)
        yield f'<path d="M{_LEFT} {y:.1f} H{_WIDTH - _RIGHT}" stroke="#eef1f4"/>'
        yield _written(_LEFT - 6, y + 4, f"{value:.0f}", ' text-anchor="end"')


def _legend(trend: Trend, has_forecast: bool) -> Iterator[str]:
    entries = [(_COLUMN, _("articles"), True), (_BURST, _("burst"), bool(trend.bursts)),
               (_USUAL, _("usual"), trend.base_days > 0),
               (_BAND, _("forecast, nine in ten"), has_forecast)]  # fmt: skip
    x = float(_LEFT)
    for colour, name, is_there in entries:
        if is_there:
            yield f'<rect x="{x}" y="{_HEIGHT - 22}" width="12" height="12" fill="{colour}"/>'
            yield _written(x + 18, _HEIGHT - 12, name, "")
            x += 18 + 12 * svg.width_of(name) + 20


def _label(trend: Trend, start: datetime) -> str:
    return f"{start:%m-%d %H:%M}" if trend.unit == "hour" else f"{start:%m-%d}"


def _x(at: float, width: float) -> float:
    return _LEFT + at * width


def _y(value: float, most: float) -> float:
    return _bottom() - value / most * (_bottom() - _TOP)


def _bottom() -> float:
    return _HEIGHT - _FOOT


def _written(x: float, y: float, content: str, more: str) -> str:
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="12" fill="{_INK}"{more}>'
            f"{svg.text(content)}</text>")  # fmt: skip
