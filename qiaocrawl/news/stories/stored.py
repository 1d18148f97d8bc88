"""The state of the desk of stories: stored as it changes, loaded as it was."""

from __future__ import annotations

import json
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from io import BytesIO
from typing import Any, Literal, NamedTuple

import numpy as np
from sqlalchemy import Connection, delete, func, insert, select, update

from qiaocrawl.news.stories.desk import DeskState, Minute
from qiaocrawl.news.stories.evidence import Marks
from qiaocrawl.news.stories.lead import MOST_READ
from qiaocrawl.news.stories.lookup import Sleeper, signature_of
from qiaocrawl.news.stories.story import (
    Change,
    Correction,
    Item,
    Story,
    Voice,
    head_of,
    heaviest_words,
)
from qiaocrawl.news.stories.terms import vector_from
from qiaocrawl.news.stories.voices import Background, MinuteCounts
from qiaocrawl.storage.packed_text import compress, decompress, unpack_text
from qiaocrawl.storage.schema import (
    story,
    story_article,
    story_background,
    story_change,
    story_clock,
    story_correction,
)
from qiaocrawl.storage.sql import ListStatement, Statement, upsert
from qiaocrawl.storage.values import (
    clean_text,
    clean_word,
    epoch_time,
    from_time,
    to_json,
    to_stored_time,
)

# --- The articles that are in no story yet, and what people said about stories --------------------

# A page that says it was published later than this after it was fetched is wrong.
_MOST_AHEAD = timedelta(days=1)

_WAITING = Statement(
    "SELECT e.seq, e.article_id, a.fetched_at, s.minute FROM title_entry e"
    " JOIN article a ON a.id = e.article_id LEFT JOIN story_article s ON s.url_id = a.url_id"
    " WHERE e.seq > :after AND s.story_id IS NULL ORDER BY e.seq"
)
_TEXTS = ListStatement(
    "SELECT a.id, a.url_id, u.`key`, a.title, a.text, a.published_at, a.fetched_at"
    " FROM article a JOIN url u ON u.id = a.url_id WHERE a.id IN ({list})"
)
_ALIKE = ListStatement(
    "SELECT v.article_id, u.id, u.`key` FROM verdict v JOIN verdict o ON o.group_id = v.group_id"
    " AND o.article_id <> v.article_id JOIN article a ON a.id = o.article_id"
    " JOIN url u ON u.id = a.url_id WHERE v.article_id IN ({list})"
)
_NEWEST = Statement("SELECT COALESCE(MAX(seq), 0) FROM title_entry")
_KEYS = ListStatement("SELECT id, `key` FROM url WHERE id IN ({list})")


class Waiting(NamedTuple):
    """An article in no story: its row id, and the minute it came, or was taken for before."""

    seq: int
    article_id: int
    minute: int


