"""What a model wrote of an event, as it is kept: checked, edited, and what was dropped of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.news.drafts.paper import MOST_SENTENCE_CHARS
from qiaocrawl.news.stories.texts import StoryText, texts_of
from qiaocrawl.news.writing.checking import Fault
from qiaocrawl.news.writing.drafting import Cited, Dropped, Paragraph, Voice
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.schema import event_text, story_article
from qiaocrawl.storage.values import clean_text, clean_word, from_time, to_stored_time
from qiaocrawl.text.zones import SHANGHAI

_MOST_VOICES = 8
_MOST_DROPPED = 20
_RECORD_CHARS = 1_000_000


@dataclass(frozen=True, slots=True)
class EventSentence:
    """A sentence of a paragraph.

    Attributes:
        text: as it stands now.
        original: as it was checked; another *text* is the words of whoever changed it.
        by: who changed it; "" for nobody.
    """

    text: str
    original: str
    cites: tuple[Cited, ...]
    by: str = ""

    @property
    def is_own(self) -> bool:
        """Whether somebody changed it: nothing was checked of it then."""
        return self.text != self.original


@dataclass(frozen=True, slots=True)
class EventText:
    """A paragraph of an event; *id* is its row, *made_at* and *changed_at* are aware."""

    id: int
    sentences: tuple[EventSentence, ...]
    dropped: tuple[Dropped, ...]
    orders: int
    model: str
    revision: int
    made_by: str
    made_at: datetime
    changed_by: str
    changed_at: datetime


def voices_of(texts: Sequence[StoryText]) -> list[Voice]:
    """The texts of a story that are written of: no reprint, the first and the newest."""
    own = [text for text in texts if not text.is_reprint] or list(texts)
    if len(own) > _MOST_VOICES:
        half = _MOST_VOICES // 2
        own = [*own[:half], *own[-half:]]
    return [
        Voice(
            text.url,
            text.outlet.name,
            text.title,
            text.text,
            text.at.astimezone(SHANGHAI).date() if text.is_dated else None,
        )
        for text in own
    ]


def material_of_story(c: Connection, number: int) -> tuple[list[Voice], frozenset[str], int]:
    """What is written of a story: its voices, the topics of all of them, the row of one's URL.

    Raises:
        ConfigError: none of its articles is stored any more.
    """
    texts = texts_of(c, [number])[number]
    if not texts:
        raise ConfigError(_("no article of story {number} is stored any more", number=number))
    # An article on no topic may leave for nowhere outside.
    topics = frozenset(name for text in texts for name in text.topics or ("",))
    return voices_of(texts), topics, texts[0].url_id


def text_of(c: Connection, number: int) -> EventText | None:
    """The newest paragraph of story *number*, by an article that is in it now."""
    own = select(story_article.c.url_id).where(story_article.c.story_id == number)
    statement = (
        select(event_text)
        .where(event_text.c.url_id.in_(own))
        .order_by(event_text.c.id.desc())
        .limit(1)
    )
    row = c.execute(statement).first()
    return None if row is None else _of_row(row)


def keep_text(
    c: Connection, actor: Actor, number: int, url_id: int, paragraph: Paragraph, model: str
) -> None:
    """Keep what was written of story *number*, in the place of what was there.

    Args:
        url_id: an article of it.
    """
    before = text_of(c, number)
    if before is not None:
        c.execute(delete(event_text).where(event_text.c.id == before.id))
    now = to_stored_time(datetime.now(UTC))
    sentences = tuple(EventSentence(own.text, own.text, own.cites) for own in paragraph.sentences)
    values = {
        "url_id": url_id,
        "record": _record(sentences, paragraph.dropped[:_MOST_DROPPED], paragraph.orders),
        "revision": 1,
        "model": clean_word(model, 100),
        "made_by": clean_word(actor.name, 64),
        "made_at": now,
        "changed_by": clean_word(actor.name, 64),
        "changed_at": now,
    }
    c.execute(insert(event_text).values(values))
    after = {
        "model": model,
        "sentences": [own.text for own in sentences],
        "dropped": len(paragraph.dropped),
    }
    record(c, actor, "story.draft", str(number), _words(before), after)


def save_text(
    c: Connection, actor: Actor, number: int, revision: int, texts: Sequence[str]
) -> EventText:
    """Keep the sentences as somebody changed them; an empty one goes.

    Raises:
        ConfigError: there is none, a colleague changed it meanwhile, or nothing is left.
    """
    before = _require(c, number)
    if before.revision != revision or len(texts) != len(before.sentences):
        raise ConfigError(_("A colleague changed this paragraph meanwhile. Look at it again."))
    sentences = []
    for own, given in zip(before.sentences, texts, strict=True):
        text = clean_text(" ".join(given.split()), MOST_SENTENCE_CHARS)
        if text:
            by = own.by if text == own.text else actor.name
            sentences.append(replace(own, text=text, by="" if text == own.original else by))
    if not sentences:
        raise ConfigError(_("nothing is left of it: write something, or take it out"))
    values = {
        "record": _record(sentences, before.dropped, before.orders),
        "revision": revision + 1,
        "changed_by": clean_word(actor.name, 64),
        "changed_at": to_stored_time(datetime.now(UTC)),
    }
    mine = event_text.c.id == before.id, event_text.c.revision == revision
    if not c.execute(update(event_text).where(*mine).values(values)).rowcount:
        raise ConfigError(_("A colleague changed this paragraph meanwhile. Look at it again."))
    after = {"sentences": [one.text for one in sentences]}
    record(c, actor, "story.edit_draft", str(number), _words(before), after)
    return _require(c, number)


def drop_text(c: Connection, actor: Actor, number: int) -> None:
    """Take the paragraph away.

    Raises:
        ConfigError: there is none.
    """
    before = _require(c, number)
    c.execute(delete(event_text).where(event_text.c.id == before.id))
    record(c, actor, "story.drop_draft", str(number), _words(before), None)


def _require(c: Connection, number: int) -> EventText:
    found = text_of(c, number)
    if found is None:
        raise ConfigError(_("This event has no drafted paragraph any more."))
    return found


def _words(text: EventText | None) -> dict[str, Any] | None:
    return None if text is None else {"sentences": [own.text for own in text.sentences]}


def _record(sentences: Sequence[EventSentence], dropped: Sequence[Dropped], orders: int) -> str:
    told = {
        "sentences": [
            {
                "text": own.text,
                "original": own.original,
                "cites": [list(cite) for cite in own.cites],
                "by": own.by,
            }
            for own in sentences
        ],
        "dropped": [
            {"text": own.text, "faults": [list(fault) for fault in own.faults]} for own in dropped
        ],
        "orders": orders,
    }
    return clean_text(json.dumps(told), _RECORD_CHARS)


def _of_row(row: Any) -> EventText:
    told = json.loads(row.record)
    made, changed = from_time(row.made_at), from_time(row.changed_at)
    assert made is not None
    assert changed is not None
    return EventText(
        row.id,
        tuple(
            EventSentence(
                own["text"],
                own["original"],
                tuple(Cited(*cite) for cite in own["cites"]),
                own["by"],
            )
            for own in told["sentences"]
        ),
        tuple(
            Dropped(own["text"], tuple(Fault(*fault) for fault in own["faults"]))
            for own in told["dropped"]
        ),
        told["orders"],
        row.model,
        row.revision,
        row.made_by,
        made,
        row.changed_by,
        changed,
    )
