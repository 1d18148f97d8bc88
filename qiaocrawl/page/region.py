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
_LANDMARKS = frozenset(("nav", "header", "footer", "aside", "main", "article"))
_NUMBERS = re.compile(r"\d+")


def region_of(node: LexborNode) -> str:
    """The three elements around *node*, innermost first, and the landmark they stand in.

    Such as ``li ul.news div.left main``; numbers in names are ``#``, since they count entries.
    """
    names: list[str] = []
    landmark = ""
    parent = node.parent
    for level in range(_FAR):
        if parent is None or parent.tag in ("body", "html", "-undef"):
            break
        tag = parent.tag or ""
        if level < _NEAR:
            names.append(_name(parent, tag))
        elif tag in _LANDMARKS:
            landmark = tag
            break
        parent = parent.parent
    return " ".join([*names, landmark] if landmark else names)


def _name(node: LexborNode, tag: str) -> str:
    attributes = node.attributes
    word = (attributes.get("class") or attributes.get("id") or "").split(maxsplit=1)
    if not word:
        return tag
    return f"{tag}.{_NUMBERS.sub('#', word[0][:_MAX_NAME_CHARS])}"
