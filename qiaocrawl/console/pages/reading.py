"""Beside an article: stored versions, what speaks for it; beside a list: its choices counted.

A version is named by its row in the address (``?version=7``); without one it is the page that the
article was read from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Any

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from qiaocrawl.console.crawl_scorer import crawl_scorer, pack_without, page_text
from qiaocrawl.console.forms import download, whole_number
from qiaocrawl.console.page import Page, console_of, read, read_files, read_kept
from qiaocrawl.console.pages.listed_articles import (
    MOST_PLACES,
    PLACE,
    SEVERAL,
    ArticleFilter,
    matches_of,
    selection_of,
)
from qiaocrawl.console.render import render
from qiaocrawl.console.search import MOST_MATCHES
from qiaocrawl.console.security.credentials import STORED_PAGE_POLICY
from qiaocrawl.export.pages import stored_copy, write_record
from qiaocrawl.extract.api import extract_article
from qiaocrawl.extract.field_words import FIELD_LABELS, field_text, shown_origin
from qiaocrawl.items import PagePicture, PageText
from qiaocrawl.language import N_, _
from qiaocrawl.options import Options
from qiaocrawl.reading import facets as counted
from qiaocrawl.reading.evidence import (
    ArticleEvidence,
    PageEvidence,
    evidence_of,
    has_article,
    page_evidence,
)
from qiaocrawl.reading.facets import Count, FacetCounter, Facets
from qiaocrawl.reading.pages_of_a_list import topic_titles
from qiaocrawl.relevance.scorer import PageScorer, TellsWeights
from qiaocrawl.storage.pages.revisions import picture_of_article
from qiaocrawl.storage.url_history import Judgement
from qiaocrawl.topic.media import MEDIA
from qiaocrawl.topic.pack import TopicPack

VERSION = "version"
_FIELD_CHARS = 400


def require_article(c: Connection, article_id: int) -> None:
    """Make sure that there is an article of that row id.

    Raises:
        HTTPException: 404, there is none.
    """
    if article_id >= 2**63 or not has_article(c, article_id):
        raise HTTPException(404, _("There is no such article."))


def list_query(request: Request) -> str:
    """The list that an article was opened from, and its place there: behind the ``?``."""
    choice = ArticleFilter.of(request.query_params.multi_items())
    place = whole_number(request, PLACE, -1, 0, MOST_PLACES)
    return choice.query_at(place) if place >= 0 else choice.query()


async def show_evidence(request: Request) -> Response:
    """The stored page in a frame without rights, with its digest, time and headers."""
    article_id, version = request.path_params["article_id"], _version(request)
    article, page = await read(request, _with_page, article_id, version)
    if page is None and version:
        raise HTTPException(404, _("This version is not stored, or not of this page."))
    picture = await read(request, picture_of_article, article_id, version)
    return render(
        request,
        "articles/evidence.html",
        article=article,
        source=page,
        picture=picture,
        query=list_query(request),
        picture_sha256=hashlib.sha256(picture.data).hexdigest() if picture else "",
    )


def _version(request: Request) -> int:
    """The row of the version that is asked for; 0 for the article's own."""
    return whole_number(request, VERSION, 0, 0, 2**63 - 1)


def _with_page(
    c: Connection, article_id: int, version: int = 0
) -> tuple[ArticleEvidence, PageEvidence | None]:
    require_article(c, article_id)
    return evidence_of(c, article_id), page_evidence(c, article_id, version)


async def picture(request: Request) -> Response:
    """The picture of the stored page, where a browser rendered it."""
    article_id, version = request.path_params["article_id"], _version(request)

    def load(c: Connection) -> PagePicture | None:
        require_article(c, article_id)
        return picture_of_article(c, article_id, version)

    shown = await read(request, load)
    if shown is None:
        raise HTTPException(404, _("No picture was taken of this page."))
    return Response(
        shown.data,
        media_type=shown.media_type,
        headers={"Content-Security-Policy": STORED_PAGE_POLICY},
    )


async def stored_page(request: Request) -> Response:
    """What the frame shows; by itself it can do nothing either."""
    article_id, version = request.path_params["article_id"], _version(request)

    def copy(c: Connection) -> str:
        require_article(c, article_id)
        return stored_copy(c, article_id, version)

    markup = await read(request, copy)
    if not markup:
        raise HTTPException(404, _("This page is no longer stored."))
    return HTMLResponse(
        markup.encode("utf-8", "replace"),
        headers={"Content-Security-Policy": STORED_PAGE_POLICY, "X-Frame-Options": "SAMEORIGIN"},
    )


