"""What trends, words, names and outlets come to, as sheets for officers.

They are Chinese whoever writes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from qiaocrawl.export.readable import Sheet
from qiaocrawl.lexicon.terms import example_sentences
from qiaocrawl.news.trends.trend import begin_of
from qiaocrawl.text.zones import china_time

if TYPE_CHECKING:
    from qiaocrawl.news.names.places import RegionCounts
    from qiaocrawl.news.names.stored import NamedOfTopic
    from qiaocrawl.news.spread.influence import EventSpread, OutletInfluence
    from qiaocrawl.news.trends.trend import Trend
    from qiaocrawl.news.word_groups import CloudWord, GroupHits
    from qiaocrawl.news.words import FreshWord, HotWord, TimedText, WordCounter

# --- Counts over time -----------------------------------------------------------------------------


def trend_sheets(trend: Trend) -> list[Sheet]:
    """The steps, and the forecast if there is any."""
    steps = Sheet(
        "趋势",
        ("起", "篇数", "平常", "偏离（标准差）", "爆发", "节假日", "已结束"),
        [
            (
                begin_of(trend, step.start),
                step.count,
                None if step.expected is None else round(step.expected, 1),
                None if step.deviation is None else round(step.deviation, 2),
                "是" if step.is_burst else "",
                step.holiday,
                "是" if step.is_whole else "否",
            )
            for step in trend.steps
        ],
    )
    ahead = Sheet(
        "预测",
        ("起", "预计", "下限", "上限"),
        [
            (begin_of(trend, step.start), round(step.expected, 1), step.low, step.high)
            for step in trend.forecast
        ],
    )
    return [steps, ahead] if trend.forecast else [steps]


# --- Words ----------------------------------------------------------------------------------------

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
            (
                word.text,
                word.documents,
                word.sites,
                word.before,
                None if word.rise is None else round(word.rise, 2),
                round(word.score, 1),
                examples[word.text],
                *(word.by_day.get(day) for day in days),
            )
            for word in words
        ],
    )


def fresh_sheet(words: Sequence[FreshWord], now: WordCounter) -> Sheet:
    """The new words, each with a sentence."""
    examples = _examples((word.text for word in words), now)
    return Sheet(
        "新词",
        ("词", "篇数", "站数", "首见时间", "依据", "例句"),
        [
            (
                word.text,
                word.documents,
                word.sites,
                china_time(word.first),
                ORIGINS[word.origin],
                examples[word.text],
            )
            for word in words
        ],
    )


def cloud_sheet(words: Sequence[CloudWord]) -> Sheet:
    """The words of a cloud."""
    return Sheet(
        "标签云",
        ("词", "篇数", "此前篇数", "趋势"),
        [
            (
                word.text,
                word.documents,
                word.before,
                "" if word.before is None else _TRENDS[word.trend],
            )
            for word in words
        ],
    )


def hit_sheets(found: Sequence[GroupHits], texts: Iterable[TimedText]) -> list[Sheet]:
    """The groups with their days, and every article that touches one."""
    by_key = {text.key: text for text in texts}
    days = sorted({day for own in found for day in own.by_day})
    groups = Sheet(
        "专题命中",
        ("组", "篇数", "站数", "词（篇数）", *days),
        [
            (
                own.group.name,
                len(own.hits),
                len(own.by_site),
                "、".join(f"{term} {count}" for term, count in own.by_term.most_common()),
                *(own.by_day.get(day) for day in days),
            )
            for own in found
        ],
    )
    articles = [
        (
            own.group.name,
            by_key[hit.key].title,
            by_key[hit.key].site,
            china_time(by_key[hit.key].at),
            "、".join(hit.terms),
            hit.key,
        )
        for own in found
        for hit in sorted(own.hits, key=lambda hit: by_key[hit.key].at, reverse=True)
    ]
    return [groups, Sheet("命中文章", ("组", "标题", "站点", "时间", "命中的词", "网址"), articles)]


def _examples(words: Iterable[str], now: WordCounter) -> dict[str, str]:
    sentences = example_sentences((text.folded for text in now.texts), words, each=1)
    return {word: own[0] if own else "" for word, own in sentences.items()}


# --- Names ----------------------------------------------------------------------------------------

_SHEETS = {"person": "人物", "place": "地点", "organisation": "机构"}


def named_sheets(found: NamedOfTopic) -> list[Sheet]:
    """A sheet a kind, and the regions."""
    return [*_name_sheets(found), _region_sheet(found.regions)]


def _name_sheets(found: NamedOfTopic) -> Iterator[Sheet]:
    for kind, title in _SHEETS.items():
        own = [named for named in found.names if named.kind == kind]
        header = ("名称", "文章", "媒体", "最早", "最晚", *(("所在",) if kind == "place" else ()))
        yield Sheet(
            title,
            header,
            [
                (
                    named.name,
                    named.articles,
                    named.outlets,
                    f"{named.first:%Y-%m-%d}",
                    f"{named.last:%Y-%m-%d}",
                    *((named.lies_in,) if kind == "place" else ()),
                )
                for named in own
            ],
        )


def _region_sheet(regions: RegionCounts) -> Sheet:
    rows: list[tuple[object, ...]] = [
        ("国家", own.name, own.articles, _name_counts(own.places)) for own in regions.countries
    ]
    rows += [
        ("中国省份", own.name, own.articles, _name_counts(own.places)) for own in regions.provinces
    ]
    rows.append(("未能定位", "", regions.unplaced_articles, _name_counts(regions.unplaced)))
    return Sheet("地区", ("类别", "地区", "文章", "所提地名（篇数）"), rows)


def _name_counts(names: tuple[tuple[str, int], ...]) -> str:
    return "、".join(f"{name} {articles}" for name, articles in names)


# --- Outlets --------------------------------------------------------------------------------------


def outlet_sheet(found: Sequence[OutletInfluence]) -> Sheet:
    """What outlets are listened to for."""
    return Sheet(
        "媒体影响",
        (
            "媒体",
            "级别",
            "地区",
            "转自它的媒体",
            "直接转载篇数",
            "波及篇数",
            "首发事件",
            "涉及事件",
            "文章",
            "其中转自别家",
        ),
        [
            (
                own.name,
                own.tier,
                own.region,
                own.takers,
                own.taken,
                own.reached,
                own.firsts,
                own.stories,
                own.articles,
                own.borrowed,
            )
            for own in found
        ],
    )


# --- Spread of events -----------------------------------------------------------------------------

EMPTY_SHEET = Sheet("说明", ("说明",), [("这段时间没有可列的内容。",)])
"""Of a workbook that would have none."""


def event_spread_sheet(found: Sequence[EventSpread]) -> Sheet:
    """How far and how fast each event went."""
    return Sheet(
        "传播",
        ("事件", "媒体", "文章", "转载", "传了几层", "首发", "首发时间", "半数刊出用时（小时）"),
        [
            (
                own.story.title,
                len(own.story.outlets),
                own.story.articles,
                own.story.reprints,
                own.figures.depth,
                own.story.outlets[0] if own.story.outlets else "",
                china_time(own.story.first) if own.story.first else "",
                None
                if own.figures.half_seconds is None
                else round(own.figures.half_seconds / 3_600, 1),
            )
            for own in found
        ],
    )
