"""The features of blocks: by ``block_loops.py`` where it is compiled, else with NumPy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain

import numpy as np

from qiaocrawl.extract.methods import block_loops
from qiaocrawl.extract.methods.block_features import (
    FEATURES,
    BlockFeatures,
    BlockWords,
    Hits,
    Ints,
    numpy_features,
)
from qiaocrawl.extract.methods.block_vocabulary import (
    TAGS,
    class_table,
    name_flags,
    tag_number,
)
from qiaocrawl.kernels import floats, ints, is_compiled
from qiaocrawl.page.blocks import PageBlocks


def features_of(page_blocks: PageBlocks, title: str) -> BlockFeatures | None:
    """The features of a page's blocks; None when it has no block.

    Args:
        page_blocks: the blocks and their elements.
        title: the page's ``<title>``, "" when it has none.
    """
    if not page_blocks.blocks:
        return None
    words = BlockWords.of(page_blocks, title)
    if is_compiled(block_loops.fill_features):
        return compiled_features(words)
    return numpy_features(words)


def compiled_features(words: BlockWords) -> BlockFeatures:
    """As :func:`~qiaocrawl.extract.methods.block_features.numpy_features`, by the compiled loops.

    A value may differ in its last bit, as NumPy's do from one processor to another.

    Raises:
        IndexError: a number of a block, an element or a word leads nowhere.
    """
    n, m = len(words.texts), len(words.page_blocks.elements)
    numbers = np.fromiter(_columns(words), np.int64, 8 * (n + m))
    given = block_loops.Given(
        numbers[: 8 * n].reshape(8, n),
        numbers[8 * n :].reshape(8, m),
        _flat(words.telling),
        _flat(words.of_title),
        words.title_block,
        np.frombuffer("".join(words.texts).encode("utf-32-le", "surrogatepass"), "<u4"),
        class_table(),
    )
    values = np.empty((FEATURES, n), np.float32)
    chars, notices = np.empty(n, np.float32), np.empty(n, np.bool_)
    work = block_loops.Work(n, m, values)
    if not block_loops.fill_features(given, work, floats(chars), ints(notices)):
        raise IndexError("blocks of a page whose numbers lead nowhere")
    notices[words.paid_blocks] = True
    return BlockFeatures(values.T, chars, notices)


def _flat(hits: Hits) -> Ints:
    return np.fromiter(chain.from_iterable(hits), np.int64, 2 * len(hits))


def _columns(words: BlockWords) -> Iterator[int]:
    """The columns of blocks, then those of elements, in the order of ``block_loops.py``."""
    # Attribute by attribute: a page has hundreds of elements, and no way of asking each of them
    # for several values at once costs less than half as much again.
    blocks, elements = words.page_blocks.blocks, words.page_blocks.elements
    seen = Counter(words.texts)
    numbers: dict[str, int] = {}
    names = [numbers.setdefault(element.names, len(numbers)) for element in elements]
    flags = list(map(name_flags, numbers))
    return chain(
        map(len, words.texts),
        map(len, words.heads),
        map(seen.__getitem__, words.texts),
        [block.linked for block in blocks],
        [block.bold for block in blocks],
        [block.links for block in blocks],
        [block.after_break for block in blocks],
        [block.element for block in blocks],
        [tag_number(element.tag, len(TAGS)) for element in elements],
        names,
        map(flags.__getitem__, names),
        [element.first for element in elements],
        [element.end for element in elements],
        [element.parent for element in elements],
        [element.depth for element in elements],
        [element.images for element in elements],
    )
