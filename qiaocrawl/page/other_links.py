"""Links that are no anchors: the next page a head names, buttons, menus, data attributes.

A form that is sent by GET and leaves nothing to fill in is a link that looks like a button, and a
menu of addresses is a list of links. Forms with anything to type, to tick or to upload are left:
their values are the visitor's choice and have no end. Only addresses on the page's own host are
taken, and none whose words say that they change something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from qiaocrawl.items import Link
from qiaocrawl.page.links import NEXT_TAG
from qiaocrawl.text.normalise import collapse
from qiaocrawl.urls import (
    canonical_host,
    canonical_url,
    looks_like_document,
    looks_like_file,
    url_key,
    without_feed_scheme,
)

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from qiaocrawl.page.page import Page

MAX_CONTROLS = 200
"""Links of this kind that one page may have **(ours)**."""

_DATA = (
    "data-href",
    "data-url",
    "data-link",
    "data-next",
    "data-next-url",
    "data-next-page",
    "data-more",
    "data-more-url",
    "data-page-url",
)
_CONTROLS = "form,option[value]"
_WITH_DATA = ",".join((_CONTROLS, *(f"[{name}]" for name in _DATA)))
_DATA_BEGINS = ("data-", "DATA-", "Data-")
# "/news/2", "../x", "?page=2", "list.html"; not "javascript:…" or "true".
_ADDRESS = re.compile(r"(?:https?:/)?/\S|\.{0,2}/\S|\?\S|[\w-]+\.(?:s?html?|php|aspx?|jsp)\b")
# "/logout", "/cart/add", "sign-up"
_CHANGES = re.compile(
    r"log-?(?:in|out)|sign-?(?:in|out|up)|delete|remove|cart|subscribe|vote|login|register",
    re.IGNORECASE,
)
_BUTTONS = ("submit", "button", "image", "reset")
_MAX_ANCHOR_CHARS = 100


def control_links(page: Page) -> tuple[Link, ...]:
    """The links of *page* that are no anchors, each URL once, in document order."""
    # Share buttons name the page itself, often under the other scheme.
    own, host = _without_scheme(page.canonical), canonical_host(page.url)
    links: dict[str, Link] = {}
    # Bounded before filtering too: a page may hold a million buttons to one address.
    for url, node, anchor, tag in islice(_all(page), 5 * MAX_CONTROLS):
        if canonical_host(url) != host or url in links or _without_scheme(url) == own:
            continue
        if looks_like_file(url) or _CHANGES.search(url):
            continue
        links[url] = Link(
            url=url,
            key=url_key(url),
            host=host,
            anchor=collapse(anchor)[:_MAX_ANCHOR_CHARS],
            tag=tag,
            region=page.regions.of(node),
        )
    return tuple(islice(links.values(), MAX_CONTROLS))


def _without_scheme(url: str) -> str:
    return url.partition("//")[2].rstrip("/")


def _all(page: Page) -> Iterator[tuple[str, LexborNode, str, str]]:
    for tag, node in page.head_and_links:
        rel = (node.attributes.get("rel") or "").lower().split() if tag == "link" else ()
        if "next" in rel and (url := _join_address(page, node.attributes.get("href"))):
            yield url, node, "", NEXT_TAG
    # A search of the source costs a twentieth of looking at each element for nine attributes.
    may_have_data = any(begin in page.source for begin in _DATA_BEGINS)
    for node in page.tree.css(_WITH_DATA if may_have_data else _CONTROLS):
        if node.tag == "form":
            yield from _buttons(page, node)
        elif node.tag == "option":
            if url := _join_address(page, node.attributes.get("value")):
                yield url, node, node.text(), "option"
        else:
            for name in _DATA:
                if url := _join_address(page, node.attributes.get(name)):
                    yield url, node, node.text(), "data"


def _join_address(page: Page, written: str | None) -> str | None:
    """The canonical URL of an attribute that may hold an address; None for anything else."""
    address = (written or "").strip()
    return page.joiner.canonical(address) if _ADDRESS.match(address) else None


def _buttons(page: Page, form: LexborNode) -> Iterator[tuple[str, LexborNode, str, str]]:
    """Where the buttons of *form* or its one menu lead; nothing if it has more to fill in."""
    if (form.attributes.get("method") or "get").lower() != "get":
        return
    fixed: list[tuple[str, str]] = []
    choices: list[tuple[str, str, str]] = []
    menus = form.css("select[name]")
    for field in form.css("input,button,textarea"):
        name, value = (field.attributes.get(key) or "" for key in ("name", "value"))
        kind = field.attributes.get("type") or ("submit" if field.tag == "button" else "text")
        if kind.lower() == "hidden":
            fixed.append((name, value))
        elif kind.lower() not in _BUTTONS:
            # Something to type or to tick: what is asked for is the visitor's choice.
            return
        elif kind.lower() == "submit":
            choices.append((name, value, field.text() or value))
    if len(menus) > 1 or not (choices or menus):
        return
    if menus:
        name = menus[0].attributes.get("name") or ""
        choices = [
            (name, option.attributes.get("value") or option.text(), option.text())
            for option in menus[0].css("option")
        ]
    action = page.joiner.canonical(form.attributes.get("action") or page.url) or ""
    for name, value, anchor in choices:
        pairs = [pair for pair in (*fixed, (name, value)) if pair[0]]
        query = urlencode(pairs, encoding=page.charset, errors="xmlcharrefreplace")
        # A form sent by GET replaces the query of its action.
        if url := canonical_url(action.partition("?")[0] + (f"?{query}" if query else "")):
            yield url, form, anchor, "form"


# --- Feeds a page announces in its head (``<link rel=alternate type=application/rss+xml>``) -------

FEED_TYPES = frozenset(
    (
        "application/rss+xml",
        "application/atom+xml",
        "application/rdf+xml",
        "application/xml",
        "application/x-rss+xml",
        "application/rss",
        "application/atom",
        "text/rss+xml",
        "text/rss",
        "text/xml",
    )
)
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
        url = page.joiner.canonical(without_feed_scheme((attributes.get("href") or "").strip()))
        if url is not None and not _is_of_comments(url, title):
            links.setdefault(
                url,
                Link(
                    url=url,
                    key=url_key(url),
                    host=canonical_host(url),
                    anchor=title[:200],
                    tag="feed",
                ),
            )
        if len(links) >= MAX_FEEDS:
            break
    return tuple(links.values())


def _may_be_feed(href: str) -> bool:
    path = href.lower().partition("?")[0]
    return path.endswith(_FEED_ENDINGS) or "/rss" in path or "/feed" in path


def _is_of_comments(url: str, title: str) -> bool:
    return any(word in url.lower() or word in title.lower() for word in _COMMENTS)


# --- Links of a page to files that may be articles: PDF, Word and Excel ---------------------------

DOCUMENT_TAG = "document"
MAX_DOCUMENTS = 50
"""Of one page; more are an archive's, page by page **(ours)**."""
_SELECTOR = ",".join(f'a[href$=".{ending}" i]' for ending in ("pdf", "docx", "xlsx"))
_MAX_TITLE_CHARS = 200


def document_links(page: Page) -> tuple[Link, ...]:
    """The files *page* links to by their ending, each URL once; their ``tag`` is ``document``."""
    links: dict[str, Link] = {}
    # Twice as many: some lead to one file, or to no file at all.
    for node in page.tree.css(_SELECTOR)[: 2 * MAX_DOCUMENTS]:
        attributes = node.attributes
        url = page.joiner.canonical((attributes.get("href") or "").strip())
        if url is None or url in links or not looks_like_document(url):
            continue
        links[url] = Link(
            url=url,
            key=url_key(url),
            host=canonical_host(url),
            tag=DOCUMENT_TAG,
            anchor=collapse(node.text()[: 2 * _MAX_TITLE_CHARS])[:_MAX_TITLE_CHARS],
            nofollow="nofollow" in (attributes.get("rel") or "").lower(),
        )
    return tuple(links.values())[:MAX_DOCUMENTS]
