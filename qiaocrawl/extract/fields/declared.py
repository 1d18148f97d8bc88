"""What a page declares about its article: JSON-LD objects, the people and names in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import Any
from urllib.parse import urlsplit

from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import collapse

_ARTICLE_TYPE = re.compile(
    r"article|posting|report(?!er)|recipe|review|advertisement|question|qapage|creativework|"
    r"livestream|podcastepisode|aboutpage$",
    re.IGNORECASE,
)
_NO_LETTER = re.compile(r"[\W_]+")
_DATED = frozenset(("datePublished", "headline"))
_MAX_NESTED = 64
_MAX_PEOPLE = 20
MAX_TEXT_CHARS = 1000
"""Of longer declared texts only so much is read."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What a page says about itself outside its text.

    Attributes:
        articles: see :func:`articles_declared`.
        names: see :func:`site_names`.
        labels: see :func:`site_labels`.
    """

    articles: list[dict[str, Any]]
    names: frozenset[str]
    labels: frozenset[str]

    def is_site(self, text: str) -> bool:
        """Whether *text* is a name of the site, or its host's word, or that with ``the``."""
        lower = text.lower().strip()
        if lower in self.names:
            return True
        # The words of a host are of ASCII, but for hosts written in other letters.
        tight = _NO_LETTER.sub("", lower)
        return tight in self.labels or (tight[:3] == "the" and tight[3:] in self.labels)


def declared_by(page: Page, known_names: frozenset[str] = frozenset()) -> Declared:
    """What *page* declares; *known_names* are further names of its site, lower case."""
    names = site_names(page) | known_names
    return Declared(articles_declared(page), names, site_labels(page.once(host_written)))


def articles_declared(page: Page) -> list[dict[str, Any]]:
    """JSON-LD objects of an article's type first, then others with a publish date or a headline.

    Objects one level inside ``mainEntity`` and ``mainEntityOfPage`` count too.
    """
    objects = page.json_ld
    if not objects:
        return []
    nested = [
        inner
        for item in objects
        for name in ("mainEntity", "mainEntityOfPage", "review")
        if isinstance(inner := item.get(name), dict) and len(inner) > 2
    ]
    objects = [*objects, *nested[:_MAX_NESTED]]
    articles = [item for item in objects if _ARTICLE_TYPE.search(_types(item))]
    dated = [item for item in objects if item not in articles and not _DATED.isdisjoint(item)]
    return articles + dated


def text_declared(items: list[dict[str, Any]], *names: str) -> str:
    """The first text under one of *names* in *items*, or ""; of an object, its name."""
    for item in items:
        for name in names:
            value = first_text(item.get(name))
            if value:
                return value
    return ""


def first_text(value: Any) -> str:
    """*value* if it is a text, its first element, or its name; "" otherwise."""
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("name", "")
    if isinstance(value, list):
        value = value[0] if value else ""
    if not isinstance(value, str):
        return ""
    # Templates put texts that were escaped for HTML into JSON.
    value = value[:MAX_TEXT_CHARS].strip()
    return unescape(value) if "&" in value else value


def people_declared(page: Page, item: dict[str, Any], name: str) -> list[tuple[str, bool]]:
    """(name, is an organisation) of all authors or editors under *name* of *item*.

    ``{"@id": …}`` is looked up among the page's other objects.
    """
    people = []
    for value in _each(item.get(name)):
        if isinstance(value, dict) and "name" not in value and "@id" in value:
            value = next((o for o in page.json_ld if _same_object(o, value["@id"])), value)
        if isinstance(value, dict):
            is_organisation = "organization" in _types(value).lower()
            people += [
                (text, is_organisation) for text in map(first_text, _each(value.get("name")))
            ]
        elif isinstance(value, str):
            people.append((first_text(value), False))
    return [(collapse(text), flag) for text, flag in people if text.strip()][:_MAX_PEOPLE]


def site_names(page: Page) -> frozenset[str]:
    """What the page calls its site, lower case: og:site_name, publishers, WebSite objects."""
    meta = page.meta
    names = [
        meta.get(key, "")
        for key in ("og:site_name", "application-name", "author:site", "apple-mobile-web-app-title",
                    "twitter:site", "copyright", "publisher", "dc.publisher", "sitename")
    ]  # fmt: skip
    for item in page.json_ld:
        names.append(first_text(item.get("publisher")))
        if re.search("WebSite|Organization", _types(item)):
            names += [first_text(item.get("name")), first_text(item.get("alternateName"))]
    return frozenset(collapse(name).lower().lstrip("@") for name in names if name)


def host_written(page: Page) -> str:
    """The host of the page's URL, lower case; "" if it has none. For ``page.once``."""
    try:
        return urlsplit(page.url).hostname or ""
    except ValueError:
        return ""


# The pages of a site come together.
@lru_cache(maxsize=1024)
def site_labels(host: str) -> frozenset[str]:
    """The words of *host* that may be a site's name, lower case."""
    labels = {label for part in host.split(".") for label in (part, part.replace("-", ""))}
    return frozenset([label for label in labels if len(label) > 3])


def _same_object(item: dict[str, Any], identity: Any) -> bool:
    return item.get("@id") == identity and "name" in item


def _types(item: dict[str, Any]) -> str:
    return " ".join(kind for kind in _each(item.get("@type")) if isinstance(kind, str))


def _each(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        yield from value
    elif value is not None:
        yield value
