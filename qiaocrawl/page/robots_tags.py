"""What a page asks of robots, all or this one: meta tags and ``X-Robots-Tag`` headers.

The form is Google's (*Robots meta tag, data-nosnippet, and X-Robots-Tag specifications*): words
with commas between; a header may begin with the name of the robot it is meant for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

PRODUCT_TOKEN = "qiaocrawl"
_HEADER = "x-robots-tag"
# "name: rest", unless the name is a directive that has a value of its own.
_NAMED = re.compile(r"\s*([a-z][\w-]*)\s*:(.*)", re.DOTALL)
_WITH_VALUE = frozenset(
    {"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"}
)


@dataclass(frozen=True, slots=True)
class RobotsTags:
    """``nofollow``: no link of the page is to be followed; ``noindex``: no public index."""

    nofollow: bool = False
    noindex: bool = False


def robots_tags(meta: Mapping[str, str], headers: Iterable[tuple[str, str]] = ()) -> RobotsTags:
    """The wishes to all robots and to this one; those to other robots do not matter.

    Args:
        meta: name (lower case) -> content of the page's meta tags.
        headers: of the answer, names in lower case.
    """
    words: set[str] = set()
    for name in ("robots", PRODUCT_TOKEN):
        words |= _directives(meta.get(name, ""))
    for name, value in headers:
        if name == _HEADER:
            words |= _directives(_ours(value.lower()))
    # "none" means both "nofollow" and "noindex".
    nothing = "none" in words
    return RobotsTags("nofollow" in words or nothing, "noindex" in words or nothing)


def _ours(value: str) -> str:
    """The directives of a header; none if it names another robot."""
    named = _NAMED.match(value)
    if named is None or named[1] in _WITH_VALUE:
        return value
    return named[2] if named[1] == PRODUCT_TOKEN else ""


def _directives(text: str) -> set[str]:
    return {part.strip() for part in text.lower().split(",")}
