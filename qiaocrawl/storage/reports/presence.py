"""Whether an article is still on the web, as far as it was looked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection

from qiaocrawl.items import Outcome
from qiaocrawl.storage.converters import from_time
from qiaocrawl.storage.pages.revisions import DELETED, REVISED, Revision
from qiaocrawl.storage.raw_sql import Statement
from qiaocrawl.storage.reports.url_history import UrlHistory
from qiaocrawl.storage.sites.watched import watched_article

_LAST_SEEN = Statement(
    "SELECT p.last_seen_at FROM article a JOIN page_source p ON p.id = a.page_source_id"
    " WHERE a.url_id = :url_id"
)


@dataclass(frozen=True, slots=True)
class Presence:
    """What is known of an article's page.

    Attributes:
        seen_at: when it was there last with this text.
        gone_at: when it was found to be gone; None while it is there, as far as is known.
        failed_at: when it could not be had for another reason, after it had been seen.
        why: of the last two, as the host or the crawl said it.
        next_at: when it is looked at again; None for never.
    """

    seen_at: datetime | None
    gone_at: datetime | None = None
    failed_at: datetime | None = None
    why: str = ""
    next_at: datetime | None = None


def presence_of(c: Connection, history: UrlHistory, revisions: Sequence[Revision]) -> Presence:
    """Whether the article at the URL of *history*, with its *revisions*, is still there."""
    row = _LAST_SEEN.run(c, {"url_id": history.id}).fetchone()
    seen_at = None if row is None else from_time(row[0])
    watched = watched_article(c, history.id)
    next_at = None if watched is None else datetime.fromtimestamp(watched.next_at, UTC)
    facts = [revision for revision in revisions if revision.kind != REVISED]
    if facts and facts[-1].kind == DELETED:
        return Presence(seen_at, gone_at=facts[-1].at, why=facts[-1].note, next_at=next_at)
    done_at = history.done_at
    if history.outcome == Outcome.DEAD and done_at and (seen_at is None or done_at > seen_at):
        return Presence(seen_at, failed_at=done_at, why=history.reason, next_at=next_at)
    return Presence(seen_at, next_at=next_at)
