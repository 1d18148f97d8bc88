"""``template``: the regions of a site as its operator describes them (E2), or shows them on a page.

The format of the descriptions is in :mod:`qiaocrawl.extract.methods.template_file`. Pages of a site
without one, and pages whose regions are not there, are read by the general method
:data:`FALLBACK`, and ``Body.reason`` says so.

CSS regions are looked up in the page's one tree. Where a template uses XPath, which that tree
does not know, the page is parsed a second time by lxml, which builds a slightly other tree;
pages of other templates are not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from lxml import etree
from parsel import Selector as Document
from parsel import SelectorList
from selectolax.lexbor import LexborHTMLParser

from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.base import LOST_BODY, Body, Extractor, extractor_for, extractors
from qiaocrawl.extract.extraction import Field
from qiaocrawl.extract.methods.template_file import Selector, Template, Templates, load_templates
from qiaocrawl.language import _
from qiaocrawl.page.blocks import MAX_BLOCKS, Element, blocks_of
from qiaocrawl.page.links import LINK_SELECTOR
from qiaocrawl.page.page import Page
from qiaocrawl.text.dates import DateReader, latest_plausible
from qiaocrawl.text.normalise import NOT_XML, collapse
from qiaocrawl.urls import UrlJoiner

if TYPE_CHECKING:
    from datetime import datetime

    from selectolax.lexbor import LexborNode

    from qiaocrawl.items import Link

_MAX_EXCLUDED = 2_000
"""Elements one selector takes out at most: each may copy the text behind it."""
FALLBACK = "blend"
"""The general method, by its name in the registry."""
CONFIDENCE = 0.95
"""Of what a template finds: somebody looked it up, but sites change."""
_LINKS_XPATH = "descendant-or-self::*[self::a or self::area or self::frame or self::iframe]"
_LABEL = re.compile(r"^[^:：]{1,6}[:：]\s*")
# In a line of several things (2026-11-10 来源：侨报 作者：张三), what is behind its label.
_AUTHOR = re.compile(r"(?:作者|记者|撰文|撰稿)\s*[:：]\s*(\S+)")
_SOURCE = re.compile(r"(?:来源|稿源|出处)\s*[:：]\s*(\S+)")
_BETWEEN_NAMES = re.compile(r"\s*[、,，;；/|]\s*|\s{2,}")


@dataclass(frozen=True, slots=True)
class TemplateExtractor:
    """The method with the templates of an operator; none as it is registered.

    Attributes:
        templates: by host.
        fallback: reads pages without a template; None for FALLBACK with its defaults.
    """

    option_names: ClassVar[tuple[str, ...]] = ("QIAO_TEMPLATES",)

    templates: Templates = field(default_factory=Templates)
    fallback: Extractor | None = None

    def with_options(self, options: Mapping[str, Any]) -> TemplateExtractor:
        """The same method with the templates at ``QIAO_TEMPLATES`` ("" for none).

        Raises:
            ConfigError: they cannot be read or have faults.
        """
        place = options["QIAO_TEMPLATES"]
        templates = load_templates(place) if place else Templates()
        return TemplateExtractor(templates, extractor_for(FALLBACK, options))

    def body(self, page: Page) -> Body:
        """The regions of the body without what the template excludes."""
        template = self.template_of(page)
        if template is None:
            return self._general(page, f"no template for {page.url or 'a page without URL'}")
        if not template.body:
            return self._general(page, "the template has no body region")
        body = _Reading(page, template).body()
        if not body.text:
            return self._general(page, LOST_BODY)
        return body

    def names_body(self, page: Page) -> bool:
        """Whether there is a template for *page* that says where its body stands."""
        template = self.template_of(page)
        return template is not None and bool(template.body)

    def own_body(self, page: Page) -> Body | None:
        """The body by the template alone; None where it names none, or none is on the page."""
        template = self.template_of(page)
        if template is None or not template.body:
            return None
        body = _Reading(page, template).body()
        return body if body.text else None

    def fields(self, page: Page, now: datetime | None = None) -> dict[str, Field]:
        """What the template's regions of fields hold: ``title``, ``published_at``, ``authors``
        and ``source``, each only when found. Names of labels (作者：) are cut off **(ours)**.

        Args:
            now: when the page was fetched, aware; later dates are none.
        """
        template = self.template_of(page)
        return _Reading(page, template).fields(now) if template is not None else {}

    def links(self, page: Page, links: Sequence[Link]) -> tuple[Link, ...]:
        """Those of *links* that stand in the template's regions; all without such a region."""
        template = self.template_of(page)
        if template is None or not template.links:
            return tuple(links)
        return links_in(page, template, links)

    def template_of(self, page: Page) -> Template | None:
        """The template for *page*, by its URL."""
        return self.templates.find_for(page.url) if len(self.templates) else None

    def _general(self, page: Page, why: str) -> Body:
        general = self.fallback or extractors.get(FALLBACK)
        body = general.body(page)
        return replace(body, reason=f"{why}; {FALLBACK}: {body.reason}")


