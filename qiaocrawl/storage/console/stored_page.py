"""A page as it was fetched: the evidence behind an article."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from sqlalchemy import Connection, exists, select

from qiaocrawl.items import FetchedPage
from qiaocrawl.storage.pages.page_versions import version_of
from qiaocrawl.storage.pages.raw_pages import PAGE_COLUMNS, load_page, page_of
from qiaocrawl.storage.schema import article, page_source, url
from qiaocrawl.urls import canonical_url, url_key


@dataclass(frozen=True, slots=True)
class PageEvidence:
    """A stored page.

    Attributes:
        digest: hexadecimal; of the whole body, also where less is stored.
        sha256: hexadecimal; of what is stored.
        body_bytes: of the whole body.
        version: its row, which tells it from other versions of the page.
        is_own: the article was read from this version.
    """

    page: FetchedPage
    digest: str
    sha256: str
    body_bytes: int
    version: int
    is_own: bool


def page_evidence(c: Connection, article_id: int, version: int = 0) -> PageEvidence | None:
    """The page an article was read from; None where it is not stored any more.

    Args:
        version: the row of a stored version of its page; 0 is the one it was read from.
    """
    row = c.execute(
        select(
            *PAGE_COLUMNS, page_source.c.digest, page_source.c.body_bytes, page_source.c.id,
            article.c.page_source_id,
        )
        .select_from(article)
        .join(page_source, version_of(version))
        .join(url, url.c.id == article.c.url_id)
        .where(article.c.id == article_id)
    ).one_or_none()  # fmt: skip
    if row is None:
        return None
    page = page_of(c, row[: len(PAGE_COLUMNS)])
    sha256 = hashlib.sha256(page.body).hexdigest()
    return PageEvidence(
        page, bytes(row.digest).hex(), sha256, row.body_bytes, row.id,
        row.id == row.page_source_id,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class HostPage:
    """A stored page of a site; ``title`` is "" for a page that is no article."""

    url: str
    title: str


def pages_of_host(c: Connection, host: str, most: int = 15) -> list[HostPage]:
    """The newest *most* articles of *host* whose page is stored, and the pages that led to them."""
    rows = c.execute(
        select(url.c.url, article.c.title, url.c.parent_key)
        .join(article, article.c.url_id == url.c.id)
        .where(article.c.site == host, article.c.page_source_id.is_not(None))
        .order_by(article.c.id.desc())
        .limit(most)
    ).all()  # fmt: skip
    parents = {row.parent_key for row in rows if row.parent_key is not None}
    leading = c.execute(
        select(url.c.url)
        .where(url.c.key.in_(parents))
        .where(exists().where(page_source.c.url_id == url.c.id))
        .order_by(url.c.id)
    ).scalars()  # fmt: skip
    return [HostPage(row.url, row.title) for row in rows] + [HostPage(one, "") for one in leading]


def stored_page_at(c: Connection, address: str) -> FetchedPage | None:
    """The newest stored page of *address*; None where there is none."""
    canonical = canonical_url(address)
    if canonical is None:
        return None
    row_id = c.execute(select(url.c.id).where(url.c.key == url_key(canonical))).scalar()
    return None if row_id is None else load_page(c, row_id)
