"""The time line of a spread as SVG: a row for each tier, and how many were out by when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from qiaocrawl.analysis import svg
from qiaocrawl.analysis.spread.labels import CHANGES, tier_name
from qiaocrawl.language import CHINESE, _, using_language
from qiaocrawl.text.zones import SHANGHAI, china_time

if TYPE_CHECKING:
    from qiaocrawl.analysis.spread.publication import Publication
    from qiaocrawl.analysis.spread.tree import SpreadTree

_WIDTH, _LEFT, _RIGHT, _TOP = 900, 110, 30, 50
_ROW, _CURVE, _FOOT = 44, 110, 60
_DOT, _CHANGED, _GREY, _INK = "#1d6fb8", "#b3261e", "#c9d1d9", "#5b6875"
_HOUR = timedelta(hours=1)
# Of the distances between marks the first that leaves at most ten.
_STEPS = (1, 2, 6, 12, 24, 48, 168, 336, 720, 2_160, 8_760)
_MOST_MARKS = 10


def time_line_svg(tree: SpreadTree, title: str, language: str = CHINESE) -> str:
    """The picture; what is known to the day only is a bar of that day, what has no date is left out
    and counted.
    """
    with using_language(language):
        dated = [own for own in tree.publications.values() if own.published_at is not None]
        tiers = sorted({own.tier for own in dated}, key=lambda tier: (tier is None, tier))
        rows = {tier: _TOP + (at + 0.5) * _ROW for at, tier in enumerate(tiers)}
        height = _TOP + len(tiers) * _ROW + _CURVE + _FOOT
        axis = _Axis(dated)
        parts = [*axis.marks(height - _FOOT)]
        for tier, y in rows.items():
            parts.append(_written(14, y + 4, tier_name(tier)))
            parts.append(f'<path d="M{_LEFT} {y} H{_WIDTH - _RIGHT}" stroke="{_GREY}"/>')
        parts += [mark for own in dated for mark in _shown(own, axis, rows[own.tier])]
        parts += _curve(dated, axis, height - _FOOT)
        parts += _below(tree, len(dated), height)
        return svg.document(_WIDTH, height, title, parts)


class _Axis:
    """Moments to places."""

    def __init__(self, publications: Sequence[Publication]) -> None:
        moments = [own.window.earliest for own in publications]
        moments += [change.at for own in publications for change in own.changes]
        # No publication: any day will do, nothing is drawn on it.
        now = datetime(2000, 1, 1, tzinfo=SHANGHAI)
        self._first = min(moments, default=now)
        self._seconds = max((max(moments, default=now) - self._first).total_seconds(), 3_600.0)

    def x(self, moment: datetime) -> float:
        """Where *moment* is, in pixels from the left."""
        share = (moment - self._first).total_seconds() / self._seconds
        return _LEFT + min(max(share, 0.0), 1.0) * (_WIDTH - _LEFT - _RIGHT)

    def marks(self, bottom: float) -> Iterator[str]:
        """Lines at whole hours or days, with their names."""
        hours = self._seconds / 3_600
        step = next((step for step in _STEPS if hours / step <= _MOST_MARKS), _STEPS[-1])
        moment = self._first.astimezone(SHANGHAI).replace(minute=0, second=0, microsecond=0)
        if step >= 24:  # noqa: PLR2004 (hours of a day)
            moment = moment.replace(hour=0)
        form = "%m-%d" if step >= 24 else "%m-%d %H:%M"  # noqa: PLR2004
        while moment <= self._first + timedelta(seconds=self._seconds):
            if moment >= self._first:
                x = self.x(moment)
                yield f'<path d="M{x:.1f} {_TOP} V{bottom}" stroke="#eef1f4"/>'
                yield _written(x, bottom + 16, china_time(moment, form), middle=True)
            moment += step * _HOUR


def _shown(own: Publication, axis: _Axis, y: float) -> Iterator[str]:
    """A publication and what became of it."""
    window = own.window
    tip = f"<title>{svg.text(own.name)}\n{svg.text(own.title)}</title>"
    x, end = axis.x(window.earliest), axis.x(window.latest)
    if own.tells_hour:
        yield f'<circle cx="{x:.1f}" cy="{y}" r="5" fill="{_DOT}" opacity="0.8">{tip}</circle>'
    else:
        yield (f'<rect x="{x:.1f}" y="{y - 3}" width="{max(end - x, 4):.1f}" height="6" rx="3"'
               f' fill="{_DOT}" opacity="0.35">{tip}</rect>')  # fmt: skip
    for change in own.changes:
        x = axis.x(change.at)
        name = f"{own.name} {_(CHANGES[change.kind])}"
        yield (f'<path d="M{x - 5:.1f} {y - 5} l10 10 m0 -10 l-10 10" stroke="{_CHANGED}"'
               f' stroke-width="2"><title>{svg.text(name)}</title></path>')  # fmt: skip
        yield _written(x, y - 9, _(CHANGES[change.kind]), _CHANGED, middle=True)


def _curve(publications: Sequence[Publication], axis: _Axis, bottom: float) -> Iterator[str]:
    """How many were out by when; what is known to the day counts at the day's end."""
    moments = sorted(own.window.earliest if own.tells_hour else own.window.latest
                     for own in publications)  # fmt: skip
    if not moments:
        return
    step = (_CURVE - 30) / len(moments)
    way = [f"M{_LEFT} {bottom}"]
    for count, moment in enumerate(moments, 1):
        way.append(f"H{axis.x(moment):.1f} V{bottom - count * step:.1f}")
    way.append(f"H{_WIDTH - _RIGHT}")
    yield f'<path d="{" ".join(way)}" fill="none" stroke="{_INK}" stroke-width="1.6"/>'
    yield _written(14, bottom - 4, _("published so far"))
    yield _written(_WIDTH - _RIGHT - 4, bottom - len(moments) * step - 4, str(len(moments)))


def _below(tree: SpreadTree, dated: int, height: float) -> Iterator[str]:
    left_out = len(tree.publications) - dated
    notes = [_("dot: to the minute; bar: only the day is known")]
    if left_out:
        notes.append(_("{count} without a date are left out", count=left_out))
    yield _written(14, height - 12, _("; ").join(notes))


def _written(x: float, y: float, content: str, colour: str = _INK, *, middle: bool = False) -> str:
    anchor = ' text-anchor="middle"' if middle else ""
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="12" fill="{colour}"{anchor}>'
            f"{svg.text(content)}</text>")  # fmt: skip
