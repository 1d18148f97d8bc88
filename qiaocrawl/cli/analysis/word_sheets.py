"""Words of a stretch of time as sheets for officers: Chinese whoever writes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from qiaocrawl.cli.output import shown_moment
from qiaocrawl.export.readable import Sheet
from qiaocrawl.lexicon.terms import example_sentences

if TYPE_CHECKING:
    from qiaocrawl.news.word_groups import CloudWord, GroupHits
    from qiaocrawl.news.words import FreshWord, HotWord, TimedText, WordCounter

_TRENDS = {"new": "新出现", "up": "上升", "steady": "持平", "down": "下降"}
ORIGINS = {"quoted": "引号内", "letters": "字间凝固", "latin": "外文", "phrase": "词组"}
"""Why a new word is taken for one."""


def hot_sheet(words: Sequence[HotWord], now: WordCounter) -> Sheet:
    """The hot words with how often they stand there each day, and a sentence."""
    days = sorted({day for word in words for day in word.by_day})
    examples = _examples((word.text for word in words), now)
    return Sheet(
        "热词",
        ("词", "篇数", "站数", "此前篇数", "升幅（倍）", "热度", "例句", *days),
        [
            (word.text, word.documents, word.sites, word.before,
             None if word.rise is None else round(word.rise, 2), round(word.score, 1),
             examples[word.text], *(word.by_day.get(day) for day in days))
            for word in words
        ],
    )  # fmt: skip


def fresh_sheet(words: Sequence[FreshWord], now: WordCounter) -> Sheet:
    """The new words, each with a sentence."""
    examples = _examples((word.text for word in words), now)
    return Sheet(
        "新词",
        ("词", "篇数", "站数", "首见时间", "依据", "例句"),
        [
            (word.text, word.documents, word.sites, shown_moment(word.first),
             ORIGINS[word.origin], examples[word.text])
            for word in words
        ],
    )  # fmt: skip


def cloud_sheet(words: Sequence[CloudWord]) -> Sheet:
    """The words of a cloud."""
    return Sheet(
        "标签云",
        ("词", "篇数", "此前篇数", "趋势"),
        [
            (word.text, word.documents, word.before,
             "" if word.before is None else _TRENDS[word.trend])
            for word in words
        ],
    )  # fmt: skip


def hit_sheets(found: Sequence[GroupHits], texts: Iterable[TimedText]) -> list[Sheet]:
    """The groups with their days, and every article that touches one."""
    by_key = {text.key: text for text in texts}
    days = sorted({day for own in found for day in own.by_day})
    groups = Sheet(
        "专题命中",
        ("组", "篇数", "站数", "词（篇数）", *days),
        [
            (own.group.name, len(own.hits), len(own.by_site),
             "、".join(f"{term} {count}" for term, count in own.by_term.most_common()),
             *(own.by_day.get(day) for day in days))
            for own in found
        ],
    )  # fmt: skip
    articles = [
        (own.group.name, by_key[hit.key].title, by_key[hit.key].site,
         shown_moment(by_key[hit.key].at), "、".join(hit.terms), hit.key)
        for own in found
        for hit in sorted(own.hits, key=lambda hit: by_key[hit.key].at, reverse=True)
    ]  # fmt: skip
    return [groups, Sheet("命中文章", ("组", "标题", "站点", "时间", "命中的词", "网址"), articles)]


def _examples(words: Iterable[str], now: WordCounter) -> dict[str, str]:
    sentences = example_sentences((text.folded for text in now.texts), words, each=1)
    return {word: own[0] if own else "" for word, own in sentences.items()}
