"""What every registered method of title deduplication must do with any pair of titles."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.dedup.comparison import BodyEvidence
from qiaocrawl.dedup.methods import LEAST_COSINE, TitleMethod, TitlePair, check_threshold, methods
from qiaocrawl.errors import ConfigError
from qiaocrawl.items import VerdictKind

every_method = pytest.mark.parametrize("name", methods.names())


def method(name: str, threshold: float | None = None) -> TitleMethod:
    return methods.get(name)(threshold)


share = st.floats(0, 1)
count = st.integers(0, 40)
# Sentences in both are at most those of the body with fewer.
sizes = st.tuples(count, count, count).map(sorted)
bodies = st.builds(
    lambda sizes, **shares: BodyEvidence(*sizes, **shares),
    sizes, containment=share, coverage=share, figures=share, figures_shared=share,
    lead=st.booleans(),
)  # fmt: skip
pairs = st.builds(
    TitlePair,
    cosine=share,
    score=share,
    same_words=st.booleans(),
    letters=st.integers(0, 60),
    other_numbers=st.booleans(),
    same_text=st.booleans(),
    simhash_distance=st.none() | st.integers(0, 64),
    body=st.none() | bodies,
    days_apart=st.none() | st.floats(0, 4000),
    same_site=st.none() | st.booleans(),
    same_source=st.booleans(),
)


@every_method
@settings(max_examples=60)
@given(pair=pairs, threshold=st.none() | st.floats(0.5, 1))
def test_any_pair_has_a_relation_with_a_strength_and_a_reason(
    name: str, pair: TitlePair, threshold: float | None
) -> None:
    made = method(name, threshold)
    relation = made.relation(pair)
    assert 0 <= relation.strength <= 3
    assert relation.kind is VerdictKind.DISTINCT or relation.why
    assert made.relation(pair) == relation, "it knows no other pairs"


@every_method
@settings(max_examples=60)
@given(pair=pairs)
def test_what_a_method_says_it_does_not_look_at_changes_nothing(name: str, pair: TitlePair) -> None:
    made = method(name)
    if not made.uses_scores:
        assert made.relation(pair._replace(score=0.0)) == made.relation(pair._replace(score=1.0))
    if not made.uses_bodies:
        assert made.relation(pair._replace(body=None)) == made.relation(pair)


@every_method
@given(threshold=st.floats(0.5, 1))
def test_titles_are_searched_from_half_a_cosine_on_at_least(name: str, threshold: float) -> None:
    assert LEAST_COSINE <= method(name, threshold).least_cosine <= 1
    assert method(name, threshold).threshold == threshold
    assert LEAST_COSINE <= method(name).least_cosine <= 1


@every_method
@pytest.mark.parametrize("threshold", [-0.1, 0.0, 1.01, float("nan"), float("inf")])
def test_a_threshold_out_of_range_is_refused_with_the_range(name: str, threshold: float) -> None:
    with pytest.raises(ConfigError, match=r"must lie in [\[(]0[.\d]*, 1\], got "):
        method(name, threshold)


@every_method
def test_the_same_words_and_the_same_text_tell_the_same_story(name: str) -> None:
    pair = TitlePair(1.0, 1.0, same_words=True, letters=12, same_text=True, simhash_distance=0)
    assert method(name).relation(pair).is_same_story


@every_method
def test_titles_without_a_word_in_common_do_not(name: str) -> None:
    assert not method(name).relation(TitlePair(0.0, 0.0, letters=12)).is_same_story


def test_a_threshold_is_the_default_unless_one_is_given() -> None:
    assert check_threshold(None, 0.8, least=0.5) == 0.8
    assert check_threshold(0.5, 0.8, least=0.5) == 0.5
    with pytest.raises(ConfigError, match=r"\(0, 1\], got 0"):
        check_threshold(0, 0.8, least=0)
