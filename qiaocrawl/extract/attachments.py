"""The files that are attached to a text: forms, lists and tables that a notice sends along."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.block_texts import enclosing
from qiaocrawl.extract.methods.block_vocabulary import NAME_KINDS, name_flags
from qiaocrawl.page.blocks import PageBlocks
from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import collapse

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

FILE_END = re.compile(
    r"\.(?:docx?|wps|xlsx?|et|csv|pptx?|dps|pdf|ofd|rtf|odt|ods|zip|rar|7z|tgz|tar\.gz)"
    r"(?=$|[\s\])）】（(?#&；;。，、])",
    re.IGNORECASE,
)
"""Where the name or the address of such a file ends."""
_MAX_LINKS = 50
"""Of one block and of one page."""
_MAX_NAME_CHARS = 200
_BELOW_BLOCKS, _LEVELS, _MAX_DEPTH = 20, 2, 12
"""A box of files stands at most so many blocks below a text, within so many elements around it."""
ELSEWHERE = sum(1 << NAME_KINDS.index(kind) for kind in ("nav", "side", "foot", "comment", "ad"))
"""What names an element beside a text, not of it."""


def names_file(found: PageBlocks, index: int) -> bool:
    """Whether block *index* is the name of a file, or a link to one."""
    block = found.blocks[index]
    if FILE_END.search(block.text):
        return True
    if not block.links or 2 * block.linked < len(block.text):
        return False
    return any(_is_file(node) for node in _links(found, index))


def attachments_of(page: Page, body: Body) -> tuple[tuple[str, str], ...]:
    """(URL, name) of the files attached to *body*, in it or right below it, each URL once."""
    names: dict[str, str] = {}
    found = page.blocks
    for index in _near(found, body.blocks) if body.blocks else ():
        if found.blocks[index].links:
            for node in filter(_is_file, _links(found, index)):
                url = page.joiner.canonical(node.attributes.get("href") or "")
                if url and len(names) < _MAX_LINKS:
                    names.setdefault(url, collapse(node.text()[:_MAX_NAME_CHARS]))
    return tuple(names.items())


def _near(found: PageBlocks, body: Sequence[int]) -> Iterator[int]:
    """The blocks from the first of *body* on, and those beside its end that are of no menu."""
    first, last = body[0], body[-1]
    yield from range(first, last + 1)
    around = [
        at
        for at in found.path(found.blocks[last].element)
        if found.elements[at].tag not in ("body", "html") and found.elements[at].end > last
    ]
    whole = next((n for n, at in enumerate(around) if found.elements[at].first <= first), 0)
    for index in range(last + 1, min(len(found.blocks), last + 1 + _BELOW_BLOCKS)):
        inner = enclosing(found, found.blocks[index].element, _MAX_DEPTH)
        shared = next((n for n, at in enumerate(inner) if at in around), -1)
        if shared < 0 or around.index(inner[shared]) > whole + _LEVELS:
            return
        if not any(name_flags(found.elements[at].names) & ELSEWHERE for at in inner[:shared]):
            yield index


def _links(found: PageBlocks, index: int) -> list[LexborNode]:
    element = found.elements[found.blocks[index].element]
    nodes = element.node.css("a[href]")[:_MAX_LINKS]
    return nodes or [around for around in (element.node.parent,) if around and around.tag == "a"]


def _is_file(node: LexborNode) -> bool:
    address = node.attributes.get("href") or ""
    return FILE_END.search(address) is not None or (
        FILE_END.search(node.text()[:_MAX_NAME_CHARS]) is not None
    )
