"""What belongs to a text though nothing in it reads like one, by where it stands.

A judge of single blocks knows paragraphs. Items of a list, cells of a table, steps, lines of a
form, sub-headings, the salutation of a letter and the tail of a notice (whom to ask, what is
attached, who signed it and when) have no sentences; what tells them is that they stand between
paragraphs, in plain elements or in those that paragraphs stand in. **(ours)**
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import dropwhile, pairwise

from qiaocrawl.extract.attachments import ELSEWHERE, names_file
from qiaocrawl.extract.block_texts import enclosing
from qiaocrawl.extract.comments import is_dated
from qiaocrawl.extract.methods.block_features import Floats
from qiaocrawl.extract.methods.block_vocabulary import NAME_KINDS, name_flags, telling_words
from qiaocrawl.extract.methods.line_forms import (
    ATTACHED,
    CLOSING,
    CONTACT,
    DAY,
    NUMBERED,
    OF_PAGE,
    SALUTATION,
    SIGNED,
    is_label,
    is_sign_off,
    is_telling,
)
from qiaocrawl.extract.notices import is_notice_by_form
from qiaocrawl.extract.structure.kept import is_data_table
from qiaocrawl.page.blocks import Element, PageBlocks, look_of
from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import without_blanks

_MAX_LEVELS = 20
"""Elements around two blocks in which the one that holds both is looked for."""
_PAGES = frozenset(("body", "html"))
_LISTS = frozenset(("ul", "ol", "dl"))
_HEADINGS = frozenset(("h2", "h3", "h4", "h5", "h6"))
_PARAGRAPHS = frozenset(("p", "li", "dd", "dt", "dl", "ul", "ol", "blockquote", "pre", "center"))
_CELLS = frozenset(("table", "thead", "tbody", "tfoot", "tr", "td", "th"))
_PLAIN = _PARAGRAPHS | _HEADINGS | _CELLS | {"div", "section"}
_FURNITURE = sum(
    1 << NAME_KINDS.index(kind)
    for kind in ("comment", "nav", "foot", "side", "related", "action", "ad", "consent", "meta")
)
_LIST_WORD = re.compile(r"list(?:[_-]?(?:padding\w*|style\w*|item|paragraph))?|content|text|table")
"""What names lists of text as well as lists of links."""
_WRAPPERS = frozenset(("div", "section"))
_FRAMED = frozenset(("pre", "table", "ul", "ol"))
_ROWS = re.compile(
    r"(?:^|[\s_-])(?:steps?|items?|rows?|flow|process|timeline|faq|qa|tables?|tbl|lists?)(?:$|[\s_-]|\d)"
)
"""What names an element that stands for a list or a table, or is around one."""
_BOX = re.compile(
    r"(?:^|[\s-])admonition(?:$|[\s-])|(?:^|\s)(?:callout|custom-block|hint|note|tip|warning|caution|"
    r"alert-?)(?:-(?:box|block|container|tip|note|info|warning|success|danger))?(?:$|\s)"
)
"""Boxes inside a text that are part of it."""
_BOX_LEVELS = 6
_LINK_SHARE = 0.5
_TEXT_SHARE, _NAMED_SHARE = 0.5, 0.25
"""An element is the text's when so much of it is taken; less is enough of one named so."""
_OF_TEXT = sum(1 << NAME_KINDS.index(kind) for kind in ("good", "strong"))
_MOST_LINKED = 0.3
_MOST_LINKED_CELLS = 0.7
_PART_OF_TABLE, _PART_OF_PLAIN_TABLE = 0.25, 0.15
_PART_OF_TABLE_ABOVE = 0.7
"""Quotes and figures above a text are often the page's."""
_LEAST_LABEL_CHARS = 4
_LABELLED_ITEMS = 0.6
_CREDIT = re.compile(r"credit|caption|photo")

_TAIL_BLOCKS = 120
"""So far below a text its tail is looked for."""
_TAIL_GAP = 6
"""Lines at most between two lines that have the form of a tail, lists and tables apart."""
_SHORT_CHARS = 120
_DOUBTFUL, _DOUBTFUL_LINE = 0.2, 0.3
"""Least judgement of a sentence, and of another line, that ends a text."""
_WRITTEN_OUT = re.compile(r"(?:^|[：:，,。、）)\s])(?:https?://|www\.|ark:|doi:)\S{4,}")
"""An address that is written out is for readers, a menu hides it."""
_STOPS = "。！？"
_WORDS, _ADDRESS = re.compile("[\u4e00-\u9fff]{4}"), re.compile(r"@|https?:")
_DRAWN_UP_CHARS = 200
"""A text of fewer characters may be the salutation alone."""


