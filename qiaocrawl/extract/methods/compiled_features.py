"""The features of blocks, by machine code where ``qiaocrawl compile`` could make it."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Iterator, Mapping
from ctypes import c_int, c_void_p
from functools import cache
from importlib.resources import files
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.extract.methods.block_features import BlockFeatures, BlockWords, Ints, numpy_features
from qiaocrawl.extract.methods.block_vocabulary import (
    TAGS,
    WORD_KIND,
    WORD_NAMES,
    class_table,
    name_flags,
    tag_number,
)
from qiaocrawl.kernels.c_library import CLibrary, CLoops
from qiaocrawl.page.blocks import PageBlocks
from qiaocrawl.page.page import parse_page

# --- The telling words of blocks as a tree of their letters, laid out for ``block_features.c`` ----

_PLANE = 1 << 16
_Nodes = list[dict[str, int]]


class _Layout(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_void_p)
        for name in ("han_roots", "latin_roots", "first", "targets", "kinds", "letters")
    )


class WordTree:
    """The words of *kinds*, Latin ones apart from those with other letters.

    Attributes:
        address: of what the C source calls a Vocabulary; good as long as this object is there.
    """

    def __init__(self, kinds: Mapping[str, int]) -> None:
        # Node 0 is none, so that it can stand for "no such letter".
        nodes: _Nodes = [{}]
        of_node: dict[int, int] = {}
        latin = _roots(nodes, of_node, {w: k for w, k in kinds.items() if w.isascii()})
        han = _roots(nodes, of_node, {w: k for w, k in kinds.items() if not w.isascii()})
        first = np.cumsum([0, *map(len, nodes)]).astype(np.int32)
        targets = np.array([to for node in nodes for to in node.values()], np.int32)
        letters = np.array([ord(letter) for node in nodes for letter in node], np.uint32)
        ends = np.array([of_node.get(node, -1) for node in range(len(nodes))], np.int32)
        # Kept: the layout holds only their addresses.
        self._arrays = (han, latin, first, targets, ends, letters)
        self._layout = _Layout(*(array.ctypes.data for array in self._arrays))
        self.address = ctypes.addressof(self._layout)


def _roots(nodes: _Nodes, of_node: dict[int, int], kinds: Mapping[str, int]) -> NDArray[np.uint16]:
    """Add the words of *kinds* to *nodes*; the node of each first letter of the basic plane."""
    roots = np.zeros(_PLANE, np.uint16)
    for word, kind in kinds.items():
        node = int(roots[ord(word[0])])
        if not node:
            node = roots[ord(word[0])] = _new(nodes)
        for letter in word[1:]:
            if letter not in nodes[node]:
                nodes[node][letter] = _new(nodes)
            node = nodes[node][letter]
        of_node[node] = kind
    return roots


def _new(nodes: _Nodes) -> int:
    nodes.append({})
    return len(nodes) - 1


@cache
def vocabulary() -> WordTree:
    """That of the words that tell what a block is for."""
    return WordTree(WORD_KIND)


LOOPS = CLoops(
    CLibrary(files("qiaocrawl.extract.methods").joinpath("block_features.c")),
    {"block_features": (c_int, *(c_void_p,) * 8)},
)
FEATURES = 198
_SAMPLE = """<title>侨乡博物馆开幕_侨乡网</title>
<div class="nav"><a href="/">首页</a> | 图片</div>
<div id="content"><h1>侨乡博物馆开幕</h1><p>来源：本报 2026-03-05 10:20</p>
<p>归侨代表捐赠了<b>一百二十</b>件家书。馆长说：“这些家书，记录了三代人的往来！”</p>（广告）<br>
The museum opens at 9. Visit us.<img src="a.jpg"></div>
<ul class="related list"><li><a href="/1">相关阅读</a><li><a href="/2">相关阅读</a></ul>
<p class="foot">版权所有 京ICP备00000000号</p>"""


def features_of(page_blocks: PageBlocks, title: str) -> BlockFeatures | None:
    """The features of a page's blocks; None when it has no block.

    Args:
        page_blocks: the blocks and their elements.
        title: the page's ``<title>``, "" when it has none.
    """
    if not page_blocks.blocks:
        return None
    words = BlockWords.of(page_blocks, title)
    return compiled_features(words) or numpy_features(words)


def compiled_features(words: BlockWords) -> BlockFeatures | None:
    """As :func:`~qiaocrawl.extract.methods.block_features.numpy_features`; None where there is no
    machine code, or too little memory for it.

    A value may differ in its last bit, as numpy's do from one processor to another.
    """
    work = LOOPS.function("block_features")
    if work is None:
        return None
    n = len(words.texts)
    codes, text = _codes("".join(words.texts)), _codes(words.text)
    numbers = _numbers(words, len(codes) // 4)
    # Held here: of two threads that make them at the same time one has what the cache then drops.
    tree, classes = vocabulary(), class_table()
    values = np.empty((FEATURES, n), dtype=np.float32)
    chars, notices = np.empty(n, dtype=np.float32), np.empty(n, dtype=np.bool_)
    failed = work(
        numbers.ctypes.data,
        codes,
        text,
        tree.address,
        classes.ctypes.data,
        values.ctypes.data,
        chars.ctypes.data,
        notices.ctypes.data,
    )
    if failed:
        return None
    notices[words.paid_blocks] = True
    return BlockFeatures(values.T, chars, notices)


def features_agree() -> bool:
    """Whether machine code and numpy say the same of a small page."""
    page = parse_page(_SAMPLE.encode(), "text/html; charset=utf-8")
    words = BlockWords.of(page.blocks, page.title)
    ours, same = compiled_features(words), numpy_features(words)
    return ours is not None and np.allclose(ours.values, same.values, rtol=1e-5, atol=1e-5)


def _codes(text: str) -> bytes:
    return text.encode("utf-32-le", "surrogatepass")


def _numbers(words: BlockWords, codes: int) -> Ints:
    """All that is given as whole numbers, in the order of ``read_given`` in the C source."""
    n, m = len(words.texts), len(words.page_blocks.elements)
    hits, title_hits = len(words.clocks), len(words.of_title)
    header = (
        n,
        m,
        codes,
        len(words.text),
        hits,
        title_hits,
        len(words.title_words),
        words.title_block,
        WORD_NAMES.index("legal"),
        WORD_NAMES.index("notice"),
        FEATURES,
    )
    return np.fromiter(chain(header, _columns(words)), np.int64)


def _columns(words: BlockWords) -> Iterator[int]:
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
        chain.from_iterable(words.clocks),
        chain.from_iterable(words.of_title),
    )
