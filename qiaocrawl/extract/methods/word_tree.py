"""The telling words of blocks as a tree of their letters, laid out for ``block_features.c``."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.extract.methods.block_vocabulary import WORD_KIND

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