def lines_of_run(
    page: Page, chosen: Sequence[int], left_out: AbstractSet[int], judged: Floats
) -> tuple[set[int], set[int]]:
    """Indexes of the blocks that belong to the text of the blocks *chosen* and of no others.

    Args:
        chosen: in order.
        left_out: what is known to be no text: comments, replies, notices.
        judged: how much each block of the page looks like text.

    Returns:
        What was added between and beside the blocks *chosen*, and of it the sentences.
    """
    if not chosen:
        return set(), set()
    run = _Run(page, chosen, left_out, judged)
    sentences = run.sentences_beside()
    lines = {*sentences, *run.between(), *run.tail()}
    lines.update(run.rest_of_tables(lines))
    lines.update(run.rest_of_home(lines))
    lines.update(run.head(lines))
    lines.update(run.beginning_of_home(lines))
    return lines, sentences


def contacts_apart(page: Page, chosen: Sequence[int]) -> int:
    """How many of the last blocks of *chosen* tell whom to ask in a box apart from the text."""
    blocks = page.blocks.blocks
    if not any(CONTACT.match(blocks[index].text) for index in chosen):
        return 0  # nearly always
    told = next((index for index in reversed(chosen) if is_telling(blocks[index].text)), -1)
    if told < 0 or told == chosen[-1]:
        return 0
    home = page.blocks.elements[_home(page.blocks, told)]
    apart = [index for index in chosen if index >= home.end]
    return len(apart) if any(CONTACT.match(blocks[index].text) for index in apart) else 0


