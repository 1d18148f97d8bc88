"""What terms bring, and the fewest that bring nearly all."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.lexicon.decisions import TermYield, cover, found_only_by


def term(name: str, on_topic: set[int], requests: int = 10) -> TermYield:
    articles = frozenset(on_topic | {100})
    return TermYield(name, requests, len(articles), articles, frozenset(on_topic))


def test_the_fewest_terms_come_first() -> None:
    yields = [term("侨", {1, 2, 3, 4}), term("侨胞", {1, 2}), term("侨批", {5}), term("乔", set())]
    steps = cover(yields)
    assert [(step.term, step.gained, step.share, step.requests) for step in steps] == [
        ("侨", 4, 0.8, 10), ("侨批", 1, 1.0, 20),
    ]  # fmt: skip
    assert [step.term for step in cover(yields, 0.8)] == ["侨"]
    assert found_only_by(yields) == {"侨": 2, "侨胞": 0, "侨批": 1, "乔": 0}


def test_a_dear_term_waits() -> None:
    yields = [term("贵", {1, 2, 3}, requests=300), term("廉", {1, 2}, requests=10)]
    assert [step.term for step in cover(yields, 0.6)] == ["廉"]


def test_nothing_found_needs_no_terms() -> None:
    assert cover([]) == []
    assert cover([term("乔", set())]) == []
    assert term("乔", set()).share_on_topic == 0.0
    assert TermYield("无", 1, 0).share_on_topic == 0.0


@given(
    st.lists(st.tuples(st.sets(st.integers(0, 12)), st.integers(1, 50)), max_size=8),
    st.floats(0.05, 1.0),
)
def test_a_cover_finds_what_it_says(sets: list[tuple[set[int], int]], share: float) -> None:
    yields = [term(f"t{n}", found, requests) for n, (found, requests) in enumerate(sets)]
    steps = cover(yields, share)
    by_name = {own.term: own for own in yields}
    whole = frozenset().union(*(own.on_topic for own in yields))
    covered = frozenset().union(*(by_name[step.term].on_topic for step in steps))
    assert len(covered) >= share * len(whole)
    assert len({step.term for step in steps}) == len(steps)
    if steps:
        assert steps[-1].share == len(covered) / len(whole)
        assert steps[-1].requests == sum(by_name[step.term].requests for step in steps)
