"""An article as it is stored, and its parts; plain values, as :mod:`qiaocrawl.items`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from qiaocrawl.items.travelling import travelling

ARTICLE, DOCUMENT = "article", "document"
"""Kinds of articles: pages, and files such as PDF."""


class Comment(NamedTuple):
    """What a reader said of an article; ``author`` is "" and the time None where not plain."""

    author: str
    published_at: datetime | None
    text: str


@travelling
@dataclass(frozen=True, slots=True)
class Article:
    """Page attributes (Q7, E6). ``text`` is the body, a paragraph a line, no title line.

    ``html`` is the same with its structure; see :mod:`qiaocrawl.extract.structure.html`.
    ``engagement`` are counts by name; see :mod:`qiaocrawl.extract.fields.engagement`.
    ``modified_at`` is when its page says it was last changed.
    """

    url: str
    title: str
    text: str
    published_at: datetime | None = None
    author: str = ""
    source: str = ""
    channel: str = ""
    keywords: str = ""
    description: str = ""
    language: str = ""
    method: str = ""
    html: str = ""
    engagement: Mapping[str, int] = field(default_factory=dict)
    comments: tuple[Comment, ...] = ()
    kind: str = ARTICLE
    modified_at: datetime | None = None


class PartText(NamedTuple):
    """What the joined article takes from one of its parts; see :class:`Article`."""

    text: str
    html: str = ""


@travelling
@dataclass(frozen=True, slots=True)
class ArticlePart:
    """Where a page stands among the parts of a paged article.

    Attributes:
        number: of this part, from 1.
        urls: canonical URLs of all parts its pager names, in order; the first of them is the
            address of the whole article.
        reads_alone: whether this page alone would be taken for an article.
    """

    number: int
    urls: tuple[str, ...]
    reads_alone: bool = True
