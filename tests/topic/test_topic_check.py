"""The rules of a pack: each one refuses what it should, and names the place."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest

from qiaocrawl.errors import TopicError
from qiaocrawl.topic.check import (
    fold,
    pack_faults,
    require_valid,
    sample_reasons,
    site_reasons,
    term_reasons,
)
from qiaocrawl.topic.pack import Sample, Site, Term, TopicPack

TERM = Term("侨批", "culture", 2.0)
SITE = Site("www.chinaqw.com", "中国侨网", "authoritative", 1, "中国", "news")
SAMPLE = Sample("a1", "题", "文\n第二段", True)
PACK = TopicPack("qiao", "侨", "说明", 0.12, (TERM,), (SITE,), (SAMPLE,))

BAD_TERMS: list[tuple[dict[str, Any], str]] = [
    ({"text": ""}, "1 to 40"),
    ({"text": "侨" * 41}, "got 41"),
    ({"text": " 侨"}, "white space"),
    ({"text": "侨\n批"}, "U+000A"),
    ({"text": "侨\u200b批"}, "invisible character U+200B"),
    ({"text": "侨\ud800"}, "U+D800"),
    ({"text": "侨\ufffe"}, "U+FFFE"),
    ({"kind": "cultur"}, "did you mean 'culture'"),
    ({"kind": ""}, "kind is empty"),
    ({"kind": "zzz"}, "one of core"),
    ({"weight": 0.0}, "(0, 10]"),
    ({"weight": 10.1}, "got 10.1"),
    ({"weight": float("nan")}, "got nan"),
    ({"weight": float("inf")}, "got inf"),
    ({"weight": True}, "got True"),
    ({"note": "x" * 501}, "got 501"),
    ({"note": "a\u2028b"}, "U+2028"),
]

BAD_SITES: list[tuple[dict[str, Any], str]] = [
    ({"host": "http://www.chinaqw.com"}, "more than a host name"),
    ({"host": "WWW.chinaqw.com"}, "must be written 'www.chinaqw.com'"),
    ({"name": ""}, "the name"),
    ({"role": "targets"}, "did you mean 'target'"),
    ({"tier": 0}, "1 to 5"),
    ({"tier": 6}, "got 6"),
    ({"tier": 1.0}, "got 1.0"),
    ({"region": "x" * 41}, "the region"),
    ({"kind": "paper"}, "unknown kind"),
    ({"start_url": "ftp://www.chinaqw.com/"}, "http"),
    ({"start_url": "http://other.com/"}, "on 'other.com', not on"),
    ({"start_url": "http://www.chinaqw.com/a b"}, "white space"),
    ({"start_url": "http://u:p@www.chinaqw.com/"}, "password"),
    ({"start_url": "http://www.chinaqw.com/" + "a" * 1000}, "1000 characters"),
]

BAD_SAMPLES: list[tuple[dict[str, Any], str]] = [
    ({"name": "../a"}, "sample name"),
    ({"name": "-a"}, "sample name"),
    ({"name": "a" * 61}, "at most 60"),
    ({"name": "e\u0301"}, "sample name"),
    ({"title": ""}, "the title"),
    ({"title": "a\nb"}, "U+000A"),
    ({"text": ""}, "the text"),
    ({"text": "a\rb"}, "U+000D"),
    ({"text": "a\n"}, "white space"),
]

BAD_PACKS: list[tuple[dict[str, Any], str, str]] = [
    ({"name": "Qiao"}, "topic.toml", "the name 'Qiao'"),
    ({"name": "a" * 33}, "topic.toml", "at most 32"),
    ({"name": "1a"}, "topic.toml", "must start"),
    ({"name": "a\n"}, "topic.toml", "the name"),
    ({"title": ""}, "topic.toml", "the title"),
    ({"threshold": 1.5}, "topic.toml", "[0, 1]"),
    ({"threshold": float("nan")}, "topic.toml", "got nan"),
    ({"language": "Chinese!"}, "topic.toml", "language"),
    ({"terms": (), "sites": ()}, "terms.csv", "at least one term"),
    (
        {"terms": (TERM, Term("ＡＢ c", "core"), Term("ab  C", "core"))},
        "terms.csv",
        "repeats line 3",
    ),
    ({"sites": (SITE, SITE)}, "sites.csv", "repeats line 2"),
    ({"samples": (SAMPLE, replace(SAMPLE, name="A1"))}, "samples/A1", "repeats 'a1'"),
]


def test_a_good_pack_has_no_faults_and_travels_between_processes() -> None:
    assert pack_faults(PACK) == ()
    assert pickle.loads(pickle.dumps(PACK)) == PACK


@pytest.mark.parametrize(("change", "word"), BAD_TERMS)
def test_bad_term(change: dict[str, Any], word: str) -> None:
    assert word in "\n".join(term_reasons(replace(TERM, **change)))


@pytest.mark.parametrize(("change", "word"), BAD_SITES)
def test_bad_site(change: dict[str, Any], word: str) -> None:
    assert word in "\n".join(site_reasons(replace(SITE, **change)))


@pytest.mark.parametrize(("change", "word"), BAD_SAMPLES)
def test_bad_sample(change: dict[str, Any], word: str) -> None:
    assert word in "\n".join(sample_reasons(replace(SAMPLE, **change)))


@pytest.mark.parametrize(("change", "table", "word"), BAD_PACKS)
def test_bad_pack(change: dict[str, Any], table: str, word: str) -> None:
    faults = pack_faults(replace(PACK, **change))
    assert [fault.table for fault in faults] == [table]
    assert word in faults[0].reason


def test_all_faults_are_told_at_once() -> None:
    pack = replace(
        PACK, title="", terms=(TERM, Term("", "x", -1.0)), sites=(replace(SITE, tier=9),)
    )
    with pytest.raises(TopicError, match="5 faults") as caught:
        require_valid(pack)
    places = [(fault.table, fault.line) for fault in caught.value.faults]
    assert places == [("topic.toml", 1), *[("terms.csv", 3)] * 3, ("sites.csv", 2)]


def test_limits_are_inclusive() -> None:
    assert term_reasons(Term("侨" * 40, "core", 10.0, "n" * 500)) == []
    assert site_reasons(replace(SITE, tier=5, start_url="https://www.chinaqw.com:8443/x")) == []
    assert sample_reasons(Sample("侨情-1", "题", "文\t字", False)) == []


def test_fold_makes_writings_of_one_word_equal() -> None:
    assert fold("Ｑｉａｏ　Ｗａｎｇ") == fold("qiao wang") == "qiao wang"
    assert fold("侨批") != fold("僑批")
