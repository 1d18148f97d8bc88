"""What :func:`qiaocrawl.extract.api.extract_article` returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from qiaocrawl.extract.structure.markdown import to_markdown
from qiaocrawl.items.article import Comment


class PageKind(StrEnum):
    """What a page is for its reader."""

    ARTICLE = "article"
    LIST = "list"
    HOME = "home"
    TAG = "tag"
    CATEGORY = "category"
    ARCHIVE = "archive"
    SEARCH = "search"
    ABOUT = "about"
    FORUM = "forum"
    QUESTION = "question"
    GALLERY = "gallery"
    VIDEO = "video"
    PRODUCT = "product"
    LOGIN = "login"
    ERROR = "error"
    OTHER = "other"

    @property
    def is_index(self) -> bool:
        """Whether it leads to other pages and tells nothing of its own."""
        return self in _INDEXES


_INDEXES = frozenset(
    (
        PageKind.LIST,
        PageKind.HOME,
        PageKind.TAG,
        PageKind.CATEGORY,
        PageKind.ARCHIVE,
        PageKind.SEARCH,
    )
)


class Field(NamedTuple):
    """One field of an article.

    Attributes:
        value: text, an aware datetime, or a tuple of texts, by the field.
        origin: where it came from, such as ``meta article:published_time`` or ``text 来源``.
        confidence: how sure it is, in [0, 1].
    """

    value: Any
    origin: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Extraction:
    """An article as read from one page.

    Attributes:
        text: the body, paragraphs joined by newlines, without the title line; "" when the
            page has none.
        title: "" when unknown.
        published_at: aware, or None.
        authors: in the order of the page.
        source: the medium the page names as its source, "" when it names none.
        page_kind: what the page is.
        confidence: of the body, in [0, 1].
        method: name of the body extractor.
        fields: every field found, by name: ``title``, ``published_at``, ``modified_at``,
            ``authors``, ``source``, ``source_url``, ``editor``, ``channel``, ``keywords``,
            ``description``, ``language``, ``images``, ``main_links``, ``attachments`` and others;
            absent when not found.
        html: the body with its structure: headings, lists, tables, quotes, code, links and
            pictures, a top-level element a line. Only a fixed list of elements and attributes;
            links are absolute and http, https or mailto: nothing in it is active.
        engagement: how often it was read, commented on and so on, by name: ``reads``,
            ``comments``, ``likes``, ``shares``, ``favorites``; absent where the page is silent.
        comments: of readers, as far as they are on the page; never part of the text.
    """

    text: str = ""
    title: str = ""
    published_at: datetime | None = None
    authors: tuple[str, ...] = ()
    source: str = ""
    page_kind: PageKind = PageKind.OTHER
    confidence: float = 0.0
    method: str = ""
    fields: Mapping[str, Field] = field(default_factory=dict)
    html: str = ""
    engagement: Mapping[str, int] = field(default_factory=dict)
    comments: tuple[Comment, ...] = ()

    @property
    def markdown(self) -> str:
        """The body with its structure, as Markdown; made when it is asked for."""
        return to_markdown(self.html)

    @property
    def modified_at(self) -> datetime | None:
        """When the page says it was last changed, aware; None where it does not say."""
        changed = self.fields.get("modified_at")
        return changed.value if changed is not None else None