def links_in(page: Page, template: Template, links: Sequence[Link]) -> tuple[Link, ...]:
    """Those of *links* (all of *page*) that stand in the link regions of *template*.

    Their ``region`` is what the template says they lead to, where it does.
    """
    joiner = UrlJoiner(page.base_url, page.charset)
    kinds: dict[str, str] = {}
    for kind, href in _Reading(page, template).hrefs():
        url = joiner.canonical(href.strip())
        if url is not None:
            kinds.setdefault(url, kind)
    inside = [link for link in links if link.url in kinds]
    return tuple(replace(link, region=kinds[link.url] or link.region) for link in inside)


class _Reading:
    """One page read by one template."""

    def __init__(self, page: Page, template: Template) -> None:
        self._page = page
        self._template = template

    @cached_property
    def _document(self) -> Document:
        """The page as XPath sees it."""
        return Document(text=NOT_XML.sub("", self._page.source), type="html")

    def body(self) -> Body:
        if self._template.body[0].is_xpath:
            lines = self._xpath_lines()
            return Body("\n".join(lines), CONFIDENCE, f"template, {len(lines)} lines by XPath")
        return self._css_body()

    def fields(self, now: datetime | None) -> dict[str, Field]:
        template = self._template
        fields: dict[str, Field] = {}
        if title := self._first(template.title):
            fields["title"] = _field(*title)
        if date := self._first(template.date):
            # The clock may be written after words: all of the region is read.
            dates = DateReader(latest_plausible(now)).sure(date[0])
            if dates:
                fields["published_at"] = _field(dates[0].moment, date[1])
        if author := self._first(template.author):
            names = _BETWEEN_NAMES.split(_behind_label(_AUTHOR, author[0]))
            fields["authors"] = _field(tuple(name for name in names if name), author[1])
        if source := self._first(template.source):
            fields["source"] = _field(_behind_label(_SOURCE, source[0]), source[1])
        return {name: one for name, one in fields.items() if one.value}

    def hrefs(self) -> list[tuple[str, str]]:
        """What the regions of links lead to and the links inside them, as written."""
        return [
            (kind, href)
            for kind, selectors in self._template.links.items()
            for selector in selectors
            for href in self._hrefs_in(selector)
            if href
        ]

    def _hrefs_in(self, selector: Selector) -> list[str | None]:
        if selector.is_xpath:
            path = f"({selector.path})/{_LINKS_XPATH}"
            inside = _xpath(self._document, selector, path)
            return list(inside.xpath("@href | @src").getall())
        return [
            node.attributes.get("href") or node.attributes.get("src")
            for region in self._page.tree.css(selector.path)
            # css() of a node finds the node itself too.
            for node in region.css(LINK_SELECTOR)
        ]

    def _first(self, selectors: Sequence[Selector]) -> tuple[str, Selector] | None:
        """The first text that is there, on one line, and where it stood."""
        for selector in selectors:
            for text in self._values(selector):
                if tidy := collapse(text):
                    return tidy, selector
        return None

    def _values(self, selector: Selector) -> list[str]:
        if selector.is_xpath:
            return [_xpath_text(match) for match in _xpath(self._document, selector)]
        nodes = self._page.tree.css(selector.path)
        if selector.attribute:
            return [node.attributes.get(selector.attribute) or "" for node in nodes]
        return [node.text() for node in nodes]

    # --- the body -------------------------------------------------------------------------

    def _css_body(self) -> Body:
        """Blocks inside the regions; what is excluded inside a paragraph is cut out of it."""
        page = self._page
        places = {element.node.mem_id: at for at, element in enumerate(page.blocks.elements)}
        spans = [(element.first, element.end) for element in page.blocks.elements]
        chosen: set[int] = set()
        loose: list[str] = []
        for node in self._css(self._template.body):
            at = places.get(node.mem_id)
            if at is not None:
                chosen.update(range(*spans[at]))
            elif text := collapse(node.text()):
                loose.append(text)  # a part of a paragraph, or hidden
        cuts: dict[int, list[str]] = {}
        for node in self._css(self._template.exclude):
            at = places.get(node.mem_id)
            if at is not None:
                chosen.difference_update(range(*spans[at]))
            elif text := collapse(node.text()):
                around = _element_around(node, places)
                cuts.setdefault(around, []).append(text)
        indexes = sorted(chosen)
        texts = {index: page.blocks.blocks[index].text for index in indexes}
        for around, words in cuts.items():
            inside = [index for index in indexes if around < 0 or _within(index, spans[around])]
            for word in words:
                _cut(texts, inside, word)
        lines = [*loose, *(text for text in texts.values() if text)]
        reason = f"template, {len(lines)} blocks"
        return Body("\n".join(lines), CONFIDENCE, reason, blocks=tuple(indexes))

    def _css(self, selectors: Sequence[Selector]) -> list[LexborNode]:
        return [node for selector in selectors for node in self._page.tree.css(selector.path)]

    def _xpath_lines(self) -> list[str]:
        # Its own document: what is excluded is taken out of it.
        document = Document(text=NOT_XML.sub("", self._page.source), type="html")
        for selector in self._template.exclude:
            for node in _xpath(document, selector)[:_MAX_EXCLUDED]:
                if isinstance(node.root, etree._Element) and node.root.getparent() is not None:
                    node.drop()
        regions = [node for path in self._template.body for node in _xpath(document, path)]
        elements = {node.root for node in regions if isinstance(node.root, etree._Element)}
        lines: list[str] = []
        for node in regions:
            if len(lines) >= MAX_BLOCKS:
                break
            if not isinstance(node.root, etree._Element) or not isinstance(node.root.tag, str):
                lines.append(collapse(_xpath_text(node)))
            elif not any(around in elements for around in node.root.iterancestors()):
                region = LexborHTMLParser(node.get())
                lines += [block.text for block in blocks_of(region.body).blocks]
        return [line for line in lines if line]


