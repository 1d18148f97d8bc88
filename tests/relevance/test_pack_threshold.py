"""The threshold a pack needs for its verdicts to fall elsewhere: they fall exactly there."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from qiaocrawl.items import PageText
from qiaocrawl.relevance.scorer import FollowsPack, make_scorer
from qiaocrawl.topic.pack import Sample, Term, TopicPack

TERMS = tuple(Term(text, "core", weight) for text, weight in (("华侨", 2.0), ("侨务", 1.0)))
SAMPLES = tuple(
    Sample(f"{number}", "", text, relevant)
    for number, (text, relevant) in enumerate(
        [("侨胞回乡，侨商办厂。", True), ("华侨农场的归侨。", True), ("昨晚的球赛很精彩。", False)]
        * 3
    )
)
WORDS = ("华侨", "侨务", "归侨", "球赛", "天气", "会议")
PAGES = [
    PageText(f"{first}{second}", f"{first}的消息。" * times + f"{second}和天气。" * 3)
    for times in (1, 3, 9)
    for first in WORDS
    for second in WORDS
]


@pytest.mark.parametrize("method", ["blend", "vsm_breadth"])
@pytest.mark.parametrize("samples", [(), SAMPLES])
def test_verdicts_fall_where_the_line_was_put(method: str, samples: tuple[Sample, ...]) -> None:
    pack = TopicPack("t", "", "", 0.2, TERMS, (), samples)
    scorer = make_scorer(method, pack)
    assert isinstance(scorer, FollowsPack)
    scores = [scorer.judge(page).score for page in PAGES]
    assert scorer.pack_threshold(scorer.threshold) == pytest.approx(0.2)  # type: ignore[attr-defined]
    distinct = sorted(set(scores))
    # Not between two of the same score, which the order of a sum sets apart in the last digit.
    lines = [sum(pair) / 2 for pair in pairwise(distinct) if pair[1] - pair[0] > 1e-9]
    reached = [(line, wanted) for line in lines if (wanted := scorer.pack_threshold(line))]
    assert len(reached) > 3
    for line, wanted in reached[:: len(reached) // 3]:
        moved = make_scorer(method, replace(pack, threshold=wanted))
        verdicts = [moved.judge(page).relevant for page in PAGES]
        assert verdicts == [score >= line for score in scores], line
        assert 0 < sum(verdicts) < len(PAGES)


def test_where_the_pack_decides_nothing_there_is_no_threshold() -> None:
    pack = TopicPack("t", "", "", 0.2, TERMS, (), ())
    assert not isinstance(make_scorer("bm25", pack), FollowsPack)
    for method, given, line in (("vsm_breadth", 0.4, 0.3), ("blend", 0.0, 1.0)):
        scorer = make_scorer(method, pack, given)
        assert isinstance(scorer, FollowsPack)
        assert scorer.pack_threshold(line) is None
