"""The tree of a spread as SVG: who took it from whom, from left to right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from qiaocrawl.language import CHINESE, N_, _, ngettext, using_language
from qiaocrawl.news.pictures import charts as svg
from qiaocrawl.news.spread.influence import CHANGES, edge_text, tier_name
from qiaocrawl.text.visible import markup_text
from qiaocrawl.text.zones import DAY, SHANGHAI, china_time

if TYPE_CHECKING:
    from qiaocrawl.news.spread.publication import Publication
    from qiaocrawl.news.spread.tree import SpreadTree

# Of a page: links are surer than names, names than likeness. A colour, a pattern of dashes.
_STYLES: Mapping[str, tuple[str, str, str]] = {
    "link": ("#1d6fb8", "", N_("by a link")),
    "named": ("#31516f", "", N_("names its source")),
    "text": ("#c2570c", "6 4", N_("by text and time")),
    "unknown": ("#7b8794", "2 4", N_("origin unknown")),
    "own": ("#2e7d4f", "", N_("names itself")),
    # Its box says so.
    "first": ("#2e7d4f", "", ""),
}
_KINDS = {
    "source_link": "link",
    "link": "link",
    "source": "named",
    "credit": "named",
    "text": "text",
}
_COLUMN, _ROW, _BOX_WIDTH, _BOX_HEIGHT = 236, 46, 186, 38
_LEFT, _TOP, _FOOT, _LEAST_WIDTH = 14, 44, 40, 600
_NAME_LETTERS = 13.0
_MOST_CHILDREN = 12
_CHANGE_COLOUR = "#b3261e"


@dataclass(slots=True)
class _Box:
    """A node where it is drawn; *more* leaves of its parent share one box without a node."""

    node: str
    parent: _Box | None
    column: int
    more: int = 0
    row: float = 0.0


def tree_svg(tree: SpreadTree, title: str, language: str = CHINESE) -> str:
    """The picture: evidence stands behind each line (as its tool tip), unknown ways are dotted.

    Of many leaves of one node the first twelve are shown, the others counted.
    """
    with using_language(language):
        boxes = _laid_out(tree)
        columns = max((box.column for box in boxes), default=0) + 1
        rows = max((box.row for box in boxes), default=0) + 1
        height = int(_TOP + rows * _ROW + _FOOT)
        parts = [_line(tree, box) for box in boxes]
        parts += [_draw_box(tree, box) for box in boxes]
        parts += _legend(tree, height)
        return svg.document(max(_LEFT + columns * _COLUMN, _LEAST_WIDTH), height, title, parts)


def _laid_out(tree: SpreadTree) -> list[_Box]:
    """Leaves in rows one below the other, other nodes in the middle of their children's rows."""
    children: dict[str, list[str]] = {}
    for key in tree.publications:
        children.setdefault(tree.parent_of(key), []).append(key)
    first = tree.first and (tree.first.key or tree.first.outlet)
    roots = sorted(tree.roots(), key=lambda root: (root != first, root not in children))
    boxes = [box for root in roots for box in _below(_Box(root, None, 0), children)]
    rows: dict[int, list[float]] = {}
    parents = {id(box.parent) for box in boxes}
    leaf_rows = iter(range(len(boxes)))
    for box in boxes:
        if id(box) not in parents:
            box.row = float(next(leaf_rows))
    for box in reversed(boxes):
        if own := rows.get(id(box)):
            box.row = (min(own) + max(own)) / 2
        rows.setdefault(id(box.parent), []).append(box.row)
    return boxes


def _below(root: _Box, children: Mapping[str, list[str]]) -> Iterator[_Box]:
    """A box and those below it, each before its children; leaves beyond the bound as one."""
    waiting = [root]
    while waiting:
        box = waiting.pop()
        yield box
        own = [] if box.more else children.get(box.node, [])
        # Who passed it on is always shown.
        leaves = [child for child in own if child not in children]
        hidden = set(leaves[len(leaves) - max(len(own) - _MOST_CHILDREN, 0) :]) & set(leaves)
        if hidden:
            waiting.append(_Box("", box, box.column + 1, len(hidden)))
        waiting += [
            _Box(child, box, box.column + 1) for child in reversed(own) if child not in hidden
        ]


