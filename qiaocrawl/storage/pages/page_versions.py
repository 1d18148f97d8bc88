"""Which stored version of a page is meant, and all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, case, func, literal, select

from qiaocrawl.items import FetchedPage, PagePicture
from qiaocrawl.storage.converters import from_time, to_stored_time
from qiaocrawl.storage.page_store.reading import payloads
from qiaocrawl.storage.pages.raw_pages import PAGE_COLUMNS, page_of, pages_of
from qiaocrawl.storage.schema import article, host, page_picture, page_source, url

_PAGES_AT_A_TIME = 20


def version_of(version: int) -> ColumnElement[bool]:
    """The condition on a stored page that it is an article's own (0), or that *version* of it."""
    if not version:
        return page_source.c.id == article.c.page_source_id
    return and_(page_source.c.id == version, page_source.c.url_id == article.c.url_id)


def page_at(c: Connection, url_id: int, at: datetime | None) -> FetchedPage | None:
    """The page of *url_id* as it was at that time, or now for None; None where none is stored.

    Raises:
        PageStoreError: it is in a file that is missing or damaged.
    """
    versions = select(*PAGE_COLUMNS).join(page_source, page_source.c.url_id == url.c.id).where(
        url.c.id == url_id
    )  # fmt: skip
    if at is None:
        newest = (page_source.c.last_seen_at.desc(), page_source.c.id.desc())
    else:
        then = to_stored_time(at)
        versions = versions.where(page_source.c.fetched_at <= then)
        # A body that comes back keeps its row: the one that was seen last before, counts.
        is_later = page_source.c.last_seen_at > then
        seen = case((is_later, literal(then)), else_=page_source.c.last_seen_at)
        newest = (seen.desc(), page_source.c.fetched_at.desc())
    row = c.execute(versions.order_by(*newest).limit(1)).one_or_none()
    return None if row is None else page_of(c, row)


@dataclass(frozen=True, slots=True)
class VersionChoice:
    """Which stored versions are meant: all, those of a host (with those below it), of a time."""

    host: str = ""
    since: datetime | None = None
    before: datetime | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """On rows of ``page_source``, ``url`` and ``host``."""
        chosen: list[ColumnElement[bool]] = []
        if self.host:
            below = host.c.name.endswith(f".{self.host}", autoescape=True)
            chosen.append((host.c.name == self.host) | below)
        if self.since is not None:
            chosen.append(page_source.c.fetched_at >= to_stored_time(self.since))
        if self.before is not None:
            chosen.append(page_source.c.fetched_at < to_stored_time(self.before))
        return chosen


def count_versions(c: Connection, choice: VersionChoice) -> int:
    """How many stored versions *choice* has."""
    count: int = c.execute(
        select(func.count()).select_from(page_source)
        .join(url, url.c.id == page_source.c.url_id).join(host, host.c.id == url.c.host_id)
        .where(*choice.conditions())
    ).scalar_one()  # fmt: skip
    return count


def iter_versions(
    c: Connection, choice: VersionChoice
) -> Iterator[tuple[FetchedPage | None, PagePicture | None]]:
    """The chosen versions with their pictures, in the order they were stored.

    A page that cannot be read is None, counted and logged; such a picture is left out.
    """
    picture = page_picture.c
    statement = (
        select(page_source.c.id, *PAGE_COLUMNS, picture.media_type, picture.width, picture.height,
               picture.cut, picture.taken_at, picture.picture, picture.record_id.label("shown"))
        .select_from(page_source)
        .join(url, url.c.id == page_source.c.url_id).join(host, host.c.id == url.c.host_id)
        .outerjoin(page_picture, picture.page_source_id == page_source.c.id)
        .where(*choice.conditions())
        .order_by(page_source.c.id)
        .limit(_PAGES_AT_A_TIME)
    )  # fmt: skip
    after = 0
    while rows := c.execute(statement.where(page_source.c.id > after)).all():
        after = rows[-1][0]
        pages = pages_of(c, [row[1 : 1 + len(PAGE_COLUMNS)] for row in rows])
        found = payloads(c, [row.shown for row in rows if row.shown is not None])
        for row, page in zip(rows, pages, strict=True):
            taken_at = from_time(row.taken_at)
            data = row.picture if row.shown is None else found[row.shown]
            if taken_at is None or not isinstance(data, bytes):
                yield page, None
                continue
            size = row.width, row.height, bool(row.cut)
            yield page, PagePicture(row.media_type, *size, taken_at, data)
