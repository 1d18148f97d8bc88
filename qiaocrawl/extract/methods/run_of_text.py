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
from qiaocrawl.extract.notices import has_clauses, is_notice_by_form
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
_MOST_LINKED = 0.3
_MOST_LINKED_CELLS = 0.7
_PART_OF_TABLE = 0.25
_PART_OF_TABLE_ABOVE = 0.7
"""Quotes and figures above a text are often the page's."""
_LEAST_LABEL_CHARS = 4
_LABELLED_ITEMS = 0.6
_LABEL_CHARS, _LABEL_LINE_CHARS = 14, 80
_OF_PAGE = re.compile(
    r"\W*(?:(?:more|also|see also|read (?:more|also|next)|don[’']t miss|tags?|topics?|share|latest|"
    r"editor[’']?s? picks?|advertisement|comments?|font size|reporter|recommended|previous|next|"
    r"photo(?:graph)?s?(?: by)?|image|picture)\b|上一[篇条條页頁则則]|下一[篇条條页頁则則]|"
    r"(?:图|圖)(?:为|為|[：:]|片来源))",
    re.IGNORECASE,
)
"""How a line begins that is of the page, not of its text."""
_CREDIT = re.compile(r"credit|caption|photo")

_TITLES = frozenset(("h1", "h2", "h3"))
_BELOW_TITLE, _LEAST_BELOW_TITLE = 8, 0.05
"""So many blocks below a title, judged at least so, its text may begin."""
_LEAST_TITLE_CHARS, _LEAST_TABLE_CHARS, _MAX_BLOCKS = 6, 20, 2_000
_TAIL_BLOCKS = 120
"""So far below a text its tail is looked for."""
_TAIL_GAP = 6
"""Lines at most between two lines that have the form of a tail, lists and tables apart."""
_SHORT_CHARS = 120
_CONTACT = re.compile(
    r"[\W_\d一二三四五六七八九十]{0,6}(?:[\u4e00-\u9fff（）()/、]{0,8}"
    r"(?:电\s*话|電\s*話|手\s*机|手機|传\s*真|傳\s*真|热线|熱線|邮\s*箱|郵箱|信\s*箱|邮\s*件|郵件|邮\s*编|"
    r"郵編|邮政编码|郵遞區號|联\s*系\s*人|聯\s*[系繫絡]\s*人|联系方式|聯[系繫絡]方式|联系单位|地\s*址|"
    r"网\s*址|網址|qq群?|开户行|开户银行|[账帐]\s*号|户\s*名|公示时间|公示期限?|公示時間|报名时间|"
    r"报名地点|截止时间|受理单位|承办单位联系人)"
    r"|tel(?:ephone)?|phone|fax|contact|attachments?|enclosures?)\s?(?:[(（][^)）]{1,20}[)）])?\s?[:：]",
    re.IGNORECASE,
)
_ATTACHED = re.compile(
    r"[\W_]{0,4}(?:附\s*件|附\s*表|附\s*图|附\s*圖|附\s*录|附)(?:下载|下載|列表|清单)?\s?"
    r"[(（]?[\d一二三四五六七八九十]{0,3}[)）]?\s?(?:[:：.．、]|《|$)|attachments?\s?:",
    re.IGNORECASE,
)
_SEE_FILES = re.compile(
    r"\W{0,4}(?:具[体體])?(?:内容|內容|名单|名單)?[详詳]?(?:情|[细細])?[请請]?(?:[见見]|查看|下[载載])附件[^，。]{0,12}[。]?$"
)
_NUMBERED = re.compile(r"[\W_]{0,4}[\d一二三四五六七八九十]{1,3}\s?[.．、)）]")
_DAY = re.compile(
    r"[\W_]{0,4}(?:(?:19|20)\d\d|[二一][〇○零oＯ一二三四五六七八九\d]{3})\s?年\s?[\d一二三四五六七八九十]{1,3}\s?月"
    r"(?:\s?[\d一二三四五六七八九十]{1,3}\s?日)?[\W_]{0,4}$",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"[\W_]{0,4}(?:特此(?:通知|公告|公示|通告|函[告复達达]|说明|證明|证明|报告|批复)|此致|敬礼|敬禮|"
    r"[(（]此件[^)）]{2,12}[)）]|抄送\s?[:：])[^。]{0,20}。?$"
)
_SIGNED = re.compile(
    r"[\W_]{0,4}[\u4e00-\u9fff（）()·\s、]{2,40}"
    r"(?:局|厅|廳|部|办公室|辦公室|委员会|委員會|人民政府|公室|院|所|中心|协会|協會|学会|學會|联合会|聯合會|"
    r"总会|總會|基金会|基金會|公司|学校|學校|大学|大學|学院|學院|侨联|侨办|商会|商會|领事馆|領事館|大使馆|"
    r"大使館)[\W_]{0,4}$"
)
_SALUTATION = re.compile(r"[^。！？；|>《]{2,80}[:：]$")
_DOUBTFUL, _DOUBTFUL_LINE = 0.2, 0.3
"""Least judgement of a sentence, and of another line, that ends a text."""
_WRITTEN_OUT = re.compile(r"(?:^|[：:\s])(?:https?://|www\.)\S{4,}")
"""An address that is written out is for readers, a menu hides it."""
_STOPS = "。！？"
_WORDS, _ADDRESS = re.compile("[\u4e00-\u9fff]{4}"), re.compile(r"@|https?:")
_DRAWN_UP_CHARS, _LEAST_SENTENCE_CHARS = 200, 20
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
    lines.update(run.head(lines))
    return lines, sentences


