"""The parts of articles that tell of a day: which, where, who, in which words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from qiaocrawl.news.events.times import NamedDay, named_days
from qiaocrawl.news.names.entity import Gazetteers, KnownName, default_gazetteers
from qiaocrawl.news.names.places import Place, resolve_place
from qiaocrawl.news.names.tagger import simplify
from qiaocrawl.news.summary_sentences import Piece, clauses_of, cut_words, rarity, sentences_of

# --- The records of events ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EventSource:
    """An article that may tell of events.

    Args:
        key: what the caller knows it by.
        title: of the article.
        text: its body.
        published: the day in China; None where unknown, and then 昨日 says nothing.
        persons: names of those it names in public office.
        bodies: names of bodies it names, beside those that come along.
        places: names of places it names, beside those that come along.
    """

    key: str
    title: str
    text: str
    published: date | None = None
    persons: tuple[str, ...] = ()
    bodies: tuple[str, ...] = ()
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened once; what no text says is None or empty.

    Args:
        number: in order of time, from 1.
        name: some clauses of one of the articles, verbatim.
        first, last: its day twice, or the days it lasted from and to; None where no text says.
        place: where.
        persons, bodies: named where articles tell of it, up to the end of the paragraph or to
            another day; most often named first.
        keys: of the articles that tell of it, in the order they were given.
    """

    number: int
    name: str
    first: date | None
    last: date | None
    place: Place | None
    persons: tuple[str, ...]
    bodies: tuple[str, ...]
    keys: tuple[str, ...]


# --- The parts of articles that tell of a day: which, where, who, in which words ------------------

# When something was heard of or written is no event: 记者5日获悉, 据5日消息, 截至5日.
_HEARD_BEFORE = re.compile(
    "(?:截至|截止|自从|据[^，。]{0,12}|更新于|发布于|来源[：:]?|编辑[：:]?)[^，。]{0,4}$"
)
_HEARD_BEHIND = re.compile(
    r"(?:[^，。；\n]{0,14}(?:获悉|了解到|报道|讯[（(\s，]|电[（(\s，]|消息[，：:])|以来|之?前(?![往来去])|以前|止)"
)
_LONGEST_DAYS = 31
_LEAST_LEAD = 9
_MARKS = " \t　，,、；;：:\n"
_LEAST_WORD, _NO_WORDS = 2, re.compile(r"[\d０-９]|[月日年时点分][^\W]?$")
# 西班牙警方在马德里: what stands behind these is where it happened.
_AT = re.compile("(?:在|于|抵|抵达|到|赴|访问|走访)$")
# 浙江籍侨胞, 来自温州的商人: where somebody comes from is not where it happened; nor is 北京 where
# 北京路 lies.
_ORIGIN_BEFORE = re.compile("(?:来自|祖籍|驻)$")
_ORIGIN_BEHIND = re.compile("籍|裔|帮|人(?![民大口])|商[人会帮]|路|街|山(?![区村上里火洪体林])")
# 中国驻西班牙大使馆 is a body, and so are those that a tagger has not learnt.
_MISSION = re.compile(
    r"(?:中华人民共和国|中国)?驻[\w]{1,12}?(?:大使馆|总领事馆|领事馆|使馆|领馆|使领馆|代表团)"
)
_COUNTED_AT = 2


@dataclass(frozen=True, slots=True)
class Mention:
    """Clauses of one article that tell of a day, or of an unknown one.

    Args:
        source: position of the article.
        text: verbatim.
        first, last: None where no day is named.
        places: each with how much speaks for it.
        persons, bodies: that it names, or the rest of its paragraph.
        words: that it is compared by, each with its weight.
    """

    source: int
    text: str
    first: date | None
    last: date | None
    places: dict[Place, int]
    persons: tuple[str, ...]
    bodies: tuple[str, ...]
    words: dict[str, float]


def mentions_of(at: int, source: EventSource) -> list[Mention]:
    """What the article *source*, at position *at*, tells of days; of none, how it begins."""
    names = _Names(source)
    mentions = []
    for run in _runs(source):
        text = source.text[run.start : run.end].strip(_MARKS)
        mentions.append(_mention(at, text, run.day, names, source.text[run.end : run.until]))
    if mentions:
        return mentions
    lead = next((own for own in sentences_of(source.text) if len(own.text) > _LEAST_LEAD), None)
    text = lead.text if lead else source.title.strip()
    return [_mention(at, text.strip(_MARKS), None, names)] if text else []


