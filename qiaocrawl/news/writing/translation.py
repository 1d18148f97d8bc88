"""A line of a foreign text beside its Chinese, and what our own code can find wrong with it.

No program of ours reads the foreign language. What is looked at is what stands in both whatever the
words are: numbers, by value and in both directions; months beside a day or a year; names in Latin
letters, which a translation keeps beside its own; whether an English sentence and its Chinese deny
something; and how long a translation may be. What else a line says is the model's word.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import NamedTuple

from qiaocrawl.language import N_
from qiaocrawl.news.summaries import NUMBER, number_value
from qiaocrawl.news.writing.checking import Fault, words_of_fault
from qiaocrawl.news.writing.facts import Claims, count_negations, plain_text

TRANSLATION_FAULTS: Mapping[str, str] = {
    "number": N_("a number that the original does not have"),
    "left_number": N_("leaves out a number of the original"),
    "month": N_("another month than the original names"),
    "name": N_("a name in Latin letters that the original does not have"),
    "left_name": N_("leaves out a name, which belongs in brackets as it is written"),
    "negation": N_("one denies what the other says"),
    "script": N_("is not in Chinese"),
    "length": N_("is much longer or shorter than the original"),
    "form": N_("not in the form that was asked for"),
    "orders": N_("reads like an order to a model"),
}
"""What may be wrong with a translated line, for people (marked with ``N_``)."""

MOST_CHARACTERS = 8_000
"""Of an article so much is translated."""
_LONGEST_LINE = 600
_LEAST_LATIN = 3
_SENTENCE_END = re.compile(
    r"(?<!\b[MDS][rst]\.)(?<!\bMrs\.)(?<!\bProf\.)(?<!\b[A-Z]\.)(?<=[.!?。！？])[\"'”’)]*\s+(?=[\"'“‘(]*[^\Wa-z\d_])"
)
_HAN = re.compile("[\u3400-\u9fff]")
_LETTER = re.compile(r"[^\W\d_]")
_OTHER_SCRIPTS = re.compile("[\u3040-\u30ff\uac00-\ud7af]")
_MOSTLY = 0.3


def is_foreign(text: str) -> bool:
    """Whether *text* is written in another language than Chinese; its letters say so."""
    letters = len(_LETTER.findall(text))
    if letters < _LEAST_LATIN:
        return False
    other = len(_OTHER_SCRIPTS.findall(text))
    return len(_HAN.findall(text)) < _MOSTLY * letters or other > letters / 10


class ForeignText(NamedTuple):
    """The lines of a text, its title first; *left* characters are beyond what is translated."""

    lines: tuple[str, ...]
    left: int


def lines_of(title: str, text: str) -> ForeignText:
    """A text as it is translated, sentence by sentence; a long sentence is cut at a word."""
    lines = [" ".join(title.split())]
    taken = left = 0
    for paragraph in text.split("\n"):
        for sentence in _SENTENCE_END.split(" ".join(paragraph.split())):
            for line in _short(sentence):
                if taken + len(line) > MOST_CHARACTERS or left:
                    left += len(line)
                else:
                    taken += len(line)
                    lines.append(line)
    return ForeignText(tuple(lines), left)


def _short(sentence: str) -> Iterator[str]:
    while len(sentence) > _LONGEST_LINE:
        at = sentence.rfind(" ", 0, _LONGEST_LINE)
        cut = at if at > 0 else _LONGEST_LINE
        yield sentence[:cut].strip()
        sentence = sentence[cut:].strip()
    if sentence:
        yield sentence


# --- What stands in both --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Words:
    numbers: Mapping[str, Mapping[str, float]]
    scales: Mapping[str, float]
    months: Mapping[str, int]
    no_names: frozenset[str]
    denials: frozenset[str]


@cache
def _words() -> _Words:
    file = resources.files(__package__).joinpath("data", "foreign.toml")
    tables = tomllib.loads(file.read_text(encoding="utf-8"))
    months = {name: int(key) for key, names in tables["months"].items() for name in names.split()}
    return _Words(
        tables["numbers"],
        tables["scales"],
        months,
        frozenset(tables["names"]["none"].split()),
        frozenset(tables["names"]["denials"].split()),
    )


# A code such as COVID-19 or G20 is a name, not a number.
_CODE = re.compile(r"[A-Za-z]+-?\d[\w-]*|\d+[A-Za-z]{2,}\d\w*")
_FOREIGN_NUMBER = re.compile(
    r"(?<![\w.,])(\d{1,3}(?:[,.\u00a0\u202f ]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,:]\d+)?)"
    r"(?:st|nd|rd|th|er|e|º)?(?![\d])"
)
_DECADE = re.compile(r"(1\d|20)(\d0)s\b")
_WORD = re.compile(r"[^\W\d_]+")
_AFTER = re.compile(r"[\s-]*([^\W\d_]+)")
# What is no number though it is written as one: 周三, 十分, 万一, 百分之.
_NO_NUMBERS = re.compile(
    "(?:周|星期|礼拜)[一二三四五六]|十分|万一|百姓|四处|四周|四面八方|五金|千方百计|百分之|千万别|三明治"
    "|十几|[几数上][十百千万]|成百上千"
)
_MONTHS = ("一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")
_GUESSES = {
    "en": re.compile(r"\b(?:the|of|and|was|were|has|have|is|are|for|to|with)\b", re.IGNORECASE),
    "es": re.compile(r"\b(?:el|los|las|del|que|una)\b", re.IGNORECASE),
    "fr": re.compile(r"\b(?:le|les|des|une|est|dans)\b", re.IGNORECASE),
    "id": re.compile(r"\b(?:yang|dan|untuk|dengan|pada)\b", re.IGNORECASE),
}


def translation_faults(original: str, text: str) -> tuple[Fault, ...]:
    """What is wrong with the Chinese *text* of a line, as far as it can be told.

    Empty: nothing of what :data:`TRANSLATION_FAULTS` names.
    """
    faults = list(_faults_of_script(original, text))
    if not faults:
        language = _guess(original)
        faults += _faults_of_numbers(original, text, language)
        faults += _faults_of_names(original, text)
        faults += _faults_of_denial(original, text, language)
    return tuple(faults)


def fault_words(fault: Fault) -> str:
    """A fault as people read it."""
    return words_of_fault(fault, TRANSLATION_FAULTS)


def _guess(text: str) -> str:
    """The language whose small words stand there most; "" for another one."""
    counts = {name: len(words.findall(text)) for name, words in _GUESSES.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else ""


def _faults_of_script(original: str, text: str) -> Iterator[Fault]:
    letters, han = len(_LETTER.findall(text)), len(_HAN.findall(text))
    if not han or (han < letters / 5) or _OTHER_SCRIPTS.search(text):
        yield Fault("script", "")
    # A Chinese sentence has a third to a half of an English one's characters.
    elif len(text) > 1.2 * len(original) + 20 or len(text) < len(original) / 12:
        yield Fault("length", "")


def _faults_of_numbers(original: str, text: str, language: str) -> Iterator[Fault]:
    bare = _CODE.sub(" ", original)
    given = list(_digits(bare))
    months = list(_months(bare))
    if re.search(r"(?<![a-z])p\.?m\b", bare, re.IGNORECASE):
        given = [
            (written, (*values, *(own + 12 for own in values if own < 12)))
            for written, values in given
        ]
    known = Counter(value for _written, values in given for value in values)
    known.update(months)
    known.update(_number_words(bare, language))
    plain = _NO_NUMBERS.sub(" ", _CODE.sub(" ", plain_text(text)))
    said: set[float] = set()
    for match in re.finditer(NUMBER, plain):
        value = number_value(match[0])
        said.add(value)
        # Words for numbers are known of some languages only.
        is_word = not re.search(r"\d", match[0])
        if match[0] == "一" or (is_word and not language):
            continue
        # As often as the original has it: 5月5日 of 5 March takes the day for the month.
        if not known[value]:
            yield Fault("number", match[0])
        known[value] -= 1
    for written, values in given:
        if not said & set(values):
            yield Fault("left_number", written)
    for month in dict.fromkeys(months):
        if f"{month:g}月" not in plain and f"{_MONTHS[int(month) - 1]}月" not in plain:
            yield Fault("month", f"{month:g}")


def _digits(text: str) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Each number in digits, and the values it may have: 1.200 is one of two."""
    for match in _FOREIGN_NUMBER.finditer(text):
        written = re.sub("[\u00a0\u202f ]", "", match[1])
        if ":" in written:
            for part in written.split(":"):
                yield part, (float(part),)
            continue
        if decade := _DECADE.match(text, match.start()):
            # The 1990s are 20世纪90年代.
            yield written, (float(written), float(decade[2]), float(decade[1]) + 1)
            continue
        values = {_value(written, "."), _value(written, ",")}
        after = _AFTER.match(text, match.end())
        scale = _words().scales.get(after[1].casefold(), 1) if after else 1
        found = sorted(round(value * scale, 6) for value in values if value is not None)
        yield f"{match[1]} {after[1]}" if after and scale > 1 else match[1], tuple(found)


