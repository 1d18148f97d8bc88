"""Extracts everything from a page in one parse, for the crawl and for the API."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from qiaocrawl.extract.base import (
    LOST_BODY,
    NO_LINK_REGION,
    Body,
    Extractor,
    Learner,
    SiteReader,
    TemplateReader,
    extractors,
    is_site_reader,
)
from qiaocrawl.extract.comments import comments_of
from qiaocrawl.extract.extraction import PageKind
from qiaocrawl.extract.fields.declared import engagement_of, without_counters
from qiaocrawl.extract.fields.metadata import Metadata, metadata_of
from qiaocrawl.extract.kind import Judgement, judge, why_login
from qiaocrawl.extract.kind_features import why_not_html
from qiaocrawl.extract.notices import without_teasers
from qiaocrawl.extract.paging import parts_of
from qiaocrawl.extract.sites.boilerplate_model import observation_of
from qiaocrawl.extract.sites.site_template import SiteTemplate, TemplateMatch, apply_template
from qiaocrawl.extract.structure.html import body_html
from qiaocrawl.extract.structure.kept import complete
from qiaocrawl.items import FetchedPage, Link, Outcome, PageAnalysis, PageText, SiteObservation
from qiaocrawl.items.article import Article, ArticlePart, Comment
from qiaocrawl.page.blocks import MAX_BLOCKS
from qiaocrawl.page.other_links import control_links, document_links, feed_links
from qiaocrawl.page.page import Page, header_refresh, parse_page, robots_tags
from qiaocrawl.page.sanitize import MAX_LINKS
from qiaocrawl.text.normalise import clean_text, collapse, without_blanks
from qiaocrawl.urls import host_of

if TYPE_CHECKING:
    from qiaocrawl.extract.methods.template import TemplateExtractor

_MAX_REPLACED_SHARE = 0.005
# What scorers read of a page that is no article, and of its headings.
_MAX_JUDGED_CHARS = 100_000
_MAX_HEADINGS_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class ExtractedPage:
    """Everything extracted from one parsed page.

    Attributes:
        page: the parsed page.
        body: what the method found, less what the site repeats if a template was given.
        text: the body cleaned, without the title line; "" when the page has none.
        metadata: title, date and the other fields.
        judgement: what the page is, how the crawl closes it, and why.
        doubts: what may have cost text, in words; empty for nearly every page.
        site: how the body stood to what is known of its site.
    """

    page: Page
    body: Body
    text: str
    metadata: Metadata
    judgement: Judgement
    doubts: tuple[str, ...]
    site: TemplateMatch

    @property
    def engagement(self) -> dict[str, int]:
        """How often the article was read, commented on and so on, as the page says."""
        return engagement_of(self.page, self.body) if self.text else {}

    def comments(self, now: datetime | None = None) -> tuple[Comment, ...]:
        """What readers said, as far as it is on the page, which was fetched at *now*."""
        return comments_of(self.page, now) if self.text else ()

    @property
    def html(self) -> str:
        """The body with its structure; made anew each time."""
        return body_html(self.page, self.body, self.metadata) if self.text else ""


def extract_page(
    page: Page,
    method: str,
    now: datetime | None = None,
    extractor: Extractor | None = None,
    template: SiteTemplate | None = None,
    drawn: TemplateExtractor | None = None,
) -> ExtractedPage:
    """Body, fields and kind of *page*.

    Args:
        page: parsed; its blocks and lines are made when something asks for them.
        method: name of a body extractor.
        now: when the page was fetched, aware; bounds plausible dates and gives relative ones
            their meaning.
        extractor: the one called *method* with its options; None for its defaults.
        template: what is known of the site of *page*, from a
            :class:`~qiaocrawl.extract.sites.boilerplate_model.BoilerplateModel`. Not used where the
            operator has a template for the site.
        drawn: knows where body and fields stand, as an officer showed on a page; goes before
            *extractor*, unless that has the operator's own template for the page.

    Raises:
        ConfigError: no extractor is called *method*.
    """
    extractor = extractor or extractors.get(method)
    if drawn is not None and _has_template(extractor, page):
        drawn = None
    shown = drawn.own_body(page) if drawn is not None else None
    site = TemplateMatch(shown or extractor.body(page))
    # Where people have described the site, what was learnt of it could only do harm.
    is_described = shown is not None or is_site_reader(extractor)
    if template is not None and not is_described:
        site = apply_template(template, page, site.body)
    if not is_described:
        site = replace(site, body=without_counters(page, complete(page, site.body)))
    if drawn is not None and shown is None and drawn.names_body(page):
        site = replace(site, body=replace(site.body, reason=f"{LOST_BODY}; {site.body.reason}"))
    site_names = template.site_names if template else frozenset()
    metadata = metadata_of(page, site.body, now, site_names)
    judgement = judge(page, site.body, metadata.title)
    if judgement.outcome is Outcome.ARTICLE and not is_described:
        body = without_teasers(page, site.body)
        if body is not site.body:  # seldom
            site = replace(site, body=body)
            metadata = metadata_of(page, body, now, site_names)
    body = site.body
    for reader in (extractor, drawn):
        if is_site_reader(reader):
            own = reader.fields(page, now)
            metadata = replace(metadata, fields=MappingProxyType({**metadata.fields, **own}))
    return ExtractedPage(
        page=page,
        body=body,
        text=without_title_line(clean_text(body.text), metadata.title),
        metadata=metadata,
        judgement=judgement,
        doubts=tuple(_doubts(page, body)),
        site=site,
    )


def _has_template(extractor: Extractor | SiteReader | None, page: Page) -> bool:
    """Whether the operator's files have a template for *page*."""
    return isinstance(extractor, TemplateReader) and extractor.template_of(page) is not None


