"""The threshold and the counter-examples of a drafted topic."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from qiaocrawl.items import PageText
from qiaocrawl.lexicon.terms import Document
from qiaocrawl.relevance.blend import BlendScorer
from qiaocrawl.relevance.topic_draft import (
    DraftSources,
    TopicDraft,
    draft_topic,
    with_counter_examples,
)
from qiaocrawl.topic.pack import DEFAULT_THRESHOLD

_OF_THE_SITE = [
    "软件", "版本", "用户", "系统", "发布", "安装", "功能", "社区", "代码", "服务器", "内核", 
    "补丁", "网络", "浏览器",
]  # fmt: skip
_OF_THE_TOPIC = ["容器", "镜像", "编排", "集群", "调度", "节点", "仓库", "命名空间"]
_FAR = [Document(f"渔业{n}", "渔民出海捕捞鱼苗，休渔期结束。" * 3) for n in range(20)]


def _pages(count: int, seed: int, of_topic: int) -> list[Document]:
    """Pages of one site, each with *of_topic* of the topic's words among its own."""
    draw = random.Random(seed)
    return [
        Document(f"新闻{seed}{n}", "，".join(
            draw.sample(_OF_THE_SITE, 8) + draw.sample(_OF_THE_TOPIC, of_topic)
        ) * 4)
        for n in range(count)
    ]  # fmt: skip


def _draft(stored: list[Document]) -> TopicDraft:
    sources = DraftSources("t", "容器", _pages(20, 1, 5))
    return draft_topic(with_counter_examples(sources, stored, _FAR))


def test_stored_pages_that_are_near_set_the_border() -> None:
    """Pages that name the topic in passing are off it; a few that are on it do no harm."""
    stored = [*_pages(40, 2, 0), *_pages(20, 3, 1), *_pages(3, 4, 5)]
    pack = _draft(stored).pack
    scorer = BlendScorer(pack)

    def share_on_topic(pages: list[Document]) -> float:
        return sum(scorer.judge(PageText(one.title, one.text)).relevant for one in pages) / 10

    assert share_on_topic(_pages(10, 5, 5)) >= 0.9
    assert share_on_topic(_pages(10, 6, 1)) <= 0.1


def test_without_enough_texts_the_threshold_is_the_one_by_breadth() -> None:
    sources = DraftSources("t", "容器", _pages(7, 1, 5), _FAR, threshold=0.08)
    assert draft_topic(sources).pack.threshold == 0.08


def test_a_packs_threshold_moves_verdicts_beside_all_samples() -> None:
    pack = replace(_draft(_pages(40, 2, 0)).pack, threshold=DEFAULT_THRESHOLD)
    page = PageText("新闻", _pages(1, 7, 3)[0].text)
    usual = BlendScorer(pack)
    stricter = BlendScorer(replace(pack, threshold=DEFAULT_THRESHOLD * 2.718281828))
    assert usual.logit(page) - stricter.logit(page) == pytest.approx(usual.slope)
