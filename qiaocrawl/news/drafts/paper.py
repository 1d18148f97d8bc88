"""What a briefing of the desk says: items with sentences, each the sources' or the editor's.

A sentence that an editor changed is no longer what a source says: it loses its numbers, and
stands as the editor's own in every form. Written back as it was, it is the sources' again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

import opencc

from qiaocrawl.language import N_, _
from qiaocrawl.text.normalise import to_simplified
from qiaocrawl.text.zones import SHANGHAI

KINDS = {
    "day": N_("daily"),
    "week": N_("weekly"),
    "event": N_("one event"),
    "period": N_("own period"),
}
"""Kinds of briefings."""
DRAFT, REVIEW, APPROVED, SENT = STATES = ("draft", "review", "approved", "sent")
STATE_NAMES = {
    DRAFT: N_("draft"),
    REVIEW: N_("waits for approval"),
    APPROVED: N_("approved"),
    SENT: N_("sent out"),
}
SIMPLIFIED, TRADITIONAL = SCRIPTS = ("simplified", "traditional")
SCRIPT_NAMES = {
    SIMPLIFIED: N_("simplified characters"),
    TRADITIONAL: N_("traditional characters"),
}
STORY, ARTICLE, LINE, LEAD = "story", "article", "line", "lead"
"""Kinds of items; a line is the editor's own, a lead was drafted by a model."""
OWN_WORDS = N_("written by the editor, without a source")
MOST_SENTENCE_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Source:
    """An article that says a sentence; *at* is None where it names no day."""

    outlet: str
    title: str
    at: datetime | None
    url: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an item.

    Attributes:
        text: as it stands now.
        original: as its sources have it; "" for one of the editor's own.
        sources: who says *original*.
        by: who changed or wrote it; "" for nobody.
    """

    text: str
    original: str = ""
    sources: tuple[Source, ...] = ()
    by: str = ""

    @property
    def is_editors(self) -> bool:
        """Whether no source says it."""
        return not self.original or self.text != self.original


@dataclass(frozen=True, slots=True)
class Item:
    """One thing a briefing tells.

    Attributes:
        id: of its row; 0 of one that is not stored yet.
        about_id: number of the story, row of the article's URL.
        heading: as it stands now; *original* is what the program put there.
        facts: what the program counted: who has it.
    """

    kind: str
    about_id: int | None
    heading: str
    sentences: tuple[Sentence, ...]
    original: str = ""
    facts: str = ""
    id: int = 0
    revision: int = 0

    @property
    def waits_for_word(self) -> bool:
        """Whether a model drafted it and no editor stands for all of it yet."""
        return self.kind == LEAD and any(not own.by for own in self.sentences)

    @property
    def sources(self) -> Iterator[Source]:
        """Whom its sentences cite, as often as they do."""
        for sentence in self.sentences:
            if not sentence.is_editors:
                yield from sentence.sources


@dataclass(frozen=True, slots=True)
class Draft:
    """A briefing at the desk; times are aware."""

    id: int
    kind: str
    topic: str
    title: str
    issue: int | None
    since: datetime
    before: datetime
    state: str
    script: str
    note: str
    version: int
    made_by: str
    made_at: datetime
    changed_by: str
    changed_at: datetime
    returned: str = ""
    items: tuple[Item, ...] = field(default=())

    @property
    def is_open(self) -> bool:
        """Whether it may be changed."""
        return self.state == DRAFT

    def in_its_script(self) -> Draft:
        """The same with all words in the script it is to have."""
        return replace(
            self,
            title=in_script(self.title, self.script),
            note=in_script(self.note, self.script),
            items=tuple(_item_in(item, self.script) for item in self.items),
        )


def numbered_sources(items: Sequence[Item]) -> dict[str, tuple[int, Source]]:
    """Each source that is cited, by its address, with the number it is cited by."""
    numbers: dict[str, tuple[int, Source]] = {}
    for item in items:
        for source in item.sources:
            numbers.setdefault(source.url, (len(numbers) + 1, source))
    return numbers


def cites_of(
    sentence: Sentence, numbers: Mapping[str, tuple[int, Source]]
) -> list[tuple[int, Source]]:
    """The sources of a sentence by their numbers; none of one that is the editor's own."""
    cited = () if sentence.is_editors else sentence.sources
    return sorted((numbers[source.url] for source in cited), key=lambda own: own[0])


def period_words(since: datetime, before: datetime) -> str:
    """The days a briefing is of, as people say them: those of China."""
    first, last = since.astimezone(SHANGHAI), before.astimezone(SHANGHAI)
    if first.date() == last.date():
        return _("{month}/{day}", month=first.month, day=first.day)
    return _(
        "{month}/{day} to {last_month}/{last_day}",
        month=first.month,
        day=first.day,
        last_month=last.month,
        last_day=last.day,
    )


