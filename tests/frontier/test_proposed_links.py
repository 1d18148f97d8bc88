"""Links that pages have brought: which are worth proposing again."""

from __future__ import annotations

from qiaocrawl.frontier.crawl_order import ProposedUrls
from qiaocrawl.items import PRUNED

_A, _B, _C = (bytes([n]) * 16 for n in range(3))


def test_a_better_score_is_news() -> None:
    proposed = ProposedUrls()
    assert proposed.remember([(_A, 0.2), (_B, PRUNED)]) == [_A, _B]
    assert [proposed.is_news(_A, score) for score in (PRUNED, 0.1, 0.2, 0.3)] == [
        False, False, False, True,
    ]  # fmt: skip
    assert [proposed.is_news(_B, score) for score in (PRUNED, -0.5)] == [False, True]
    assert proposed.remember([(_A, 0.3), (_C, 0.0)]) == [_C]
    assert not proposed.is_news(_A, 0.3)


def test_where_the_score_does_not_count_only_what_was_left_out_is_news_again() -> None:
    proposed = ProposedUrls(by_score=False)
    assert proposed.remember([(_A, 0.2), (_B, PRUNED)]) == [_A, _B]
    assert [proposed.is_news(_A, score) for score in (PRUNED, 0.1, 0.9)] == [False] * 3
    assert [proposed.is_news(_B, score) for score in (PRUNED, -0.5)] == [False, True]
    assert proposed.remember([(_B, -0.5)]) == []
    assert not proposed.is_news(_B, 0.9)
    assert proposed.is_news(_C, PRUNED)


def test_the_oldest_are_forgotten_first() -> None:
    proposed = ProposedUrls(2)
    proposed.remember([(_A, 0.1), (_B, 0.1)])
    # Met again: still the oldest.
    proposed.remember([(_A, 0.5), (_C, 0.1)])
    assert [proposed.is_news(key, 0.1) for key in (_A, _B, _C)] == [True, False, False]