def text_below_title(
    page: Page, chosen: Sequence[int], left_out: AbstractSet[int], judged: Floats
) -> Sequence[int]:
    """The first sentence below the page's title, where nothing or the title alone was chosen.

    The arguments are those of :func:`lines_of_run`; *chosen* as it is where it holds more, or no
    sentence stands there.
    """
    blocks = page.blocks.blocks
    heading = _bare_title(page, chosen)
    if heading < 0:
        return chosen
    for index in range(heading + 1, min(len(blocks), heading + 1 + _BELOW_TITLE)):
        block = blocks[index]
        if (
            index not in left_out
            and judged[index] >= _LEAST_BELOW_TITLE
            and 2 * block.linked <= len(block.text)
            and _is_telling(block.text)
        ):
            return [index]
    return chosen


def files_below_title(
    page: Page, chosen: Sequence[int], left_out: AbstractSet[int]
) -> Sequence[int]:
    """The names of the files below the page's title, where they are all that is sent out.

    *chosen* as it is where it holds more than the title, or no file stands there.
    """
    heading = _bare_title(page, chosen)
    if heading < 0:
        return chosen
    files: list[int] = []
    for index in range(heading + 1, len(page.blocks.blocks)):
        if index - (files[-1] if files else heading) > _BELOW_TITLE:
            break
        around = enclosing(page.blocks, page.blocks.blocks[index].element, _BOX_LEVELS)
        is_beside = any(name_flags(page.blocks.elements[at].names) & ELSEWHERE for at in around)
        if index in left_out or is_beside:
            continue
        if names_file(page.blocks, index) or _SEE_FILES.match(page.blocks.blocks[index].text):
            files.append(index)
    return files or chosen


def with_table_below(
    page: Page, chosen: Sequence[int], left_out: AbstractSet[int]
) -> Sequence[int]:
    """*chosen* with the table of data below the page's title that is most of what it tells.

    A list of winners or a tender has little text beside its table, or none.
    """
    found = page.blocks
    size = sum(len(found.blocks[index].text) for index in chosen)
    if size >= _DRAWN_UP_CHARS or len(found.blocks) > _MAX_BLOCKS:
        return chosen
    title = without_blanks(page.title.lower())
    heading = next(
        (
            index
            for index, block in enumerate(found.blocks)
            if len(block.text) >= _LEAST_TITLE_CHARS
            and 2 * block.linked <= len(block.text)
            and title.startswith(without_blanks(block.text.lower()))
        ),
        -1,
    )
    for at, element in enumerate(found.elements):
        if element.tag != "table" or not 0 <= heading < element.first <= heading + _TAIL_GAP + 2:
            continue
        span = range(element.first, element.end)
        chars = sum(len(found.blocks[index].text) for index in span)
        if (
            chars >= max(size, _LEAST_TABLE_CHARS)
            and not any(found.blocks[index].linked for index in span)
            and left_out.isdisjoint(span)
            and not any(name_flags(found.elements[i].names) & ELSEWHERE for i in found.path(at))
            and is_data_table(found, at)
        ):
            above = element.first - 1
            is_announced = found.blocks[above].text[-1] in ":：" and above > heading
            return sorted({*chosen, *span, *([above] if is_announced else [])})
    return chosen


