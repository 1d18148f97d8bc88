"""The tree of a spread as SVG: who took it from whom, from left to right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qiaocrawl.analysis import svg
from qiaocrawl.analysis.spread.labels import CHANGES, edge_text, tier_name
from qiaocrawl.language import CHINESE, N_, _, ngettext, using_language
from qiaocrawl.text.zones import china_time

if TYPE_CHECKING:
    from qiaocrawl.analysis.spread.publication import Publication
    from qiaocrawl.analysis.spread.tree import SpreadTree

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
    "source_link": "link", "link": "link", "source": "named", "credit": "named", "text": "text",
}  # fmt: skip
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
        parts += [_drawn(tree, box) for box in boxes]
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
    tip = f"<title>{svg.text(edge_text(edge))}</title>" if edge else ""
    return f'<path d="M{start} {before} C{half} {before} {half} {y} {x} {y}" {shape}>{tip}</path>'


def _style(tree: SpreadTree, box: _Box) -> str:
    edge = tree.edges.get(box.node)
    if edge is None or not edge.evidence:
        return "first" if _is_first(tree, box.node) else "unknown"
    return _KINDS.get(edge.evidence[0].kind, "own")


def _drawn(tree: SpreadTree, box: _Box) -> str:
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
    mark = _written(x + 8, y + 13, _(CHANGES[changed]), _CHANGE_COLOUR, 11) if changed else ""
    room = _NAME_LETTERS * (1 if changed is None else 1.1)
    return (
        f'<g><title>{svg.text(tip)}</title><rect x="{x}" y="{y - _BOX_HEIGHT / 2}"'
        f' width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" {shape}/>'
        f"{_written(x + 8, y - 3, svg.shortened(name, room), '#1c2733', 13)}"
        f"{_written(x + 8 + (34 if mark else 0), y + 13, below, '#5b6875', 11)}{mark}</g>"
    )


def _facts(own: Publication) -> str:
    moment = _("time unknown")
    if own.published_at is not None:
        moment = china_time(own.published_at, "%m-%d %H:%M" if own.tells_hour else "%Y-%m-%d")
    return moment if own.tier is None else f"{moment} · {tier_name(own.tier)}"


def _is_first(tree: SpreadTree, node: str) -> bool:
    return tree.first is not None and bool(node) and node == (tree.first.key or tree.first.outlet)


def _middle(box: _Box) -> float:
    return _TOP + (box.row + 0.5) * _ROW


def _written(x: float, y: float, content: str, colour: str, size: int) -> str:
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{colour}">{svg.text(content)}</text>'


def _legend(tree: SpreadTree, height: int) -> Iterator[str]:
    """What lines and frames mean, as far as there are any."""
    kinds = {_style(tree, _Box(key, None, 0)) for key in tree.publications}
    x, y = float(_LEFT), height - 16
    for kind, (colour, dashes, name) in _STYLES.items():
        if kind in kinds and name:
            yield (f'<path d="M{x} {y} h28" stroke="{colour}" stroke-width="1.6"'
                   f' stroke-dasharray="{dashes}"/>')  # fmt: skip
            yield _written(x + 34, y + 4, _(name), "#5b6875", 12)
            x += 34 + 12 * svg.width_of(_(name)) + 22
