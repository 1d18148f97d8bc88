"""What a run came to, in a few lines for people: new, known, on topic, missed, what next."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from qiaocrawl.items import Outcome
from qiaocrawl.runtime.run_end import end_reason
from qiaocrawl.search.query import WITH_HITS, AnswerState
from qiaocrawl.storage.reports.missed import MISSED
from qiaocrawl.storage.reports.outcome_names import short_name
from qiaocrawl.storage.search.ledger import NO_ANSWER

NEW_ARTICLES, KNOWN_ARTICLES = "qiaocrawl/articles/new", "qiaocrawl/articles/known"
ON_TOPIC = "qiaocrawl/articles/on_topic"
"""Statistics: articles that were not stored before this run; those that were; those on topic."""

_ENDS = {
    "finished": "采完 finished",
    "limit_pages": "到页数上限 as many pages as allowed",
    "limit_pages_per_host": "到每站页数上限 as many pages of each site as allowed",
    "limit_seconds": "到时限 as long as allowed",
    "below_threshold": "余下的不切题 what is left is off topic",
    "hosts_given_up": "余下的站点暂不可采 the hosts that are left want to be left alone",
    "shutdown": "被中止 stopped by the operator",
    "memusage_exceeded": "内存用尽 out of memory",
    "storage_error": "数据库出错 the database failed",
    "internal_error": "程序出错 an error of the crawler",
    "start_page_set_aside": "起始页读不了 a start page could not be read",
}


def article_numbers(stored: Collection[tuple[bool, frozenset[str]]], topic: str) -> dict[str, int]:
    """Statistics about the articles of a run: whether each is new, and the topics it is on."""
    new = sum(is_new for is_new, _ in stored)
    on_topic = sum(topic in topics for _, topics in stored)
    return {NEW_ARTICLES: new, KNOWN_ARTICLES: len(stored) - new, ON_TOPIC: on_topic}


def summary_lines(spider: str, topic: str, stats: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Name and words of each line about a run of *spider* with these statistics."""
    reason = end_reason(stats)
    yield "结束 ended", _ENDS.get(reason, reason or "未完 not at its end")
    yield "用时 took", _duration(stats.get("elapsed_time_seconds", 0.0))
    if spider == "search":
        yield from _search_lines(stats)
    else:
        yield from _page_lines(stats)
    waiting = _count(stats, "frontier/remaining")
    if waiting:
        yield "待采 waiting", f"{waiting:,} 网址 URLs"


def next_steps(spider: str, topic: str, stats: Mapping[str, Any]) -> Iterator[str]:
    """What to do now: commands that work as they are, the most useful first."""
    if _count(stats, "frontier/remaining"):
        yield "再运行同一命令即续采 the same command goes on"
    if spider == "search":
        yield f"scrapy crawl pages -a topic={topic}"
        if _unanswered(stats):
            yield f"qiaocrawl coverage {topic}"
        return
    yield f"qiaocrawl article list --topic {topic} --only-relevant"
    yield f"qiaocrawl export --topic {topic} --only-relevant --format xlsx"
    if _missed(stats):
        yield f"qiaocrawl missed {topic}"


def _search_lines(stats: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    answers = {state: _count(stats, f"search/{state}") for state in AnswerState}
    hits = sum(answers[state] for state in WITH_HITS)
    yield "检索 queries", f"{sum(answers.values()):,} 问 asked，有结果 {hits:,} with hits"
    yield "新网址 new URLs", f"{_count(stats, 'search/new_urls'):,}"
    yield "已知 known", f"{_count(stats, 'search/known_urls'):,} 网址 URLs"
    missed = _unanswered(stats)
    if missed:
        yield "漏答 no answer", f"{missed:,} 问 queries"


def _page_lines(stats: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    known = int(stats.get(KNOWN_ARTICLES, 0))
    yield "网页 pages", f"{_count(stats, 'pages'):,}"
    yield "新文章 new articles", f"{int(stats.get(NEW_ARTICLES, 0)):,}"
    if known:
        yield "已知 known", f"{known:,} 篇，再读一遍 articles read again"
    yield "切题 on topic", f"{int(stats.get(ON_TOPIC, 0)):,} 篇 articles"
    yield "转载 reprints", f"{_count(stats, 'dedup/reprint'):,} 篇 articles"
    missed = _missed(stats)
    listed = "、".join(f"{short_name(outcome)} {number:,}" for outcome, number in missed.items())
    if missed:
        yield "漏采 missed", f"{sum(missed.values()):,} 页 pages: {listed}"


def _missed(stats: Mapping[str, Any]) -> dict[Outcome, int]:
    """What hid pages in this run, the most first."""
    counts = {outcome: _count(stats, f"outcome/{outcome}") for outcome in MISSED}
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    return {outcome: count for outcome, count in ordered if count}


def _unanswered(stats: Mapping[str, Any]) -> int:
    return sum(_count(stats, f"search/{state}") for state in NO_ANSWER)


def _count(stats: Mapping[str, Any], name: str) -> int:
    return int(stats.get(f"qiaocrawl/{name}", 0))


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} 小时 {minutes} 分"
    return f"{minutes} 分 {rest} 秒" if minutes else f"{rest} 秒 seconds"
