"""Excerpts on pages that were taken for articles: text below a heading that leads elsewhere.

Where most of a page's text stands on the pages it leads to, it is their index. That is seen when
they are stored, whichever comes first, in the transaction that stores the last of them: the page
is withdrawn, with all that followed from it. So nothing is remembered that is not committed. Of two
pages that lead to each other (a story and its channel, which shows it whole) both stay, and are
left to the recognition of reprints; so does what an operator calls on topic.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from sqlalchemy import Connection

from qiaocrawl.discovery.rules import plain_spelling
from qiaocrawl.extract.entries import stands_in
from qiaocrawl.items import Outcome
from qiaocrawl.storage.packed_text import unpack_text
from qiaocrawl.storage.pages.reprocessing import drop_article, set_outcome
from qiaocrawl.storage.pages.revisions import note_withdrawn
from qiaocrawl.storage.sql import Statement
from qiaocrawl.storage.values import clean_word
from qiaocrawl.text.normalise import letters_of
from qiaocrawl.urls import host_of, registrable_domain, url_key
from qiaocrawl.urls.versions import identity, plainness

logger = logging.getLogger(__name__)

INDEX_SHARE = 0.5
"""A page is an index when such a share of its text stands on pages it leads to **(ours)**."""
_MAX_OPENING_CHARS = 64

_CONCERNED = Statement(
    "SELECT url_id, number, target_key, opening FROM excerpt"
    " WHERE target_key = :key OR url_id = :url_id"
)
_STANDING = Statement(
    "SELECT SUM(share), COUNT(DISTINCT target_key) FROM excerpt WHERE url_id = :url_id AND stands"
)
_STANDS = Statement(
    "UPDATE excerpt SET stands = :stands WHERE url_id = :url_id AND number = :number"
)
_DROP = Statement("DELETE FROM excerpt WHERE url_id = :url_id")
_ADD = Statement(
    "INSERT INTO excerpt (url_id, number, target_key, opening, share, stands)"
    " VALUES (:url_id, :number, :target_key, :opening, :share, :stands)"
)
_TARGET = Statement(
    "SELECT a.text FROM article a JOIN url u ON u.id = a.url_id WHERE u.`key` = :key"
)
_LEADS_BACK = Statement(
    "SELECT 1 FROM excerpt e JOIN url target ON target.id = e.url_id"
    " JOIN url page ON page.`key` = e.target_key"
    " WHERE target.`key` = :target AND page.id = :url_id LIMIT 1"
)
_WANTED = Statement(
    "SELECT 1 FROM judgement j JOIN url u ON u.`key` = j.`key`"
    " WHERE u.id = :url_id AND j.relevant LIMIT 1"
)
_URL = Statement("SELECT url FROM url WHERE `key` = :key")

Excerpts = Sequence[tuple[bytes, str, float]]
"""(key of the page it leads to, first letters, share of the text), see ``extract.entries``."""


def is_index(c: Connection, url_id: int, excerpts: Excerpts) -> str:
    """Why the page of *url_id* is an index of articles that are stored, in words; "" if not.

    Its other excerpts are looked at when their pages come.
    """
    texts = {key: _text_at(c, key) for key, _, _ in excerpts}
    # Compared as letters and digits alone, since a list page cuts and spaces texts its own way.
    stands = [stands_in(sample, texts[key]) for key, sample, _ in excerpts]
    standing = [excerpt for excerpt, is_there in zip(excerpts, stands, strict=True) if is_there]
    share, targets = sum(share for _, _, share in standing), {key for key, _, _ in standing}
    # standing is not empty here: its share is above 0.
    if share >= INDEX_SHARE and not _stays(c, url_id, standing[0][0], len(targets)):
        return _reason(c, standing[0][0], len(targets))
    # Old rows are dropped first: an earlier reading may have found others.
    if excerpts:
        _DROP.run(c, {"url_id": url_id})
        _ADD.run_many(
            c,
            [
                {
                    "url_id": url_id,
                    "number": number,
                    "target_key": key,
                    "share": share,
                    "opening": clean_word(opening, _MAX_OPENING_CHARS),
                    "stands": stands[number],
                }
                for number, (key, opening, share) in enumerate(excerpts)
            ],
        )
    return ""


def withdraw_indexes(
    c: Connection, url_id: int, key: bytes, text: str, excerpts: Excerpts, *, now: float
) -> int:
    """Withdraw the articles whose text turns out to be that of *url_id*, now stored with *text*.

    The caller holds the lock of the title log.

    Args:
        key: of its URL.
        excerpts: its own; where it has none any more, those of an earlier reading are forgotten.

    Returns:
        How many were withdrawn.
    """
    rows = _CONCERNED.run(c, {"key": key, "url_id": url_id}).fetchall()
    if not rows:
        return 0
    # Its own old rows would let the page be withdrawn for what it no longer shows.
    if not excerpts and any(row[0] == url_id for row in rows):
        _DROP.run(c, {"url_id": url_id})
    letters = letters_of(text)
    pages = set()
    for page, number, target, sample in rows:
        if page != url_id and bytes(target) == key:
            # Its text may be another one by now.
            stands = stands_in(sample, letters)
            _STANDS.run(c, {"url_id": page, "number": number, "stands": stands})
            if stands:
                pages.add(page)
    return sum(_settle(c, page, key, now) for page in sorted(pages))


def _settle(c: Connection, page: int, target: bytes, now: float) -> bool:
    """Withdraw *page* if most of it is known to stand elsewhere, some of it at *target*."""
    share, targets = _STANDING.run(c, {"url_id": page}).fetchone()
    if (share or 0.0) < INDEX_SHARE or _stays(c, page, target, targets):
        return False
    withdraw(c, page, _reason(c, target, targets), now=now)
    return True


def withdraw(c: Connection, url_id: int, reason: str, *, now: float) -> None:
    """Withdraw the article of *url_id*: its page is a list, for *reason*.

    Its relevance, verdict and place in a group go with it; what it said is kept as a revision.
    """
    _DROP.run(c, {"url_id": url_id})
    # The revision copies the article, so it comes before the deletion.
    if note_withdrawn(c, url_id, reason, now=now):
        logger.info("URL row %d is no article: %s", url_id, reason)
    drop_article(c, url_id)
    set_outcome(c, url_id, Outcome.LIST, reason)


def _text_at(c: Connection, key: bytes) -> str:
    row = _TARGET.run(c, {"key": key}).fetchone()
    return letters_of(unpack_text(row[0])) if row is not None else ""


def _reason(c: Connection, target: bytes, count: int) -> str:
    row = _URL.run(c, {"key": target}).fetchone()
    others = f" and {count - 1} more" if count > 1 else ""
    return f"withdrawn as an index: its text stands on {row[0] if row else '?'}{others}"


def _stays(c: Connection, url_id: int, target: bytes, targets: int) -> bool:
    """Whether the page stays an article, though its text stands at *target*, one of *targets*."""
    # Only where all of it is shown there: a page that also repeats others is still an index.
    if targets == 1 and _LEADS_BACK.run(c, {"url_id": url_id, "target": target}).fetchone():
        return True
    return _WANTED.run(c, {"url_id": url_id}).fetchone() is not None


# --- One page under two addresses: the plainer one keeps the article, the other becomes an
# alias
# Rules of hosts (:mod:`qiaocrawl.urls.aliases`) need articles to be learnt from, and know no marks
# of chance such as ``?sid=…``; so a few pages of a site are fetched under several addresses before.
# That two articles are one page is what their verdict says; that one address is a form of the
# other is seen here, so two pages that repeat a text both stay.

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
