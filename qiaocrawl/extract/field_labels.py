"""What people call the fields of an article, and a field's value as they write it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from qiaocrawl.extract.api import LIMITS
from qiaocrawl.extract.extraction import PageKind
from qiaocrawl.language import N_, _
from qiaocrawl.text.zones import china_time

KIND_LABELS = {
    PageKind.ARTICLE: N_("article"),
    PageKind.LIST: N_("list page"),
    PageKind.HOME: N_("home page"),
    PageKind.TAG: N_("tag page"),
    PageKind.CATEGORY: N_("category page"),
    PageKind.ARCHIVE: N_("archive page"),
    PageKind.SEARCH: N_("search page"),
    PageKind.ABOUT: N_("about page"),
    PageKind.QUESTION: N_("questions and answers"),
    PageKind.GALLERY: N_("gallery"),
    PageKind.VIDEO: N_("video"),
    PageKind.PRODUCT: N_("product"),
    PageKind.LOGIN: N_("login page"),
    PageKind.ERROR: N_("error page"),
    PageKind.FORUM: N_("forum thread"),
    PageKind.OTHER: N_("other"),
}
FIELD_LABELS = {
    "title": N_("title"),
    "published_at": N_("published"),
    "modified_at": N_("modified"),
    "authors": N_("author"),
    "source": N_("source"),
    "source_url": N_("link to the source"),
    "editor": N_("editor"),
    "channel": N_("channel"),
    "keywords": N_("keywords"),
    "description": N_("summary"),
    "language": N_("language"),
    "images": N_("pictures"),
    "main_links": N_("links in the text"),
    "page_kind": N_("page kind"),
    LIMITS: N_("may be missing"),
}
"""Names of the fields for people; a field that is not here shows its own."""


def field_text(value: Any) -> str:
    """A field's value on one line, as people write it."""
    if isinstance(value, datetime):
        return china_time(value, "%Y-%m-%d %H:%M:%S")
    if isinstance(value, PageKind):
        return _(KIND_LABELS[value])
    if isinstance(value, tuple):
        return _("; ").join(field_text(part) for part in value)
    return " ".join(str(value).split())
