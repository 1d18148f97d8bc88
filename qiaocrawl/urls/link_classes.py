"""Six classes of links and four of pages (T, 4.4.3), for people who read why a URL was fetched.

The text names them (after Yu 1999) and does not define them: where the borders lie is **(ours)**.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from qiaocrawl.language import N_
from qiaocrawl.urls.hosts import registrable_domain

LINK_CLASSES = {
    "down": N_("down link"), "up": N_("up link"), "across": N_("horizontal link"),
    "cross": N_("cross link"), "out": N_("outward link"), "frame": N_("frame link"),
}  # fmt: skip
PAGE_CLASSES = {
    "home": N_("home page"), "index": N_("index page"),
    "content": N_("content page"), "reference": N_("reference page"),
}  # fmt: skip
_FRAMES = ("frame", "iframe")
_MOSTLY = 0.5


def link_class(page: str, target: str, tag: str = "a") -> str:
    """The class of a link from *page* to *target*, both canonical: a key of LINK_CLASSES.

    ``frame`` by its tag; ``out`` to another registrable domain; on the site by directories:
    ``across`` to the same, ``down`` below it, ``up`` above it, ``cross`` to another branch. A host
    of the site other than the page's is another branch.
    """
    if tag in _FRAMES:
        return "frame"
    here, there = urlsplit(page), urlsplit(target)
    if registrable_domain(here.netloc) != registrable_domain(there.netloc):
        return "out"
    if here.netloc != there.netloc:
        return "cross"
    own, other = (split.path.rpartition("/")[0] + "/" for split in (here, there))
    if own == other:
        return "across"
    if other.startswith(own):
        return "down"
    return "up" if own.startswith(other) else "cross"


def page_class(url: str, *, is_article: bool, is_list: bool, outward: float = 0.0) -> str:
    """The class of a page: a key of PAGE_CLASSES.

    Args:
        url: canonical.
        is_article, is_list: what its analysis found.
        outward: share of its links that lead to other sites, in [0, 1].
    """
    split = urlsplit(url)
    if split.path in ("", "/") and not split.query:
        return "home"
    if is_article:
        return "content"
    # A page whose links mostly lead away, such as one of friendly links, is for reference.
    return "index" if is_list and outward <= _MOSTLY else "reference"