def contacts_apart(page: Page, chosen: Sequence[int]) -> int:
    """How many of the last blocks of *chosen* tell whom to ask in a box apart from the text."""
    blocks = page.blocks.blocks
    if not any(_CONTACT.match(blocks[index].text) for index in chosen):
        return 0  # nearly always
    told = next((index for index in reversed(chosen) if _is_telling(blocks[index].text)), -1)
    if told < 0 or told == chosen[-1]:
        return 0
    home = page.blocks.elements[_Run(page, chosen, frozenset(), ()).home(told)]
    apart = [index for index in chosen if index >= home.end]
    return len(apart) if any(_CONTACT.match(blocks[index].text) for index in apart) else 0


def _bare_title(page: Page, chosen: Sequence[int]) -> int:
    """The block of the page's title where *chosen* is nothing else or nothing; else -1."""
    blocks = page.blocks.blocks
    title = without_blanks(page.title.lower())
    if not title or any(without_blanks(blocks[i].text.lower()) not in title for i in chosen):
        return -1
    named = (
        element.first
        for element in page.blocks.elements
        if element.tag in _TITLES
        and element.end == element.first + 1
        and without_blanks(blocks[element.first].text.lower()) in title
    )
    return chosen[-1] if chosen else next(named, -1)


def _is_telling(text: str) -> bool:
    return (
        len(text) >= _LEAST_SENTENCE_CHARS
        and has_clauses(text)
        and not is_notice_by_form(text)
        and not _is_label(text)
    )


