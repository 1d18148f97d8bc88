"""Which pages operators say are on topic, and the samples that follow from it.

The last judgement of a URL counts. A judged page becomes a sample as soon as, and as long as,
there is an article at its URL: title and text are taken from there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from qiaocrawl.storage.packed_text import unpack_text
from qiaocrawl.storage.pages.article_changes import note_changes
from qiaocrawl.storage.sql import Statement, upsert
from qiaocrawl.storage.topics.topics import load_pack, mark_changed, topic_id
from qiaocrawl.storage.values import clean_text, clean_word, epoch_time, from_time
from qiaocrawl.text.normalise import collapse
from qiaocrawl.topic.pack import Sample, TopicPack
from qiaocrawl.urls import url_key

OPERATOR = "operator"
"""The method of a verdict that an operator gave."""
MAX_JUDGED_SAMPLES = 500
"""Newest judgements of a topic that become samples."""
_MAX_TITLE_CHARS = 200
# Scorers read no further.
_MAX_TEXT_CHARS = 20_000

_SAVE = upsert(
    "judgement",
    "topic_id, `key`, url, relevant, note, judged_at",
    key="topic_id, `key`",
    change="relevant, note, judged_at",
)
_DROP = Statement("DELETE FROM judgement WHERE topic_id = :topic_id AND `key` = :key")
_FROM = (
    " FROM judgement j LEFT JOIN url u ON u.`key` = j.`key`"
    " LEFT JOIN article a ON a.url_id = u.id WHERE j.topic_id = :topic_id"
)
_NEWEST_FIRST = " ORDER BY j.judged_at DESC, j.`key` LIMIT :limit"
_LIST = Statement("SELECT j.url, j.relevant, j.note, j.judged_at, a.title" + _FROM + _NEWEST_FIRST)
_SAMPLES = Statement(
    "SELECT j.`key`, j.url, j.relevant, a.title, a.text"
    + _FROM
    + " AND a.id IS NOT NULL"
    + _NEWEST_FIRST
)
_OF_ARTICLE = (
    " FROM judgement j JOIN url u ON u.`key` = j.`key` JOIN article a ON a.url_id = u.id"
    " WHERE a.id = relevance.article_id AND j.topic_id = relevance.topic_id"
)
_DECIDE = Statement(
    f"UPDATE relevance SET score = (SELECT j.relevant{_OF_ARTICLE}),"
    f" relevant = (SELECT j.relevant{_OF_ARTICLE}), method = '{OPERATOR}'"
    f" WHERE article_id = :article_id AND EXISTS (SELECT 1{_OF_ARTICLE})"
)
_ANSWERS = Statement(
    "SELECT a.id, j.topic_id, j.relevant FROM judgement j JOIN url u ON u.`key` = j.`key`"
    " JOIN article a ON a.url_id = u.id"
)
_ARTICLE = Statement(
    "SELECT a.id FROM url u JOIN article a ON a.url_id = u.id WHERE u.`key` = :key"
)
# An article that was stored before its topic was imported has no verdict yet.
_BEGIN = upsert(
    "relevance",
    "article_id, topic_id, score, relevant, method, terms",
    key="article_id, topic_id",
    change="method",
)


@dataclass(frozen=True, slots=True)
class StoredJudgement:
    """A judgement as it stands.

    Attributes:
        title: of the article at *url*; None while there is none, so that it is no sample yet.
    """

    url: str
    relevant: bool
    note: str
    judged_at: datetime
    title: str | None


def save_judgement(
    c: Connection, topic: str, url: str, *, relevant: bool, note: str, now: float
) -> bool:
    """Note whether the page at the canonical *url* is on topic, whatever was said before.

    The verdict of its article is the operator's from now on; False while there is none.

    Raises:
        StorageError: the topic was never imported.
    """
    topic_row, key = topic_id(c, topic), url_key(url)
    # Its samples are others now, which running crawls take over.
    mark_changed(c, topic_row, now)
    _SAVE.run(
        c,
        {
            "topic_id": topic_row,
            "key": key,
            "url": url,
            "relevant": relevant,
            "note": clean_word(note, 500),
            "judged_at": epoch_time(now),
        },
    )
    article = _ARTICLE.run(c, {"key": key}).fetchone()
    if article is None:
        return False
    _BEGIN.run(
        c,
        {
            "article_id": article[0],
            "topic_id": topic_row,
            "score": 0.0,
            "relevant": False,
            "method": OPERATOR,
            "terms": "[]",
        },
    )
    decide_article(c, article[0])
    return True


def drop_judgement(c: Connection, topic: str, url: str, *, now: float) -> bool:
    """Take back what was said of the page at the canonical *url*; False if nothing was.

    The verdict of its article stays the operator's until a scorer's is stored in its place
    (``articles.save_relevance``).

    Raises:
        StorageError: the topic was never imported.
    """
    topic_row = topic_id(c, topic)
    if not _DROP.run(c, {"topic_id": topic_row, "key": url_key(url)}).rowcount:
        return False
    mark_changed(c, topic_row, now)
    return True


def decide_article(c: Connection, article_id: int) -> None:
    """Give the article the verdicts that operators gave its page, for every topic they did."""
    _DECIDE.run(c, {"article_id": article_id})
    note_changes(c, [article_id])


def operator_answers(c: Connection) -> dict[int, dict[int, bool]]:
    """Whether an article is on a topic, by article and topic, for all that operators judged."""
    answers: dict[int, dict[int, bool]] = {}
    for article_id, topic, relevant in _ANSWERS.run(c).fetchall():
        answers.setdefault(article_id, {})[topic] = bool(relevant)
    return answers


def list_judgements(c: Connection, topic: str, limit: int) -> list[StoredJudgement]:
    """The newest *limit* judgements for a topic, newest first.

    Raises:
        StorageError: the topic was never imported.
    """
    rows = _LIST.run(c, {"topic_id": topic_id(c, topic), "limit": limit}).fetchall()
    judgements = []
    for url, relevant, note, judged_at, title in rows:
        moment = from_time(judged_at)
        assert moment is not None
        judgements.append(StoredJudgement(url, bool(relevant), note, moment, title))
    return judgements


def judged_samples(
    c: Connection, topic: str, limit: int = MAX_JUDGED_SAMPLES
) -> tuple[Sample, ...]:
    """The articles at judged URLs as samples, of the newest *limit* judgements, oldest first.

    Raises:
        StorageError: the topic was never imported.
    """
    rows = _SAMPLES.run(c, {"topic_id": topic_id(c, topic), "limit": limit}).fetchall()
    samples = []
    for key, url, relevant, title, packed in reversed(rows):
        shown, text = collapse(title) or url, unpack_text(packed)
        samples.append(
            Sample(
                name=sample_name(bytes(key)),
                title=clean_word(shown[:_MAX_TITLE_CHARS], _MAX_TITLE_CHARS),
                text=clean_text((text.strip() or shown)[:_MAX_TEXT_CHARS], _MAX_TEXT_CHARS),
                relevant=bool(relevant),
            )
        )
    return tuple(samples)


def sample_name(key: bytes) -> str:
    """What the sample of the judged page with the URL key *key* is called."""
    return f"judged-{key.hex()}"


def judged_pack(c: Connection, name: str) -> TopicPack:
    """The topic called *name* with its judged articles behind the samples it was imported with.

    Raises:
        StorageError: it was never imported.
    """
    pack = load_pack(c, name)
    judged = judged_samples(c, name)
    # A pack that was exported with its judgements and imported again has them already.
    again = {sample.name for sample in judged}
    unchanged = [sample for sample in pack.samples if sample.name not in again]
    return replace(pack, samples=(*unchanged, *judged))
