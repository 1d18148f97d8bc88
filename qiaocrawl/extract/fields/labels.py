"""Labels with their values in the lines around an article: 来源：南桥侨报, 作者丨陈小桥.

A value ends where the next label begins, and is cut where an element begins or ends: what
stands beside a name in an element of its own is a button or another name. A label may also have
a cell, a ``<dt>`` or another element before its value's for itself. All rules are **(ours)**.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from qiaocrawl.extract.block_texts import lines_with
from qiaocrawl.page.blocks import BLOCK, BREAK, SKIP, kind_of, without_line_ends
from qiaocrawl.text.normalise import collapse, without_blanks

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from qiaocrawl.extract.fields.body_context import Lines
    from qiaocrawl.page.page import Page

SOURCE, AUTHOR, EDITOR, OTHER = "source", "author", "editor", "other"

BORDER = "\t"
"""Stands in a line where an element begins or ends; a block has no other tabulator."""
_MARKS = "：:∶﹕|｜丨︱/／"
_WORDS = {
    EDITOR: r"责任编辑 責任編輯 责编 責編 本文编辑 执行编辑 编\s{0,2}辑 編\s{0,2}輯 Editors?",
    SOURCE: (
        r"来\s{0,2}源(?:[于於]|网站|媒体|单位)? 來\s{0,2}源(?:[于於]|網站|媒體|單位)? "
        r"稿源 出处 出處 来自 來自 [转轉]自 [转轉][载載]自? "
        r"[转轉]引自 [摘选選引]自 [摘节節][编編录錄选選]自 原[载載][于於自]? 首[发發][于於自]?"
    ),
    AUTHOR: (
        r"作\s{0,2}者 撰稿人? 撰文 撰写 撰寫 供稿 执笔 執筆 楼主 樓主 发帖人 博主 記者 记者 发布者 "
        r"發佈者 发布(?=\s?[：:]\s?[^\d\s]) 发布人 发表人 投稿人 发贴人 发信人 主笔 编译 文字 "
        "采写 採寫 采访 採訪"
    ),
    OTHER: (
        r"[时時]\s{0,2}[间間] 日\s{0,2}期 [点點][击擊][数數量]? [浏瀏][览覽](?:次[数數]|[数數量])? "
        r"[阅閱][读讀](?:次[数數]|[数數量])? 字[号號体體] [译譯]者 [审審][核校] [校摄攝][对對影] "
        r"[监監]制"
    ),
}
# What every label for a field has: to look for it is faster by far.
_SIGNS = {
    EDITOR: ("编", "編", "Editor"),
    SOURCE: ("源", "处", "處", "自", "载", "載", "首发", "首發"),
    AUTHOR: (
        "者",
        "撰",
        "供稿",
        "笔",
        "筆",
        "主",
        "发",
        "稿人",
        "译",
        "文字",
        "写",
        "寫",
        "访",
        "訪",
    ),
}
_FIELDS = {field: re.compile("|".join(words.split())) for field, words in _WORDS.items()}


def _by_first_letter(words: list[str]) -> str:
    """One pattern for *words*, with their first letters before all, so that a search leaps."""
    rests: dict[str, list[str]] = {}
    for word in words:
        first, rest = word[0], word[1:]
        if first == "[":
            first, _, rest = rest.partition("]")
        for letter in first:
            rests.setdefault(letter, []).append(rest)
    branches = (f"(?<={letter})(?:{'|'.join(rests[letter])})" for letter in rests)
    return f"[{''.join(rests)}](?:{'|'.join(branches)})"


_LABEL = re.compile(_by_first_letter(" ".join(_WORDS.values()).split()))
# What stands between a label and its value: a mark, or a bracket's end; where a comma, a
# dash, a blank or the border of an element is all, the label must begin its line or element.
_COLON = re.compile("[：:∶﹕】\\]]")
_MARK_BEHIND = re.compile(rf"\s{{0,3}}[{_MARKS}】\]]\s{{0,3}}[：:]?\s{{0,3}}")
_MARK_OR_END = re.compile(rf"\s{{0,3}}(?:[{_MARKS}】\]《]|$)")
_STANDS_ALONE = re.compile(
    r"作\s{0,2}者|撰[文稿写寫]|[来來]\s{0,2}源[于於]?|稿源|出[处處]|责任编辑|責任編輯|[责責][编編]"
)
_BLANK_BEHIND = re.compile(
    r"(?:\s?[-－—–·•]{1,2}\s?|[，,]\s{0,3}|\s{1,3})(?=[^\s，。,、]{2,24}(?:[\s|｜（(]|$))"
)
_TITLE_BEHIND = re.compile(r"\s?(?=《)")
_OPENS = re.compile(
    rf"(?:^|[{BORDER}{_MARKS}【\[（(·•]|\s{{2}})\s?(?:文章|信息|稿件|本文|新闻|消息|内容)?$"
)
_BEFORE_CHARS = 4
_MAX_LINE_CHARS = 160
_VALUE_CHARS = 60
_CELL_CHARS = 16
_LABEL_CELL = re.compile(rf"[\u4e00-\u9fff][\u4e00-\u9fff\s]{{0,12}}[\u4e00-\u9fff]\s?[{_MARKS}]?")
_LABEL_END = re.compile(f"(?:[{_MARKS}]|日期|[时時][间間]|{_WORDS[SOURCE].replace(' ', '|')})$")
_MAX_COLUMNS = 12
_LABEL_TAGS = frozenset(("th", "dt"))
_CELL_TAGS = frozenset(("td", "th", "dd", "dt", "li", "div", "span", "p"))
_MAX_TEXTS = 200


class Pair(NamedTuple):
    """A label with what follows it.

    Attributes:
        field: what the label is for: :data:`SOURCE`, :data:`AUTHOR` or :data:`EDITOR`.
        label: as written, without blanks.
        before: the few characters before it in the line (文章 of 文章来源).
        parts: the value, cut at the borders of elements; never empty.
        rank: number of the line among those asked for.
        is_sure: whether a colon stands behind the label, or a cell or an element is its own;
            other marks stand between the words of a menu as well.
    """

    field: str
    label: str
    before: str
    parts: tuple[str, ...]
    rank: int
    is_sure: bool

    @property
    def whole(self) -> str:
        """The value with a blank at each border."""
        return " ".join(self.parts)


class Labels:
    """The labels of *page*; every line is read once. For ``page.once``."""

    def __init__(self, page: Page) -> None:
        self._found = page.blocks
        self._read: dict[int, list[Pair]] = {}

    def pairs(self, lines: Lines, field: str) -> list[Pair]:
        """The pairs for *field* in *lines*, in their order."""
        pairs: list[Pair] = []
        if lines.whole.isascii() and field != EDITOR:
            return pairs
        for rank in lines_with(lines.whole, _SIGNS[field]):
            at = lines.at[rank]
            if at not in self._read:
                self._read[at] = list(self._pairs_at(at))
            pairs += [pair._replace(rank=rank) for pair in self._read[at] if pair.field == field]
        return pairs

    def pairs_of(self, text: str, field: str) -> list[Pair]:
        """The pairs for *field* in *text*, a line or a part of one."""
        if not any(sign in text for sign in _SIGNS[field]):
            return []
        return [pair for pair in _pairs_in(text) if pair.field == field]

    def label_before(self, at: int) -> str:
        """The label that has the element before block *at* for itself; "" if there is none."""
        blocks, elements = self._found.blocks, self._found.elements
        if at < 1:
            return ""
        label, value = blocks[at - 1], blocks[at]
        cell = _LABEL_CELL.fullmatch(label.text) if len(label.text) <= _CELL_CHARS else None
        if cell is None or value.element == label.element and not value.after_break:
            return ""
        if _LABEL_CELL.fullmatch(value.text) and (
            value.text[-1] in _MARKS or _label_at_end(value.text) is not None
        ):
            return ""  # the value is empty
        own, other = elements[label.element], elements[value.element]
        is_beside = own.parent == other.parent and own.tag in _CELL_TAGS
        if not is_beside and not self._is_marked(at - 1):
            return ""
        return without_blanks(label.text).rstrip(_MARKS)

    def label_of(self, at: int) -> str:
        """The label for block *at* in an element of its own, before it or above its column."""
        before = self.label_before(at)
        return before if before and _LABEL_END.search(before) else self._label_above(at) or before

    def _label_above(self, at: int) -> str:
        """The label in the first row of the table, in the column of block *at*; "" for none."""
        cell = self._found.elements[self._found.blocks[at].element].node
        row = cell.parent
        if cell.tag != "td" or row is None or row.parent is None:
            return ""
        first = next((one for one in row.parent.iter() if one.tag == "tr"), None)
        if first is None or first.mem_id == row.mem_id:
            return ""
        heads = [one.text(strip=True) for one in islice(first.iter(), _MAX_COLUMNS)]
        if not all(map(_LABEL_CELL.fullmatch, heads)):
            return ""
        columns = [one.mem_id for one in islice(row.iter(), _MAX_COLUMNS)]
        column = columns.index(cell.mem_id) if cell.mem_id in columns else len(heads)
        return without_blanks(heads[column]).rstrip(_MARKS) if column < len(heads) else ""

    def _is_marked(self, at: int) -> bool:
        """Whether block *at* ends with a mark, or is in an element for labels."""
        block = self._found.blocks[at]
        return block.text[-1] in _MARKS or self._found.elements[block.element].tag in _LABEL_TAGS

    def parts_of(self, at: int) -> list[str]:
        """The text of block *at*, cut where an element begins or ends."""
        blocks = self._found.blocks
        block, element = blocks[at], self._found.elements[blocks[at].element]
        if at - element.first > _MAX_TEXTS:
            return [block.text]
        own = [other for other in blocks[element.first : at] if other.element == block.element]
        ahead = "".join(without_blanks(other.text) for other in own)
        rest = without_blanks(block.text)
        parts: list[str] = []
        for number, text in enumerate(_texts_in(element.node)):
            tight = without_blanks(text)
            if number >= _MAX_TEXTS or not rest:
                break
            if ahead:
                ahead = ahead[len(tight) :] if ahead.startswith(tight) else ahead
            elif rest.startswith(tight):
                rest = rest[len(tight) :]
                parts.append(collapse(without_line_ends(text)))
        return parts if not rest else [block.text]

    def _pairs_at(self, at: int) -> Iterator[Pair]:
        text = self._found.blocks[at].text[:_MAX_LINE_CHARS]
        if not any(_may_be_label(match) for match in _LABEL.finditer(text)):
            return
        if len(text) <= _CELL_CHARS and at + 1 < len(self._found.blocks):
            label = self.label_before(at + 1)
            match = _label_at_end(label)
            if match is not None and (
                _OPENS.search(label, 0, match.start()) or self._is_marked(at)
            ):
                value = BORDER.join(self.parts_of(at + 1))[:_VALUE_CHARS]
                parts = tuple(filter(None, value.split(BORDER)))
                yield _pair(_field_of(match), match, parts, is_sure=True)
                return
        if len(text) < _MAX_LINE_CHARS:
            text = BORDER.join(self.parts_of(at))
        yield from _pairs_in(text)


def _pairs_in(line: str) -> Iterator[Pair]:
    """The pairs in *line*, in which :data:`BORDER` stands where an element begins or ends."""
    labels = []
    for match in _LABEL.finditer(line):
        field = _field_of(match)
        behind = _behind(line, match, field)
        if behind is not None:
            labels.append((match, field, behind.end()))
    for number, (match, field, begin) in enumerate(labels):
        end = labels[number + 1][0].start() if number + 1 < len(labels) else len(line)
        value = line[begin : min(end, begin + _VALUE_CHARS)]
        parts = tuple(part.strip() for part in value.split(BORDER) if part.strip())
        if parts and field != OTHER:
            is_sure = _COLON.search(line, match.end(), begin) is not None
            yield _pair(field, match, parts, is_sure)


def _may_be_label(label: re.Match[str]) -> bool:
    """Whether a mark follows *label*, the line ends, or it may stand before a border alone."""
    is_alone = _STANDS_ALONE.fullmatch(label[0]) is not None
    return is_alone or _MARK_OR_END.match(label.string, label.end()) is not None


def _field_of(label: re.Match[str]) -> str:
    """What *label* is for."""
    for field, words in _FIELDS.items():
        match = words.match(label.string, label.start())
        if match is not None and match.end() == label.end():
            return field
    return OTHER


def _pair(field: str, label: re.Match[str], parts: tuple[str, ...], is_sure: bool) -> Pair:
    before = label.string[max(0, label.start() - _BEFORE_CHARS) : label.start()]
    return Pair(field, without_blanks(label[0]), before, parts, 0, is_sure)


def _behind(line: str, label: re.Match[str], field: str) -> re.Match[str] | None:
    """What parts the *label* of *line* from its value; None where it is no label."""
    end = label.end()
    behind = _MARK_BEHIND.match(line, end)
    if behind is None and field == SOURCE:
        behind = _TITLE_BEHIND.match(line, end)
    if (
        behind is None
        and _STANDS_ALONE.fullmatch(label[0])
        and _OPENS.search(line, 0, label.start())
    ):
        behind = _BLANK_BEHIND.match(line, end)
    return behind


def _label_at_end(text: str) -> re.Match[str] | None:
    match = _LABEL.search(text)
    return match if match is not None and match.end() == len(text) else None


def _texts_in(node: LexborNode) -> Iterator[str]:
    """The texts of *node*'s own lines, in order; those of blocks inside it are not."""
    stack = [node.first_child]
    while stack:
        child = stack.pop()
        if child is None:
            continue
        stack.append(child.next)
        text = child.text_content
        if text is not None:
            if not text.isspace():
                yield text
        elif kind_of(child.tag or "", BLOCK) not in (SKIP, BLOCK, BREAK):
            stack.append(child.first_child)