class LinkSources(NamedTuple):
    """Where the links of a page come from.

    Attributes:
        regions: knows where the links to follow stand, whatever the method; None for the method's.
        documents: also links to PDF, Word and Excel files.
    """

    regions: SiteReader | None = None
    documents: bool = False


PLAIN_LINKS = LinkSources()


def analyse_html(
    fetched: FetchedPage,
    method: str,
    max_links: int,
    extractor: Extractor | None = None,
    template: SiteTemplate | None = None,
    drawn: TemplateExtractor | None = None,
    *,
    learn: bool = False,
    sources: LinkSources = PLAIN_LINKS,
    learner: Learner | None = None,
) -> PageAnalysis:
    """The analysis of *fetched* from one parse; relevance and title tokens stay empty.

    Args:
        method: name of a body extractor.
        max_links: links kept, in document order.
        extractor: the one called *method* with its options; None for its defaults.
        template: what is known of the page's site.
        drawn: see :func:`extract_page`; its regions of links count where *sources* has none.
        learn: also say what the page tells about its site.
        sources: where its links come from.
        learner: the extractor that is also to learn from the page.

    Raises:
        ConfigError: no extractor is called *method*.
    """
    extractor = extractor or extractors.get(method)
    content_type = fetched.header("content-type")
    not_html = why_not_html(fetched.body, content_type)
    if not_html:
        return PageAnalysis(Outcome.NOT_HTML, None, (), "", reason=not_html)
    page = parse_page(fetched.body, content_type, fetched.final_url or fetched.url)
    extracted = extract_page(page, method, fetched.fetched_at, extractor, template, drawn)
    outcome, part = extracted.judgement.outcome, _part(extracted)
    if part is not None and part.number > 1:
        outcome = Outcome.PART
    is_told = outcome in (Outcome.ARTICLE, Outcome.PART)
    login = "" if is_told else why_login(page, outcome)
    if login:
        outcome = Outcome.LOGIN
    harvest = page.harvest(max_links)
    if drawn is not None and not _has_template(sources.regions or extractor, page):
        sources = sources._replace(regions=drawn)
    links, lost = _links(page, harvest.links, extractor, sources, outcome)
    tags = robots_tags(page.meta, fetched.headers)
    unread = _left_unread(harvest.unread, fetched, tags.noindex)
    # Articles need no lists on them.
    doubts = (*extracted.doubts, *unread, *(() if is_told else lost))
    return PageAnalysis(
        outcome=outcome,
        article=_article(extracted, method, fetched.fetched_at) if is_told else None,
        links=links,
        charset=page.charset,
        charset_source=page.charset_source,
        reason="; ".join(filter(None, (login, extracted.judgement.reason, *doubts))),
        page_title=page.title,
        nofollow=tags.nofollow,
        refresh_url="" if login else page.refresh_url or _refresh_by_header(page, fetched),
        links_left=harvest.over_limit + harvest.unread,
        canonical_url=page.canonical_link,
        part=part,
        observation=_observation(extracted) if learn and outcome is Outcome.ARTICLE else None,
        words=_words(extracted, is_told=is_told),
        excerpts=extracted.judgement.excerpts if part is None else (),
        samples=learner.samples(page) if learner is not None else b"",
    )


def _refresh_by_header(page: Page, fetched: FetchedPage) -> str:
    """Where a ``Refresh:`` header leads, which does what the meta of that name does."""
    target = header_refresh(fetched.header("refresh"), page.joiner)
    return "" if target == page.canonical else target