def _value(written: str, point: str) -> float | None:
    """What *written* is with *point* before its fraction; None where it is not written so."""
    whole, _point, fraction = written.partition(point)
    other = "," if point == "." else "."
    if point in fraction or other in fraction:
        # A point that stands twice, or before the other, parts thousands.
        return None if other in fraction else float(re.sub("[.,]", "", written))
    parts = whole.split(other)
    if any(len(part) != 3 for part in parts[1:]):
        return None
    return float("".join(parts) + (f".{fraction}" if fraction else ""))


def _number_words(text: str, language: str) -> Iterator[float]:
    """Values of numbers in words; twenty-two is each of its parts and their sum."""
    words = _words()
    values = dict(words.numbers.get(language, {}))
    before, end = 0.0, -2
    for match in _WORD.finditer(text):
        word = match[0].casefold()
        value = values.get(word)
        if value is None:
            # Millions of two: a scale of what stands before it.
            if word in words.scales and match.start() - end <= 1 and before:
                before *= words.scales[word]
                yield before
                end = match.end()
            continue
        if match.start() - end <= 1 and before:
            if value >= 100:
                yield before * value
                value = before * value
            elif before >= 20 and value < 10:
                yield before + value
                value = before + value
        yield value
        before, end = value, match.end()


def _months(text: str) -> Iterator[float]:
    for match in _WORD.finditer(text):
        month = _words().months.get(match[0].casefold())
        if month is None:
            continue
        beside = text[max(0, match.start() - 12) : match.start()], text[match.end() :][:6]
        if re.search(r"\d(?:st|nd|rd|th|er)?\.?(?:\s+(?:of|de))?\s+$", beside[0]) or re.match(
            r"\.?\s+(?:de\s+)?\d", beside[1]
        ):
            yield float(month)


