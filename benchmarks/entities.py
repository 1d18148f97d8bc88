"""Our tagger beside other projects': strict spans of persons, places and organisations.

    python benchmarks/entities.py --data DIR [--train DIR] [--json FILE]

DIR/entities holds files of ``text`` and ``spans``. ``ours`` learns from all files of --train, the
sentences of the file of the same name four times; ``ours_other_sets`` without that file;
``ours_shipped`` is the tagger that comes along with the gazetteers. Without --train half of each
file is learnt from and the other half measured. Peer: jieba's tagger.
``cec_events`` holds event records (participants, times, places): a tagger of these kinds, learnt
from that file alone, beside patterns; ``named_days`` finds the times that name a day.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from rich.console import Console

from benchmarks.analysis_data import Measured, f1, files_of, is_choosing, run
from qiaocrawl.news.events.times import named_days
from qiaocrawl.news.names.entity import KINDS, Kind
from qiaocrawl.news.names.recognition import entities_of
from qiaocrawl.news.names.tagger import Tagger
from qiaocrawl.news.names.training import MarkedText, TrainingPlan, read_marked_texts, train_tagger

TASK = "entities"
RECORDS = "cec_events"
_OWN_SET_TIMES = 4
_BOLDNESS = 0.5
_PLAN = TrainingPlan(rounds=8)

Spans = Iterable[tuple[int, int, str]]
Method = Callable[[str], Spans]

_RECORD_KINDS = ("PARTICIPANT", "TIME", "place")
_TIME = re.compile(
    r"(?:\d{4}年)?(?:\d{1,2}月)?\d{1,2}日(?:凌晨|早上|上午|中午|下午|傍晚|晚上?)?(?:\d{1,2}时(?:\d{1,2}分)?许?)?"
    r"|(?:凌晨|早上|上午|中午|下午|晚上?)?\d{1,2}[时点](?:\d{1,2}分)?许?|目前|昨[日天晚]|今[日天]|当[天日]|近日|日前"
)
_NAMES_A_DAY = re.compile(
    "[0-9０-９一二三四五六七八九十]日|[昨今明前当][日天晚晨夜]|[次翌]日|(?:周|星期)[一二三四五六日天]"
)
_SOME_DAY = date(2010, 6, 15)
_PEOPLE = re.compile(
    "(?:消防|公安|救援|医护|施工|遇难|受伤|工作)人员|民警|司机|乘客|死者|伤者|群众|村民|警方|消防官兵|记者|目击者|居民"
)

_JIEBA_TAGS: dict[str, Kind] = {"nr": "person", "ns": "place", "nt": "organisation"}


def measure(data: Path, train: Path | None, console: Console) -> Iterator[Measured]:
    """The figures of all sets and methods."""
    reported = _sets(data)
    learning = _sets(train) if train else {}
    if not train:
        for name, texts in reported.items():
            learning[name] = [text for text in texts if is_choosing(text.text)]
            reported[name] = [text for text in texts if not is_choosing(text.text)]
    for name, texts in reported.items():
        console.print(f"{name}: {len(texts):,} texts")
        if name == RECORDS:
            yield from _records(texts, learning.get(name, []))
            continue
        for method, tag in (*_ours(name, learning), ("jieba", _jieba)):
            yield from _figures(name, method, texts, tag, KINDS)


def _sets(folder: Path) -> dict[str, list[MarkedText]]:
    return {name: read_marked_texts(path) for name, path in files_of(folder, TASK).items()}


def _ours(name: str, learning: dict[str, list[MarkedText]]) -> Iterator[tuple[str, Method]]:
    others = [
        text for other, texts in learning.items() if other not in (name, RECORDS) for text in texts
    ]
    own = learning.get(name, [])
    yield (
        "ours",
        _tagged(Tagger(train_tagger(others + own * _OWN_SET_TIMES, plan=_PLAN), _BOLDNESS)),
    )
    if others:
        yield "ours_other_sets", _tagged(Tagger(train_tagger(others, plan=_PLAN), _BOLDNESS))
    yield "ours_shipped", _shipped


def _tagged(tagger: Tagger) -> Method:
    return lambda text: [(span.start, span.end, span.kind) for span in tagger.tag(text)]


def _shipped(text: str) -> Spans:
    # One line end stands before the text: it has no title.
    return [
        (entity.start - 1, entity.end - 1, entity.kind)
        for entity in entities_of("", text, all_persons=True)
    ]


def _jieba(text: str) -> Spans:
    from jieba import posseg

    return _tagged_words(((pair.word, pair.flag) for pair in posseg.cut(text)), _JIEBA_TAGS)


def _records(texts: Sequence[MarkedText], learning: Sequence[MarkedText]) -> Iterator[Measured]:
    """Event records: a tagger of their own kinds beside patterns."""
    if learning:
        tagger = Tagger(train_tagger(learning, kinds=_RECORD_KINDS, plan=_PLAN), _BOLDNESS)
        yield from _figures(RECORDS, "ours", texts, _tagged(tagger), _RECORD_KINDS)
    yield from _figures(RECORDS, "patterns", texts, _patterns, _RECORD_KINDS)
    yield Measured(TASK, RECORDS, "named_days", "f1_day", _days(texts))


def _days(texts: Sequence[MarkedText]) -> float:
    """Whether the days we find stand in the marked times that name one."""
    hits = predicted = wanted = 0
    for text in texts:
        gold = [
            (start, end)
            for start, end, kind in text.spans
            if kind == "TIME" and _NAMES_A_DAY.search(text.text, start, end)
        ]
        found = [day.start for day in named_days(text.text, _SOME_DAY)]
        hits += sum(any(start <= day < end for day in found) for start, end in gold)
        predicted += len(found)
        wanted += len(gold)
    return f1(hits, predicted, wanted)


def _patterns(text: str) -> Spans:
    """Dates and hours; places and people as jieba's dictionary has them, and words for people."""
    yield from ((match.start(), match.end(), "TIME") for match in _TIME.finditer(text))
    yield from ((match.start(), match.end(), "PARTICIPANT") for match in _PEOPLE.finditer(text))
    for start, end, kind in _jieba(text):
        yield start, end, "place" if kind == "place" else "PARTICIPANT"


def _tagged_words(words: Iterable[Sequence[str]], kinds: dict[str, Kind]) -> Spans:
    at = 0
    for word, tag in words:
        if kind := kinds.get(tag):
            yield at, at + len(word), kind
        at += len(word)


def _figures(
    name: str, method: str, texts: Sequence[MarkedText], tag: Method, kinds: Sequence[str]
) -> Iterator[Measured]:
    found = [set(tag(text.text)) for text in texts]
    gold = [set(text.spans) for text in texts]
    for counted, metric in ((kinds, "f1"), *(((kind,), f"f1_{kind}") for kind in kinds)):
        hits, predicted, wanted = (
            sum(span[2] in counted for spans in sets for span in spans)
            for sets in ([ours & theirs for ours, theirs in zip(found, gold, strict=True)],
                         found, gold)
        )  # fmt: skip
        yield Measured(TASK, name, method, metric, f1(hits, predicted, wanted))


if __name__ == "__main__":
    run(TASK, __doc__, measure)
