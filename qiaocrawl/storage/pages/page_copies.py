"""One page under two addresses: the plainer one keeps the article, the other becomes an alias.

Rules of hosts (:mod:`qiaocrawl.urls.aliases`) need articles to be learnt from, and know no marks
of chance such as ``?sid=…``; so a few pages of a site are fetched under several addresses before.
That two articles are one page is what their verdict says; that one address is a form of the
other is seen here, so two pages that repeat a text both stay.
"""

from __future__ import annotations

import logging

from sqlalchemy import Connection

from qiaocrawl.discovery.rules import plain_spelling
from qiaocrawl.items import Outcome
from qiaocrawl.storage.pages.reprocessing import drop_article, set_outcome
from qiaocrawl.storage.pages.revisions import note_withdrawn
from qiaocrawl.storage.raw_sql import Statement
from qiaocrawl.urls import host_of, registrable_domain, url_key
from qiaocrawl.urls.versions import identity, plainness

logger = logging.getLogger(__name__)

_URLS = Statement("SELECT id, url FROM url WHERE id = :url_id OR `key` = :key")
_JUDGED = Statement("SELECT 1 FROM judgement WHERE `key` = :key LIMIT 1")
_LEADS_TO = Statement("UPDATE url SET redirect_key = :target WHERE id = :id AND outcome = 'alias'")


def join_addresses(
    c: Connection, url_id: int, other_key: bytes, declared: str, *, is_new: bool, now: float
) -> int | None:
    """Withdraw one of two articles of one page, if one address is a form of the other.

    A page that an operator judged stays. What is withdrawn is kept as a revision. The caller
    holds the lock of the title log.

    Args:
        url_id: of the page that was stored just now.
        other_key: of the URL of the article whose page it is.
        declared: the canonical address that the page names; "" for none.
        is_new: there was no article at *url_id* before: nothing of it has to be kept.

    Returns:
        The row id of the URL whose article was withdrawn; None where both stay.
    """
    rows = dict(_URLS.run(c, {"url_id": url_id, "key": other_key}).fetchall())
    own = rows.pop(url_id)
    ((other_id, other),) = rows.items()
    plain = _plainer(own, other, declared)
    if not plain:
        return None
    copy_id, copy = (url_id, own) if plain == other else (other_id, other)
    if _JUDGED.run(c, {"key": url_key(copy)}).fetchone() is not None:
        return None
    reason = f"the same page as {plain}"
    if not (is_new and copy_id == url_id):
        note_withdrawn(c, copy_id, reason, now=now)
    logger.debug("%s is %s", copy, reason)
    drop_article(c, copy_id)
    set_outcome(c, copy_id, Outcome.ALIAS, reason)
    _LEADS_TO.run(c, {"id": copy_id, "target": url_key(plain)})
    return copy_id


def _plainer(own: str, other: str, declared: str) -> str:
    """The address the page should have; "" where neither is a form of the other."""
    if declared == other and _domain(own) == _domain(other):
        return other
    if identity(plain_spelling(own)) == identity(plain_spelling(other)):
        return min(own, other, key=plainness)
    return ""


def _domain(url: str) -> str:
    return registrable_domain(host_of(url))
