"""A user's groups of terms as files and forms have them, and which texts touch them (专题命中).

Those that are kept with a topic, and what is marked with them: ``storage.topics.word_groups``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from qiaocrawl.errors import TopicError
from qiaocrawl.language import _
from qiaocrawl.lexicon.term_groups import MOST_NEAR_CHARS, USES, GroupMatcher, TermGroup
from qiaocrawl.lexicon.terms import log_odds
from qiaocrawl.news.words import (
    WordCounter,
    choose_words,
    documents_with,
    has_base,
    rise_of,
    whole_words_among,
)
from qiaocrawl.storage.values import clean_word
from qiaocrawl.text.zones import DAY, china_time
from qiaocrawl.topic.profile import background_frequencies
from qiaocrawl.topic.workbook.vocabulary import plain

if TYPE_CHECKING:
    from qiaocrawl.news.words import TimedText
    from qiaocrawl.topic.workbook.sheets import Sheet, SheetRow

_GROUP_HEADERS = frozenset({"组", "组名", "专题", "类别", "group"})
_TERM_HEADERS = frozenset({"词", "词语", "关键词", "主题词", "term", "terms"})
_USE_HEADERS = frozenset({"用法", "关系", "use"})
_WITHIN_HEADERS = frozenset({"距离", "字数", "within"})
_SENTENCE = frozenset({"", "句", "一句", "一句话", "同句", "0", "sentence"})
_HEADER_WITHIN_ROWS = 20
_BETWEEN_TERMS = re.compile("[、，,；;|\n]+")
_BETWEEN_NEAR = re.compile("[、，,；;|+＋\n]+")
_MOST_WORDS = 500
_NAME_CHARS, _WORD_CHARS = 100, 100


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
    found, matcher = [GroupHits(group) for group in groups], GroupMatcher(groups)
    for text in texts:
        for number, terms in matcher.touched(text.title, text.text):
            own = found[number]
            own.hits.append(Hit(text.key, dict(terms)))
            own.by_site[text.site] += 1
            own.by_day[china_time(text.at, DAY)] += 1
            own.by_term.update(terms.keys())
    return found


# --- Groups as people write them: in a workbook, or in a form -------------------------------------


def read_groups(path: Path) -> list[TermGroup]:
    """The groups of a workbook or CSV: a row a term or several, with columns 组, 词 and 用法.

    An empty 用法 is 任一. The terms of a row with 相近 stand near each other: within one sentence,
    or with at most so many characters between them as a column 距离 says.

    Raises:
        TopicError: no such columns, a word that is none of ``USES``, or a distance that is none.
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
        TopicError: as for :func:`read_groups`.
    """
    for sheet in sheets:
        for number, row in enumerate(sheet.rows[:_HEADER_WITHIN_ROWS]):
            headers = [plain(cell.text) for cell in row.cells]
            columns = _Columns(
                *(
                    next((at for at, header in enumerate(headers) if header in names), -1)
                    for names in (_GROUP_HEADERS, _TERM_HEADERS, _USE_HEADERS, _WITHIN_HEADERS)
                )
            )
            if columns.group >= 0 and columns.term >= 0:
                return _groups(name, sheet.rows[number + 1 :], columns)
    raise TopicError(_("{file}: no columns “组” and “词”", file=name))


class _Columns(NamedTuple):
    """Where they are; -1 for one that is not there."""

    group: int
    term: int
    use: int
    within: int


@dataclass(slots=True)
class _Draft:
    """A group as far as its rows were read."""

    terms: dict[str, list[str]] = field(default_factory=dict)
    near: list[tuple[str, ...]] = field(default_factory=list)
    within: set[int] = field(default_factory=set)


def _groups(file: str, rows: Iterable[SheetRow], columns: _Columns) -> list[TermGroup]:
    drafts: dict[str, _Draft] = {}
    for row in rows:
        group, terms = (row.cell(at).text.strip() for at in columns[:2])
        if group and terms:
            _take_row(file, row, columns, drafts.setdefault(group, _Draft()))
    if not drafts:
        raise TopicError(_("{file}: no row names a group and a word", file=file))
    groups = []
    for name, draft in drafts.items():
        if len(draft.within) > 1:
            distances = ", ".join(map(str, sorted(draft.within)))
            raise TopicError(
                _(
                    "{file}: group {name!r} has several distances: {distances}",
                    file=file,
                    name=name,
                    distances=distances,
                )
            )
        some, every, none = (
            tuple(dict.fromkeys(draft.terms.get(use, ()))) for use in ("any", "all", "none")
        )
        near, within = tuple(dict.fromkeys(draft.near)), next(iter(draft.within), 0)
        groups.append(TermGroup(name, some, every, none, near, within))
    empty = next((one.name for one in groups if not _can_touch(one)), None)
    if empty is not None:
        raise TopicError(
            _("{file}: group {name!r} has no term that a text could have", file=file, name=empty)
        )
    return groups


def _take_row(file: str, row: SheetRow, columns: _Columns, draft: _Draft) -> None:
    written = row.cell(columns.use).text.strip() if columns.use >= 0 else ""
    use = _use(written)
    if use is None:
        raise _wrong_cell(file, row.line, written, ", ".join(USES.values()))
    terms = row.cell(columns.term).text
    if use != "near":
        own = filter(None, map(str.strip, _BETWEEN_TERMS.split(terms)))
        draft.terms.setdefault(use, []).extend(own)
        return
    near = _near_terms(terms)
    if len(near) < 2:
        raise _wrong_cell(file, row.line, terms, _("two words or more, as 侨胞、诈骗"))
    distance = row.cell(columns.within).text.strip() if columns.within >= 0 else ""
    within = _distance(distance)
    if within is None:
        raise _wrong_cell(file, row.line, distance, _distances())
    draft.near.append(near)
    draft.within.add(within)


def _wrong_cell(file: str, line: int, value: str, allowed: str) -> TopicError:
    return TopicError(
        _(
            "{file}, line {line}: {value!r} must be one of {uses}",
            file=file,
            line=line,
            value=value,
            uses=allowed,
        )
    )


def _use(written: str) -> str | None:
    names = {"": "any"} | {name: name for name in USES} | {word: use for use, word in USES.items()}
    return names.get(written.lower())


def _near_terms(written: str) -> tuple[str, ...]:
    terms = (clean_word(term, _WORD_CHARS) for term in _BETWEEN_NEAR.split(written))
    return tuple(dict.fromkeys(term for term in terms if term))


def _distance(written: str) -> int | None:
    """So many characters, 0 for a sentence; None for no such thing."""
    if written in _SENTENCE:
        return 0
    number = written.removesuffix("字")
    is_number = number.isascii() and number.isdigit() and len(number) < 10
    return int(number) if is_number and 1 <= int(number) <= MOST_NEAR_CHARS else None


def _distances() -> str:
    return _("1 to {most} characters, or empty for one sentence", most=MOST_NEAR_CHARS)


def _can_touch(group: TermGroup) -> bool:
    return bool(group.any_of or group.all_of or group.near)


def group_from(name: str, words: Mapping[str, str], within: str = "") -> TermGroup:
    """The group that somebody wrote.

    Args:
        words: by use, apart by commas or lines; of *near* a line is one set.
        within: so many characters for those, "" for one sentence.

    Raises:
        TopicError: it has no name, no word that a text could have, or a wrong distance.
    """
    name = clean_word(name, _NAME_CHARS)
    some, every, none = (
        tuple(dict.fromkeys(_written(words.get(use, "")))) for use in ("any", "all", "none")
    )
    lines = [line for line in words.get("near", "").splitlines() if line.strip()][:_MOST_WORDS]
    near = tuple(dict.fromkeys(map(_near_terms, lines)))
    if not name:
        raise TopicError(_("a group needs a name"))
    if alone := next((line for line in lines if len(_near_terms(line)) < 2), None):
        text = _("{value!r}: words near each other are two or more a line", value=alone.strip())
        raise TopicError(text)
    distance = _distance(within.strip())
    if distance is None:
        raise TopicError(
            _("distance {value!r} must be {allowed}", value=within, allowed=_distances())
        )
    group = TermGroup(name, some, every, none, near, distance if near else 0)
    if not _can_touch(group):
        raise TopicError(
            _("group {name!r} has no word that a text could have: write one or more", name=name)
        )
    return group


def _written(text: str) -> list[str]:
    words = (clean_word(word, _WORD_CHARS) for word in _BETWEEN_TERMS.split(text))
    return [word for word in words if word][:_MOST_WORDS]


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