def _links(
    page: Page,
    found: tuple[Link, ...],
    extractor: Extractor,
    sources: LinkSources,
    outcome: Outcome,
) -> tuple[tuple[Link, ...], tuple[str, ...]]:
    """The links to follow, of all that were *found*; what was wrong with their regions."""
    links, lost = _links_of_regions(page, found, sources.regions or extractor)
    if lost and outcome is Outcome.LIST:
        why = f"{NO_LINK_REGION}: lists of {host_of(page.url)}"
        links = tuple(replace(link, postponed=why) for link in found)
    return (*links, *document_links(page)) if sources.documents else links, lost


def _links_of_regions(
    page: Page, links: tuple[Link, ...], reader: Extractor | SiteReader
) -> tuple[tuple[Link, ...], tuple[str, ...]]:
    """The links of regions; where there is none to keep to, all, those of buttons and feeds too."""
    if is_site_reader(reader):
        inside = reader.links(page, links)
        if inside is not links and inside != links:
            # Nothing outside the regions is followed, an announced feed neither.
            return inside, () if inside else (NO_LINK_REGION,)
    urls = {link.url for link in links}
    controls = (link for link in control_links(page) if link.url not in urls)
    return (*links, *controls, *feed_links(page)), ()


def _words(extracted: ExtractedPage, *, is_told: bool) -> PageText:
    """The page as scorers read it: its body if *is_told*, else all visible text."""
    page, metadata = extracted.page, extracted.metadata
    text = extracted.text if is_told else clean_text("\n".join(page.texts))
    headings = (collapse(node.text()) for node in page.tree.css("h1,h2,h3,h4,h5,h6"))
    return PageText(
        title=metadata.title if is_told else page.title,
        text=text[:_MAX_JUDGED_CHARS],
        headings="\n".join(filter(None, headings))[:_MAX_HEADINGS_CHARS],
        meta=f"{metadata.keywords}\n{metadata.description}".strip(),
        url=page.canonical,
    )


def _observation(extracted: ExtractedPage) -> SiteObservation | None:
    return observation_of(extracted.page, extracted.metadata.title, extracted.site)


def _part(extracted: ExtractedPage) -> ArticlePart | None:
    """Where the page stands in a paged article; None for what is no part of one.

    A later part may be too short for an article of its own; a list or a thread has pages, but
    no parts that make one text. **(ours)**
    """
    kind, outcome = extracted.judgement.kind, extracted.judgement.outcome
    reads_alone = outcome is Outcome.ARTICLE and kind is not PageKind.FORUM
    if not extracted.text or not (reads_alone or outcome is Outcome.NOT_ARTICLE):
        return None
    parts = parts_of(extracted.page)
    if parts is None or (parts.number == 1 and not reads_alone):
        return None
    return ArticlePart(parts.number, parts.urls, reads_alone)


def _article(extracted: ExtractedPage, method: str, now: datetime | None) -> Article:
    metadata = extracted.metadata
    published_at, modified_at = metadata.published_at, metadata.modified_at
    language = metadata.fields.get("language")
    return Article(
        url=extracted.page.canonical or extracted.page.url,
        title=metadata.title,
        text=extracted.text,
        published_at=None if published_at is None else published_at.astimezone(UTC),
        author=metadata.author,
        source=metadata.source,
        channel=metadata.channel,
        keywords=metadata.keywords,
        description=metadata.description,
        language=str(language.value) if language is not None else "",
        method=method,
        html=extracted.html,
        engagement=extracted.engagement,
        comments=extracted.comments(now),
        modified_at=None if modified_at is None else modified_at.astimezone(UTC),
    )


def without_title_line(text: str, title: str) -> str:
    """*text* without leading lines that only repeat the title."""
    tight_title = without_blanks(title)
    lines = text.split("\n") if tight_title else []
    first = 0
    # The last line stays even if it repeats the title: an article is never left empty.
    while first < len(lines) - 1 and without_blanks(lines[first]) == tight_title:
        first += 1
    return "\n".join(lines[first:]) if first else text


def _left_unread(links: int, fetched: FetchedPage, noindex: bool) -> Iterator[str]:
    if links:
        yield f"{links} links past the first {MAX_LINKS} not read"
    if fetched.connection_lost:
        yield "the connection was lost before the end of the page"
    elif fetched.truncated:
        yield "the body was cut off at the size limit"
    if noindex:  # Of public indexes; ours is none, but who passes the text on should know.
        yield "the page asks search engines not to list it (noindex)"


def _doubts(page: Page, body: Body) -> list[str]:
    """What may have cost text, in words."""
    doubts = list(page.notes)
    # Only a method that works on blocks can have lost text with them.
    if (body.blocks or body.judged) and page.blocks.left_out:
        doubts.append(f"blocks past the first {MAX_BLOCKS} were not looked at")
    if page.replaced > _MAX_REPLACED_SHARE * len(page.source):
        doubts.append(f"{page.replaced} characters could not be decoded as {page.charset}")
    return doubts