def _xpath(document: Document, selector: Selector, path: str = "") -> SelectorList[Document]:
    """What *selector* finds in *document*, or *path* for it.

    Raises:
        ConfigError: the expression cannot be worked out on this page: it is at fault.
    """
    try:
        return document.xpath(path or selector.path)
    except ValueError as error:
        raise ConfigError(
            _(
                "QIAO_TEMPLATES: {written!r} cannot be worked out: {error}",
                written=selector.written,
                error=error,
            )
        ) from error


def _field(value: Any, selector: Selector) -> Field:
    return Field(value, f"template {selector.written}", CONFIDENCE)


def _behind_label(label: re.Pattern[str], text: str) -> str:
    """*text* without the label it begins with; of a line with others before it, what it labels."""
    found, plain = label.search(text), _LABEL.sub("", text)
    is_line = found is not None and (found.start() > 0 or ":" in plain or "：" in plain)
    return found[1] if found is not None and is_line else plain


def _xpath_text(node: Document) -> str:
    if isinstance(node.root, etree._Element):
        return node.xpath("string()").get() or ""
    return str(node.root)


def _element_around(node: LexborNode, places: Mapping[int, int]) -> int:
    """Index of the innermost element that holds *node*; -1 for none."""
    outer = node.parent
    while outer is not None:
        at = places.get(outer.mem_id)
        if at is not None:
            return at
        outer = outer.parent
    return -1


def _within(index: int, span: tuple[int, int]) -> bool:
    return span[0] <= index < span[1]


def _cut(texts: dict[int, str], indexes: Sequence[int], words: str) -> None:
    """Take *words* out of the first text of *indexes* that has them."""
    for index in indexes:
        if words in texts[index]:
            texts[index] = collapse(texts[index].replace(words, " ", 1))
            return


extractors.register("template")(TemplateExtractor())


# --- Where a body may stand -----------------------------------------------------------------------

_NAME = re.compile(r"[.#](?!\d|-)[\w-]+")
_MOST_MATCHES = 2
"""A region of a body is there once, or twice where a page repeats it for phones."""
_MOST_PLACES = 5


def body_places(page: Page) -> list[str]:
    """CSS selectors of elements that hold what the general method takes for the body.

    The innermost first; those that stand on the page more than twice are left out.
    """
    body = extractors.get(FALLBACK).body(page)
    if not body.blocks:
        return []
    first, last = body.blocks[0], body.blocks[-1]
    holding = [
        element for element in page.blocks.elements if element.first <= first and last < element.end
    ]
    places = [place for element in reversed(holding) if (place := _place(page, element))]
    return list(dict.fromkeys(places))[:_MOST_PLACES]


def _place(page: Page, element: Element) -> str:
    names = element.node.attributes
    written: Sequence[str] = [f".{name}" for name in (names.get("class") or "").split()]
    if identity := (names.get("id") or "").strip():
        written = [f"#{identity}"]
    # What would have to be escaped is nobody's idea of a selector.
    if not written or not all(_NAME.fullmatch(name) for name in written):
        return ""
    path = f"{element.tag}{''.join(written)}"
    return path if len(page.tree.css(path)) <= _MOST_MATCHES else ""
