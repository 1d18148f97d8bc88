"""Groups of terms: any, all, none and near; many of them in one pass."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.lexicon.term_groups import GroupMatcher, TermFinder, TermGroup
from qiaocrawl.text.normalise import fold

NEAR = TermGroup("骗", near=(("侨胞", "诈骗"),))

CASES = (
    (NEAR, "多名侨胞遭电信诈骗。", True),
    (NEAR, "侨胞返乡。当地破获一起诈骗案。", False),
    (NEAR, "诈骗案频发，侨胞需防范！侨胞返乡。", True),
    (NEAR, "侨胞返乡", False),
    (TermGroup("骗", near=(("侨胞", "诈骗"),), within_chars=4), "侨胞遭电信诈骗", True),
    (TermGroup("骗", near=(("侨胞", "诈骗"),), within_chars=2), "侨胞遭电信诈骗", False),
    # Across a sentence, where characters count; the nearest of several places.
    (TermGroup("骗", near=(("侨胞", "诈骗"),), within_chars=2), "侨胞。被诈骗", True),
    (TermGroup("骗", near=(("侨胞", "诈骗"),), within_chars=1), "诈骗很多很多诈骗，侨胞", True),
    # Three words; one of two sets is enough; what overlaps has nothing between it.
    (TermGroup("三", near=(("甲乙", "丙丁", "戊己"),), within_chars=2), "甲乙，丙丁，戊己", True),
    (TermGroup("三", near=(("甲乙", "丙丁", "戊己"),), within_chars=1), "甲乙，丙丁，戊己", False),
    (TermGroup("两", near=(("甲乙", "丙丁"), ("戊己", "庚辛"))), "戊己庚辛", True),
    (TermGroup("叠", near=(("中国侨", "国侨联"),), within_chars=1), "中国侨联", True),
    # Beside any, all and none.
    (TermGroup("合", ("警方",), ("侨",), ("演习",), (("侨胞", "诈骗"),)), "警方：侨胞被诈骗", True),
    (TermGroup("合", ("警方",), ("侨",), ("演习",), (("侨胞", "诈骗"),)), "侨胞被诈骗", False),
    (TermGroup("合", ("警方",), ("侨",), ("演习",), (("侨胞", "诈骗"),)),
     "警方演习：侨胞被诈骗", False),
    (TermGroup("繁", near=(("僑胞", "詐騙"),)), "侨胞遭诈骗", True),
)  # fmt: skip


@pytest.mark.parametrize(("group", "text", "is_hit"), CASES)
def test_terms_near_each_other(group: TermGroup, text: str, is_hit: bool) -> None:
    assert bool(group.terms_in(fold(text))) is is_hit
    assert bool(GroupMatcher([TermGroup("x", ("不在",)), group]).touched(text, "")) is is_hit


LETTERS = st.text("侨胞诈骗中国us ", max_size=30)
TERMS = st.lists(
    st.text("侨胞诈骗中国us", min_size=1, max_size=3), min_size=1, max_size=6, unique=True
)


@given(LETTERS, TERMS)
def test_one_pass_finds_what_looking_for_each_term_finds(text: str, terms: list[str]) -> None:
    places = TermFinder(terms).places(text)
    for term in terms:
        before = "(?<![a-z0-9])" if term[0].isascii() else ""
        behind = "(?![a-z0-9])" if term[-1].isascii() else ""
        found = [own.start() for own in re.finditer(before + re.escape(term) + behind, text)]
        assert places.get(term, []) == found


@given(LETTERS, st.lists(st.tuples(TERMS, TERMS, TERMS), max_size=5))
def test_many_groups_at_once_say_what_each_says_alone(
    text: str, lists: list[tuple[list[str], list[str], list[str]]]
) -> None:
    groups = [
        TermGroup(str(number), tuple(some), tuple(every[:1]), tuple(none[:1]))
        for number, (some, every, none) in enumerate(lists)
    ]
    together = dict(GroupMatcher(groups).touched(text, ""))
    for number, group in enumerate(groups):
        alone = group.terms_in(fold(f"{text}\n"))
        assert together.get(number, alone.__class__()) == alone