class _Names:
    """What is known of names in one article."""

    def __init__(self, source: EventSource) -> None:
        self._known = default_gazetteers()
        more = {name: KnownName("place", name) for name in source.places} | {
            name: KnownName("organisation", name) for name in source.bodies
        }
        self._own = Gazetteers(
            {name: meaning for name, meaning in more.items() if self._known.get(name) is None}
        )
        self.persons = [name for name in source.persons if len(name) > 1]

    def matches(self, text: str, words: Sequence[str]) -> list[tuple[int, int, KnownName]]:
        """Places and bodies in *text*, cut into *words*; of two that overlap the longer."""
        starts, ends = _bounds(words)
        found = [
            match for match in self._known.matches(text) if match[0] in starts and match[1] in ends
        ]
        found += self._own.matches(text)
        found += [
            (match.start(), match.end(), KnownName("organisation", match[0]))
            for match in _MISSION.finditer(text)
        ]
        kept: list[tuple[int, int, KnownName]] = []
        for match in sorted(found, key=lambda match: (match[0] - match[1], match[0])):
            if all(match[1] <= own[0] or match[0] >= own[1] for own in kept):
                kept.append(match)
        return sorted(kept, key=lambda match: match[0])


class _Run(NamedTuple):
    """Characters that tell of a day, and behind them the rest of the paragraph before another."""

    start: int
    end: int
    until: int
    day: NamedDay


def _runs(source: EventSource) -> list[_Run]:
    """Runs of clauses, each with the day it tells of: a day counts until the next is named."""
    days = [
        day
        for day in named_days(source.text, source.published)
        if (day.last - day.first).days < _LONGEST_DAYS and _is_of_event(source.text, day)
    ]
    if not days:
        return []
    found: list[tuple[int, int, NamedDay]] = []
    for sentence in sentences_of(source.text):
        starts = _starts(
            sentence, [day for day in days if sentence.start <= day.start < sentence.end]
        )
        ends = [start for start, _day in starts[1:]] + [sentence.end] * bool(starts)
        found += [(start, end, day) for (start, day), end in zip(starts, ends, strict=True)]
    following = [start for start, _end, _day in found[1:]] + [len(source.text)] * bool(found)
    return [
        _Run(start, end, min(until, _line_end(source.text, end)), day)
        for (start, end, day), until in zip(found, following, strict=True)
    ]


def _starts(sentence: Piece, days: Sequence[NamedDay]) -> list[tuple[int, NamedDay]]:
    """Where *sentence* begins to tell of each of *days*: with its clause, if it has its own."""
    starts: list[tuple[int, NamedDay]] = []
    end = sentence.start
    for day in days:
        clause = max(
            (own.start for own in clauses_of(sentence) if own.start <= day.start),
            default=sentence.start,
        )
        if not starts:
            starts.append((sentence.start, day))
        elif day.first != starts[-1][1].first:
            starts.append((clause if clause >= end else day.start, day))
        end = day.end
    return starts


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _is_of_event(text: str, day: NamedDay) -> bool:
    """Whether something happened that day, and was not only heard of or counted up to it."""
    return not (
        _HEARD_BEFORE.search(text, max(0, day.start - 18), day.start)
        or _HEARD_BEHIND.match(text, day.end)
    )


def _mention(at: int, text: str, day: NamedDay | None, names: _Names, behind: str = "") -> Mention:
    """What *text* tells; who acts is often named in what stands *behind* it only."""
    plain, rest = simplify(text), simplify(behind)
    words = cut_words(plain)
    places: dict[Place, int] = {}
    bodies: list[str] = []
    for start, end, name in names.matches(plain, words):
        if name.kind == "organisation":
            bodies.append(name.normal_form)
        elif name.kind == "place" and not _is_origin(plain, start, end):
            place = resolve_place(plain[start:end]) or Place(name.normal_form, "")
            weight = _COUNTED_AT if _AT.search(plain, max(0, start - 2), start) else 1
            places[place] = places.get(place, 0) + weight
    bodies += [
        name.normal_form
        for _start, _end, name in names.matches(rest, cut_words(rest))
        if name.kind == "organisation"
    ]
    # A day is no word they share.
    named = simplify(day.text) if day else ""
    return Mention(
        at,
        text,
        day.first if day else None,
        day.last if day else None,
        places,
        tuple(name for name in names.persons if name in plain or name in rest),
        tuple(dict.fromkeys(bodies)),
        _weights(words, named),
    )


def _is_origin(text: str, start: int, end: int) -> bool:
    return bool(
        _ORIGIN_BEFORE.search(text, max(0, start - 2), start) or _ORIGIN_BEHIND.match(text, end)
    )


def _weights(words: Iterable[str], day: str) -> dict[str, float]:
    return {
        word: rarity(word)
        for word in words
        if len(word) >= _LEAST_WORD and word not in day and not _NO_WORDS.search(word)
    }


def _bounds(words: Collection[str]) -> tuple[set[int], set[int]]:
    """Where words begin, and where they end."""
    starts, ends, at = set(), set(), 0
    for word in words:
        starts.add(at)
        at += len(word)
        ends.add(at)
    return starts, ends
