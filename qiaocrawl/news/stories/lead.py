"""What of an article tells what happened: its title, and the beginning of its body."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from qiaocrawl.news.summary_sentences import DATELINE
from qiaocrawl.text.normalise import fold

LEAD_CHARS = 400
"""So much of a body counts: news says at its beginning what happened."""

_READ_CHARS = 800
_HAN_RUN = re.compile("[\u3400-\u9fff]{2,}")
_SENTENCE = re.compile(r"[^。！？!?\n]+(?:[。！？!?]+[”’」』]*|\n|$)\n*")
# Days stand in every text, and two happenings of one day are not the same. Those a text tells of
# are compared as times (``linking``), not as words.
_DAY = re.compile(
    r"(?:\d{4}年)?\d{1,2}月(?:\d{1,2}[日号號])?|\d{4}年|"
    r"(?<!\d)\d{1,2}[日号號](?=[上下晚凌清晨电電讯訊，,、 ])"
)
# A site's own sentences (its client, its hotline) stand before a text, and are of no title.
_MOST_FOREIGN = 2
_LOOKED_AHEAD = 4


def lead_of(title: str, body: str) -> str:
    """The beginning of *body* without datelines, days and what a site puts before its texts.

    *title* tells what belongs to the text: a first sentence that has no two letters in common
    with it does not, where one of the next ones has.
    """
    sentences = _SENTENCE.findall(body[:_READ_CHARS])
    told = _pairs(title)
    first = next(
        (
            at
            for at, one in enumerate(sentences[:_LOOKED_AHEAD])
            if not told.isdisjoint(letter_pairs(fold(one)))
        ),
        0,
    )
    kept = "".join(sentences[first if first <= _MOST_FOREIGN else 0 :]).lstrip()
    while dateline := DATELINE.match(kept):
        kept = kept[dateline.end() :].lstrip()
    return without_days(kept)[:LEAD_CHARS]


def without_days(text: str) -> str:
    """*text* without the days and months it names."""
    return _DAY.sub("", text)


def letter_pairs(text: str) -> Iterator[str]:
    """All pairs of Chinese characters that stand side by side in *text*, in order."""
    return chain.from_iterable(map(str.__add__, run, run[1:]) for run in _HAN_RUN.findall(text))


def _pairs(text: str) -> set[str]:
    return set(letter_pairs(fold(text)))


# --- Round-ups: several things that happened, each under a heading of its own ---------------------

_ROUND_UP = re.compile(
    r"[一本上每]周(?!年|岁|歲)|周[报報刊]|[早午晚日简簡快]报[:：（(丨|｜]|[早晚]新[闻聞]|要[闻聞]|速[览覽递遞]|快[览覽]|"
    r"[汇彙]总|[汇彙]總|盘点|盤點|大事[记記]|简[讯訊]|[动動][态態]集锦|"
    r"\d{1,2}月\d{1,2}日\s*[—–\-~～至]+\s*(?:\d{1,2}月)?\d{1,2}日|"
    r"weekly|round-?up|digest|briefing",
    re.IGNORECASE,
)
_ENDS = "。！？!?；;”」』：:…"
_HEADING_CHARS = range(6, 46)
_LEAST_TEXT = 30
# So many headings make a round-up of a text whose title says so, and of one whose title does not
# say what they say.
_SAID, _UNSAID = 2, 4
# A long report has headings too, but what its title names comes back below most of them.
_MOST_TITLED = 0.5
MOST_READ = 20_000
"""Further on nothing of a body is looked at."""


def is_round_up(title: str, body: str) -> bool:
    """Whether an article tells of several happenings, one after the other."""
    body = body[:MOST_READ]
    if body.count("\n") < 2 * _SAID - 1:
        return False
    sections = list(_sections_of(body))
    if _ROUND_UP.search(title):
        return len(sections) >= _SAID
    if len(sections) < _UNSAID:
        return False
    told = _pairs(title)
    if any(told & _pairs(heading) for heading, _ in sections):
        return False
    titled = sum(bool(told & _pairs(text)) for _, text in sections)
    return titled <= _MOST_TITLED * len(sections)


def headings_of(body: str) -> Iterator[str]:
    """The short lines without a full stop that a paragraph follows."""
    return (heading for heading, _ in _sections_of(body[:MOST_READ]))


def _sections_of(body: str) -> Iterator[tuple[str, str]]:
    """Each heading of *body*, and what stands below it until the next one."""
    lines = [line.strip() for line in body.split("\n") if line.strip()]
    heading, below = "", list[str]()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        dateline = DATELINE.match(line)
        told = line[dateline.end() :] if dateline else line
        if (
            len(told) in _HEADING_CHARS
            and told[-1] not in _ENDS
            and len(following) >= _LEAST_TEXT
            and following[-1] in _ENDS
        ):
            if heading:
                yield heading, "\n".join(below)
            heading, below = told, []
        else:
            below.append(line)
    if heading:
        yield heading, "\n".join(below)
