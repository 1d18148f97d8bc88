"""The log of titles: every article's title in one order that all workers of a database share.

A title is judged in four steps within the transaction that stores its article: take the lock
(:func:`lock`), read what others have committed since (:func:`entries_since`), judge, write
(:func:`append`). The lock is a row that stays locked until the transaction ends, so rows become
visible in the order of their numbers, and two copies that come to two workers at the same
moment are judged one after the other. On SQLite the one writing transaction is the lock.

A row that changes is deleted and written again with a higher number; a title that is gone leaves
a row without an article. So a reader that goes on from a number misses nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.errors import StorageError
from qiaocrawl.items import TitleRecord
from qiaocrawl.language import _
from qiaocrawl.storage.engine import ConnectionCache
from qiaocrawl.storage.packed_text import unpack_text
from qiaocrawl.storage.sql import ListStatement, Statement, upsert
from qiaocrawl.storage.values import MAX_SKETCH_BYTES, from_time, to_time

_LOCK = Statement(
    "SELECT snapshot FROM title_clock WHERE id = 1",
    mysql="SELECT snapshot FROM title_clock WHERE id = 1 FOR UPDATE",
)
_READ_CLOCK = Statement("SELECT snapshot FROM title_clock WHERE id = 1")
_SET_CLOCK = Statement("UPDATE title_clock SET snapshot = :snapshot WHERE id = 1")
_NEWEST = Statement("SELECT MAX(seq) FROM title_entry")
_COUNT = Statement(
    "SELECT COUNT(*) FROM title_entry WHERE article_id IS NOT NULL AND NOT taken_out"
)

_COLUMNS = (
    "`key`, article_id, title, host, published_at, source, body_digest, body_simhash,"
    " body_sketch, text_chars, taken_out"
)
_SELECT = f"SELECT seq, {_COLUMNS} FROM title_entry "
_SINCE = Statement(_SELECT + "WHERE seq > :after ORDER BY seq LIMIT :count")
_BY_KEY = ListStatement(_SELECT + "WHERE `key` IN ({list})")
_BY_ARTICLE = ListStatement(_SELECT + "WHERE article_id IN ({list})")
_WITHOUT_BODY = Statement(
    "SELECT e.seq, e.article_id, a.text FROM title_entry e JOIN article a ON a.id = e.article_id"
    " WHERE e.body_simhash IS NULL AND e.seq > :after ORDER BY e.seq LIMIT :count"
)
_KEY_OF = Statement(
    "SELECT u.`key` FROM article a JOIN url u ON u.id = a.url_id WHERE a.id = :article_id"
)
# Deletes the row of the same key, if there is one.
_APPEND = Statement(
    f"REPLACE INTO title_entry ({_COLUMNS}) VALUES (:key, :article_id, :title, :host,"
    " :published_at, :source, :body_digest, :body_simhash, :body_sketch, :text_chars, :taken_out)"
)


@dataclass(frozen=True, slots=True)
class TitleEntry:
    """A title as it was judged.

    Attributes:
        article_id: None where no article is any more; only key and *taken_out* count then.
        text_chars: length of the article's text.
        taken_out: by hand, out of all groups: it is compared with nothing.
        seq: its place in the log; 0 before it has one.
    """

    record: TitleRecord
    article_id: int | None
    text_chars: int = 0
    taken_out: bool = False
    seq: int = 0

    @property
    def counts(self) -> bool:
        """Whether other titles are compared with it."""
        return self.article_id is not None and not self.taken_out

    def says(self, other: TitleEntry) -> bool:
        """Whether it says the same as *other*, wherever both stand in the log."""
        # The position does not matter: a row written again says the same further back.
        return replace(self, seq=0) == replace(other, seq=0)


def lock(c: Connection) -> int:
    """Lock the log for this transaction, unless it has; waits for others to end theirs.

    Returns:
        The version of the IDF snapshot in use; it does not change while the lock is held.

    Raises:
        StorageError: the row that is the lock is missing.
    """
    # The transaction itself is the key: after a rollback the lock is gone, and a new transaction
    # finds another object here.
    memory, transaction = ConnectionCache.of(c), c.get_transaction()
    # Once a transaction: a group of pages judges many titles under one lock.
    if transaction is None or memory.titles_held_in is not transaction:
        memory.idf_version = _version(_LOCK, c)
        memory.titles_held_in = c.get_transaction()
    return memory.idf_version


def idf_version(c: Connection) -> int:
    """The version of the IDF snapshot in use, without waiting; 0 is the one that is shipped."""
    return _version(_READ_CLOCK, c)


def set_idf_version(c: Connection, version: int) -> None:
    """Use another IDF snapshot from now on; every worker sees it with its next title."""
    lock(c)
    _SET_CLOCK.run(c, {"snapshot": version})
    ConnectionCache.of(c).idf_version = version


def _version(statement: Statement, c: Connection) -> int:
    row = statement.run(c).fetchone()
    if row is None:
        raise StorageError(_("table title_clock has lost its row (1, 0): INSERT it again"))
    version: int = row[0]
    return version


def newest(c: Connection) -> int:
    """The highest number of the log; 0 for an empty one."""
    return _NEWEST.run(c).fetchone()[0] or 0


def count_compared(c: Connection) -> int:
    """How many titles others are compared with."""
    number: int = _COUNT.run(c).fetchone()[0]
    return number


def entries_since(c: Connection, after: int, limit: int) -> list[TitleEntry]:
    """The next *limit* entries behind number *after*, in order; [] at the end."""
    return [_entry(row) for row in _SINCE.run(c, {"after": after, "count": limit}).fetchall()]


def entries_of_keys(c: Connection, keys: Sequence[bytes]) -> list[TitleEntry]:
    """The entries of *keys* (of URLs), as far as there are any, in any order."""
    return [_entry(row) for row in _BY_KEY.fetch(c, keys)]


def entries_of_articles(c: Connection, article_ids: Sequence[int]) -> list[TitleEntry]:
    """The entries of articles, by their row ids, in any order."""
    return [_entry(row) for row in _BY_ARTICLE.fetch(c, article_ids)]


def texts_without_body(c: Connection, after: int, limit: int) -> list[tuple[int, int, str]]:
    """(number, article, text) of the next entries whose body was never looked at, in order."""
    rows = _WITHOUT_BODY.run(c, {"after": after, "count": limit}).fetchall()
    return [(seq, article_id, unpack_text(text)) for seq, article_id, text in rows]


def append(c: Connection, entry: TitleEntry) -> int:
    """Write *entry* at the end of the log, in the place of an earlier one of its key.

    Returns:
        Its number.
    """
    lock(c)
    record = entry.record
    written = _APPEND.run(
        c,
        {
            "key": record.key,
            "article_id": entry.article_id,
            "title": record.title,
            "host": record.host,
            "published_at": to_time(record.published_at),
            "source": record.source,
            "body_digest": record.body_digest,
            # 8 bytes, big-endian: no signed 64-bit column holds all SimHashes.
            "body_simhash": record.body_simhash.to_bytes(8, "big"),
            "body_sketch": record.body_sketch[:MAX_SKETCH_BYTES],
            "text_chars": entry.text_chars,
            "taken_out": entry.taken_out,
        },
    )
    ConnectionCache.of(c).title_writes += 1
    assert written.lastrowid is not None
    return written.lastrowid


def withdraw(c: Connection, article_id: int) -> None:
    """The article of this title is about to go: leave a row that tells other workers so."""
    # A newer row instead of a deletion: workers that read on from a number learn only of rows.
    for entry in entries_of_articles(c, [article_id]):
        gone = TitleRecord(entry.record.key, "")
        append(c, TitleEntry(gone, None, taken_out=entry.taken_out))


def follow(c: Connection, article_id: int) -> None:
    """The article of this title is at another URL now: leave a note at the old one."""
    # The new address may have an entry of its own, by a page stored there before.
    for entry in entries_of_articles(c, [article_id]):
        key = bytes(_KEY_OF.run(c, {"article_id": article_id}).fetchone()[0])
        # What an operator removed stays out, whichever of the two addresses it had.
        taken_out = any(logged.taken_out for logged in (entry, *entries_of_keys(c, [key])))
        append(c, TitleEntry(TitleRecord(entry.record.key, ""), None))
        append(c, replace(entry, record=replace(entry.record, key=key), taken_out=taken_out))


def _entry(row: Any) -> TitleEntry:
    (
        seq,
        key,
        article_id,
        title,
        host,
        published_at,
        source,
        digest,
        simhash,
        sketch,
        chars,
        taken_out,
    ) = row
    record = TitleRecord(
        bytes(key),
        title,
        host,
        from_time(published_at),
        source,
        bytes(digest),
        int.from_bytes(simhash or b"", "big"),
        bytes(sketch),
    )
    return TitleEntry(record, article_id, chars, bool(taken_out), seq)


# --- Marks in the log of titles, by which a file knows the log it was made of ---------------------
# A mark is 16 random bytes, put in while the log is locked, with the number of the newest entry. It
# is committed after all entries up to there, and none of these changes later: what changes gets a
# new number. So a database that has the mark has the log up to there, entry for entry, but for
# those that were written again behind it. A backup of before, another database at the same address,
# or one that went another way since then does not have it.

_ADD = Statement("INSERT INTO title_mark (mark, seq) VALUES (:mark, :seq)")
_ALL = Statement("SELECT mark, seq FROM title_mark ORDER BY seq DESC, mark")
_DELETE = Statement("DELETE FROM title_mark WHERE mark = :mark")
# Each machine and user of a database has files of its own.
_MOST_MARKS = 64


def add(c: Connection, mark: bytes, seq: int) -> None:
    """Put *mark* into the log behind *seq*, its newest entry; the oldest of many marks go."""
    lock(c)
    _ADD.run(c, {"mark": mark, "seq": seq})
    _DELETE.run_many(c, [{"mark": old} for old in list(marks(c))[_MOST_MARKS:]])


def marks(c: Connection) -> dict[bytes, int]:
    """All marks with their places in the log, the newest first."""
    return {bytes(mark): seq for mark, seq in _ALL.run(c).fetchall()}


# --- Title term weights over the whole collection (Q6) --------------------------------------------

_ARTICLES = Statement("SELECT COUNT(DISTINCT article_id), MAX(article_id) FROM title_term")
_FREQUENCIES = Statement("SELECT term, COUNT(*) FROM title_term GROUP BY term ORDER BY term")
_CLEAR = Statement("DELETE FROM term_weight")
# Workers that end together rebuild together: rows another inserted since we cleared the table
# are overwritten, which is right since both counted the same titles.
_ADD_WEIGHTS = upsert("term_weight", "term, df, weight", key="term", change="df, weight")
# UPDATE with a subquery rather than a join: SQLite and MariaDB write joins in UPDATE differently.
_APPLY = Statement(
    "UPDATE title_term SET weight = count *"
    " (SELECT w.weight FROM term_weight w WHERE w.term = title_term.term)"
    " WHERE article_id > :after AND article_id <= :upto"
)
# A statement over millions of rows would outlast the connection's time-out.
_ARTICLES_AT_A_TIME = 20_000
_TERMS_AT_A_TIME = 5_000


def rebuild_term_weights(c: Connection) -> int:
    """Compute every term's ln(N/df) and every title term's tf · ln(N/df); returns the terms.

    N counts articles with a segmented title, df those whose title has the term. Linear in the
    title terms; meant for batches, not for every article.
    """
    articles, last = _ARTICLES.run(c).fetchone()
    rows = [
        # max(): a title may be stored between the two counts.
        {"term": term, "df": df, "weight": math.log(max(articles, df) / df)}
        for term, df in _FREQUENCIES.run(c).fetchall()
    ]
    # Terms that no title has any more would keep their old weight otherwise.
    _CLEAR.run(c)
    for start in range(0, len(rows), _TERMS_AT_A_TIME):
        _ADD_WEIGHTS.run_many(c, rows[start : start + _TERMS_AT_A_TIME])
    for after in range(0, last or 0, _ARTICLES_AT_A_TIME):
        _APPLY.run(c, {"after": after, "upto": after + _ARTICLES_AT_A_TIME})
    return len(rows)
