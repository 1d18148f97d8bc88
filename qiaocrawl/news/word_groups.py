"""A user's groups of terms, kept with a topic, and which texts touch them (专题命中)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from sqlalchemy import delete, insert, select

from qiaocrawl.errors import TopicError
from qiaocrawl.language import _
from qiaocrawl.lexicon.terms import log_odds
from qiaocrawl.news.words import (
    WordCounter,
    choose_words,
    documents_with,
    has_base,
    rise_of,
    whole_words_among,
)
from qiaocrawl.storage.schema import word_group
from qiaocrawl.storage.topics.topics import lock_topic, topic_id
from qiaocrawl.storage.values import clean_word
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.zones import DAY, china_time
from qiaocrawl.topic.profile import background_frequencies
from qiaocrawl.topic.workbook.vocabulary import plain

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from qiaocrawl.news.words import TimedText
    from qiaocrawl.topic.workbook.sheets import Sheet, SheetRow

USES: dict[str, str] = {"any": "任一", "all": "必有", "none": "排除"}
"""How a term of a group counts, with the Chinese word that tables use."""

_GROUP_HEADERS = frozenset({"组", "组名", "专题", "类别", "group"})
_TERM_HEADERS = frozenset({"词", "词语", "关键词", "主题词", "term", "terms"})
_USE_HEADERS = frozenset({"用法", "关系", "use"})
_HEADER_WITHIN_ROWS = 20
_BETWEEN_TERMS = re.compile("[、，,；;|\n]+")


@dataclass(frozen=True)
class TermGroup:
    """Terms that belong together for a user.

    Args:
        any_of: one of them must stand in a text.
        all_of: each of them must.
        none_of: none of them may.
    """

    name: str
    any_of: tuple[str, ...] = ()
    all_of: tuple[str, ...] = ()
    none_of: tuple[str, ...] = ()

    def terms_in(self, folded: str) -> Counter[str]:
        """How often each term stands in a folded text; empty where the text is no hit."""
        counts = Counter(
            {
                term: times
                # Each by itself: 侨联 stands in 中国侨联, too.
                for term, pattern in self._wanted_patterns.items()
                if (times := len(pattern.findall(folded)))
            }
        )
        missing = any(fold(term) not in counts for term in self.all_of)
        chosen = not self.any_of or any(fold(term) in counts for term in self.any_of)
        refused = bool(self.none_of) and self._excluded_pattern.search(folded) is not None
        return Counter() if missing or refused or not chosen else counts

    @cached_property
    def _wanted_patterns(self) -> dict[str, re.Pattern[str]]:
        terms = map(fold, (*self.any_of, *self.all_of))
        return {term: re.compile(_word_pattern(term)) for term in terms}

    @cached_property
    def _excluded_pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(_word_pattern(fold(term)) for term in self.none_of))


class Hit(NamedTuple):
    """A text that touches a group, and how often each term stands in it."""

    key: str
    terms: Mapping[str, int]


@dataclass(slots=True)
class GroupHits:
    """The texts that touch one group.

    Args:
        by_site, by_day, by_term: texts of each site, each day of China, with each term.
    """

    group: TermGroup
    hits: list[Hit] = field(default_factory=list)
    by_site: Counter[str] = field(default_factory=Counter)
    by_day: Counter[str] = field(default_factory=Counter)
    by_term: Counter[str] = field(default_factory=Counter)


def group_hits(groups: Sequence[TermGroup], texts: Iterable[TimedText]) -> list[GroupHits]:
    """The hits of each of *groups*, in its order; a text may touch several."""
    found = [GroupHits(group) for group in groups]
    for text in texts:
        folded = fold(f"{text.title}\n{text.text}")
        for own in found:
            if terms := own.group.terms_in(folded):
                own.hits.append(Hit(text.key, dict(terms)))
                own.by_site[text.site] += 1
                own.by_day[china_time(text.at, DAY)] += 1
                own.by_term.update(terms.keys())
    return found


def read_groups(path: Path) -> list[TermGroup]:
    """The groups of a workbook or CSV: a row a term or several, with columns 组, 词 and 用法.

    An empty 用法 is 任一.

    Raises:
        TopicError: no such columns, or a word that is none of ``USES``.
    """
    # Rules of warnings know groups too, and openpyxl takes long to import.
    from qiaocrawl.topic.workbook.sheets import read_file

    return groups_of(read_file(path), path.name)


def sent_groups(data: bytes, name: str) -> list[TermGroup]:
    """The same of a file that somebody sent as *name*.

    Raises:
        TopicError: as there.
    """
    from qiaocrawl.topic.workbook.sheets import sheets_of

    return groups_of(sheets_of(data, name), name)


def groups_of(sheets: Iterable[Sheet], name: str) -> list[TermGroup]:
    """The groups of the first sheet that has such columns, of the file called *name*.

    Raises:
        TopicError: none has, or a word is none of ``USES``.
    """
    for sheet in sheets:
        for number, row in enumerate(sheet.rows[:_HEADER_WITHIN_ROWS]):
            headers = [plain(cell.text) for cell in row.cells]
            group, term, use = (
                next((at for at, header in enumerate(headers) if header in names), -1)
                for names in (_GROUP_HEADERS, _TERM_HEADERS, _USE_HEADERS)
            )
            if group >= 0 and term >= 0:
                return _groups(name, sheet.rows[number + 1 :], (group, term, use))
    raise TopicError(_("{file}: no columns “组” and “词”", file=name))


def _groups(file: str, rows: Iterable[SheetRow], columns: tuple[int, int, int]) -> list[TermGroup]:
    collected: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        name, terms = (row.cell(at).text.strip() for at in columns[:2])
        own = filter(None, map(str.strip, _BETWEEN_TERMS.split(terms)))
        if name and terms:
            use = _use(row.cell(columns[2]).text.strip() if columns[2] >= 0 else "")
            if use is None:
                raise TopicError(
                    _(
                        "{file}, line {line}: {value!r} must be one of {uses}",
                        file=file,
                        line=row.line,
                        value=row.cell(columns[2]).text,
                        uses=", ".join(USES.values()),
                    )
                )
            collected.setdefault(name, {}).setdefault(use, []).extend(own)
    groups = [
        TermGroup(name, *(tuple(dict.fromkeys(uses.get(use, ()))) for use in USES))
        for name, uses in collected.items()
    ]
    empty = next((one.name for one in groups if not one.any_of and not one.all_of), None)
    if empty is not None or not groups:
        raise TopicError(
            _(
                "{file}: group {name!r} has no term that a text could have",
                file=file,
                name=empty or "",
            )
        )
    return groups


def _use(written: str) -> str | None:
    names = {"": "any"} | {name: name for name in USES} | {word: use for use, word in USES.items()}
    return names.get(written.lower())


def _word_pattern(term: str) -> str:
    before = "(?<![a-z0-9])" if term[0].isascii() and term[0].isalnum() else ""
    behind = "(?![a-z0-9])" if term[-1].isascii() and term[-1].isalnum() else ""
    return f"{before}{re.escape(term)}{behind}"


# --- Groups that are kept with a topic ------------------------------------------------------------

MOST_GROUPS, _MOST_WORDS = 200, 500
_NAME_CHARS, _WORD_CHARS = 100, 100


def kept_groups(c: Connection, topic: str) -> list[TermGroup]:
    """The groups of a topic by name.

    Raises:
        StorageError: the topic was never imported.
    """
    statement = (
        select(word_group.c.name, word_group.c.words)
        .where(word_group.c.topic_id == topic_id(c, topic))
        .order_by(word_group.c.name)
    )
    return [
        TermGroup(name, *(tuple(own.get(use, ())) for use in USES))
        for name, words in c.execute(statement)
        for own in [json.loads(words)]
    ]


def group_from(name: str, words: Mapping[str, str]) -> TermGroup:
    """The group that somebody wrote: *words* by use, apart by commas or lines.

    Raises:
        TopicError: it has no name, or no word that a text could have.
    """
    name = clean_word(name, _NAME_CHARS)
    by_use = {use: tuple(dict.fromkeys(_written(words.get(use, "")))) for use in USES}
    if not name:
        raise TopicError(_("a group needs a name"))
    if not by_use["any"] and not by_use["all"]:
        raise TopicError(
            _("group {name!r} has no word that a text could have: write one or more", name=name)
        )
    return TermGroup(name, *(by_use[use] for use in USES))


def _written(text: str) -> list[str]:
    words = (clean_word(word, _WORD_CHARS) for word in _BETWEEN_TERMS.split(text))
    return [word for word in words if word][:_MOST_WORDS]


def keep_groups(c: Connection, topic: str, groups: Sequence[TermGroup]) -> list[str]:
    """Keep *groups* with a topic, each in place of what has its name; the names that were there.

    Raises:
        TopicError: there would be too many.
        StorageError: the topic was never imported.
    """
    lock_topic(c, topic)
    known = {one.name for one in kept_groups(c, topic)}
    if len(known | {one.name for one in groups}) > MOST_GROUPS:
        raise TopicError(_("a topic has at most {most} groups of words", most=MOST_GROUPS))
    number = topic_id(c, topic)
    for one in groups:
        drop_group(c, topic, one.name)
        words = {"any": one.any_of, "all": one.all_of, "none": one.none_of}
        stored = json.dumps(words, ensure_ascii=False)
        c.execute(insert(word_group).values(topic_id=number, name=one.name, words=stored))
    return sorted(known & {one.name for one in groups})


def drop_group(c: Connection, topic: str, name: str) -> bool:
    """Forget the group called *name*; False where there was none.

    Raises:
        StorageError: the topic was never imported.
    """
    own = word_group.c.topic_id == topic_id(c, topic), word_group.c.name == name
    return bool(c.execute(delete(word_group).where(*own)).rowcount)


# --- The words that a stretch of time is told by, as data to navigate with ------------------------

WordTrend = Literal["new", "up", "steady", "down"]

_UP_FROM, _DOWN_TO = 1.5, 1 / 1.5


@dataclass(frozen=True, slots=True)
class CloudWord:
    """A word of the cloud.

    Args:
        documents: that have it; what its size tells.
        before: texts of the base with it; None where there is no base to compare with.
        trend: its share of texts against that before; ``steady`` without a base.
        keys: of the texts that have it, in their order.
    """

    text: str
    documents: int
    before: int | None
    trend: WordTrend
    keys: tuple[str, ...]


def cloud_words(
    now: WordCounter,
    before: WordCounter,
    *,
    count: int = 80,
    least_documents: int = 2,
    with_persons: bool = False,
) -> list[CloudWord]:
    """The words that tell this stretch of time from general Chinese, the most used first."""
    terms = now.counts.terms
    whole = whole_words_among(
        {text: own.documents for text, own in terms.items() if own.documents >= least_documents}
    )
    usual, total = background_frequencies(whole)
    scores = {
        word: log_odds(terms[word].frequency, now.counts.size, usual[word], total) for word in whole
    }
    ranked = sorted(whole, key=lambda word: (-scores[word], word))
    words = [
        _cloud_word(word, now, before)
        for word in choose_words(ranked, now.texts, count, with_persons)
    ]
    return sorted(words, key=lambda word: (-word.documents, word.text))


def _cloud_word(word: str, now: WordCounter, before: WordCounter) -> CloudWord:
    keys = tuple(text.key for text in now.texts if word in text.folded)
    documents = now.counts.terms[word].documents
    if not has_base(before):
        return CloudWord(word, documents, None, "steady", keys)
    earlier = documents_with(before, word)
    rise = rise_of(documents, now.documents, earlier, before.documents)
    return CloudWord(word, documents, earlier, _trend(earlier, rise), keys)


def _trend(before: int, rise: float) -> WordTrend:
    if not before:
        return "new"
    return "up" if rise >= _UP_FROM else "down" if rise <= _DOWN_TO else "steady"
