"""The fields of an article (E6, Q7): each with where it came from and how sure it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timezone
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.block_texts import BlockTexts
from qiaocrawl.extract.extraction import Field
from qiaocrawl.extract.fields.body_context import BodyContext, body_context, body_span
from qiaocrawl.extract.fields.declared import declared_by, host_written
from qiaocrawl.extract.fields.origin import channel_of, source_of
from qiaocrawl.extract.fields.others import Others
from qiaocrawl.extract.fields.people import people_of
from qiaocrawl.extract.fields.published import dates_of
from qiaocrawl.extract.fields.title import title_of
from qiaocrawl.extract.published.layout_title import is_by_layout, title_by_layout
from qiaocrawl.page.blocks import Element
from qiaocrawl.page.page import Page
from qiaocrawl.text.dates import SHANGHAI, DateReader, latest_plausible
from qiaocrawl.text.normalise import HAN, collapse, to_simplified

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

# --- Language and script of a text or a page ------------------------------------------------------

_LANGUAGE_SAMPLE_CHARS = 500
_HAN_LETTERS = re.compile("[\u4e00-\u9fff]+")
_LATIN = re.compile("[A-Za-z]+")
_KANA_OR_HANGUL = re.compile("[\u3040-\u30ff\uac00-\ud7af]")
_HANGUL_BEGIN = "\uac00"
_ENGLISH = frozenset(
    (
        "the",
        "of",
        "and",
        "to",
        "a",
        "in",
        "is",
        "that",
        "for",
        "it",
        "on",
        "with",
        "as",
        "was",
        "at",
        "by",
        "be",
        "are",
    )
)
_TELLING_WORDS = 25
_DECLARED = re.compile(r"[a-z]{2,3}(?:-[a-z]{4})?(?:-[a-z]{2})?$", re.IGNORECASE)


def language_of(text: str) -> str:
    """``zh-Hans``, ``zh-Hant``, ``ja``, ``ko``, ``en`` or "" by the first 500 characters.

    Text in Latin letters is English if one word in twenty is one English needs; other
    languages need a page's own word, see :func:`language_field`.
    """
    sample = text[:_LANGUAGE_SAMPLE_CHARS]
    if sample.isascii():
        return "en" if _count(_LATIN, sample) > 20 and _may_be_english(sample) else ""
    han, latin = _count(_HAN_LETTERS, sample), _count(_LATIN, sample)
    non_han = _KANA_OR_HANGUL.findall(sample)
    hangul = sum([letter >= _HANGUL_BEGIN for letter in non_han])
    kana = len(non_han) - hangul
    if kana * 5 > han + kana:
        return "ja"
    if hangul * 2 > han + latin + hangul:
        return "ko"
    if han * 4 >= latin and han:
        traditional = len(_traditional().findall(sample))
        return "zh-Hant" if traditional * 20 > han else "zh-Hans"
    return "en" if latin > 20 and _may_be_english(sample) else ""


def _count(runs: re.Pattern[str], sample: str) -> int:
    """Characters in *runs* of *sample*."""
    return len("".join(runs.findall(sample)))


@cache
def _traditional() -> re.Pattern[str]:
    """The characters that have a simplified form of their own (OpenCC's ``t2s``)."""
    letters = [chr(code) for code in range(0x4E00, 0xA000)]
    simplified = to_simplified("\n".join(letters)).split("\n")
    changed = [letter for letter, other in zip(letters, simplified, strict=True) if letter != other]
    return re.compile(f"[{''.join(changed)}]")


def _may_be_english(sample: str) -> bool:
    """Whether *sample* has the words English text cannot do without, or is too short to tell."""
    words = sample.lower().split()
    return len(words) < _TELLING_WORDS or 20 * sum(w in _ENGLISH for w in words) > len(words)


def language_field(page: Page, text: str) -> Field | None:
    """The language of *text*, or what the page declares when its letters leave that open."""
    seen = language_of(text)
    declared = _declared_language(page)
    if not seen:
        is_latin = declared and declared not in ("zh", "ja", "ko", "en")
        return Field(declared, "html lang", 0.7) if is_latin else None
    agrees = bool(declared) and declared[:2] == seen[:2]
    return Field(seen, "letters of the text", 0.97 if agrees else 0.9)


def _declared_language(page: Page) -> str:
    """The language of ``<html lang>`` or the meta tags, without its region; "" if none."""
    return next(_tags_declared(page), "").split("-")[0].lower()


def declared_region(page: Page) -> str:
    """The country in ``<html lang>`` or the meta tags (``gb`` of en-GB), lower case; "" if none."""
    regions = (tag.rpartition("-")[2].lower() for tag in _tags_declared(page) if "-" in tag)
    return next((region for region in regions if len(region) == 2), "")


def _tags_declared(page: Page) -> Iterator[str]:
    root = page.tree.root
    attributes = root.attributes if root is not None else {}
    for written in (
        attributes.get("lang"),
        attributes.get("xml:lang"),
        page.meta.get("content-language"),
        page.meta.get("og:locale"),
    ):
        tag = (written or "").strip().replace("_", "-")
        if _DECLARED.match(tag):
            yield tag


# --- The pictures of an article with their captions -----------------------------------------------

_SOURCES = (
    *("data-original", "data-src", "data-lazy-src", "original-src", "zoomfile", "file"),
    *("data-actualsrc", "data-lazyload", "data-lazy", "data-echo", "_src", "src"),
)
"""Attributes with the picture's address; pages that load late keep it beside a placeholder.
``file`` and ``zoomfile`` are those of Discuz!."""
_SOURCE_SETS = ("data-srcset", "data-lazy-srcset", "srcset")
_SOURCE_IN_SET = re.compile(r"([^\s,]\S*[^\s,])(?:\s+([\d.]{1,8})[wx])?\s*(?:,|$)")
_PICTURE_FILE = re.compile(
    r"^[^\s{}\"]{1,500}\.(?:jpe?g|png|webp|avif|gif|bmp)(?:[?!@][^\s]{0,200})?$", re.I
)
_UNSEEN_PICTURE = re.compile(r"<noscript[^<>]{0,200}>\s{0,100}<(?:img|picture)\b")
# In lower case, with a slash before the address; each branch begins with one of four marks.
_DECORATION = re.compile(
    r"[/_.-](?:(?<=^/)data:|(?<=/)icons?/|(?<=/)none\.gif|(?<=[/_-])(?:icon|logo|blank|spacer|pixel|loading|placeholder|transparent|avatar|"
    r"qrcode|erweima|share|btn|button|arrow|emoji|1x1|gr[ae]y)[\w-]*\.\w+|"
    r"(?<=\.)(?:gif\?|svg(?:$|\?)))"
)
_CAPTION_NAMES = re.compile(r"caption|tushuo|imgtxt|pic_?txt|img_?desc|pictext")
_CAPTION_MARK = re.compile(
    r"^[▲△▼↑↓◎●]|^(?:图|圖)(?:为|為|[：:]|\d|源)|(?:摄|攝|供图|供圖|资料图)[）)]?$"
)
IN_THE_BODY = "img in the body"
"""The origin of pictures that stand inside the article."""
_LEAST_SIDE_PX = 90
_MAX_PICTURES = 100
_MAX_CAPTION_CHARS = 200
_LEAD_BLOCKS = 6


def images_of(page: Page, context: BodyContext) -> Field | None:
    """(url, caption) of the pictures inside the article; og:image where it shows none."""
    captions: dict[str, str] = {}
    elements = page.blocks.elements
    if context.first >= 0:
        texts = page.once(BlockTexts)
        begin = texts.elements_until(max(context.title_at, context.first - _LEAD_BLOCKS, 0) - 1)
        end = texts.elements_until(context.last + 1)
        unseen = _unseen_pictures(page)
        behind = {node.mem_id for nodes in unseen.values() for node in nodes}
        for element in elements[begin:end]:
            if len(captions) >= _MAX_PICTURES:
                break
            if element.images:
                nodes = element.node.css("img")
                if unseen:
                    nodes = [node for node in nodes if node.mem_id not in behind]
                _collect(page, context, element, nodes[: element.images], captions)
            elif unseen and element.node.mem_id in unseen:
                _collect(page, context, element, unseen[element.node.mem_id], captions)
    if captions:
        return Field(tuple(captions.items()), IN_THE_BODY, 0.8)
    written = page.meta.get("og:image", "")
    declared = page.joiner.canonical(written) if written else None
    return Field(((declared, ""),), "meta og:image", 0.5) if declared else None


def _unseen_pictures(page: Page) -> dict[int, list[LexborNode]]:
    """Pictures for browsers without scripts, by the ``mem_id`` of what holds the ``<noscript>``."""
    found: dict[int, list[LexborNode]] = {}
    source, at = page.source, page.source.find("<noscript")
    while at >= 0 and not _UNSEEN_PICTURE.match(source, at):
        at = source.find("<noscript", at + 1)
    if at >= 0:
        for node in page.tree.css("noscript img"):
            around = node.parent
            while around is not None and around.tag != "noscript":
                around = around.parent
            if around is not None and around.parent is not None:
                found.setdefault(around.parent.mem_id, []).append(node)
    return found


def _collect(
    page: Page,
    context: BodyContext,
    element: Element,
    nodes: Sequence[LexborNode],
    captions: dict[str, str],
) -> None:
    for node in nodes:
        url = picture_url(page, node)
        if url and url not in captions:
            alt = (node.attributes.get("alt") or "")[: 2 * _MAX_CAPTION_CHARS]
            captions[url] = _caption(page, context, element) or collapse(alt)[:_MAX_CAPTION_CHARS]


def picture_url(page: Page, node: LexborNode) -> str | None:
    """The address of the picture of an ``<img>``; None for furniture and small ones."""
    attributes = node.attributes
    if _is_small(attributes):
        return None
    source = next((found for found in _addresses(node, attributes) if _is_picture(found)), "")
    return page.joiner.canonical(source) if source else None


def _is_picture(source: str) -> bool:
    return bool(source) and not _DECORATION.search(f"/{source.lower()}")


def _addresses(node: LexborNode, attributes: dict[str, str | None]) -> Iterator[str]:
    """The addresses an ``<img>`` may have, its own first, then those beside it."""
    for name in _SOURCES:
        if source := attributes.get(name):
            yield source
    yield _largest_source(attributes)
    around = node.parent
    if around is not None and around.tag == "picture":
        for variant in around.css("source"):
            yield _largest_source(variant.attributes)
    for beside in _beside(node):
        unseen = beside.css_first("img") if beside.tag == "noscript" else None
        if unseen is not None:
            yield from (unseen.attributes.get(name) or "" for name in _SOURCES)
    for name, value in attributes.items():
        if value and name not in ("alt", "title") and _PICTURE_FILE.match(value):
            yield value


def _beside(node: LexborNode) -> Iterator[LexborNode]:
    """The elements just behind and just before *node*."""
    after, before = node.next, node.prev
    if after is not None and after.is_text_node:
        after = after.next
    if before is not None and before.is_text_node:
        before = before.prev
    yield from (element for element in (after, before) if element is not None)


def _largest_source(attributes: dict[str, str | None]) -> str:
    """The widest picture of a ``srcset``, "" where there is none."""
    written = next((attributes[name] for name in _SOURCE_SETS if attributes.get(name)), "") or ""
    sources = [
        (float(f"0{width}"), url)
        for url, width in _SOURCE_IN_SET.findall(written[:8000])
        if width.count(".") < 2
    ]
    return max(sources, key=lambda source: source[0])[1] if sources else ""


def _is_small(attributes: dict[str, str | None]) -> bool:
    for name in ("width", "height"):
        value = (attributes.get(name) or "").rstrip("px")
        if value.isascii() and value.isdigit() and int(value[:6]) < _LEAST_SIDE_PX:
            return True
    return False


def _caption(page: Page, context: BodyContext, element: Element) -> str:
    """The text of the figure around the picture, or the short line below it that says so."""
    elements = page.blocks.elements
    figure = element
    for _ in range(3):
        if figure.tag == "figure" or figure.parent < 0:
            break
        figure = elements[figure.parent]
    if figure.tag == "figure" and 0 < figure.end - figure.first <= 4:
        text = " ".join(b.text for b in context.blocks[figure.first : figure.end])
        return text[:_MAX_CAPTION_CHARS]
    for at in range(element.first, min(element.first + 2, len(context.blocks))):
        block = context.blocks[at]
        names = elements[block.element].names
        if len(block.text) > _MAX_CAPTION_CHARS:
            break
        if _CAPTION_NAMES.search(names) or _CAPTION_MARK.search(block.text):
            return block.text
    return ""


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
    others = Others(page, context)
    fields.update(dates_of(page, context, declared, others, _reader(page, written, now)))
    # A Chinese page may hold little but code, or quote English.
    is_chinese = written.startswith("zh") or HAN.search(title) is not None
    fields.update(people_of(page, context, declared, others, is_chinese))
    fields.update(source_of(page, context, declared))
    channel = channel_of(page, context, declared, title)
    if channel is not None:
        fields["channel"] = channel
    images = images_of(page, context)
    if images is not None:
        fields["images"] = images
    fields.update(_declared_fields(page))
    return Metadata(MappingProxyType(fields))


def _declared_fields(page: Page) -> dict[str, Field]:
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


# --- The links inside an article, as against those around it (T5) ---------------------------------

MAX_MAIN_LINKS = 200
_MAX_ANCHOR_CHARS = 200


def main_links_of(page: Page, body: Body | None) -> tuple[tuple[str, str], ...]:
    """(URL, anchor) of the links inside the blocks of *body*, each URL once, in order.

    Not asked for in a crawl, which reads all links of a page anyway.
    """
    first, last = body_span(page, body)
    if first < 0:
        return ()
    indexes = body.blocks if body is not None and body.blocks else range(first, last + 1)
    blocks, elements = page.blocks.blocks, page.blocks.elements
    anchors: dict[str, str] = {}
    for index in dict.fromkeys(blocks[at].element for at in indexes if blocks[at].links):
        element = elements[index]
        if element.first < first or element.end > last + 1:
            continue  # it holds more than the article
        for node in element.node.css("a[href]")[:MAX_MAIN_LINKS]:
            url = page.joiner.canonical(node.attributes.get("href") or "")
            if url and len(anchors) < MAX_MAIN_LINKS:
                anchors.setdefault(url, collapse(node.text()[:_MAX_ANCHOR_CHARS]))
    return tuple(anchors.items())
