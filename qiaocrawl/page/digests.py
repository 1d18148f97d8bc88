"""Digests of blocks, to compare the pages of a site without their texts.

Two blocks have one digest when they have the same text in the same kind of place. A teaser in
a side bar so differs from the paragraph of the article it was taken from.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qiaocrawl.page.blocks import Element, PageBlocks

_NUMBER = re.compile(r"\d+")
# Elements looked at for a name: bounds the time on any markup.
_MAX_STEPS = 8


def block_digests(page_blocks: PageBlocks) -> NDArray[np.uint64]:
    """(n,) digests of the blocks: the upper half of the text, the lower one of its place.

    Each half is a CRC-32 **(ours)**: it is fast, and the same in every process. Two different
    blocks are taken for one once in 2**32 pairs of the same place and length.
    """
    # Pages are also read where nothing is compared, and NumPy takes long to import.
    import numpy as np

    elements = page_blocks.elements
    places: dict[int, int] = {}
    digests = []
    for block in page_blocks.blocks:
        at = block.element
        if at not in places:
            places[at] = _place_digest(elements[at].tag, elements[_named(elements, at)].names)
        text = block.text.encode("utf-8", "replace")
        digests.append(crc32(text) << 32 | places[at] ^ len(text))
    return np.array(digests, dtype=np.uint64)


def element_path(elements: list[Element], at: int) -> str:
    """Where an element stands: its tag within the nearest element with a class or id.

    Numbers in names become 0, since they count pages (``post-1234``). Written like CSS:
    ``div.entry.content > p``.
    """
    named = _named(elements, at)
    outer = ".".join((elements[named].tag, *general_names(elements[named].names).split()))
    return outer if named == at else f"{outer} > {elements[at].tag}"


def general_names(names: str) -> str:
    """Class and id *names* with every number as 0."""
    return _NUMBER.sub("0", names)


def _named(elements: list[Element], at: int) -> int:
    """The nearest element with a name at or around *at*; one without where none is near."""
    for _ in range(_MAX_STEPS):
        if elements[at].names or elements[at].parent < 0:
            break
        at = elements[at].parent
    return at


# Pages of a site share their places. Arguments come cut, so that no page fills the memory.
@lru_cache(maxsize=4096)
def _digest_of(tag: str, names: str) -> int:
    return crc32(f"{tag} {general_names(names)}".encode("utf-8", "replace"))


def _place_digest(tag: str, names: str) -> int:
    return _digest_of(tag[:32], names[:256])