class _Run:
    """The blocks chosen from one page, and what stands between and beside them."""

    def __init__(
        self,
        page: Page,
        chosen: Sequence[int],
        left_out: AbstractSet[int],
        judged: Floats,
    ) -> None:
        self._found = page.blocks
        self._page = page
        self._chosen = list(chosen)
        self._left_out = left_out
        self._judged = judged
        self._looks: set[tuple[str, str]] = set()
        self._plain: dict[tuple[int, int], bool] = {}

    # --- where it stands --------------------------------------------------------------------

    def _learn_looks(self) -> None:
        """Note the elements that paragraphs stand in."""
        elements, seen = self._found.elements, set[int]()
        looks = set()
        for at in {self._found.blocks[index].element for index in self._chosen}:
            while at >= 0 and at not in seen:
                seen.add(at)
                looks.add(look_of(elements[at]))
                at = elements[at].parent
        self._looks = looks

    def _is_plain(self, at: int, holder: int) -> bool:
        """Whether only elements that text stands in are around the element *at*, up to *holder*."""
        elements, way = self._found.elements, []
        while at > holder and (at, holder) not in self._plain:
            way.append(at)
            at = elements[at].parent
        is_plain = at == holder or self._plain.get((at, holder), False)
        for inner in reversed(way):
            is_plain = is_plain and self._may_hold_text(inner)
            self._plain[inner, holder] = is_plain
        return is_plain

    def _may_hold_text(self, at: int) -> bool:
        element = self._found.elements[at]
        if element.tag in _PLAIN and not element.names:
            return True
        if not self._looks:
            self._learn_looks()
        if look_of(element) in self._looks:
            return True
        if element.tag in _HEADINGS:
            return _CREDIT.search(element.names) is None
        if _is_box(element):
            return True
        if element.tag in _WRAPPERS and _ROWS.search(element.names) is None:
            within = self._found.elements[at + 1 : at + 2]
            return bool(within) and _wraps(element, within[0]) and not _is_furniture(element)
        return element.tag in _PLAIN and not _is_furniture(element)

    def _holder(self, before: int, after: int) -> int:
        """The smallest element around both blocks; -1 where it is far, or is the whole page and
        holds more than paragraphs."""
        blocks, elements = self._found.blocks, self._found.elements
        for at in enclosing(self._found, blocks[before].element, _MAX_LEVELS):
            if elements[at].end > after:
                own = (blocks[before].element, blocks[after].element)
                is_page = elements[at].tag in _PAGES
                direct = all(at in (inner, elements[inner].parent) for inner in own)
                return at if direct or not is_page else -1
        return -1

    # --- what stands between paragraphs -----------------------------------------------------

    def sentences_beside(self) -> set[int]:
        """Sentences beside a text so short that it may be a salutation."""
        blocks = self._found.blocks
        size = 0
        for index in self._chosen:
            size += len(blocks[index].text)
            if size >= _DRAWN_UP_CHARS:
                return set()
        home = _home(self._found, self._chosen[0])
        element, first = self._found.elements[home], self._chosen[0]
        if element.tag in _PAGES:
            return set()
        span = range(max(element.first, first - 2), min(element.end, first + _TAIL_GAP))
        return {
            i
            for i in span
            if i not in self._left_out
            and not blocks[i].linked
            and is_telling(blocks[i].text)
            and self._is_plain(blocks[i].element, home)
        } - set(self._chosen)

    def between(self) -> Iterator[int]:
        """The lines between two chosen blocks, within the smallest element that holds both."""
        if self._chosen[-1] - self._chosen[0] < len(self._chosen):
            return  # nearly always
        blocks = self._found.blocks
        # Single cells above the text are of the page: what stands around them is no text either.
        from_text = dropwhile(lambda i: not is_telling(blocks[i].text), self._chosen)
        for before, after in pairwise(from_text):
            if after > before + 1 and (holder := self._holder(before, after)) >= 0:
                yield from self._belonging(range(before + 1, after), holder)

    def _belonging(self, span: range, holder: int) -> Iterator[int]:
        """Those of the blocks *span* in *holder* that belong to the text around them; a list, a
        table and a box are taken whole or not at all."""
        at = span.start
        while at < span.stop:
            unit = self._unit(at, span, holder)
            if unit < 0:
                if self._is_line(at, holder):
                    yield at
                at += 1
                continue
            element = self._found.elements[unit]
            if self._is_unit_of_text(unit, holder):
                yield from range(element.first, element.end)
            at = element.end

    def _unit(self, index: int, span: range, holder: int) -> int:
        """The outermost list, table or box around block *index* that stands in *span*; or -1."""
        elements = self._found.elements
        unit = -1
        for at in enclosing(self._found, self._found.blocks[index].element, _MAX_LEVELS):
            element = elements[at]
            if at <= holder or element.first < span.start or element.end > span.stop:
                break
            if element.tag in _LISTS or element.tag == "table" or _is_box(element):
                unit = at
        return unit

    def _is_line(self, index: int, holder: int) -> bool:
        block = self._found.blocks[index]
        return bool(
            index not in self._left_out
            and (
                block.linked <= _LINK_SHARE * len(block.text)
                or _WRITTEN_OUT.search(block.text)
                or self._is_attached(index)
            )
            and self._is_plain(block.element, holder)
            and not is_label(block.text)
            and not is_dated(block.text)
        )

    def _is_attached(self, index: int) -> bool:
        """Whether block *index* is a number of the list that 附件：1.… begins."""
        blocks, at = self._found.blocks, index
        while NUMBERED.match(blocks[at].text) and at > max(0, index - _TAIL_BLOCKS):
            at -= 1
            if ATTACHED.match(blocks[at].text):
                return True
        return False

    def _is_unit_of_text(self, at: int, holder: int) -> bool:
        found = self._found
        element = found.elements[at]
        span = range(element.first, element.end)
        if not self._is_plain(at, holder) or not self._left_out.isdisjoint(span):
            return False
        inner = (found.blocks[i].element for i in span)
        if not _is_box(element) and not all(self._is_plain(i, holder) for i in inner):
            return False
        chars = sum(len(found.blocks[i].text) for i in span)
        linked = sum(found.blocks[i].linked for i in span)
        if element.tag == "table":
            cells = sum(2 * found.blocks[i].linked > len(found.blocks[i].text) for i in span)
            return not linked or (
                cells <= _MOST_LINKED_CELLS * len(span) and is_data_table(found, at)
            )
        if linked <= _MOST_LINKED * chars or _is_box(element):
            return True
        if any(map(_is_furniture, self._around(element.first, holder))):
            return False
        return self._is_told_of(element) or _is_labelled(found, span)

    def _around(self, index: int, holder: int) -> Iterator[Element]:
        """The elements around block *index* within *holder*."""
        at = self._found.blocks[index].element
        while at > holder:
            yield self._found.elements[at]
            at = self._found.elements[at].parent

    def _is_told_of(self, element: Element) -> bool:
        """Whether the line above a list of links says what it is a list of."""
        above = element.first - 1
        if above < 0 or above in self._left_out:
            return False
        block = self._found.blocks[above]
        tag = self._found.elements[block.element].tag
        if OF_PAGE.match(block.text) or telling_words(block.text.lower())["related"]:
            return False
        return block.text[-1] in ":：" or (tag in _HEADINGS and block.linked <= 1)

    def rest_of_tables(self, lines: AbstractSet[int]) -> Iterator[int]:
        """The other cells of a table of data that the text begins or ends with."""
        found, own = self._found, {*lines, *self._chosen}
        for index in {self._chosen[0], self._chosen[-1]}:
            at = found.blocks[index].element
            while at >= 0 and found.elements[at].tag in _PARAGRAPHS:
                at = found.elements[at].parent
            if at >= 0 and (table := _table_at(found, at)) >= 0:
                span = range(found.elements[table].first, found.elements[table].end)
                whole = sum(len(found.blocks[i].text) for i in span)
                taken = sum(len(found.blocks[i].text) for i in span if i in own)
                linked = sum(found.blocks[i].linked for i in span)
                is_above = span.stop <= self._chosen[-1]
                below = _PART_OF_TABLE if linked else _PART_OF_PLAIN_TABLE
                share = _PART_OF_TABLE_ABOVE if is_above else below
                if taken >= share * whole and linked <= _MOST_LINKED * whole:
                    yield from (i for i in span if i not in self._left_out)

    def rest_of_home(self, lines: AbstractSet[int]) -> Iterator[int]:
        """The end of an element that holds nothing but the text: notes, sources, links told of."""
        last = max(self._chosen[-1], max(lines, default=0))
        home = _home(self._found, last)
        element = self._found.elements[home]
        span = range(last + 1, element.end)
        if not span or len(span) > _TAIL_BLOCKS or not self._is_body(home, lines):
            return
        at = span.start
        while at < span.stop:
            unit = self._unit(at, range(span.start, span.stop), home)
            stop = self._found.elements[unit].end if unit >= 0 else at + 1
            if unit >= 0:
                if not self._is_unit_of_text(unit, home):
                    return
            elif (
                self._ends(at, home)
                or not self._is_line(at, home)
                or is_sign_off(self._found.blocks[at].text)
            ):
                return
            yield from range(at, stop)
            at = stop

    def beginning_of_home(self, lines: AbstractSet[int]) -> set[int]:
        """The lists, boxes and headings that such an element begins with; none where it has a
        title or a date of its own."""
        first = min(self._chosen[0], min(lines, default=self._chosen[0]))
        home = _home(self._found, first)
        element, elements = self._found.elements[home], self._found.elements
        span = range(element.first, first)
        if not span or len(span) > _TAIL_BLOCKS or not self._is_body(home, lines):
            return set()
        at, units = span.start, 0
        while at < span.stop:
            unit = self._unit(at, span, home)
            if unit >= 0:
                if not self._is_unit_of_text(unit, home):
                    return set()
                units += 1
            elif not self._is_sub_heading(at, home):
                return set()
            at = elements[unit].end if unit >= 0 else at + 1
        return set(span) if units else set()

    def _is_sub_heading(self, index: int, home: int) -> bool:
        """Whether block *index* is a heading in the text, not that of the page."""
        block = self._found.blocks[index]
        is_title = without_blanks(self._page.title).startswith(without_blanks(block.text))
        is_heading = self._found.elements[block.element].tag in _HEADINGS
        return is_heading and not is_title and self._is_line(index, home)

    def _is_body(self, home: int, lines: AbstractSet[int]) -> bool:
        """Whether most of the element *home* is of the text already."""
        blocks, element = self._found.blocks, self._found.elements[home]
        if element.tag in _PAGES:
            return False
        own = {*self._chosen, *lines}
        taken = sum(len(blocks[i].text) for i in own if element.first <= i < element.end)
        whole = sum(len(blocks[i].text) for i in range(element.first, element.end))
        share = _NAMED_SHARE if name_flags(element.names) & _OF_TEXT else _TEXT_SHARE
        return taken >= share * whole

    # --- the head and the tail --------------------------------------------------------------

    def head(self, lines: AbstractSet[int]) -> Iterator[int]:
        """The salutation, the first sub-heading and the box above a text."""
        first = min(self._chosen[0], min(lines, default=self._chosen[0]))
        home = _home(self._found, first)
        blocks, elements = self._found.blocks, self._found.elements
        above = first - 1
        if above < elements[home].first or above in self._left_out:
            return
        around = enclosing(self._found, blocks[above].element, _BOX_LEVELS)
        box = next((at for at in around if at > home and _is_box(elements[at])), -1)
        if box >= 0:
            if self._is_plain(box, home) and elements[box].parent == home:
                yield from range(elements[box].first, elements[box].end)
        elif self._is_line(above, home):
            text = without_blanks(blocks[above].text)
            is_title = without_blanks(self._page.title).startswith(text)
            is_salutation = SALUTATION.match(text) is not None
            if not is_title and (is_salutation or self._is_like_a_heading(above, lines)):
                yield above

    def _is_like_a_heading(self, index: int, lines: AbstractSet[int]) -> bool:
        """Whether block *index* looks like a sub-heading further down, beside the same text."""
        blocks, elements = self._found.blocks, self._found.elements
        block, element = blocks[index], elements[blocks[index].element]
        around = look_of(elements[element.parent])
        is_bold = len(without_blanks(block.text)) == block.bold
        if len(block.text) > _SHORT_CHARS or not (element.tag in _HEADINGS or is_bold):
            return False
        return any(
            elements[other.element].tag == element.tag
            and look_of(elements[elements[other.element].parent]) == around
            and (element.tag in _HEADINGS or len(without_blanks(other.text)) == other.bold)
            for other in (blocks[i] for i in (*self._chosen, *lines))
        )

    def tail(self) -> set[int]:
        """The end of a notice: whom to ask, what is attached, who signed it and when."""
        last = self._chosen[-1]
        home = _home(self._found, last)
        end = min(self._found.elements[home].end, last + 1 + _TAIL_BLOCKS)
        taken: set[int] = set()
        done, at = last + 1, last + 1
        while at < end and not self._ends(at, home):
            unit = self._unit(at, range(done, end), home)
            stop = self._found.elements[unit].end if unit >= 0 else at + 1
            if unit >= 0 and self._is_unit_of_tail(unit, home):
                taken.update(self._belonging(range(done, at), home), range(at, stop))
                done = stop
            elif unit < 0 and self._is_tail(at, home, done):
                taken.update(self._belonging(range(done, at), home), (at,))
                done = stop
            elif at - done >= _TAIL_GAP:
                break
            at = stop
        return taken

    def _ends(self, index: int, home: int) -> bool:
        """Whether nothing of a text stands below block *index*: a notice, a comment, the next."""
        if index in self._left_out:
            return True
        text = self._found.blocks[index].text
        if not self._is_plain(self._found.blocks[index].element, home):
            return False
        if OF_PAGE.match(text):
            return True
        return is_notice_by_form(text) and bool(telling_words(text.lower())["notice"])

    def _is_tail(self, index: int, home: int, done: int) -> bool:
        block = self._found.blocks[index]
        text = block.text
        if index in self._left_out:
            return False
        is_plain = self._is_plain(block.element, home)
        if names_file(self._found, index):  # systems give the line of a file a name of its own
            return is_plain or self._is_line_in(block.element, home)
        if not is_plain:
            return False
        if index == done and NUMBERED.match(text) and len(text) <= _SHORT_CHARS:
            above = self._found.blocks[index - 1].text
            if ATTACHED.match(above) or NUMBERED.match(above):
                return True
        if len(text) > _SHORT_CHARS:
            return False
        if ATTACHED.match(text) or CONTACT.match(text):
            return True
        if block.linked > _LINK_SHARE * len(text):
            return False
        is_signed = index == done and SIGNED.match(text) is not None
        if is_signed or any(form.match(text) for form in (DAY, CLOSING)):
            return True
        return self._is_paragraph(index)

    def _is_line_in(self, at: int, home: int) -> bool:
        """Whether the element *at* is a line among the lines of text, whatever its name."""
        element = self._found.elements[at]
        is_line = element.tag in _PARAGRAPHS or element.tag in _WRAPPERS
        is_beside = name_flags(element.names) & ELSEWHERE != 0
        return is_line and not is_beside and self._is_plain(max(element.parent, home), home)

    def _is_paragraph(self, index: int) -> bool:
        """Whether block *index* is a doubtful sentence that stands like the last one taken."""
        block, elements = self._found.blocks[index], self._found.elements
        element, last = (
            elements[block.element],
            elements[self._found.blocks[self._chosen[-1]].element],
        )
        return (
            self._judged[index] >= (_DOUBTFUL if block.text[-1] in _STOPS else _DOUBTFUL_LINE)
            and _WORDS.search(block.text) is not None
            and _ADDRESS.search(block.text) is None
            and (element.parent, look_of(element)) == (last.parent, look_of(last))
            and not block.linked
            and not is_label(block.text)
            and not is_dated(block.text)
        )

    def _is_unit_of_tail(self, at: int, home: int) -> bool:
        """Whether a list or a table ends the text: data, or what is attached."""
        found = self._found
        element = found.elements[at]
        span = range(element.first, element.end)
        if not self._left_out.isdisjoint(span) or not self._is_plain(at, home):
            return False
        if _is_box(element):
            return self._is_unit_of_text(at, home)
        above = found.blocks[element.first - 1]
        if ATTACHED.match(above.text) or all(names_file(found, i) for i in span):
            return True
        if any(self._is_tail(i, home, -1) for i in span):
            return self._is_unit_of_text(at, home)
        return (
            (element.tag != "table" or is_data_table(found, at))
            and self._is_unit_of_text(at, home)
            and self._is_line_of_text(element.first - 1)
        )

    def _is_line_of_text(self, index: int) -> bool:
        """Whether block *index* announces what stands below it."""
        block = self._found.blocks[index]
        tag = self._found.elements[block.element].tag
        if is_label(block.text) or OF_PAGE.match(block.text):
            return False
        return block.text[-1] in ":：" or tag in _HEADINGS