# --- One script throughout ------------------------------------------------------------------------


def in_script(text: str, script: str) -> str:
    """*text* in simplified or in traditional characters, whatever it was written in."""
    if text.isascii():
        return text
    simplified = to_simplified(text)
    return simplified if script == SIMPLIFIED else str(_traditional().convert(simplified))


@cache
def _traditional() -> opencc.OpenCC:
    return opencc.OpenCC("s2t")


def _item_in(item: Item, script: str) -> Item:
    return replace(
        item,
        heading=in_script(item.heading, script),
        original=in_script(item.original, script),
        facts=in_script(item.facts, script),
        sentences=tuple(
            replace(
                own,
                text=in_script(own.text, script),
                original=in_script(own.original, script),
                sources=tuple(_source_in(source, script) for source in own.sources),
            )
            for own in item.sentences
        ),
    )


def _source_in(source: Source, script: str) -> Source:
    outlet, title = in_script(source.outlet, script), in_script(source.title, script)
    return replace(source, outlet=outlet, title=title)


# --- What an editor writes ------------------------------------------------------------------------


def edited(item: Item, heading: str, texts: Sequence[str], by: str, script: str) -> Item:
    """*item* as an editor has it now.

    Args:
        texts: its sentences in their order, then any that are new; an empty one goes.
        script: of the briefing, in which *heading* and *texts* were shown.
    """
    sentences = []
    for at, text in enumerate(texts):
        text = " ".join(text.split())
        if not text:
            continue
        old = item.sentences[at] if at < len(item.sentences) else Sentence("")
        sentences.append(_rewritten(old, text, by, script))
    shown = in_script(item.heading, script)
    title = item.heading if heading == shown else heading
    return replace(item, heading=title or item.original, sentences=tuple(sentences))


def _rewritten(old: Sentence, text: str, by: str, script: str) -> Sentence:
    if old.text and text == in_script(old.text, script):
        return old
    if old.original and text == in_script(old.original, script):
        return replace(old, text=old.original, by="")
    return replace(old, text=text, by=by)


# --- As it is stored ------------------------------------------------------------------------------


def item_record(item: Item) -> str:
    """All of an item but its place, as JSON."""
    return json.dumps(_item_values(item), ensure_ascii=False, sort_keys=True)


def _item_values(item: Item) -> dict[str, Any]:
    return {
        "heading": item.heading,
        "original": item.original,
        "facts": item.facts,
        "sentences": [
            {
                "text": own.text,
                "original": own.original,
                "by": own.by,
                "sources": [
                    [source.outlet, source.title, source.at and source.at.timestamp(), source.url]
                    for source in own.sources
                ],
            }
            for own in item.sentences
        ],
    }


def item_of_record(
    record: str, kind: str, about_id: int | None, item_id: int = 0, revision: int = 0
) -> Item:
    """The item that :func:`item_record` stored."""
    return _item_of_values(json.loads(record), kind, about_id, item_id, revision)


def _item_of_values(
    values: Mapping[str, Any], kind: str, about_id: int | None, item_id: int, revision: int
) -> Item:
    sentences = tuple(
        Sentence(
            own["text"],
            own["original"],
            tuple(
                Source(outlet, title, None if at is None else datetime.fromtimestamp(at, UTC), url)
                for outlet, title, at, url in own["sources"]
            ),
            own["by"],
        )
        for own in values["sentences"]
    )
    return Item(
        kind,
        about_id,
        values["heading"],
        sentences,
        values["original"],
        values["facts"],
        item_id,
        revision,
    )


_KEPT_TEXTS = ("kind", "topic", "title", "script", "note", "made_by", "changed_by")
_KEPT_NUMBERS = ("id", "issue", "version")
_KEPT_TIMES = ("since", "before", "made_at", "changed_at")


def draft_record(draft: Draft) -> str:
    """The whole of *draft* as JSON: what is locked when it is approved."""
    values: dict[str, Any] = {name: getattr(draft, name) for name in (*_KEPT_TEXTS, *_KEPT_NUMBERS)}
    values |= {name: getattr(draft, name).isoformat() for name in _KEPT_TIMES}
    values["items"] = [
        {"kind": item.kind, "about_id": item.about_id, **_item_values(item)} for item in draft.items
    ]
    return json.dumps(values, ensure_ascii=False, sort_keys=True)


def draft_of_record(record: str) -> Draft:
    """The draft that :func:`draft_record` stored, as an approved one."""
    values = json.loads(record)
    items = tuple(
        _item_of_values(own, own["kind"], own["about_id"], 0, 0) for own in values["items"]
    )
    kept: dict[str, Any] = {name: values[name] for name in (*_KEPT_TEXTS, *_KEPT_NUMBERS)}
    kept |= {name: datetime.fromisoformat(values[name]) for name in _KEPT_TIMES}
    return Draft(**kept, state=APPROVED, items=items)
