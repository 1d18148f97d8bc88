"""Feeds a page announces in its head (``<link rel=alternate type=application/rss+xml>``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl.items import Link
from qiaocrawl.text.normalise import collapse
from qiaocrawl.urls import canonical_host, url_key

if TYPE_CHECKING:
    from qiaocrawl.page.page import Page

FEED_TYPES = frozenset((
    "application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/xml",
    "application/x-rss+xml", "application/rss", "application/atom", "text/rss+xml", "text/rss",
    "text/xml",
))  # fmt: skip
MAX_FEEDS = 20
"""Of one page: more are feeds of every tag and author **(ours)**."""
_FEED_WORDS = ("rss", "订阅", "訂閱", "atom", "feed")
_FEED_ENDINGS = (".xml", ".rss", ".atom", ".rdf")
_COMMENTS = ("comment", "评论", "評論", "回复")


def feed_links(page: Page) -> tuple[Link, ...]:
    """The feeds *page* announces, or links to as such; feeds of comments are none.

    Their ``tag`` is ``feed``, their anchor the title in the announcement.
    """
    links: dict[str, Link] = {}
    for tag, node in page.head_and_links:
        attributes = node.attributes
        if tag == "link":
            rel = (attributes.get("rel") or "").lower().split()
            kind = (attributes.get("type") or "").partition(";")[0].strip().lower()
            # rel=feed, which HTML once had, needs no type.
            if "feed" not in rel and ("alternate" not in rel or kind not in FEED_TYPES):
                continue
            title = collapse(attributes.get("title") or "")
        elif tag == "a" and _may_be_feed(attributes.get("href") or ""):
            title = collapse(node.text())
            if not title and (image := node.css_first("img[alt]")) is not None:
                title = collapse(image.attributes.get("alt") or "")
            # An address with /feed in it may be any page; its text decides.
            if not any(word in title.lower() for word in _FEED_WORDS):
                continue
        else:
            continue
        url = page.joiner.canonical(_without_feed_scheme((attributes.get("href") or "").strip()))
        if url is not None and not _is_of_comments(url, title):
            links.setdefault(url, Link(
                url=url, key=url_key(url), host=canonical_host(url), anchor=title[:200],
                tag="feed",
            ))  # fmt: skip
        if len(links) >= MAX_FEEDS:
            break
    return tuple(links.values())


def _without_feed_scheme(href: str) -> str:
    """``feed://a.cn/x`` and ``feed:https://a.cn/x`` as a page's address."""
    if href[:5].lower() != "feed:":
        return href
    rest = href[5:]
    return f"http:{rest}" if rest.startswith("//") else rest


def _may_be_feed(href: str) -> bool:
    path = href.lower().partition("?")[0]
    return path.endswith(_FEED_ENDINGS) or "/rss" in path or "/feed" in path


def _is_of_comments(url: str, title: str) -> bool:
    return any(word in url.lower() or word in title.lower() for word in _COMMENTS)
