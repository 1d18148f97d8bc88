"""Terms that ask for the same."""

from __future__ import annotations

from qiaocrawl.search.plan import MAX_CHARS, MAX_WORDS, TermGroup, group_terms
from qiaocrawl.topic.pack import Term


def _concept(word: str) -> int | None:
    """Words that end alike are one concept; others are unknown."""
    return {"胞": 1, "乡": 2}.get(word[-1])


def test_spellings_are_one_and_the_heaviest_is_asked() -> None:
    terms = [
        Term("华侨", "core", 1.0),
        Term("華僑", "core", 2.0),
        Term("ＣＨＩＮＡＴＯＷＮ", "place", 1.0),
        Term("Chinatown", "place", 3.0),
        Term("侨 务", "core", 1.0),
        Term("侨务", "core", 1.0),
        Term("  ", "core", 1.0),
    ]
    assert group_terms(terms, 1) == [
        TermGroup("Chinatown", 3.0),
        TermGroup("華僑", 2.0),
        TermGroup("侨 务", 1.0),
    ]


def test_words_of_one_concept_are_asked_together_but_names_stay_alone() -> None:
    terms = [
        Term("侨胞", "core", 1.0),
        Term("同胞", "core", 2.0),
        Term("他乡", "place", 1.0),
        Term("侨乡", "place", 1.0),
        Term("无名", "core", 1.0),
    ]
    groups = group_terms(terms, MAX_WORDS, _concept)
    assert groups == [
        TermGroup("同胞", 2.0, ("侨胞",)),
        TermGroup("他乡", 1.0),
        TermGroup("侨乡", 1.0),
        TermGroup("无名", 1.0),
    ]
    # Nothing is left out where an engine has no groups.
    assert len(group_terms(terms, 1)) == len(terms)


def test_large_groups_are_cut() -> None:
    terms = [Term(f"{n}侨胞", "core") for n in range(9)]
    groups = group_terms(terms, MAX_WORDS, _concept)
    assert [1 + len(group.also) for group in groups] == [MAX_WORDS, MAX_WORDS, 1]
    long = [Term("长" * n + "胞", "core") for n in range(10, 20)]
    for group in group_terms(long, MAX_WORDS, _concept):
        assert not group.also or len(group.term + "".join(group.also)) <= MAX_CHARS
    asked = [word for group in groups for word in (group.term, *group.also)]
    assert sorted(asked) == sorted(term.text for term in terms)
