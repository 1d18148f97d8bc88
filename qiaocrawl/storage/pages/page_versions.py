"""Which stored version of an article's page is meant."""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_

from qiaocrawl.storage.schema import article, page_source


def version_of(version: int) -> ColumnElement[bool]:
    """The condition on a stored page that it is an article's own (0), or that *version* of it."""
    if not version:
        return page_source.c.id == article.c.page_source_id
    return and_(page_source.c.id == version, page_source.c.url_id == article.c.url_id)
