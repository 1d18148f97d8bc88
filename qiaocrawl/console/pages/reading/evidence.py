"""The pages behind an article: as they were fetched, each stored version, and what is read there.

A version is named by its row in the address (``?version=7``); without one it is the page that the
article was read from.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from sqlalchemy import Connection
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from qiaocrawl.console.downloads import download
from qiaocrawl.console.forms import whole_number
from qiaocrawl.console.page import Page
from qiaocrawl.console.pages.article_filter import MOST_PLACES, PLACE, ArticleFilter
from qiaocrawl.console.render import render
from qiaocrawl.console.security.headers import STORED_PAGE_POLICY
from qiaocrawl.console.work import read, read_files
from qiaocrawl.export.pages import stored_copy, write_record
from qiaocrawl.extract.api import extract_article
from qiaocrawl.extract.field_words import FIELD_LABELS, field_text, shown_origin
from qiaocrawl.items import PagePicture
from qiaocrawl.language import _
from qiaocrawl.reading.evidence import (
    ArticleEvidence,
    PageEvidence,
    evidence_of,
    has_article,
    page_evidence,
)
from qiaocrawl.storage.pages.revisions import picture_of_article

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


async def show(request: Request) -> Response:
    """The stored page in a frame without rights, with its digest, time and headers."""
    article_id, version = request.path_params["article_id"], _version(request)
    article, page = await read(request, _with_page, article_id, version)
    if page is None and version:
        raise HTTPException(404, _("This version is not stored, or not of this page."))
    picture = await read(request, picture_of_article, article_id, version)
    return render(
        request, "articles/evidence.html", article=article, source=page, picture=picture,
        query=list_query(request),
        picture_sha256=hashlib.sha256(picture.data).hexdigest() if picture else "",
    )  # fmt: skip


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
        shown.data, media_type=shown.media_type,
        headers={"Content-Security-Policy": STORED_PAGE_POLICY},
    )  # fmt: skip


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
        extraction = await read_files(request, lambda worker: worker.run(
            page.final_url, extract_article, page.body, page.final_url, page.header("content-type")
        ))  # fmt: skip
        rows = [_field(name, field) for name, field in extraction.fields.items()]
    return render(request, "articles/fields.html", article=article, rows=rows,
                  query=list_query(request))  # fmt: skip


def _field(name: str, field: Any) -> tuple[str, str, str, float]:
    label, origin = _(FIELD_LABELS.get(name, name)), shown_origin(field_text(field.origin))
    return label, field_text(field.value)[:_FIELD_CHARS], origin, field.confidence


PAGES = (
    Page("/articles/{article_id:int}/evidence", "articles.evidence", show),
    Page("/articles/{article_id:int}/page", "articles.page", stored_page),
    Page("/articles/{article_id:int}/page.warc.gz", "articles.warc", warc),
    Page("/articles/{article_id:int}/picture", "articles.picture", picture),
    Page("/articles/{article_id:int}/fields", "articles.fields", fields),
)
