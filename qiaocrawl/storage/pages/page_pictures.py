"""Pictures of stored pages, as a browser showed them; each goes when its page goes."""

from __future__ import annotations

from sqlalchemy import Connection, select

from qiaocrawl.items import PagePicture
from qiaocrawl.storage.converters import from_time, to_time
from qiaocrawl.storage.page_store.reading import payload
from qiaocrawl.storage.pages.page_versions import version_of
from qiaocrawl.storage.pages.raw_pages import most_blob_bytes
from qiaocrawl.storage.raw_sql import upsert
from qiaocrawl.storage.schema import article, page_picture, page_source

_COLUMNS = "media_type, width, height, cut, taken_at, picture"
# The first one stays: it was taken when the page was first seen to be as it is stored.
_SAVE = upsert("page_picture", f"page_source_id, {_COLUMNS}", key="page_source_id")


def save_picture(c: Connection, page_source_id: int, picture: PagePicture) -> None:
    """Keep *picture* with a stored page; one that has a picture keeps that.

    One that the server's packets cannot take is left out: no page is lost for its picture.
    """
    if len(picture.data) > most_blob_bytes(c):
        return
    _SAVE.run(c, {
        "page_source_id": page_source_id, "media_type": picture.media_type,
        "width": picture.width, "height": picture.height, "cut": picture.cut,
        "taken_at": to_time(picture.taken_at), "picture": picture.data,
    })  # fmt: skip


def picture_of_article(c: Connection, article_id: int, version: int = 0) -> PagePicture | None:
    """The picture of the page an article was read from; None where none was taken.

    Args:
        version: the row of a stored version of its page; 0 is the one it was read from.

    Raises:
        PageStoreError: it is in a file that is missing or damaged.
    """
    table = page_picture.c
    row = c.execute(
        select(
            table.media_type,
            table.width,
            table.height,
            table.cut,
            table.taken_at,
            table.picture,
            table.record_id,
        )
        .join(page_source, page_source.c.id == table.page_source_id)
        .join(article, version_of(version))
        .where(article.c.id == article_id)
    ).one_or_none()
    if row is None:
        return None
    taken_at = from_time(row.taken_at)
    assert taken_at is not None
    size = row.width, row.height, bool(row.cut)
    data = bytes(row.picture) if row.record_id is None else payload(c, row.record_id)
    return PagePicture(row.media_type, *size, taken_at, data)
