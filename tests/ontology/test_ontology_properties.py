"""What holds of every ontology: distances are symmetric, similarities bounded, keys apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.ontology.draft import base_forms, ili_key, is_own, key_name, own_key, wn30_key
from qiaocrawl.ontology.similarity import FUNCTIONS, distance_between, similarity_function

functions = st.sampled_from(sorted(FUNCTIONS))
depths = st.integers(0, 40)
ways = st.dictionaries(st.integers(0, 6), st.integers(0, 20), max_size=5)


@given(ways, ways)
def test_the_distance_of_two_words_is_the_same_from_both_sides(
    one: dict[int, int], other: dict[int, int]
) -> None:
    distance = distance_between(one, other)
    assert distance == distance_between(other, one)
    common = set(one) & set(other)
    assert (distance is None) is (not common)
    assert all(distance is not None and distance <= one[c] + other[c] for c in common)


@given(ways.filter(bool))
def test_a_word_is_as_near_to_itself_as_the_nearest_concept_above_it(one: dict[int, int]) -> None:
    assert distance_between(one, one) == 2 * min(one.values())


@given(functions, st.integers(0, 80), depths)
def test_similarity_is_a_share_that_never_grows_with_the_distance(
    name: str, distance: int, max_depth: int
) -> None:
    function = similarity_function(name)
    assert 0 <= function(distance + 1, max_depth) <= function(distance, max_depth) <= 1


@given(functions, depths)
def test_equal_concepts_are_wholly_alike(name: str, max_depth: int) -> None:
    assert similarity_function(name)(0, max_depth) == 1


@given(st.integers(1, 999_999_999))
def test_a_number_of_the_interlingual_index_is_read_back(number: int) -> None:
    key = ili_key(f" i{number} ")
    assert key == number
    assert key_name(number) == f"i{number}"


@given(st.integers(0, 99_999_999), st.sampled_from("nvar"))
def test_a_synset_of_wordnet_is_read_back_and_meets_no_number_of_the_index(
    offset: int, pos: str
) -> None:
    name = f"{offset:08d}-{pos}"
    key = wn30_key(name)
    assert key is not None
    assert key >= 10**9
    assert key_name(key) == name
    assert not is_own(key)


@given(st.text(), st.text())
def test_own_ids_are_apart_from_both_indexes_and_fit_a_signed_64_bit_number(
    one: str, other: str
) -> None:
    assert is_own(own_key(one))
    assert own_key(one) < 1 << 63
    assert (own_key(one) == own_key(other)) is (one == other)
    assert key_name(own_key(one)) == ""


@pytest.mark.parametrize("text", ["", "in", "i0", "i01", "35545", "i1234567890", "x35545"])
def test_what_is_no_number_of_the_index(text: str) -> None:
    assert ili_key(text) is None


@pytest.mark.parametrize("text", ["", "1740-n", "000017400-n", "00001740-x", "00001740n"])
def test_what_is_no_synset_of_wordnet(text: str) -> None:
    assert wn30_key(text) is None


@pytest.mark.parametrize(
    ("word", "base"),
    [
        ("emigrants", "emigrant"), ("churches", "church"), ("boxes", "box"), ("cities", "city"),
        ("women", "woman"), ("returned", "return"), ("moving", "move"), ("larger", "large"),
        ("oldest", "old"), ("buses", "bus"),
    ],
)  # fmt: skip
def test_forms_of_english_words_lead_to_their_base(word: str, base: str) -> None:
    assert base in base_forms(word)


def test_a_word_of_two_letters_is_no_base_form() -> None:
    assert base_forms("ups") == []
    assert base_forms("axes") == ["axe"]


@given(st.text())
def test_base_forms_are_other_words_of_three_letters_and_more(word: str) -> None:
    forms = base_forms(word)
    assert len(set(forms)) == len(forms)
    assert all(len(form) >= 3 and form != word for form in forms)
    assert word.isascii() or not forms
