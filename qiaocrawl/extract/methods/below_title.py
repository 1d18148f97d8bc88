"""The text of a page whose body the judge of blocks did not see: it stands below the title.

A list of winners, the names of files, one sentence: what little an office sends out. **(ours)**
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from qiaocrawl.extract.attachments import ELSEWHERE, names_file
from qiaocrawl.extract.block_texts import enclosing
from qiaocrawl.extract.methods.block_features import Floats
from qiaocrawl.extract.methods.block_vocabulary import name_flags
from qiaocrawl.extract.methods.line_forms import SEE_FILES, is_telling
from qiaocrawl.extract.structure.kept import is_data_table
from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import without_blanks

_TITLES = frozenset(("h1", "h2", "h3"))
_BELOW_TITLE, _LEAST_BELOW_TITLE = 8, 0.05
"""So many blocks below a title, judged at least so, its text may begin."""
_LEAST_TITLE_CHARS, _LEAST_TABLE_CHARS, _MAX_BLOCKS = 6, 8, 2_000
_TABLE_BELOW = 8
_DRAWN_UP_CHARS, _BOX_LEVELS = 200, 6
"""A text of fewer characters may be less than the table below it."""


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
            and is_telling(block.text)
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
        if names_file(page.blocks, index) or SEE_FILES.match(page.blocks.blocks[index].text):
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
    if _bare_title(page, chosen) >= 0:
        size = 0
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
        if element.tag != "table" or not 0 <= heading < element.first <= heading + _TABLE_BELOW:
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
