"""The state of the desk of stories: stored as it changes, loaded as it was."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from sqlalchemy import Connection, delete, select, update

from qiaocrawl.analysis.stories.desk import DeskState, Minute
from qiaocrawl.analysis.stories.sleep import Sleeper, signature_of
from qiaocrawl.analysis.stories.story import Change, Story, Voice, head_of, heaviest_words
from qiaocrawl.analysis.stories.vector import vector_from
from qiaocrawl.storage.analysis.story_input import key_of, url_id_of
from qiaocrawl.storage.compression import compress, decompress
from qiaocrawl.storage.converters import clean_text, epoch_time, to_json
from qiaocrawl.storage.raw_sql import ListStatement, Statement, upsert
from qiaocrawl.storage.schema import (
    story,
    story_article,
    story_background,
    story_change,
    story_clock,
)

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
        "version": seen.version, "title_seq": title_seq, "next_id": desk.next_id,
        "minute": desk.minute, "day": desk.day, "learnt": desk.learnt,
    }  # fmt: skip
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
    _SAVE.run_many(c, [
        _story_row(one, "asleep" if number in results.asleep else "awake", heads[number],
                   titles.get(url_id_of(heads[number]), ""))
        for number, one in sorted(written.items())
    ])  # fmt: skip
    # A story may begin and end between two writes; its articles were in it nevertheless.
    ends = {change.story for change in results.changes if change.kind == "ended"}
    ended = [one for number, one in results.gone.items() if one is not None and number in ends]
    _SAVE_ARTICLE.run_many(c, [row for one in (*ended, *kept.values())
                               for row in _article_rows(one, placed, results.minutes)])  # fmt: skip
    _write_ends(c, results)
    _ADD_CHANGE.run_many(c, [_change_row(change) for change in results.changes])


def _write_ends(c: Connection, results: Results) -> None:
    """Stories that are gone: merged into others, or ended."""
    merged = {change.other: change.story for change in results.changes if change.kind == "merged"}
    _SET_STATE.run_many(c, [
        {"id": number, "state": "merged" if number in merged else "ended",
         "into": merged.get(number)}
        for number in sorted(results.gone)
    ])  # fmt: skip
    _DROP_VECTORS.run(c, sorted(results.gone.keys() - merged.keys()))


def _story_row(one: Story, state: State, head: str, title: str) -> dict[str, Any]:
    return {
        "id": one.id, "title": clean_text(title, 500), "head_url_id": url_id_of(head),
        "state": state, "merged_into": None, "opened": one.opened, "touched": one.touched,
        "first_published": _time(one.first), "last_published": _time(one.last),
        "articles": len(one.articles), "voices": len(one.voices), "likeness": one.likeness,
        "checked": one.checked, "by_hand": one.by_hand,
        "apart": json.dumps(sorted(one.apart)), "words": to_json(heaviest_words(one)),
        "signature": np.array(signature_of(one), "<i4").tobytes(),
    }  # fmt: skip


def _article_rows(
    one: Story, placed: Mapping[str, int], minutes: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    """The rows of the articles whose story is not the stored one."""
    for voice in one.voices:
        for key in voice.articles:
            if placed.get(key) != one.id:
                own = key == voice.key
                yield {
                    "url_id": url_id_of(key), "story_id": one.id,
                    "voice_url_id": url_id_of(voice.key), "minute": minutes.get(key, voice.minute),
                    "published": voice.published if own else None,
                    "words": to_json(voice.words if own else ()),
                    "term_weights": compress(voice.vector.as_bytes()) if own else None,
                }  # fmt: skip


def _change_row(change: Change) -> dict[str, Any]:
    return {
        "minute": change.minute, "story_id": change.story, "kind": change.kind,
        "other_id": change.other, "url_ids": json.dumps([url_id_of(key) for key in change.keys]),
        "score": change.score, "words": to_json(change.words), "by_hand": change.by_hand,
    }  # fmt: skip


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
    c.execute(update(story_clock).values(
        version=story_clock.c.version + 1, title_seq=0, next_id=1, minute=-1, day=-1, learnt=0
    ))  # fmt: skip


def _stories(rows: Iterable[Any], article_rows: Sequence[Any]) -> list[Story]:
    by_story: dict[int, list[Any]] = defaultdict(list)
    for row in article_rows:
        by_story[row[0]].append(row)
    return [_story(row, _voices(by_story[row.id])) for row in rows]


def _voices(rows: Sequence[Any]) -> tuple[Voice, ...]:
    """The voices of one story, with all articles that have each."""
    articles: dict[int, list[str]] = defaultdict(list)
    for _, url_id, key, voice_url_id, *_rest in rows:
        articles[voice_url_id].append(key_of(bytes(key), url_id))
    voices = [
        Voice(
            key_of(bytes(key), url_id), published, vector_from(decompress(bytes(vector))),
            tuple(json.loads(words)), tuple(articles[url_id]), minute,
        )
        for _, url_id, key, voice_url_id, minute, published, words, vector in rows
        if url_id == voice_url_id
    ]  # fmt: skip
    return tuple(sorted(voices, key=lambda voice: voice.order))


def _story(row: Any, voices: tuple[Voice, ...]) -> Story:
    total = voices[0].vector
    for voice in voices[1:]:
        total = total.plus(voice.vector)
    times = [voice.published for voice in voices if voice.published is not None]
    return Story(
        row.id, voices, total, row.likeness, row.opened, row.touched,
        min(times, default=None), max(times, default=None), bool(row.by_hand),
        frozenset(json.loads(row.apart)), row.checked,
    )  # fmt: skip
