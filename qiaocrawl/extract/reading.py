"""From a fetched page to its analysis, in one parse."""

from __future__ import annotations

import re

from qiaocrawl.extract.base import extractors
from qiaocrawl.extract.kind import kind_of
from qiaocrawl.extract.metadata import metadata_of
from qiaocrawl.extract.sniff import why_not_html
from qiaocrawl.items import Article, FetchedPage, Outcome, PageAnalysis
from qiaocrawl.page import Page, parse_page
from qiaocrawl.text import clean_text, to_simplified
from qiaocrawl.urls import canonical_url

_MAX_REPLACED_SHARE = 0.005
_LANGUAGE_SAMPLE_CHARS = 500
_HAN = re.compile("[\u4e00-\u9fff]")
_LATIN = re.compile("[A-Za-z]")


def read_page(fetched: FetchedPage, method: str, max_links: int) -> PageAnalysis:
    """All that one parse of *fetched* gives; relevance and title tokens stay empty.

    Args:
        method: name of a body extractor.
        max_links: links kept, in document order.

    Raises:
        ConfigError: no extractor is called *method*.
    """
    extractor = extractors.get(method)
    content_type = fetched.header("content-type")
    not_html = why_not_html(fetched.body, content_type)
    if not_html:
        return PageAnalysis(Outcome.NOT_HTML, None, (), "", reason=not_html)
    page = parse_page(fetched.body, content_type, fetched.final_url or fetched.url)
    harvest = page.harvest(max_links)
    links = harvest.links
    body = extractor.body(page)
    metadata = metadata_of(page, fetched.fetched_at)
    outcome, reason = kind_of(page, body, links, metadata.title)
    article = None
    if outcome is Outcome.ARTICLE:
        text = without_title_line(clean_text(body.text), metadata.title)
        article = Article(
            url=canonical_url(page.url) or page.url,
            title=metadata.title,
            text=text,
            published_at=metadata.published_at,
            author=metadata.author,
            source=metadata.source,
            channel=metadata.channel,
            keywords=metadata.keywords,
            description=metadata.description,
            language=language_of(text),
            method=method,
        )
    return PageAnalysis(
        outcome=outcome,
        article=article,
        links=links,
        charset=page.charset,
        charset_source=page.charset_source,
        reason="; ".join(filter(None, (reason, *_doubts(page, fetched)))),
        page_title=page.title,
        nofollow=page.nofollow or _header_forbids_following(fetched),
        refresh_url=page.refresh_url,
        links_left=harvest.over_limit,
        canonical_url=page.canonical_link,
    )


def without_title_line(text: str, title: str) -> str:
    """*text* without leading lines that only repeat the title."""
    lines = text.split("\n")
    wanted = "".join(title.split())
    while len(lines) > 1 and wanted and "".join(lines[0].split()) == wanted:
        del lines[0]
    return "\n".join(lines)


def language_of(text: str) -> str:
    """``zh-Hans``, ``zh-Hant``, ``en`` or "" by the letters of the first 500 characters."""
    sample = text[:_LANGUAGE_SAMPLE_CHARS]
    han, latin = len(_HAN.findall(sample)), len(_LATIN.findall(sample))
    if han * 4 >= latin and han:
        simplified = to_simplified(sample)
        changed = sum(a != b for a, b in zip(sample, simplified, strict=False))
        return "zh-Hant" if changed * 20 > han else "zh-Hans"
    return "en" if latin > 20 else ""


def _doubts(page: Page, fetched: FetchedPage) -> list[str]:
    """What may have cost text, in words."""
    doubts = list(page.notes)
    if fetched.truncated:
        doubts.append("the body was cut off at the size limit")
    if page.replaced > _MAX_REPLACED_SHARE * len(page.source):
        doubts.append(f"{page.replaced} characters could not be decoded as {page.charset}")
    return doubts


def _header_forbids_following(fetched: FetchedPage) -> bool:
    return any(
        name == "x-robots-tag" and ("nofollow" in value.lower() or "none" in value.lower())
        for name, value in fetched.headers
    )