class _Run:
    """The blocks chosen from one page, and what stands between and beside them."""

    def __init__(
        self,
        page: Page,
        chosen: Sequence[int],
        left_out: AbstractSet[int],
        judged: Floats | Sequence[float],
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
            is_plain = is_plain and self._may_hold_text(elements[inner])
            self._plain[inner, holder] = is_plain
        return is_plain

    def _may_hold_text(self, element: Element) -> bool:
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
            return False
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

    def home(self, index: int) -> int:
        """The element that holds the paragraphs, of which block *index* is one."""
        elements = self._found.elements
        at = self._found.blocks[index].element
        while (parent := elements[at].parent) >= 0 and elements[parent].tag not in _PAGES:
            element = elements[at]
            is_line = element.tag in _PARAGRAPHS or element.tag in _HEADINGS
            is_cell = element.tag in _CELLS and self._table_at(at) >= 0
            if not (
                is_line
                or is_cell
                or element.end - element.first == 1
                or (not element.names and element.tag in ("div", "section"))
            ):
                break
            at = parent
        return at

    def _table_at(self, at: int) -> int:
        """The table of data around the element *at*; -1 for one that a page is laid out with."""
        elements = self._found.elements
        while at >= 0 and elements[at].tag in _CELLS:
            if elements[at].tag == "table":
                return at if is_data_table(self._found, at) else -1
            at = elements[at].parent
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
        home = self.home(self._chosen[0])
        element, first = self._found.elements[home], self._chosen[0]
        if element.tag in _PAGES:
            return set()
        span = range(max(element.first, first - 2), min(element.end, first + _TAIL_GAP))
        return {
            i
            for i in span
            if i not in self._left_out
            and not blocks[i].linked
            and _is_telling(blocks[i].text)
            and self._is_plain(blocks[i].element, home)
        } - set(self._chosen)

    def between(self) -> Iterator[int]:
        """The lines between two chosen blocks, within the smallest element that holds both."""
        if self._chosen[-1] - self._chosen[0] < len(self._chosen):
            return  # nearly always
        blocks = self._found.blocks
        # Single cells above the text are of the page: what stands around them is no text either.
        from_text = dropwhile(lambda i: not _is_telling(blocks[i].text), self._chosen)
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
            and (block.linked <= _LINK_SHARE * len(block.text) or _WRITTEN_OUT.search(block.text))
            and self._is_plain(block.element, holder)
            and not _is_label(block.text)
            and not is_dated(block.text)
        )

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
        if _OF_PAGE.match(block.text) or telling_words(block.text.lower())["related"]:
            return False
        return block.text[-1] in ":：" or (tag in _HEADINGS and block.linked <= 1)

    def rest_of_tables(self, lines: AbstractSet[int]) -> Iterator[int]:
        """The other cells of a table of data that the text begins or ends with."""
        found, own = self._found, {*lines, *self._chosen}
        for index in {self._chosen[0], self._chosen[-1]}:
            at = found.blocks[index].element
            while at >= 0 and found.elements[at].tag in _PARAGRAPHS:
                at = found.elements[at].parent
            if at >= 0 and (table := self._table_at(at)) >= 0:
                span = range(found.elements[table].first, found.elements[table].end)
                whole = sum(len(found.blocks[i].text) for i in span)
                taken = sum(len(found.blocks[i].text) for i in span if i in own)
                linked = sum(found.blocks[i].linked for i in span)
                is_above = span.stop <= self._chosen[-1]
                share = _PART_OF_TABLE_ABOVE if is_above else _PART_OF_TABLE
                if taken >= share * whole and linked <= _MOST_LINKED * whole:
                    yield from (i for i in span if i not in self._left_out)

    # --- the head and the tail --------------------------------------------------------------

    def head(self, lines: AbstractSet[int]) -> Iterator[int]:
        """The salutation, the first sub-heading and the box above a text."""
        first = min(self._chosen[0], min(lines, default=self._chosen[0]))
        home = self.home(first)
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
            is_salutation = _SALUTATION.match(text) is not None
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
        home = self.home(last)
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
        if _OF_PAGE.match(text):
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
        if index == done and _NUMBERED.match(text) and len(text) <= _SHORT_CHARS:
            above = self._found.blocks[index - 1].text
            if _ATTACHED.match(above) or _NUMBERED.match(above):
                return True
        if len(text) > _SHORT_CHARS:
            return False
        if _ATTACHED.match(text) or _CONTACT.match(text):
            return True
        if block.linked > _LINK_SHARE * len(text):
            return False
        is_signed = index == done and _SIGNED.match(text) is not None
        if is_signed or any(form.match(text) for form in (_DAY, _CLOSING)):
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
            and not _is_label(block.text)
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
        if _ATTACHED.match(above.text) or all(names_file(found, i) for i in span):
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
        if _is_label(block.text) or _OF_PAGE.match(block.text):
            return False
        return block.text[-1] in ":：" or tag in _HEADINGS


def _is_box(element: Element) -> bool:
    return bool(element.names) and _names_box(element.names)


@lru_cache(maxsize=20_000)
def _names_box(names: str) -> bool:
    return _BOX.search(names) is not None


def _is_furniture(element: Element) -> bool:
    return name_flags(_LIST_WORD.sub("", element.names)) & _FURNITURE != 0


def _is_label(text: str) -> bool:
    """Whether *text* is a label, a button or a line about the page."""
    if len(text) > _LABEL_LINE_CHARS or text[-1] in "。！？；，":
        return False
    if _OF_PAGE.match(text):
        return True
    words = telling_words(text.lower())
    if words["byline"]:
        return True
    return bool(words["related"] or words["action"]) and len(text) <= _LABEL_CHARS


def _is_labelled(found: PageBlocks, span: range) -> bool:
    """Whether most items of a list say something besides their links."""
    labelled = sum(
        len(without_blanks(found.blocks[i].text)) - found.blocks[i].linked >= _LEAST_LABEL_CHARS
        for i in span
    )
    return labelled >= _LABELLED_ITEMS * len(span)