def _line(tree: SpreadTree, box: _Box) -> str:
    """From the parent to the box; a dotted stub where the way is unknown."""
    edge = tree.edges.get(box.node)
    colour, dashes, _name = _STYLES[_style(tree, box)]
    shape = f'fill="none" stroke="{colour}" stroke-width="1.6" stroke-dasharray="{dashes}"'
    x, y = _LEFT + box.column * _COLUMN, _middle(box)
    if box.parent is None:
        return ""
    start, before = x - _COLUMN + _BOX_WIDTH, _middle(box.parent)
    half = (start + x) / 2
    tip = f"<title>{markup_text(edge_text(edge))}</title>" if edge else ""
    return f'<path d="M{start} {before} C{half} {before} {half} {y} {x} {y}" {shape}>{tip}</path>'


def _style(tree: SpreadTree, box: _Box) -> str:
    edge = tree.edges.get(box.node)
    if edge is None or not edge.evidence:
        return "first" if _is_first(tree, box.node) else "unknown"
    return _KINDS.get(edge.evidence[0].kind, "own")


def _draw_box(tree: SpreadTree, box: _Box) -> str:
    """A box with outlet, time, tier and what became of it."""
    x, y = _LEFT + box.column * _COLUMN, _middle(box)
    own = tree.publications.get(box.node)
    fill, colour, dashes = "#f4f7fa", *_STYLES[_style(tree, box)][:2]
    if own is None:
        name = ngettext("{count} more", "{count} more", box.more) if box.more else box.node
        below = "" if box.more else _("not among what is stored")
        fill, colour, dashes, tip = "#fff", "#7b8794", "", name
    else:
        name, below, tip = own.name, _facts(own), f"{own.title}\n{own.key}"
        dashes = dashes if not tree.parent_of(own.key) else ""
    if _is_first(tree, box.node):
        fill, name = "#e3f1e5", _("first: {name}", name=name)
    shape = f'rx="5" fill="{fill}" stroke="{colour}" stroke-dasharray="{dashes}"'
    changed = own.changes[-1].kind if own and own.changes else None
    mark = _text_at(x + 8, y + 13, _(CHANGES[changed]), _CHANGE_COLOUR, 11) if changed else ""
    room = _NAME_LETTERS * (1 if changed is None else 1.1)
    return (
        f'<g><title>{markup_text(tip)}</title><rect x="{x}" y="{y - _BOX_HEIGHT / 2}"'
        f' width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" {shape}/>'
        f"{_text_at(x + 8, y - 3, svg.shorten(name, room), '#1c2733', 13)}"
        f"{_text_at(x + 8 + (34 if mark else 0), y + 13, below, '#5b6875', 11)}{mark}</g>"
    )


def _facts(own: Publication) -> str:
    moment = _("time unknown")
    if own.published_at is not None:
        moment = china_time(own.published_at, "%m-%d %H:%M" if own.tells_hour else DAY)
    return moment if own.tier is None else f"{moment} · {tier_name(own.tier)}"


def _is_first(tree: SpreadTree, node: str) -> bool:
    return tree.first is not None and bool(node) and node == (tree.first.key or tree.first.outlet)


def _middle(box: _Box) -> float:
    return _TOP + (box.row + 0.5) * _ROW


def _text_at(x: float, y: float, content: str, colour: str, size: int) -> str:
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{colour}">{markup_text(content)}</text>'


def _legend(tree: SpreadTree, height: int) -> Iterator[str]:
    """What lines and frames mean, as far as there are any."""
    kinds = {_style(tree, _Box(key, None, 0)) for key in tree.publications}
    x, y = float(_LEFT), height - 16
    for kind, (colour, dashes, name) in _STYLES.items():
        if kind in kinds and name:
            yield (
                f'<path d="M{x} {y} h28" stroke="{colour}" stroke-width="1.6"'
                f' stroke-dasharray="{dashes}"/>'
            )
            yield _text_at(x + 34, y + 4, _(name), "#5b6875", 12)
            x += 34 + 12 * svg.width_of(_(name)) + 22


# --- The time line of a spread as SVG: a row for each tier, and how many were out by when ---------