def minute_of(when: datetime) -> int:
    """The minute of *when* since the epoch."""
    return int(when.timestamp() // 60)


def key_of(url_key: bytes, url_id: int) -> str:
    """What a desk knows an article by: it sorts by the URL, whoever stored it first."""
    return f"{url_key.hex()}:{url_id}"


def url_id_of(key: str) -> int:
    """The row id of the URL in a key."""
    return int(key.rpartition(":")[2])


def keys_of(c: Connection, url_ids: Sequence[int]) -> list[str]:
    """What a desk knows the articles at these URLs by, in their order."""
    keys = {row[0]: key_of(bytes(row[1]), row[0]) for row in _KEYS.fetch(c, url_ids)}
    return [keys[url_id] for url_id in url_ids]


def newest_entry(c: Connection) -> int:
    """The number of the last entry of the log of titles."""
    number: int = _NEWEST.run(c).fetchone()[0]
    return number


def waiting(c: Connection, after: int) -> list[Waiting]:
    """The articles in no story whose titles are behind entry *after* of the log."""
    rows = _WAITING.run(c, {"after": after}).fetchall()
    return [
        Waiting(seq, article_id, minute_of(fetched) if taken_for is None else taken_for)
        for seq, article_id, fetched_at, taken_for in rows
        if (fetched := from_time(fetched_at)) is not None
    ]


def read_items(c: Connection, article_ids: Sequence[int]) -> dict[int, Item]:
    """Articles as a desk takes them, by their row ids; those that are gone are left out."""
    alike: dict[int, list[str]] = defaultdict(list)
    for article_id, url_id, key in _ALIKE.fetch(c, article_ids):
        alike[article_id].append(key_of(bytes(key), url_id))
    items = {}
    for article_id, url_id, key, title, text, published_at, fetched_at in _TEXTS.fetch(
        c, article_ids
    ):
        published, fetched = from_time(published_at), from_time(fetched_at)
        assert fetched is not None
        if published is not None and published > fetched + _MOST_AHEAD:
            published = None
        items[article_id] = Item(
            key_of(bytes(key), url_id),
            title,
            unpack_text(text)[:MOST_READ],
            None if published is None else published.timestamp(),
            tuple(sorted(alike[article_id])),
        )
    return items


# --- corrections --------------------------------------------------------------------------------


def add_correction(c: Connection, correction: Correction, *, by: str, now: datetime) -> None:
    """Note what a person said; the next analysis does it.

    Keys of the correction are those of :func:`key_of`.
    """
    c.execute(
        insert(story_correction).values(
            kind=correction.kind,
            url_ids=json.dumps([url_id_of(key) for key in correction.keys]),
            other_url_ids=json.dumps([url_id_of(key) for key in correction.others]),
            corrected_by=clean_word(by, 100),
            corrected_at=to_stored_time(now),
            minute=None,
        )
    )


def corrections(c: Connection, minute: int | None) -> list[tuple[int, Correction]]:
    """Row ids and corrections done in *minute*; None: those that are still to be done."""
    table = story_correction
    of_minute = table.c.minute.is_(None) if minute is None else table.c.minute == minute
    found = []
    for row in c.execute(select(table).where(of_minute).order_by(table.c.id)):
        own, others = json.loads(row.url_ids), json.loads(row.other_url_ids)
        found.append(
            (
                row.id,
                Correction(
                    row.kind,
                    tuple(keys_of(c, own)),
                    tuple(keys_of(c, others)),
                    _asleep(c, [*own, *others]),
                ),
            )
        )
    return found


def mark_done(c: Connection, correction_ids: Sequence[int], minute: int) -> None:
    """These corrections were done in *minute*."""
    table = story_correction
    c.execute(update(table).where(table.c.id.in_(correction_ids)).values(minute=minute))


def correction_minutes(c: Connection, after: int) -> list[int]:
    """The minutes behind *after* in which corrections were done: a rebuild does them again."""
    table = story_correction
    statement = select(table.c.minute).where(table.c.minute > after).distinct()
    return sorted(c.execute(statement).scalars())


def _asleep(c: Connection, url_ids: Sequence[int]) -> tuple[int, ...]:
    """The stories of these URLs that sleep."""
    statement = (
        select(story.c.id)
        .distinct()
        .join(story_article, story_article.c.story_id == story.c.id)
        .where(story_article.c.url_id.in_(url_ids), story.c.state == "asleep")
        .order_by(story.c.id)
    )
    return tuple(c.execute(statement).scalars())


# --- The state of the desk of stories: stored as it changes, loaded as it was ---------------------

State = Literal["awake", "asleep", "ended", "merged"]

_CLOCK = Statement(
    "SELECT version, title_seq, next_id, minute, day, learnt FROM story_clock WHERE id = 1"
)
_FIRST_CLOCK = Statement(
    "INSERT INTO story_clock (id, version, title_seq, next_id, minute, day, learnt)"
    " VALUES (1, 1, :title_seq, :next_id, :minute, :day, :learnt)"
)
_MOVE_CLOCK = Statement(
    "UPDATE story_clock SET version = version + 1, title_seq = :title_seq, next_id = :next_id,"
    " minute = :minute, day = :day, learnt = :learnt WHERE id = 1 AND version = :version"
)
_COLUMNS = (
    "title, head_url_id, state, merged_into, opened, touched, first_published, last_published,"
    " articles, voices, likeness, checked, by_hand, apart, words, signature"
)
_SAVE = upsert("story", f"id, {_COLUMNS}", key="id", change=_COLUMNS)
_SET_STATE = Statement("UPDATE story SET state = :state, merged_into = :into WHERE id = :id")
_SAVE_ARTICLE = upsert(
    "story_article",
    "url_id, story_id, voice_url_id, minute, published, words, term_weights",
    key="url_id",
    change="story_id, voice_url_id, published, words, term_weights",
)
_DROP_VECTORS = ListStatement(
    "UPDATE story_article SET term_weights = NULL WHERE story_id IN ({list})"
)
_ADD_CHANGE = Statement(
    "INSERT INTO story_change (minute, story_id, kind, other_id, url_ids, score, words, by_hand)"
    " VALUES (:minute, :story_id, :kind, :other_id, :url_ids, :score, :words, :by_hand)"
)
_TITLES = ListStatement("SELECT url_id, title FROM article WHERE url_id IN ({list})")


@dataclass(frozen=True, slots=True)
class Clock:
    """How far the desk has come: its state, and what is stored beside it.

    Args:
        version: raised by whoever writes; 0 before the first.
        title_seq: all entries of the log of titles up to here are in stories.
    """

    version: int
    title_seq: int
    desk: DeskState


@dataclass(slots=True)
class Results:
    """What a desk did since it was stored last.

    Args:
        awake: those that are new or changed.
        asleep: those that sleep since.
        gone: those that were merged or have ended; None where it is stored what they were.
        changes: in the order they came about.
        minutes: those of the articles that came.
    """

    awake: dict[int, Story] = field(default_factory=dict)
    asleep: dict[int, Story] = field(default_factory=dict)
    gone: dict[int, Story | None] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    minutes: dict[str, int] = field(default_factory=dict)

    def add(self, minute: Minute, stories: Mapping[int, Story]) -> None:
        """Take in what a minute changed; *stories*: those awake after it."""
        self.changes += minute.changes
        for number in minute.stories:
            was = self.awake.pop(number, None) or self.asleep.pop(number, None)
            if number in stories:
                self.awake[number] = stories[number]
            elif number in minute.slept:
                self.asleep[number] = minute.slept[number]
            else:
                self.gone[number] = was or self.gone.get(number)


def read_clock(c: Connection) -> Clock:
    """How far the desk has come."""
    row = _CLOCK.run(c).fetchone()
    return Clock(row[0], row[1], DeskState(*row[2:])) if row else Clock(0, 0, DeskState())


def move_clock(c: Connection, seen: Clock, title_seq: int, desk: DeskState) -> bool:
    """Store the state of the desk; False where another worker did so since it was *seen*."""
    params = {
        "version": seen.version,
        "title_seq": title_seq,
        "next_id": desk.next_id,
        "minute": desk.minute,
        "day": desk.day,
        "learnt": desk.learnt,
    }
    if seen.version:
        return _MOVE_CLOCK.run(c, params).rowcount == 1
    if _CLOCK.run(c).fetchone():
        return False
    _FIRST_CLOCK.run(c, params)
    return True


# --- writing ------------------------------------------------------------------------------------


def save_results(c: Connection, results: Results, placed: Mapping[str, int]) -> None:
    """Write what a desk did.

    Args:
        placed: the story of each article as it is stored.
    """
    kept = results.awake | results.asleep
    written = kept | {number: one for number, one in results.gone.items() if one is not None}
    heads = {number: head_of(one) for number, one in written.items()}
    titles = dict(_TITLES.fetch(c, [url_id_of(key) for key in heads.values()]))
    _SAVE.run_many(
        c,
        [
            _story_row(
                one,
                "asleep" if number in results.asleep else "awake",
                heads[number],
                titles.get(url_id_of(heads[number]), ""),
            )
            for number, one in sorted(written.items())
        ],
    )
    # A story may begin and end between two writes; its articles were in it nevertheless.
    ends = {change.story for change in results.changes if change.kind == "ended"}
    ended = [one for number, one in results.gone.items() if one is not None and number in ends]
    _SAVE_ARTICLE.run_many(
        c,
        [
            row
            for one in (*ended, *kept.values())
            for row in _article_rows(one, placed, results.minutes)
        ],
    )
    _write_ends(c, results)
    _ADD_CHANGE.run_many(c, [_change_row(change) for change in results.changes])


def _write_ends(c: Connection, results: Results) -> None:
    """Stories that are gone: merged into others, or ended."""
    merged = {change.other: change.story for change in results.changes if change.kind == "merged"}
    _SET_STATE.run_many(
        c,
        [
            {
                "id": number,
                "state": "merged" if number in merged else "ended",
                "into": merged.get(number),
            }
            for number in sorted(results.gone)
        ],
    )
    _DROP_VECTORS.run(c, sorted(results.gone.keys() - merged.keys()))


def _story_row(one: Story, state: State, head: str, title: str) -> dict[str, Any]:
    return {
        "id": one.id,
        "title": clean_text(title, 500),
        "head_url_id": url_id_of(head),
        "state": state,
        "merged_into": None,
        "opened": one.opened,
        "touched": one.touched,
        "first_published": _time(one.first),
        "last_published": _time(one.last),
        "articles": len(one.articles),
        "voices": len(one.voices),
        "likeness": one.likeness,
        "checked": one.checked,
        "by_hand": one.by_hand,
        "apart": json.dumps(sorted(one.apart)),
        "words": to_json(heaviest_words(one)),
        "signature": np.array(signature_of(one), "<i4").tobytes(),
    }


def _article_rows(
    one: Story, placed: Mapping[str, int], minutes: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    """The rows of the articles whose story is not the stored one."""
    for voice in one.voices:
        for key in voice.articles:
            if placed.get(key) != one.id:
                own = key == voice.key
                yield {
                    "url_id": url_id_of(key),
                    "story_id": one.id,
                    "voice_url_id": url_id_of(voice.key),
                    "minute": minutes.get(key, voice.minute),
                    "published": voice.published if own else None,
                    "words": to_json(voice.words if own else ()),
                    "term_weights": compress(_voice_bytes(voice)) if own else None,
                }


def _change_row(change: Change) -> dict[str, Any]:
    return {
        "minute": change.minute,
        "story_id": change.story,
        "kind": change.kind,
        "other_id": change.other,
        "url_ids": json.dumps([url_id_of(key) for key in change.keys]),
        "score": change.score,
        "words": to_json(change.words),
        "by_hand": change.by_hand,
    }


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else epoch_time(seconds)


# --- reading ------------------------------------------------------------------------------------

_VOICES = (
    "SELECT s.story_id, s.url_id, u.`key`, s.voice_url_id, s.minute, s.published, s.words,"
    " s.term_weights FROM story_article s JOIN url u ON u.id = s.url_id"
)
_VOICES_AWAKE = Statement(
    f"{_VOICES} JOIN story t ON t.id = s.story_id WHERE t.state = 'awake' ORDER BY s.story_id"
)
_VOICES_OF = ListStatement(f"{_VOICES} WHERE s.story_id IN ({{list}}) ORDER BY s.story_id")


def load_awake(c: Connection) -> list[Story]:
    """The stories that are awake."""
    rows = c.execute(select(story).where(story.c.state == "awake").order_by(story.c.id)).all()
    return _stories(rows, _VOICES_AWAKE.run(c).fetchall())


def load_story(c: Connection, number: int) -> Story:
    """The story of that number, awake or asleep."""
    rows = c.execute(select(story).where(story.c.id == number)).all()
    return _stories(rows, list(_VOICES_OF.fetch(c, [number])))[0]


def load_sleepers(c: Connection) -> Iterator[tuple[int, Sleeper]]:
    """The stories asleep, by number."""
    columns = story.c.id, story.c.signature, story.c.touched
    for row in c.execute(select(*columns).where(story.c.state == "asleep").order_by(story.c.id)):
        terms = np.frombuffer(bytes(row.signature), "<i4").tolist()
        yield row.id, Sleeper(tuple(terms), row.touched)


def forget_all(c: Connection) -> None:
    """Take all articles out of their stories; which minute each was taken for stays known.

    An analysis afterwards makes all stories anew, with what people said done when it was done.
    """
    c.execute(update(story_article).values(story_id=None, words="[]", term_weights=None))
    for table in (story_change, story_background, story):
        c.execute(delete(table))
    c.execute(
        update(story_clock).values(
            version=story_clock.c.version + 1, title_seq=0, next_id=1, minute=-1, day=-1, learnt=0
        )
    )


def _stories(rows: Iterable[Any], article_rows: Sequence[Any]) -> list[Story]:
    by_group: dict[int, list[Any]] = defaultdict(list)
    for row in article_rows:
        by_group[row[0]].append(row)
    return [_story(row, _voices(by_group[row.id])) for row in rows]


def _voices(rows: Sequence[Any]) -> tuple[Voice, ...]:
    """The voices of one story, with all articles that have each."""
    articles: dict[int, list[str]] = defaultdict(list)
    for _, url_id, key, voice_url_id, *_rest in rows:
        articles[voice_url_id].append(key_of(bytes(key), url_id))
    voices = [
        replace(
            _voice_of(decompress(bytes(data))),
            key=key_of(bytes(key), url_id),
            published=published,
            words=tuple(json.loads(words)),
            articles=tuple(articles[url_id]),
            minute=minute,
        )
        for _, url_id, key, voice_url_id, minute, published, words, data in rows
        if url_id == voice_url_id
    ]
    return tuple(sorted(voices, key=lambda voice: voice.order))


# Before the vector stand its marks, unless it was stored by a version that had none: numbers of
# terms are never below 0.
_MARKED = b"\xff\xff\xff\xff"
_LENGTH = struct.Struct("<I")


def _voice_bytes(voice: Voice) -> bytes:
    marks = voice.marks
    sets = [*marks.kinds, marks.heading, marks.named]
    written = json.dumps([[sorted(own) for own in sets], marks.is_long, voice.is_round_up]).encode()
    return _MARKED + _LENGTH.pack(len(written)) + written + voice.vector.as_bytes()


def _voice_of(data: bytes) -> Voice:
    """Vector and marks of a stored voice."""
    if not data.startswith(_MARKED):
        return Voice("", None, vector_from(data))
    start = len(_MARKED) + _LENGTH.size
    end = start + _LENGTH.unpack_from(data, len(_MARKED))[0]
    sets, is_long, is_round_up = json.loads(data[start:end])
    *kinds, heading, named = map(frozenset, sets)
    marks = Marks(tuple(kinds), heading, named, is_long)
    return Voice("", None, vector_from(data[end:]), marks=marks, is_round_up=is_round_up)


def _story(row: Any, voices: tuple[Voice, ...]) -> Story:
    total = voices[0].vector
    for voice in voices[1:]:
        total = total.plus(voice.vector)
    times = [voice.published for voice in voices if voice.published is not None]
    return Story(
        row.id,
        voices,
        total,
        row.likeness,
        row.opened,
        row.touched,
        min(times, default=None),
        max(times, default=None),
        bool(row.by_hand),
        frozenset(json.loads(row.apart)),
        row.checked,
    )


# --- How common terms are, as stories count them: a whole count now and then, minutes since -------

# A whole count is written when so many articles were counted since the last one.
_WHOLE_AFTER_ARTICLES = 5_000
# What MariaDB takes at once is limited.
_PART_BYTES = 4 << 20


def load_background(c: Connection) -> Background:
    """How common terms were when the desk was stored last."""
    table = story_background
    rows = c.execute(select(table).order_by(table.c.id)).all()
    parts = b"".join(bytes(row.data) for row in rows if row.minute is None)
    background = Background()
    if parts:
        with np.load(BytesIO(decompress(parts)), allow_pickle=False) as arrays:
            background = Background.from_state(dict(arrays))
    for row in rows:
        if row.minute is not None:
            counts = decompress(bytes(row.data))
            background.count(MinuteCounts.of_bytes(row.minute * 60.0, row.articles, counts))
    return background


def save_background(
    c: Connection, background: Background, minutes: Sequence[tuple[int, MinuteCounts]]
) -> None:
    """Store what was counted since the last time, in *minutes*."""
    table = story_background
    rows = [
        {"minute": minute, "articles": counts.articles, "data": compress(counts.as_bytes())}
        for minute, counts in minutes
    ]
    if rows:
        c.execute(insert(table), rows)
    counted = c.execute(select(func.sum(table.c.articles))).scalar() or 0
    if counted > _WHOLE_AFTER_ARTICLES:
        c.execute(delete(table))
        file = BytesIO()
        np.savez(file, allow_pickle=False, **background.to_state())
        data = compress(file.getvalue())
        c.execute(
            insert(table),
            [
                {"minute": None, "articles": 0, "data": data[start : start + _PART_BYTES]}
                for start in range(0, len(data), _PART_BYTES)
            ],
        )
