"""Keyness against general Chinese, and how terms are spread."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.lexicon.terms import dispersion, log_likelihood, log_odds

COUNTS = st.integers(min_value=0, max_value=500)


def test_log_likelihood_is_that_of_the_textbook() -> None:
    # Rayson and Garside's calculator: 100 of 10,000 against 50 of 20,000 gives 74.2.
    expected = 150 / 30_000
    by_hand = 2 * (
        100 * math.log(100 / (10_000 * expected)) + 50 * math.log(50 / (20_000 * expected))
    )
    assert log_likelihood(100, 10_000, 50, 20_000) == pytest.approx(by_hand)
    assert log_likelihood(100, 10_000, 50, 20_000) == pytest.approx(69.3, abs=0.1)


@given(COUNTS, COUNTS)
def test_both_measures_have_one_sign(frequency: int, background: int) -> None:
    size, usual = 10_000, 50_000
    likelihood = log_likelihood(frequency, size, background, usual)
    if frequency * usual == background * size:
        assert likelihood == pytest.approx(0, abs=1e-6)
    else:
        assert (likelihood > 0) == (frequency * usual > background * size)
    if background > 0 and abs(frequency * usual - background * size) > size:
        assert (log_odds(frequency, size, background, usual) > 0) == (likelihood > 0)


def test_a_rare_word_beats_a_common_one_that_is_as_frequent() -> None:
    common = log_odds(50, 100_000, 30_000, 60_000_000)
    rare = log_odds(50, 100_000, 3, 60_000_000)
    unknown = log_odds(50, 100_000, 0, 60_000_000)
    assert common < rare < unknown


@given(st.dictionaries(st.sampled_from("abcd"), st.integers(1, 50), min_size=1))
def test_dispersion_lies_between_even_and_one_part(counts: dict[str, int]) -> None:
    sizes = {"a": 100, "b": 200, "c": 300, "d": 400}
    assert 0.0 <= dispersion(counts, sizes) <= 1.0


def test_dispersion_at_its_ends() -> None:
    sizes = {"a": 100, "b": 300}
    assert dispersion({"a": 1, "b": 3}, sizes) == pytest.approx(0.0)
    assert dispersion({"a": 9}, sizes) == pytest.approx(1.0)
    assert dispersion({"a": 9}, {"a": 100}) == 0.0