_WIDTH, _LINE_LEFT, _RIGHT, _LINE_TOP = 900, 110, 30, 50
_LINE_ROW, _CURVE, _LINE_FOOT = 44, 110, 60
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
        rows = {tier: _LINE_TOP + (at + 0.5) * _LINE_ROW for at, tier in enumerate(tiers)}
        height = _LINE_TOP + len(tiers) * _LINE_ROW + _CURVE + _LINE_FOOT
        axis = _Axis(dated)
        parts = [*axis.marks(height - _LINE_FOOT)]
        for tier, y in rows.items():
            parts.append(_line_moment(14, y + 4, tier_name(tier)))
            parts.append(f'<path d="M{_LINE_LEFT} {y} H{_WIDTH - _RIGHT}" stroke="{_GREY}"/>')
        parts += [mark for own in dated for mark in _draw_publication(own, axis, rows[own.tier])]
        parts += _curve(dated, axis, height - _LINE_FOOT)
        parts += _below_line(tree, len(dated), height)
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
        return _LINE_LEFT + min(max(share, 0.0), 1.0) * (_WIDTH - _LINE_LEFT - _RIGHT)

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
                yield f'<path d="M{x:.1f} {_LINE_TOP} V{bottom}" stroke="#eef1f4"/>'
                yield _line_moment(x, bottom + 16, china_time(moment, form), middle=True)
            moment += step * _HOUR


def _draw_publication(own: Publication, axis: _Axis, y: float) -> Iterator[str]:
    """A publication and what became of it."""
    window = own.window
    tip = f"<title>{markup_text(own.name)}\n{markup_text(own.title)}</title>"
    x, end = axis.x(window.earliest), axis.x(window.latest)
    if own.tells_hour:
        yield f'<circle cx="{x:.1f}" cy="{y}" r="5" fill="{_DOT}" opacity="0.8">{tip}</circle>'
    else:
        yield (
            f'<rect x="{x:.1f}" y="{y - 3}" width="{max(end - x, 4):.1f}" height="6" rx="3"'
            f' fill="{_DOT}" opacity="0.35">{tip}</rect>'
        )
    for change in own.changes:
        x = axis.x(change.at)
        name = f"{own.name} {_(CHANGES[change.kind])}"
        yield (
            f'<path d="M{x - 5:.1f} {y - 5} l10 10 m0 -10 l-10 10" stroke="{_CHANGED}"'
            f' stroke-width="2"><title>{markup_text(name)}</title></path>'
        )
        yield _line_moment(x, y - 9, _(CHANGES[change.kind]), _CHANGED, middle=True)


def _curve(publications: Sequence[Publication], axis: _Axis, bottom: float) -> Iterator[str]:
    """How many were out by when; what is known to the day counts at the day's end."""
    moments = sorted(
        own.window.earliest if own.tells_hour else own.window.latest for own in publications
    )
    if not moments:
        return
    step = (_CURVE - 30) / len(moments)
    way = [f"M{_LINE_LEFT} {bottom}"]
    for count, moment in enumerate(moments, 1):
        way.append(f"H{axis.x(moment):.1f} V{bottom - count * step:.1f}")
    way.append(f"H{_WIDTH - _RIGHT}")
    yield f'<path d="{" ".join(way)}" fill="none" stroke="{_INK}" stroke-width="1.6"/>'
    yield _line_moment(14, bottom - 4, _("published so far"))
    yield _line_moment(_WIDTH - _RIGHT - 4, bottom - len(moments) * step - 4, str(len(moments)))


def _below_line(tree: SpreadTree, dated: int, height: float) -> Iterator[str]:
    left_out = len(tree.publications) - dated
    notes = [_("dot: to the minute; bar: only the day is known")]
    if left_out:
        notes.append(_("{count} without a date are left out", count=left_out))
    yield _line_moment(14, height - 12, _("; ").join(notes))


def _line_moment(
    x: float, y: float, content: str, colour: str = _INK, *, middle: bool = False
) -> str:
    anchor = ' text-anchor="middle"' if middle else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="12" fill="{colour}"{anchor}>'
        f"{markup_text(content)}</text>"
    )