async def warc(request: Request) -> Response:
    """The stored page as a WARC file of one record, for other archives and for the records."""
    article_id, version = request.path_params["article_id"], _version(request)
    _article, source = await read(request, _with_page, article_id, version)
    if source is None:
        raise HTTPException(404, _("This page is no longer stored."))
    page, name = source.page, f"page-{article_id}-{source.version}.warc.gz"

    def write(_c: Connection, file: Path) -> None:
        write_record(page, file)

    response = await download(request, name, write)
    response.headers["Content-Type"] = "application/gzip"
    return response


async def fields(request: Request) -> Response:
    """The fields as they are read from the stored page: value, where from, how sure."""
    article_id = request.path_params["article_id"]
    article, source = await read(request, _with_page, article_id)
    rows: list[tuple[str, str, str, float]] = []
    if source is not None:
        page = source.page
        extraction = await read_files(
            request,
            lambda worker: worker.run(
                page.final_url,
                extract_article,
                page.body,
                page.final_url,
                page.header("content-type"),
            ),
        )
        rows = [_field(name, field) for name, field in extraction.fields.items()]
    return render(
        request, "articles/fields.html", article=article, rows=rows, query=list_query(request)
    )


def _field(name: str, field: Any) -> tuple[str, str, str, float]:
    label, origin = _(FIELD_LABELS.get(name, name)), shown_origin(field_text(field.origin))
    return label, field_text(field.value)[:_FIELD_CHARS], origin, field.confidence


EVIDENCE = (
    Page("/articles/{article_id:int}/evidence", "articles.evidence", show_evidence),
    Page("/articles/{article_id:int}/page", "articles.page", stored_page),
    Page("/articles/{article_id:int}/page.warc.gz", "articles.warc", warc),
    Page("/articles/{article_id:int}/picture", "articles.picture", picture),
    Page("/articles/{article_id:int}/fields", "articles.fields", fields),
)


# --- The choices of a list with how many articles each has, asked for when somebody looks at
# them

STATUS_NAMES = {
    "starred": N_("starred"),
    "noted": N_("with a note"),
    "judged": N_("judged"),
    "unjudged": N_("not judged yet"),
    "reprint": N_("reprints"),
    "gone": N_("gone from the web"),
}
RELEVANCE_NAMES = {"yes": N_("on topic"), "no": N_("off topic"), "any": N_("all")}
_FACET_NAMES = {
    counted.TOPICS: N_("Topic"),
    counted.RELEVANCE: N_("Relevance"),
    counted.STATUS: N_("Status"),
    counted.SITES: N_("Site"),
    counted.REGIONS: N_("Region"),
    counted.TIERS: N_("Tier"),
    counted.MEDIA: N_("Kind of medium"),
    counted.GROUPS: N_("Group of words"),
}
_MOST_SHOWN = 30
_KEPT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class ShownValue:
    """A value of a facet; ``query`` is the list with it, or without it where it is chosen."""

    name: str
    count: Count
    is_chosen: bool
    query: str


@dataclass(frozen=True, slots=True)
class ShownFacet:
    """A facet; ``more`` values are left out. Without values it was not counted."""

    name: str
    values: tuple[ShownValue, ...]
    more: int
    is_several: bool
    is_counted: bool


async def show_facets(request: Request) -> Response:
    """The counts: a part of the list's page for its script, a page of its own for others."""
    choice = replace(ArticleFilter.of(request.query_params.multi_items()), page="")
    matches, notice = await matches_of(request, choice)
    facets, titles = Facets({}, {}), dict[str, str]()
    selection = selection_of(choice, matches)
    # Without the index each count would read thousands of texts.
    if not selection.reads_texts:
        columns = console_of(request).columns
        is_part = matches is not None and matches.total > MOST_MATCHES

        def work(c: Connection) -> tuple[Facets, dict[str, str]]:
            counter = FacetCounter(c, selection, choice.is_folded, is_part, columns=columns)
            return counter.facets(), topic_titles(c)

        name = f"facets {choice.query()}"
        facets, titles = await read_kept(request, name, _KEPT_SECONDS, work)
    layout = "fragment.html" if "part" in request.query_params else "base.html"
    return render(
        request,
        "articles/facets.html",
        layout=layout,
        choice=choice,
        notice=notice,
        facets=_facet_views(choice, facets, titles),
        most=counted.MOST_FACETED,
        is_cut=any(count.is_more for counts in facets.counts.values() for count in counts.values()),
    )


