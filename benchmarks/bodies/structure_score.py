"""How near a page's Markdown is to the right one, by part: text, tables, code (as WebMainBench).

``text_edit``, ``table_edit`` and ``code_edit`` are 1 - edit distance / length of the longer, of the
normalised text of that part; ``teds`` is the similarity of all tables as trees (Zhong et al. 2020);
``rouge_5`` is F1 over 5-grams of the whole Markdown. A part that neither has is None.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

FIGURES = ("text_edit", "table_edit", "teds", "code_edit", "rouge_5")
_GRAM = 5
_FENCE = re.compile(r"^(`{3,}|~{3,})")
_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_INDENTED = "    "
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_LINK = re.compile(r"\[((?:[^\]\\]|\\.)*)\]\([^)]*\)")
_MARKS = re.compile(r"^\s*(?:#{1,6}\s+|>\s?|[-*+]\s+|\d+[.)]\s+)+")
_STYLE = re.compile(r"\*+|(?<!\w)_+|_+(?!\w)|`+|~~|<br\s*/?>|</?su[bp]>")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_TOKEN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]|[^\W\u3400-\u9fff\uf900-\ufaff]+")


@dataclass(frozen=True, slots=True)
class Parts:
    """A Markdown text taken apart; ``tables`` hold rows of cells."""

    text: str
    tables: tuple[tuple[tuple[str, ...], ...], ...]
    code: str


def parts_of(markdown: str) -> Parts:
    """Text, tables and code of *markdown*, each normalised."""
    text: list[str] = []
    tables: list[list[tuple[str, ...]]] = []
    code: list[str] = []
    fence, in_table = "", False
    lines = markdown.split("\n")
    for at, line in enumerate(lines):
        match = _FENCE.match(line.strip())
        if fence:
            if line.strip() == fence:
                fence = ""
            else:
                code.append(line)
        elif match:
            fence = match[1]
        elif in_table and "|" in line:
            if not _RULE.match(line):
                tables[-1].append(_cells(line))
            continue
        elif "|" in line and at + 1 < len(lines) and _RULE.match(lines[at + 1]):
            tables.append([_cells(line)])
            in_table = True
            continue
        elif line.startswith(_INDENTED) and not _MARKS.match(line) and _is_code(lines, at, code):
            code.append(line.removeprefix(_INDENTED))
        else:
            text.append(line)
        in_table = False
    shown = tuple(tuple(table) for table in tables)
    return Parts(plain("\n".join(text)), shown, "\n".join(code).strip())


def _is_code(lines: Sequence[str], at: int, code: Sequence[str]) -> bool:
    """Whether an indented line begins a listing, or goes on with one."""
    before = lines[at - 1] if at else ""
    return not before.strip() or (bool(code) and before.startswith(_INDENTED))


def _cells(row: str) -> tuple[str, ...]:
    inner = row.strip().replace("\\|", "\0").removeprefix("|").removesuffix("|")
    return tuple(plain(cell).replace("\0", "|") for cell in inner.split("|"))


def plain(markdown: str) -> str:
    """*markdown* as a reader sees it, on one line without pictures."""
    lines = []
    for line in markdown.split("\n"):
        line = _LINK.sub(r"\1", _PICTURE.sub("", line))
        # What is escaped is text: it is put aside while marks are taken away.
        aside = iter(_ESCAPED.findall(line))
        shown = _STYLE.sub("", _MARKS.sub("", _ESCAPED.sub("\0", line.rstrip("\\"))))
        lines.append("".join(next(aside) if sign == "\0" else sign for sign in shown))
    return unicodedata.normalize("NFKC", " ".join(" ".join(lines).split()))


def score(gold: str, found: str) -> dict[str, float | None]:
    """All :data:`FIGURES` of one page."""
    right, given = parts_of(gold), parts_of(found)
    has_tables = bool(right.tables or given.tables)
    return {
        "text_edit": _similar(right.text, given.text),
        "table_edit": _similar(_flat(right), _flat(given)) if has_tables else None,
        "teds": teds(right.tables, given.tables) if has_tables else None,
        "code_edit": _similar(right.code, given.code),
        "rouge_5": rouge(gold, found),
    }


def _flat(parts: Parts) -> str:
    return "\n".join(" | ".join(row) for table in parts.tables for row in table)


def _similar(one: str, other: str) -> float | None:
    if not one and not other:
        return None
    return 1.0 - edit_distance(one, other) / max(len(one), len(other))


def edit_distance(one: str, other: str) -> int:
    """Insertions, deletions and changes from *one* to *other* (Myers 1999, Hyyrö 2003)."""
    if not one or not other:
        return len(one) + len(other)
    places: dict[str, int] = {}
    for at, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << at
    size = len(one)
    full, last = (1 << size) - 1, 1 << (size - 1)
    up, down, distance = full, 0, size
    for letter in other:
        equal = places.get(letter, 0)
        vertical = equal | down
        across = (((equal & up) + up) ^ up) | equal
        higher, lower = down | (full & ~(across | up)), up & across
        distance += bool(higher & last) - bool(lower & last)
        higher, lower = (higher << 1 | 1) & full, (lower << 1) & full
        up, down = lower | (full & ~(vertical | higher)), higher & vertical
    return distance


def rouge(gold: str, found: str) -> float:
    """F1 over the 5-grams of words and Chinese characters."""
    right, given = _grams(gold), _grams(found)
    both = sum((right & given).values())
    return 2 * both / (sum(right.values()) + sum(given.values())) if both else 0.0


def _grams(markdown: str) -> Counter[tuple[str, ...]]:
    shown = _PICTURE.sub("", _LINK.sub(r"\1", markdown))
    tokens = _TOKEN.findall(unicodedata.normalize("NFKC", shown))
    return Counter(tuple(tokens[at : at + _GRAM]) for at in range(max(1, len(tokens) - _GRAM + 1)))


Table = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class _Tree:
    """Nodes in post-order: label, cell text or None, and the first leaf below each."""

    nodes: tuple[tuple[str, str | None], ...]
    leaves: tuple[int, ...]
    roots: tuple[int, ...]


def teds(gold: Sequence[Table], found: Sequence[Table]) -> float:
    """1 - tree edit distance / nodes of the larger tree, all tables below one root."""
    one, other = _tree(gold), _tree(found)
    return 1.0 - _tree_distance(one, other) / max(len(one.nodes), len(other.nodes))


def _tree(tables: Sequence[Table]) -> _Tree:
    nodes: list[tuple[str, str | None]] = []
    leaves: list[int] = []

    def end(label: str, text: str | None, first: int) -> None:
        leaves.append(min(first, len(nodes)))
        nodes.append((label, text))

    for table in tables:
        table_first = len(nodes)
        for row in table:
            row_first = len(nodes)
            for cell in row:
                end("td", cell, len(nodes))
            end("tr", None, row_first)
        end("table", None, table_first)
    end("root", None, 0)
    last_of_leaf = {leaf: at for at, leaf in enumerate(leaves)}
    return _Tree(tuple(nodes), tuple(leaves), tuple(sorted(last_of_leaf.values())))


def _tree_distance(one: _Tree, other: _Tree) -> float:
    """Zhang and Shasha 1989; a cell changes for the edit distance of its text."""
    width = len(other.nodes)
    known = [[0.0] * width for _ in one.nodes]
    for root in one.roots:
        for other_root in other.roots:
            _fill(one, other, root, other_root, known)
    return known[-1][-1]


def _fill(one: _Tree, other: _Tree, root: int, other_root: int, known: list[list[float]]) -> None:
    first, other_first = one.leaves[root], other.leaves[other_root]
    rows, columns = root - first + 2, other_root - other_first + 2
    costs = [[0.0] * columns for _ in range(rows)]
    for i in range(rows):
        for j in range(columns):
            if not i or not j:
                costs[i][j] = float(i + j)
                continue
            a, b = first + i - 1, other_first + j - 1
            least = min(costs[i - 1][j], costs[i][j - 1]) + 1.0
            if one.leaves[a] == first and other.leaves[b] == other_first:
                least = min(least, costs[i - 1][j - 1] + _change(one.nodes[a], other.nodes[b]))
                known[a][b] = least
            else:
                before = costs[one.leaves[a] - first][other.leaves[b] - other_first]
                least = min(least, before + known[a][b])
            costs[i][j] = least


def _change(one: tuple[str, str | None], other: tuple[str, str | None]) -> float:
    if one[0] != other[0]:
        return 1.0
    if one[1] == other[1] or one[1] is None or other[1] is None:
        return 0.0
    return edit_distance(one[1], other[1]) / max(len(one[1]), len(other[1]))
