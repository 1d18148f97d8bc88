"""The fields of an article (E6, Q7): each with where it came from and how sure it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timezone
from types import MappingProxyType

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.extraction import Field
from qiaocrawl.extract.fields.body_context import BodyContext, body_context, body_span
from qiaocrawl.extract.fields.declared import declared_by, host_written
from qiaocrawl.extract.fields.language import declared_region, language_field
from qiaocrawl.extract.fields.layout_title import is_by_layout, title_by_layout
from qiaocrawl.extract.fields.origin import channel_of, source_of
from qiaocrawl.extract.fields.people import people_of
from qiaocrawl.extract.fields.pictures import images_of
from qiaocrawl.extract.fields.published import dates_of
from qiaocrawl.extract.fields.title import title_of
from qiaocrawl.page.page import Page
from qiaocrawl.text.dates import SHANGHAI, DateReader, latest_plausible

_HAN = re.compile("[\u3400-\u9fff]")
_SAMPLE_BLOCKS = 6
_SAMPLE_CHARS = 150
_DAY_FIRST = (
    "uk", "au", "in", "ie", "nz", "za", "my", "sg", "hk", "eu", "de", "fr", "it", "es", "nl",
    "be", "ch", "at", "pt", "gr", "pl", "se", "no", "dk", "fi", "ru", "tr", "br", "ar", "mx",
    "ke", "ng", "gh", "tz", "pk", "bd", "lk", "np", "id", "th", "vn", "ae", "sa", "eg", "il",
)  # fmt: skip
"""Last labels of hosts whose countries write the day before the month."""
_DAY_FIRST_REGIONS = frozenset((*_DAY_FIRST, "gb"))
"""Likewise of languages: ``en-GB``, ``en_IN``."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a page tells about its article.

    Attributes:
        fields: every field found, by name: ``title``, ``published_at``, ``modified_at``
            (aware datetimes in the zone written or assumed), ``authors`` (tuple of names),
            ``editor``, ``source``, ``source_url``, ``channel``, ``keywords``,
            ``description``, ``language`` and ``images`` (tuple of (url, caption)).
    """

    fields: Mapping[str, Field]

    @property
    def title(self) -> str:
        """ "" when unknown."""
        return self._text("title")

    @property
    def published_at(self) -> datetime | None:
        """Aware, in the zone written on the page or assumed for it."""
        field = self.fields.get("published_at")
        return field.value if field is not None else None

    @property
    def modified_at(self) -> datetime | None:
        """When the page says it was last changed, aware; None where it does not say."""
        field = self.fields.get("modified_at")
        return field.value if field is not None else None

    @property
    def authors(self) -> tuple[str, ...]:
        """In the order of the page."""
        field = self.fields.get("authors")
        return field.value if field is not None else ()

    @property
    def author(self) -> str:
        """All authors on one line: with 、 between Chinese names, else with a comma."""
        separator = "、" if all(not name.isascii() for name in self.authors) else ", "
        return separator.join(self.authors)

    @property
    def source(self) -> str:
        """The medium the page names as its source; fillers (本站, 网络) do not count."""
        field = self.fields.get("source")
        return field.value if field is not None and field.confidence >= 0.3 else ""

    @property
    def channel(self) -> str:
        """The last part of the breadcrumb or the declared section."""
        return self._text("channel")

    @property
    def keywords(self) -> str:
        """As declared."""
        return self._text("keywords")

    @property
    def description(self) -> str:
        """As declared."""
        return self._text("description")

    def _text(self, name: str) -> str:
        field = self.fields.get(name)
        return field.value if field is not None else ""


def metadata_of(
    page: Page,
    body: Body | None = None,
    now: datetime | None = None,
    site_names: frozenset[str] = frozenset(),
) -> Metadata:
    """All fields of *page*.

    Args:
        body: what an extractor took; None or one without blocks is located by its text.
        now: when the page was fetched, aware; bounds plausible dates and gives relative ones
            (3小时前) their meaning; without it relative dates are not read.
        site_names: what the site repeats in its titles, lower case, from other pages of it.
    """
    fields: dict[str, Field] = {}
    span = body_span(page, body)
    declared = declared_by(page, site_names)
    heading = title_by_layout(page) if is_by_layout() else None
    heading = heading or title_of(page, span[0], declared)
    if heading is not None:
        fields["title"] = heading
    title = heading.value if heading is not None else ""
    context = body_context(page, span, title)
    language = language_field(page, _sample(context, title))
    if language is not None:
        fields["language"] = language
    written = language.value if language is not None else ""
    fields.update(dates_of(page, context, declared, _reader(page, written, now)))
    # A Chinese page may hold little but code, or quote English.
    is_chinese = written.startswith("zh") or _HAN.search(title) is not None
    fields.update(people_of(page, context, declared, is_chinese))
    fields.update(source_of(page, context, declared))
    channel = channel_of(page, context, declared, title)
    if channel is not None:
        fields["channel"] = channel
    images = images_of(page, context)
    if images is not None:
        fields["images"] = images
    fields.update(_declared(page))
    return Metadata(MappingProxyType(fields))


def _declared(page: Page) -> dict[str, Field]:
    fields = {}
    for name, keys in (
        ("keywords", ("keywords", "news_keywords")),
        ("description", ("description", "og:description", "twitter:description")),
    ):
        key = next((key for key in keys if page.meta.get(key)), "")
        if key:
            fields[name] = Field(page.meta[key], f"meta {key}", 0.9)
    return fields


def _sample(context: BodyContext, title: str) -> str:
    """Text to tell the language by: of the body, or of the page where there is none."""
    first = max(0, context.first)
    blocks = context.blocks[first : first + _SAMPLE_BLOCKS]
    return " ".join([title, *(block.text[:_SAMPLE_CHARS] for block in blocks)])


def _reader(page: Page, language: str, now: datetime | None) -> DateReader:
    country = page.once(host_written).rpartition(".")[2]
    zone: timezone = SHANGHAI if language.startswith("zh") else UTC
    return DateReader(
        latest=latest_plausible(now),
        zone=zone,
        day_first=country in _DAY_FIRST or declared_region(page) in _DAY_FIRST_REGIONS,
        republic=country == "tw" or language == "zh-Hant",
        now=now,
    )