def _facet_views(
    choice: ArticleFilter, facets: Facets, titles: Mapping[str, str]
) -> list[ShownFacet]:
    tiers = {tier: _("tier {tier}", tier=tier) for tier in facets.counts.get(counted.TIERS, {})}
    names: dict[str, Mapping[str, str]] = {
        counted.TOPICS: titles,
        counted.SITES: facets.outlets,
        counted.TIERS: tiers,
        counted.MEDIA: {kind: _(name) for kind, name in MEDIA.items()},
        counted.RELEVANCE: {value: _(name) for value, name in RELEVANCE_NAMES.items()},
        counted.STATUS: {value: _(name) for value, name in STATUS_NAMES.items()},
    }
    return [
        _facet(choice, facet, facets.counts.get(facet), names.get(facet, {}))
        for facet in _FACET_NAMES
        # An office without groups is not asked about them.
        if facet != counted.GROUPS or facets.counts.get(facet)
    ]


def _facet(
    choice: ArticleFilter, facet: str, counts: Mapping[str, Count] | None, names: Mapping[str, str]
) -> ShownFacet:
    chosen = getattr(choice, facet)
    values = []
    for value, count in (counts or {}).items():
        is_chosen = value in chosen if facet in SEVERAL else value == chosen
        if count.rows or is_chosen:
            query = choice.query_with(facet, value)
            values.append(ShownValue(names.get(value, value), count, is_chosen, query))
    if facet in (counted.SITES, counted.REGIONS):
        values.sort(key=lambda value: (not value.is_chosen, -value.count.rows, value.name))
    return ShownFacet(
        _(_FACET_NAMES[facet]),
        tuple(values[:_MOST_SHOWN]),
        max(0, len(values) - _MOST_SHOWN),
        facet in SEVERAL,
        counts is not None,
    )


FACETS = Page("/articles/facets", "articles.facets", show_facets)


# --- Which words of an article speak for its topics and which against, and how much ---------------

_MOST_WORDS = 25
# The odds e ** 0.01: nobody sees the difference.
_LEAST_WEIGHT = 0.01
_MOST_TOPICS = 5

Weighted = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Reasons:
    """What speaks for and against one topic, the most first.

    Attributes:
        score: as the topic judges now, without what operators said of this very article.
        for_it, against: words with what they add to the logarithm of the odds; None where the
            scorer cannot tell. ``stored``: those it kept with its verdict, with their shares.
    """

    stored: Judgement
    score: float
    for_it: Weighted | None
    against: Weighted | None


async def show_reasons(request: Request) -> Response:
    """The words, by topic."""
    article_id = request.path_params["article_id"]
    article, page, packs, titles = await read(request, _load, article_id)
    reasons = await run_in_threadpool(_reasons, article.judgements, packs, page)
    return render(
        request,
        "articles/reasons.html",
        article=article,
        reasons=reasons,
        titles=titles,
        query=list_query(request),
    )


def _load(
    c: Connection, article_id: int
) -> tuple[ArticleEvidence, PageText, list[TopicPack], dict[str, str]]:
    require_article(c, article_id)
    article, page = evidence_of(c, article_id), page_text(c, article_id)
    packs = [pack_without(c, one.topic, page) for one in article.judgements[:_MOST_TOPICS]]
    return article, page, packs, topic_titles(c)


def _reasons(
    judgements: Sequence[Judgement], packs: Sequence[TopicPack], page: PageText
) -> list[Reasons]:
    return [_of(stored, pack, page) for stored, pack in zip(judgements, packs, strict=False)]


def _of(stored: Judgement, pack: TopicPack, page: PageText) -> Reasons:
    scorer = _learnt(pack, Options.from_environment()["QIAO_RELEVANCE_METHOD"])
    score = scorer.judge(page).score
    if not isinstance(scorer, TellsWeights):
        return Reasons(stored, score, None, None)
    weights = [pair for pair in scorer.word_weights(page).items() if abs(pair[1]) >= _LEAST_WEIGHT]
    weights.sort(key=itemgetter(1, 0), reverse=True)
    for_it = tuple(pair for pair in weights if pair[1] > 0)[:_MOST_WORDS]
    against = tuple(pair for pair in reversed(weights) if pair[1] < 0)[:_MOST_WORDS]
    return Reasons(stored, score, for_it, against)


@lru_cache(maxsize=3)
def _learnt(pack: TopicPack, method: str) -> PageScorer:
    """The scorer of *pack*, which is learnt once for all its articles that nobody judged."""
    return crawl_scorer(pack)


REASONS = (Page("/articles/{article_id:int}/reasons", "articles.reasons", show_reasons),)
