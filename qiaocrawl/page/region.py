"""Where on the page a link stands: the elements around it, as a short name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

# Elements named; links of one list differ further in only.
_NEAR = 3
# Elements looked at for a landmark.
_FAR = 12
_MAX_NAME_CHARS = 24
_ENDS = ("body", "html", "-undef")
_LANDMARKS = frozenset(("nav", "header", "footer", "aside", "main", "article"))
_NUMBERS = re.compile(r"\d+")


class _Around:
    """An element around links: its tag, its node, and the one around it."""

    __slots__ = ("above", "name", "node", "tag")

    def __init__(self, node: LexborNode, tag: str) -> None:
        self.node = node
        self.tag = tag
        self.name = ""
        self.above: _Around | None = None


class Regions:
    """The regions of the links of one page.

    Links of a list stand in the same elements, so each element is looked at once. One object is
    for one tree, which must not change in between.
    """

    def __init__(self) -> None:
        self._seen: dict[int, _Around] = {}

    def of(self, node: LexborNode) -> str:
        """The three elements around *node*, innermost first, and the landmark they stand in.

        Such as ``li ul.news div.left main``; numbers in names are ``#``, since they count entries.
        """
        around = self._around(node.parent)
        names = []
        for level in range(_FAR):
            if around is None:
                break
            if level < _NEAR:
                if not around.name:
                    around.name = _name(around.node, around.tag)
                names.append(around.name)
            elif around.tag in _LANDMARKS:
                names.append(around.tag)
                break
            around = around.above
        return " ".join(names)

    def _around(self, node: LexborNode | None) -> _Around | None:
        """*node* with all around it; None where the page ends."""
        new: list[_Around] = []
        around = None
        while node is not None:
            key = node.mem_id
            if key in self._seen:
                around = self._seen[key]
                break
            tag = node.tag or ""
            if tag in _ENDS:
                break
            element = self._seen[key] = _Around(node, tag)
            new.append(element)
            node = node.parent
        for element in reversed(new):
            element.above = around
            around = element
        return around


def _name(node: LexborNode, tag: str) -> str:
    attributes = node.attributes
    word = (attributes.get("class") or attributes.get("id") or "").split(maxsplit=1)
    if not word:
        return tag
    return f"{tag}.{_NUMBERS.sub('#', word[0][:_MAX_NAME_CHARS])}"
