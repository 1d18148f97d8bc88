"""Whether what somebody wrote stands in the sentences it cites: our own code, no model.

A sentence passes if its numbers, days, names, negations, reservations, causes and who did what to
whom are those of what it cites, if each of its words that says something stands there (or one of
``words.toml`` that may stand for it), and if one place of one source says each of its clauses.

It is strict: most of what is told freely does not pass, so a writer is asked to use the sources'
words. Chosen on one half of ``benchmarks/checked_sentences.py``: where one word in twenty might be
foreign, one verb in forty that was put in the place of another passed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from qiaocrawl.language import N_, _
from qiaocrawl.lexicon.expansion import is_abbreviation
from qiaocrawl.news.names.entity import Entity, Gazetteers
from qiaocrawl.news.summaries import Contradiction, contradictions, figures_of
from qiaocrawl.news.writing.facts import (
    Claims,
    Quantity,
    Token,
    count_negations,
    is_negation,
    plain_text,
    word_lists,
)

FAULT_NAMES: Mapping[str, str] = {
    "citation": N_("cites nothing that was given"),
    "number": N_("a number that what it cites does not give so"),
    "day": N_("a day that what it cites does not name"),
    "name": N_("a name that what it cites does not hold"),
    "negation": N_("says the contrary of what it cites"),
    "hedge": N_("takes for certain what is planned, possible or alleged"),
    "cause": N_("a cause that what it cites does not give"),
    "strong": N_("makes more of it than what it cites"),
    "words": N_("words that what it cites does not hold"),
    "order": N_("turns round who did what"),
    "joined": N_("joins what no one place says together"),
    "disagree": N_("sources give this figure differently, and it does not say so"),
}
"""What may be wrong with a sentence, for people (marked with ``N_``)."""

_WINDOW = 6
_LEAST_LITERAL = 2
# How a sentence says that sources differ; then it must give more than one of their figures.
_SAID_DIFFERENTLY = re.compile(
    "说法不一|说法不同|说法各异|数字不一|不一致|各有说法|另?有?的?(?:一说|报道称|报道说|媒体称)|另说|有的说"
)
_AT_PLACE = tuple("在于赴往从自驻抵")
_SAYING = frozenset(("表示", "指出", "介绍", "认为", "强调", "进行", "成为", "报道", "透露"))
_NEARLY_ALL = 0.85
ACTS, ACTED_ON, EITHER, _AT = "acts", "acted on", "either", "at"
"""What somebody may have to do with what happens."""
_BODY_ENDS = tuple("联会局部办厅委署院社馆行所处团") + ("大学", "公司", "中学", "小学", "学校")
_NAME_TAGS = frozenset(("nr", "nrt", "nrfg", "ns", "nt"))
# What stands before a name and tells its part: it acted, or something was done to it.
_ACTS = ("被", "由", "遭", "受", "经")
_IS_ACTED_ON = ("向", "对", "给", "为", "替", "把", "将")
_PASSIVE = frozenset(("被", "遭", "遭到", "受", "受到", "由", "获", "经"))
_BOTH = ("与", "和", "同", "跟", "及", "、")


class Numbered(NamedTuple):
    """A sentence that may be cited.

    Attributes:
        number: it is cited by.
        source: whose it is, numbered from 1.
        place: in the source; the title is 0.
        published: the day of the source; None where unknown.
    """

    number: int
    source: int
    place: int
    text: str
    published: date | None = None


class Fault(NamedTuple):
    """Why a sentence does not pass: one of ``FAULT_NAMES`` and the piece that is wrong."""

    kind: str
    piece: str


def words_of_fault(fault: Fault, names: Mapping[str, str]) -> str:
    """A fault as people read it, by the *names* of its kinds (marked with ``N_``)."""
    name = _(names[fault.kind])
    return _("{name}: {piece}", name=name, piece=fault.piece) if fault.piece else name


class Checker:
    """Checks sentences against what they cite.

    Args:
        sentences: that may be cited.
        gazetteers: names that need no guessing; None: those that come along.
    """

    def __init__(
        self,
        sentences: Iterable[Numbered],
        gazetteers: Gazetteers | None = None,
    ) -> None:
        self._gazetteers = gazetteers
        self._given = {own.number: own for own in sentences}
        self._read: dict[int, Claims] = {}

    def faults(self, text: str, cites: Sequence[int]) -> tuple[Fault, ...]:
        """All that is wrong with *text*, which cites the sentences *cites*; () if nothing is."""
        if not cites or any(number not in self._given for number in cites):
            return (Fault("citation", ", ".join(map(str, cites))),)
        passages = self._passages(cites)
        days = {own.published for own in self._given.values() if own.number in set(cites)}
        day = next(iter(days)) if len(days) == 1 else None
        disagreeing = list(self._disagreeing(plain_text(text)))
        # That they differ stands in none of them.
        told, versions = _SAID_DIFFERENTLY.subn("", plain_text(text))
        own = Claims(told if versions and not disagreeing else text, day, self._gazetteers)
        found = [*_Check(own, passages, is_of_several=versions > 0).faults(), *disagreeing]
        return tuple(dict.fromkeys(found))

    def _claims(self, number: int) -> Claims:
        if number not in self._read:
            given = self._given[number]
            self._read[number] = Claims(given.text, given.published, self._gazetteers)
        return self._read[number]

    def _passages(self, cites: Iterable[int]) -> list[_Passage]:
        """What is cited, sentences that follow each other in one source together."""
        ordered = sorted(
            (self._given[number] for number in set(cites)), key=lambda own: (own.source, own.place)
        )
        runs: list[list[Numbered]] = []
        for own in ordered:
            last = runs[-1][-1] if runs else None
            if last is not None and last.source == own.source and own.place - last.place == 1:
                runs[-1].append(own)
            else:
                runs.append([own])
        return [_Passage([self._claims(own.number) for own in run]) for run in runs]

    @cached_property
    def _contradictions(self) -> tuple[Contradiction, ...]:
        texts: dict[int, list[str]] = {}
        for own in sorted(self._given.values(), key=lambda own: (own.source, own.place)):
            texts.setdefault(own.source, []).append(own.text)
        return contradictions("\n".join(own) for own in texts.values())

    def _disagreeing(self, plain: str) -> Iterator[Fault]:
        """Figures that sources give differently, of which the sentence gives one alone."""
        figures = figures_of(plain)
        for found in self._contradictions:
            values = {value for value, _sources in found.values}
            said = [
                figure
                for figure in figures
                if (figure.counted, figure.unit) == (found.counted, found.unit)
                and figure.value in values
            ]
            if said and len({figure.value for figure in said}) == 1:
                yield Fault("disagree", said[0].text)


class _Passage:
    """Sentences of one source that follow each other."""

    def __init__(self, sentences: Sequence[Claims]) -> None:
        self.sentences = sentences
        self.plain = "\n".join(own.plain for own in sentences)

    def holds(self, token: Token) -> bool:
        """Whether it has the word, or one that may stand for it."""
        return any(_is_held(token, own.plain) for own in self.sentences)

    def gives(self, quantity: Quantity) -> bool:
        """Whether it has the number of the same."""
        return any(_is_given(quantity, own) for own in self.sentences)

    def names(self, entity: Entity) -> bool:
        """Whether it names the same."""
        return any(_is_named(entity, own) for own in self.sentences)


class _Check:
    """One sentence beside what it cites."""

    def __init__(self, own: Claims, passages: Sequence[_Passage], *, is_of_several: bool) -> None:
        self._own = own
        self._is_of_several = is_of_several
        self._passages = passages
        self._cited = [sentence for passage in passages for sentence in passage.sentences]
        self._all = "\n".join(passage.plain for passage in passages)

    def faults(self) -> Iterator[Fault]:
        """What is wrong with it, the plainest first."""
        plain = list(
            chain(
                self._wrong_numbers(),
                self._wrong_days(),
                self._wrong_names(),
                self._contrary(),
                self._wrong_negations(),
                self._lost_hedges(),
                self._added_future(),
                self._added_causes(),
                self._added_strength(),
                self._foreign_words(),
            )
        )
        yield from plain
        yield from self._turned_order()
        if not plain:
            yield from self._joined()

    # --- numbers, days, names -------------------------------------------------------------------

    def _wrong_numbers(self) -> Iterator[Fault]:
        for quantity in self._own.quantities:
            holders = [own for own in self._cited if _is_given(quantity, own)]
            if not holders or not any(self._counts_same(quantity, own) for own in holders):
                yield Fault("number", quantity.text)

    def _counts_same(self, quantity: Quantity, cited: Claims) -> bool:
        """Whether the word beside the number in the sentence is beside it in *cited* too."""
        beside = _beside(self._own, quantity.start, quantity.end)
        if beside is None or not _is_held(beside, cited.plain):
            return True
        for other in cited.quantities:
            if not _same_quantity(quantity, other):
                continue
            start, end = cited.segment(other.start)
            rivals = [one for one in cited.quantities if one is not other]
            around = cited.clause(other.start)
            if not any(around[0] <= one.start < around[1] for one in rivals):
                start, end = around
            if _is_held(beside, cited.plain[start:end]):
                return True
            # 死亡人数升至,8人: what is counted stands in another clause.
            if not any(
                _is_held(beside, cited.plain[slice(*cited.clause(one.start))]) for one in rivals
            ):
                return True
        return not any(_same_quantity(quantity, other) for other in cited.quantities)

    def _wrong_days(self) -> Iterator[Fault]:
        for day in self._own.days:
            if re.search(rf"(?<!\d){re.escape(day.text)}", self._all):
                continue
            told = {(own.first, own.last) for cited in self._cited for own in cited.days}
            inside = any(first <= day.first and day.last <= last for first, last in told)
            if not inside:
                yield Fault("day", day.text)

    def _wrong_names(self) -> Iterator[Fault]:
        for entity in self._own.names:
            if not any(_is_named(entity, own) for own in self._cited):
                yield Fault("name", entity.text)
        # 法国驻上海总领馆 and 上海驻法国总领馆 have the same names.
        for match in re.finditer("驻..", self._own.plain):
            if match[0] not in self._all:
                yield Fault("name", match[0])
        for token in self._own.content:
            # A name that no list knows is cut behind its surname.
            piece = self._own.plain[token.start : token.start + 2]
            if token.tag == "nr" and len(token.text) == 1 and piece not in self._all:
                yield Fault("name", piece)
            is_name = token.tag in _NAME_TAGS or (
                token.tag[0] in "nj" and token.text.endswith(_BODY_ENDS)
            )
            if is_name and not any(own.holds(token) for own in self._passages):
                yield Fault("name", token.text)

    # --- what turns a sentence ------------------------------------------------------------------

    def _contrary(self) -> Iterator[Fault]:
        contrary = word_lists().contrary
        for token in self._own.content:
            others = contrary.get(token.text, frozenset())
            if token.text not in self._all and any(other in self._all for other in others):
                yield Fault("negation", token.text)

    def _wrong_negations(self) -> Iterator[Fault]:
        for start, end in self._own.clauses():
            tokens = self._own.within(start, end)
            nearest = self._nearest_clauses(tokens)
            own = count_negations(tokens)
            counts = [count_negations(cited.within(*spot)) for cited, spot in nearest]
            if counts and own > max(counts):
                yield Fault("negation", self._own.plain[start:end])
                continue
            if own < min(counts, default=0) and any(
                _says_all(tokens, cited.within(*spot)) for cited, spot in nearest
            ):
                yield Fault("negation", self._own.plain[start:end])
                continue
            for token in tokens:
                if is_negation(token) or token.tag[:1] not in "vanidt":
                    continue
                seen = {_is_negated(cited, at) for cited, at in self._found(token, nearest)}
                if seen and (token.start in self._own.negated) not in seen:
                    yield Fault("negation", token.text)

    def _lost_hedges(self) -> Iterator[Fault]:
        for start, end in self._own.clauses():
            tokens = self._own.within(start, end)
            nearest = self._nearest_clauses(tokens)
            for token in tokens:
                is_short = len(token.text) < _LEAST_LITERAL and token.text not in "是为有"
                if not token.acts or is_short or token.text in _SAYING:
                    continue
                if token.start in self._own.hedged or token.text in word_lists().hedges:
                    continue
                seen = {
                    any(
                        own.start <= at < own.end
                        for own in cited.tokens
                        if own.start in cited.hedged
                    )
                    for cited, at in self._found(token, nearest)
                }
                if seen == {True}:
                    yield Fault("hedge", token.text)

    def _found(
        self, token: Token, nearest: Sequence[tuple[Claims, tuple[int, int]]]
    ) -> list[tuple[Claims, int]]:
        """Where *token* stands in the *nearest* clauses, or else in all that is cited."""
        near = [
            (cited, at)
            for cited, spot in nearest
            for at, _end in _occurrences(token, cited)
            if spot[0] <= at < spot[1]
        ]
        return near or [
            (cited, at) for cited in self._cited for at, _end in _occurrences(token, cited)
        ]

    def _added_future(self) -> Iterator[Fault]:
        """将 where nothing of what is cited is to come."""
        hedges = word_lists().hedges
        for token in self._own.tokens:
            if (
                token.text in hedges
                and token.tag[:1] in "dv"
                and token.text not in self._all
                and not any(own.hedged for own in self._cited)
            ):
                yield Fault("hedge", token.text)

    def _nearest_clauses(self, tokens: Sequence[Token]) -> list[tuple[Claims, tuple[int, int]]]:
        """The clauses of what is cited that have most of *tokens*; several that have as many."""
        best: list[tuple[Claims, tuple[int, int]]] = []
        most = 0
        for cited in self._cited:
            for spot in cited.clauses():
                plain = cited.plain[slice(*spot)]
                count = sum(
                    len(own.text) for own in tokens if own.text in plain and own.text.isalnum()
                )
                if count > most:
                    best, most = [], count
                if count and count == most:
                    best.append((cited, spot))
        return best

    def _added_causes(self) -> Iterator[Fault]:
        own = [token for token in self._own.tokens if token.text in word_lists().causes]
        given = sum(
            token.text in word_lists().causes for cited in self._cited for token in cited.tokens
        )
        for number, token in enumerate(own):
            is_given = any(_has_cause(cited, token, self._own) for cited in self._cited)
            if not is_given or number >= given:
                yield Fault("cause", token.text)

    def _added_strength(self) -> Iterator[Fault]:
        strong, same = word_lists().strong, word_lists().same
        for token in self._own.tokens:
            if token.text in strong and not any(
                word in self._all for word in same.get(token.text, {token.text})
            ):
                yield Fault("strong", token.text)

    def _foreign_words(self) -> Iterator[Fault]:
        """Words that stand nowhere in what is cited: one of them tells of another happening."""
        foreign = [
            token.text
            for token in self._own.content
            if not any(passage.holds(token) for passage in self._passages)
        ]
        if foreign:
            yield Fault("words", " ".join(foreign))

    # --- one place says each clause, in the same order -------------------------------------------

    def _joined(self) -> Iterator[Fault]:
        before: set[int] | None = None
        for start, end in self._own.clauses():
            content = [own for own in self._own.content if start <= own.start < end]
            quantities = [own for own in self._own.quantities if start <= own.start < end]
            names = [own for own in self._own.names if start <= own.start < end]
            if not (content or quantities):
                continue
            here = {
                number
                for number, passage in enumerate(self._passages)
                if all(map(passage.gives, quantities))
                and all(map(passage.names, names))
                and all(map(passage.holds, content))
            }
            is_parted = before is not None and not here & before
            is_alone = self._is_of_several or _has_subject(content)
            if not here or (is_parted and not is_alone):
                yield Fault("joined", self._own.plain[start:end])
            before = here

    def _turned_order(self) -> Iterator[Fault]:
        """Who acts in the sentence and is acted on in all that is cited, or the other way round."""
        for verb in self._own.content:
            if not verb.tag.startswith("v"):
                continue
            start, end = self._own.clause(verb.start)
            actors = [(own.start, own.end) for own in self._own.names]
            actors += [
                (own.start, own.end)
                for own in self._own.content
                if own.tag[0] in "nj" and len(own.text) > 1
            ]
            for first, last in dict.fromkeys(actors):
                if not start <= first < end or (first < verb.end and verb.start < last):
                    continue
                part = _part(self._own, (first, last), (verb.start, verb.end))
                text = self._own.plain[first:last]
                if part in (ACTS, ACTED_ON):
                    parts = self._parts_of(text, verb)
                    if parts and not parts & {part, EITHER}:
                        yield Fault("order", f"{text} {verb.text}")

    def _parts_of(self, name: str, verb: Token) -> set[str]:
        """The part *name* has in what *verb* says, in all that is cited."""
        parts = set()
        for cited in self._cited:
            for at, end in _occurrences(verb, cited):
                start, last = cited.clause(at)
                for match in re.finditer(re.escape(name), cited.plain[start:last]):
                    spot = start + match.start(), start + match.end()
                    if spot[1] <= at or end <= spot[0]:
                        parts.add(_part(cited, spot, (at, end)))
                if name not in cited.plain[start:last]:
                    # Whoever this clause names before its verb acts, and nobody of another clause.
                    has_own = any(
                        own.kind != "place" and start <= own.start < at for own in cited.names
                    )
                    parts.add(ACTED_ON if has_own and name in cited.plain else EITHER)
        return parts


# --- Pieces found again in what is cited ----------------------------------------------------------


def _is_held(token: Token, text: str) -> bool:
    word = token.text
    if word in text:
        return True
    if any(other in text for other in word_lists().same.get(word, ())):
        return True
    if not word[0].isascii() and len(word) >= _LEAST_LITERAL:
        return _stands_apart(word, text) or (len(word) > _LEAST_LITERAL and _in_two(word, text))
    return False


def _stands_apart(word: str, text: str) -> bool:
    """侨企 in 侨资企业: its letters in order within a few."""
    at = text.find(word[0])
    while at >= 0:
        place, found = at, True
        for letter in word[1:]:
            place = text.find(letter, place + 1, at + _WINDOW)
            if place < 0:
                found = False
                break
        if found:
            return True
        at = text.find(word[0], at + 1)
    return False


def _in_two(word: str, text: str) -> bool:
    """捐款人 where 捐款 and 人 stand: two pieces, one of them of two letters."""
    return any(word[:cut] in text and word[cut:] in text for cut in range(1, len(word)))


def _occurrences(token: Token, cited: Claims) -> Iterator[tuple[int, int]]:
    """Where the word stands in *cited*, or where none does, one that may stand for it."""
    found = False
    for word in (token.text, *sorted(word_lists().same.get(token.text, ()), key=len, reverse=True)):
        at = cited.plain.find(word)
        while at >= 0:
            found = True
            yield at, at + len(word)
            at = cited.plain.find(word, at + 1)
        if found:
            return


def _same_quantity(own: Quantity, other: Quantity) -> bool:
    if own.value != other.value:
        return False
    # 5国 and 5个国家: 个 counts anything.
    loose = own.unit == other.unit or own.unit == "" or "个" in (own.unit, other.unit)
    if not loose:
        return False
    return own.bound == other.bound or (own.bound == "" and other.bound == "over")


def _is_given(own: Quantity, cited: Claims) -> bool:
    if any(_same_quantity(own, other) for other in cited.quantities):
        return True
    parts = {(day.first.year, "年") for day in cited.days}
    parts |= {(day.first.month, "月") for day in cited.days}
    if cited.published is not None:
        year = cited.published.year
        for word, more in (("今年", 0), ("去年", -1), ("明年", 1)):
            if word in cited.plain:
                parts.add((year + more, "年"))
    return (int(own.value), own.unit) in parts and own.value == int(own.value)


def _beside(own: Claims, start: int, end: int) -> Token | None:
    """The word behind a number in its segment, or else the one before it."""
    first, last = own.segment(start)
    inside = [token for token in own.content if first <= token.start < last]
    behind = [token for token in inside if token.start >= end]
    before = [token for token in inside if token.end <= start]
    if behind:
        return behind[0]
    return before[-1] if before else None


def _is_named(entity: Entity, cited: Claims) -> bool:
    if entity.text in cited.plain:
        return True
    return any(
        other.kind == entity.kind
        and (
            other.normal_form == entity.normal_form
            or (
                entity.kind == "organisation"
                and _is_short_for(*sorted((other.text, entity.text), key=len))
            )
        )
        for other in cited.names
    )


def _is_short_for(short: str, full: str) -> bool:
    """国侨办 of 国务院侨务办公室: what it ends with too, so that 省侨联 is not for 省侨办."""
    return is_abbreviation(short, full) and short[-1] in full[-3:] and not set(full) & set("与和、")


def _part(own: Claims, name: tuple[int, int], verb: tuple[int, int]) -> str:
    """What who is called *name* has to do with *verb*."""
    before = own.plain[name[0] - 1 : name[0]]
    if before in _AT_PLACE:
        return _AT
    if before in _BOTH and _is_marked(own, own.clause(name[0])[0], name[0]):
        return EITHER
    if name[0] > verb[0]:
        return ACTED_ON
    if before in _ACTS:
        return ACTS
    between = own.within(name[1], verb[0])
    is_acted_on = before in _IS_ACTED_ON or any(token.text in _PASSIVE for token in between)
    return ACTED_ON if is_acted_on else ACTS


def _is_marked(own: Claims, start: int, end: int) -> bool:
    """Whether something before 和 tells the part of all that is named: 对甲和乙."""
    return any(letter in own.plain[start:end] for letter in (*_ACTS, *_IS_ACTED_ON, *_AT_PLACE))


def _says_all(own: Sequence[Token], cited: Sequence[Token]) -> bool:
    """Whether *own* has nearly all words of *cited*."""
    words = [token.text for token in cited if token.text.isalnum() and not is_negation(token)]
    held = sum(word in {token.text for token in own} for word in words)
    return held >= _NEARLY_ALL * len(words)


def _is_negated(cited: Claims, at: int) -> bool:
    """Whether the word at *at* is turned; 满意 within 不满意 is, as the part of one word."""
    holder = next((own for own in cited.tokens if own.start <= at < own.end), None)
    if holder is None:
        return False
    inside = holder.start < at and cited.plain[at - 1] in "不未无没非"
    return (holder.start in cited.negated) != inside


def _has_cause(cited: Claims, marker: Token, own: Claims) -> bool:
    """Whether *cited* gives a cause beside the word that the sentence has beside *marker*."""
    before, behind = _around_marker(own, marker)
    for token in cited.tokens:
        if token.text not in word_lists().causes:
            continue
        its_before, its_behind = _around_marker(cited, token)
        if _meet(behind[:1], its_behind) or _meet(before[-1:], its_before):
            return True
    return False


def _around_marker(own: Claims, marker: Token) -> tuple[list[Token], list[Token]]:
    """Two words that say something on either side."""
    before = [token for token in own.content if token.end <= marker.start]
    behind = [token for token in own.content if token.start >= marker.end]
    return before[-2:], behind[:2]


def _meet(some: Sequence[Token], others: Sequence[Token]) -> bool:
    return any(_is_held(token, " ".join(other.text for other in others)) for token in some)


def _has_subject(content: Sequence[Token]) -> bool:
    """Whether a clause begins with a noun of its own."""
    return bool(content) and content[0].tag[:1] in "nilj"