# --- Names in Latin letters -----------------------------------------------------------------------

_LATIN = re.compile(r"[A-Za-zÀ-ɏ][A-Za-z0-9À-ɏ.'’&-]*")
_RUN = re.compile(r"[A-ZÀ-Þ][\wÀ-ɏ'’-]*(?: (?:(?:of|bin|binti|van|de|al) )?[A-ZÀ-Þ][\wÀ-ɏ'’-]*)+")
_HEADLINE = 0.6


def _faults_of_names(original: str, text: str) -> Iterator[Fault]:
    there = {word.casefold().strip(".'’-") for word in _LATIN.findall(original)}
    for word in _LATIN.findall(text):
        if word.casefold().strip(".'’-") not in there:
            yield Fault("name", word)
    words: list[str] = re.findall(r"[^\W\d_]{4,}", original)
    if sum(word[0].isupper() for word in words) > _HEADLINE * len(words):
        # A headline in capitals: which of its words are names cannot be told.
        return
    said = text.casefold()
    for name in dict.fromkeys(_names(original)):
        if name.casefold() not in said:
            yield Fault("left_name", name)


def _names(text: str) -> Iterator[str]:
    """Names of several words, without titles and what only begins a sentence."""
    for match in _RUN.finditer(text):
        run: list[str] = []
        for word in [*match[0].split(" "), ""]:
            if word and word not in _words().no_names and not _is_number(word):
                run.append(word)
                continue
            if sum(part[0].isupper() for part in run) > 1:
                yield " ".join(run)
            run = []


def _is_number(word: str) -> bool:
    return all(part in _words().numbers["en"] for part in word.casefold().split("-"))


# --- Whether something is denied ------------------------------------------------------------------

_DENIED = re.compile(r"\b(?:not|never|no|none|nobody|nothing|neither|without)\b|n[’']t\b", re.I)
_PREFIXED = re.compile(r"\b(?:un|dis|im|in|ir|il|non)[a-z]{3,}|[a-z]{3,}less\b|n[’']t\b", re.I)
_SAID_OTHERWISE = re.compile(
    "拒|否认|否决|禁止|避免|免于|免受|缺乏|缺少|停止|失败|非法|尚未|并非|无法|别再"
)


def _faults_of_denial(original: str, text: str, language: str) -> Iterator[Fault]:
    if language != "en":
        return
    denied = _DENIED.search(original)
    denies = count_negations(Claims(text).tokens) > 0
    if denied and not denies and not _SAID_OTHERWISE.search(text):
        yield Fault("negation", denied[0])
    words = {word.casefold() for word in _WORD.findall(original)}
    may_deny = words & _words().denials or _PREFIXED.search(original)
    if denies and not denied and not may_deny:
        yield Fault("negation", "")
