"""The words for fields of an article: their names, their values, and where they were read.

Extractors name it in English codes (``meta og:title``, ``text near the title: 记者``), which
exports and tests have as they are; a screen shows :func:`shown_origin`.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from qiaocrawl.extract.api import LIMITS
from qiaocrawl.extract.extraction import PageKind
from qiaocrawl.extract.fields.metadata import IN_THE_BODY
from qiaocrawl.language import N_, _
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.text.zones import china_time

_NAMES = {
    "<title>": N_("title of the window"),
    "breadcrumb": N_("path to the page"),
    "breadcrumb element": N_("path to the page"),
    "first post": N_("first post"),
    "html lang": N_("language that the page declares"),
    IN_THE_BODY: N_("picture in the text"),
    "layout above the text": N_("line above the text, by its place"),
    "letters of the text": N_("letters of the text"),
    "line by its looks": N_("line that looks like it"),
    "line confirmed by <title>": N_("line that is the title of the window too"),
    "line like <title>": N_("line like the title of the window"),
    "line near the title": N_("line near the title"),
    "links in the body": N_("links in the text"),
    "marked as author": N_("marked as author"),
    "microdata": N_("microdata"),
    "name of the account": N_("name of the account"),
    "parser": N_("reading of the page"),
    "script date": N_("date in a script"),
    "signed at the end": N_("signed at the end"),
    "time element": N_("element for a time"),
    "url date": N_("date in the address"),
    "above the title": N_("above the title"),
    "at the end": N_("at the end"),
    "below the body": N_("below the text"),
    "beside the date": N_("beside the date"),
    "in the title": N_("in the title"),
    "in two lines": N_("in two lines"),
    "near the title": N_("near the title"),
    "by place": N_("by its place in the line"),
    "by": N_("behind “by”"),
    "By": N_("behind “by”"),
}
# What follows is a name for the first ones, and read in its turn for the others.
_OF_NAMES = (
    ("meta ", N_("meta data {name}")),
    ("json-ld ", N_("JSON-LD {name}")),
    ("class ", N_("element called {name}")),
    ("template ", N_("template {name}")),
)
_OF_ORIGINS = (
    ("link of ", N_("link at: {place}")),
    ("updated ", N_("“updated”, {place}")),
    ("text ", N_("text {place}")),
)
_HEADING = re.compile(r"h[1-6]")
# A label that stands before the value, and where: 来源 above the title.
_LABELLED = re.compile(r"(\S*[^\x00-\x7f]\S*) (.+)")


def shown_origin(origin: str) -> str:
    """*origin* in words; what is not known here is shown as it is."""
    head, _colon, label = origin.partition(": ")
    place = _origin_part(head)
    if not place:
        return shown_reason(origin)
    return (
        _("{place}: {label}", place=place, label=_origin_part(label) or label) if label else place
    )


def _origin_part(text: str) -> str:
    """A part of an origin in words; "" for one that is not known."""
    if text in _NAMES:
        return _(_NAMES[text])
    if _HEADING.fullmatch(text):
        return _("heading {name}", name=text)
    for prefix, message in _OF_NAMES:
        if text.startswith(prefix):
            return _(message, name=text.removeprefix(prefix))
    for prefix, message in _OF_ORIGINS:
        if text.startswith(prefix):
            rest = text.removeprefix(prefix)
            return _(message, place=_origin_part(rest) or rest)
    labelled = _LABELLED.fullmatch(text)
    if labelled is None:
        return ""
    return _("{place}: {label}", place=_origin_part(labelled[2]) or labelled[2], label=labelled[1])


# --- What people call the fields of an article, and a field's value as they write it --------------

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
    "attachments": N_("attachments"),
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
