"""What an import changes."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.topic.check import (
    Changes,
    changed_settings,
    compare_packs,
    merge_packs,
    merge_terms,
    term_key,
)
from qiaocrawl.topic.pack import Sample, Site, Term, TopicPack

SITE = Site("a.cn", "甲", "target", 3, "", "news")
OLD = TopicPack("t", "旧", "", 0.12, (Term("A", "core"), Term("b", "core")), (SITE,),
                (Sample("s", "题", "文", True),))  # fmt: skip


def test_merging_adds_and_changes_and_keeps_the_rest() -> None:
    new = replace(
        OLD,
        title="新",
        threshold=0.2,
        terms=(Term("c", "core"), Term("a", "other")),
        sites=(replace(SITE, tier=1), replace(SITE, host="b.cn")),
        samples=(),
    )
    merged = merge_packs(OLD, new)
    assert merged.title == "新"
    assert merged.terms == (Term("a", "other"), Term("b", "core"), Term("c", "core"))
    assert [(site.host, site.tier) for site in merged.sites] == [("a.cn", 1), ("b.cn", 3)]
    assert merged.samples == OLD.samples
    assert compare_packs(OLD, merged) == (
        Changes("terms", ("c",), ("a",), (), 1),
        Changes("sites", ("b.cn",), ("a.cn",), (), 0),
        Changes("samples", (), (), (), 1),
    )
    assert changed_settings(OLD, merged) == (("title", "旧", "新"), ("threshold", 0.12, 0.2))


def test_comparing_with_nothing_adds_everything() -> None:
    added = [change.added for change in compare_packs(None, OLD)]
    assert added == [("a", "b"), ("a.cn",), ("s",)]


def test_comparing_tells_what_is_removed() -> None:
    terms, sites, samples = compare_packs(OLD, replace(OLD, terms=OLD.terms[:1], samples=()))
    assert (terms.removed, sites.removed, samples.removed) == (("b",), (), ("s",))


terms = st.lists(
    st.builds(Term, st.sampled_from(["a", "B", "c", "侨"]), st.sampled_from(["core", "other"])),
    unique_by=term_key,
).map(tuple)


@given(old=terms, new=terms)
def test_merging_twice_is_merging_once(old: tuple[Term, ...], new: tuple[Term, ...]) -> None:
    once = merge_terms(old, new)
    assert merge_terms(once, new) == once
    assert set(new) <= set(once)
    assert {term_key(term) for term in once} == {term_key(term) for term in (*old, *new)}
