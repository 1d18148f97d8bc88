"""What the words of blocks tell: what is looked for in their texts, by the block."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from qiaocrawl.extract.methods.block_vocabulary import find_clocks, find_words, title_words
from qiaocrawl.page.blocks import PageBlocks

_HEAD_CHARS = 150
_TAIL_CHARS = 100
"""Of long blocks only the beginning and the end are searched for words."""
_PAID_WORDS = ("推广", "推廣", "广告", "廣告", "赞助", "贊助")
_PAID = re.compile(
    r"{0}[：:]|【{0}】|\[{0}\]|（{0}）|\({0}\)".format(f"(?:{'|'.join(_PAID_WORDS)})")
)
# 推广：各地要… is a heading of a plan as well.
_MAY_BE_PAID = re.compile("(?:推[广廣]|[赞贊]助)[：:].*[。！？；]", re.DOTALL)


def is_paid_for(text: str) -> bool:
    """Whether *text* begins with a mark of what others paid for: （广告）, 【推广】."""
    return _PAID.match(text) is not None and not _MAY_BE_PAID.match(text)


Hits = list[tuple[int, int]]
"""(position in the joined heads, kind) of what was found."""


@dataclass(frozen=True)
class BlockWords:
    """The words of the blocks of a page.

    Attributes:
        page_blocks: the blocks and their elements.
        title: the page's ``<title>``, "" when it has none.
        texts: of all blocks.
        heads: the same without the middle of long ones.
    """

    page_blocks: PageBlocks
    title: str
    texts: list[str]
    heads: list[str]

    @classmethod
    def of(cls, page_blocks: PageBlocks, title: str) -> BlockWords:
        """Those of *page_blocks*, which has some, on a page called *title*."""
        texts = [block.text for block in page_blocks.blocks]
        heads = [
            text if len(text) <= _HEAD_CHARS + _TAIL_CHARS
            else text[:_HEAD_CHARS] + " " + text[-_TAIL_CHARS:]
            for text in texts
        ]  # fmt: skip
        return cls(page_blocks, title, texts, heads)

    @cached_property
    def text(self) -> str:
        """The heads in lower case, a line end before each."""
        joined = "\n" + "\n".join(self.heads)
        lower = joined.lower()
        # A few letters grow; then positions would shift.
        return lower if len(lower) == len(joined) else joined

    @cached_property
    def telling(self) -> Hits:
        """Where telling words stand, by their index in WORD_NAMES."""
        return find_words(self.text)

    @cached_property
    def clocks(self) -> Hits:
        """Of :attr:`telling` the dates and times."""
        return find_clocks(self.text)

    @cached_property
    def title_words(self) -> tuple[str, ...]:
        """The title's letter pairs (words of four letters)."""
        return title_words(self.title.lower())

    @cached_property
    def of_title(self) -> Hits:
        """Where the title's words stand, by their index in :attr:`title_words`."""
        text, hits = self.text, []
        for kind, word in enumerate(self.title_words):
            at = text.find(word)
            while at >= 0:
                hits.append((at, kind))
                at = text.find(word, at + len(word))
        return hits

    @cached_property
    def paid(self) -> list[int]:
        """Indexes of the blocks that are marked as paid for."""
        if not any(word in self.text for word in _PAID_WORDS):
            return []
        return [number for number, text in enumerate(self.texts) if is_paid_for(text)]

    @cached_property
    def title_block(self) -> int:
        """The last block that is a beginning or most of ``<title>``; -1 when none is."""
        title = self.title
        longest = len(title) + 10
        best, best_size = -1, 0
        for i, text in enumerate(self.texts):
            size = len(text)
            if 4 <= size <= longest and size >= best_size and text in title:
                tag = self.page_blocks.elements[self.page_blocks.blocks[i].element].tag
                if 2 * size >= len(title) or title.startswith(text) or tag in ("h1", "h2"):
                    best, best_size = i, size
        return best