def _home(found: PageBlocks, index: int) -> int:
    """The element that holds the paragraphs, of which block *index* is one."""
    elements = found.elements
    at = inner = found.blocks[index].element
    while (parent := elements[at].parent) >= 0 and elements[parent].tag not in _PAGES:
        element = elements[at]
        is_line = element.tag in _PARAGRAPHS or element.tag in _HEADINGS
        is_cell = element.tag in _CELLS and _table_at(found, at) >= 0
        if not (
            is_line
            or is_cell
            or element.end - element.first == 1
            or _wraps(element, elements[inner])
            or _is_box(element)
            or (not element.names and element.tag in ("div", "section"))
        ):
            break
        at, inner = parent, at
    return at


def _wraps(element: Element, inner: Element) -> bool:
    """Whether *element* is the frame of the code, the list or the table *inner*."""
    is_whole = (element.first, element.end) == (inner.first, inner.end)
    return is_whole and element.tag in _WRAPPERS and inner.tag in _FRAMED


def _table_at(found: PageBlocks, at: int) -> int:
    """The table of data around the element *at*; -1 for one that a page is laid out with."""
    elements = found.elements
    while at >= 0 and elements[at].tag in _CELLS:
        if elements[at].tag == "table":
            return at if is_data_table(found, at) else -1
        at = elements[at].parent
    return -1


def _is_box(element: Element) -> bool:
    return bool(element.names) and _names_box(element.names)


@lru_cache(maxsize=20_000)
def _names_box(names: str) -> bool:
    return _BOX.search(names) is not None


def _is_furniture(element: Element) -> bool:
    return name_flags(_LIST_WORD.sub("", element.names)) & _FURNITURE != 0


def _is_labelled(found: PageBlocks, span: range) -> bool:
    """Whether most items of a list say something besides their links."""
    labelled = sum(
        len(without_blanks(found.blocks[i].text)) - found.blocks[i].linked >= _LEAST_LABEL_CHARS
        for i in span
    )
    return labelled >= _LABELLED_ITEMS * len(span)
