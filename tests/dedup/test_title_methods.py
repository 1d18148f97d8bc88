"""How the methods decide about two titles: worked cosines, and the rules case by case."""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from dedup_samples import key, record

from qiaocrawl.dedup import TitleIndex
from qiaocrawl.dedup.cleaning import TitleWords
from qiaocrawl.dedup.comparison import BodyEvidence
from qiaocrawl.dedup.fingerprints import body_fingerprints
from qiaocrawl.dedup.methods import TitlePair, methods
from qiaocrawl.dedup.vocabulary import TermTable
from qiaocrawl.items import TitleRecord, VerdictKind
from qiaocrawl.vsm import IdfSnapshot

SAME_PAGE, REPRINT = VerdictKind.SAME_PAGE, VerdictKind.REPRINT
REVISION, SERIES, DISTINCT = VerdictKind.REVISION, VerdictKind.SERIES, VerdictKind.DISTINCT

# --- the published method -------------------------------------------------------------------


def test_one_word_more_in_a_worked_example() -> None:
    # Nine titles: 侨联 stands everywhere and weighs nothing, 慰问 and 归侨 ln(9/2), 图 ln 9.
    counts = {"侨联": 9, "慰问": 2, "归侨": 2, "图": 1}
    snapshot = IdfSnapshot(1, 9, counts, prior_titles=0)
    two, one = math.log(9 / 2), math.log(9)
    expected = 2 * two**2 / (math.sqrt(2) * two * math.sqrt(2 * two**2 + one**2))
    assert expected == pytest.approx(0.695, abs=0.001)
    verdicts = []
    for threshold in (0.8, 0.69):
        index = TitleIndex("vsm", threshold, snapshot=snapshot)
        index.judge(record(1, "侨联 慰问 归侨"))
        verdicts.append(index.judge(record(2, "侨联 慰问 归侨 图")))
    assert [verdict.kind for verdict in verdicts] == [DISTINCT, REPRINT]
    assert verdicts[1].similarity == pytest.approx(expected, abs=1e-6)
    assert verdicts[1].why == f"title cosine {expected:.3f}"


def test_published_weights_are_of_the_collection_alone() -> None:
    # ln(100/10) for both words, so the titles are 1/sqrt(2) alike whatever general usage says.
    snapshot = IdfSnapshot(1, 100, {"慰问": 10, "归侨": 10})
    index = TitleIndex("vsm", 0.5, snapshot=snapshot)
    index.judge(record(1, "慰问"))
    verdict = index.judge(record(2, "慰问 归侨"))
    assert verdict.similarity == pytest.approx(1 / math.sqrt(2), abs=1e-6)
    # Mixed, as if there were 50,000 titles of usual words beside the hundred.
    mixed = TitleIndex("vsm_mixed", 0.5, snapshot=snapshot)
    mixed.judge(record(1, "慰问"))
    one, other = snapshot.idf("慰问"), snapshot.idf("归侨")
    expected = one / math.hypot(one, other)
    assert abs(expected - 1 / math.sqrt(2)) > 0.001
    assert mixed.judge(record(2, "慰问 归侨")).similarity == pytest.approx(expected, abs=1e-6)


def test_a_word_said_twice_counts_twice() -> None:
    snapshot = IdfSnapshot(1, 100, {"慰问": 10, "归侨": 10}, prior_titles=0)
    index = TitleIndex("vsm", 0.5, snapshot=snapshot)
    index.judge(record(1, "慰问 归侨"))
    # (2, 1) and (1, 1) are 3 / (sqrt(5) sqrt(2)) alike.
    verdict = index.judge(record(2, "慰问 慰问 归侨"))
    assert verdict.similarity == pytest.approx(3 / math.sqrt(10), abs=1e-6)


def test_words_that_stand_everywhere_are_like_the_same_words_only() -> None:
    index = TitleIndex("vsm", snapshot=IdfSnapshot(1, 5, {"侨联": 5}, prior_titles=0))
    index.judge(record(1, "侨联"))
    assert index.judge(record(2, "侨联 侨联")).kind is DISTINCT
    verdict = index.judge(record(3, "侨联"))
    assert (verdict.of, verdict.similarity, verdict.why) == (key(1), 1.0, "same title words")


def test_of_two_near_titles_the_nearer_is_named() -> None:
    snapshot = IdfSnapshot(1, 1000, dict.fromkeys("甲乙丙丁戊己", 10), prior_titles=0)
    index = TitleIndex("vsm", 0.5, snapshot=snapshot)
    index.judge_all([record(1, "甲 乙 丙 丁"), record(2, "丙 丁 戊 己")])
    verdict = index.judge(record(3, "乙 丙 丁 戊 己"))
    assert (verdict.of, verdict.also) == (key(2), (key(1),))


@pytest.mark.parametrize(
    ("pair", "kind"),
    [
        (TitlePair(0.8), REPRINT),
        (TitlePair(0.799), DISTINCT),
        (TitlePair(0.0, same_words=True), REPRINT),
        (TitlePair(1.0, same_words=True, same_text=True), SAME_PAGE),
        (TitlePair(0.9, same_text=True), REPRINT),
        # It looks at nothing but titles.
        (TitlePair(0.5, score=1.0, same_text=True, days_apart=0.0, same_source=True), DISTINCT),
        (TitlePair(0.9, score=0.0, other_numbers=True, days_apart=999.0), REPRINT),
    ],
)
def test_the_published_rule(pair: TitlePair, kind: VerdictKind) -> None:
    assert methods.get("vsm")(None).relation(pair).kind is kind


def test_shingles_are_compared_by_resemblance() -> None:
    def article(number: int, title: str, *sentences: int) -> TitleRecord:
        told = (f"这是第{'甲乙丙丁戊己庚辛'[one]}句与侨乡有关的话" for one in sentences)
        prints = body_fingerprints("。".join(told))
        return TitleRecord(key(number), title, body_digest=prints.digest,
                           body_simhash=prints.simhash, body_sketch=prints.sketch)  # fmt: skip

    index = TitleIndex("shingles")
    index.judge(article(1, "侨乡来客", 0, 1, 2, 3, 4))
    # Four of five sentences, and one of its own: 4 of 6. The titles have nothing in common.
    near = index.judge(article(2, "海外乡亲", 0, 1, 2, 3, 5))
    assert (near.kind, near.of) == (REPRINT, key(1))
    assert near.why == "resemblance 0.667: 4 of 6 shingles"
    # Word for word.
    assert index.judge(article(3, "另一题目", 0, 1, 2, 3, 4)).why.startswith("the same text")
    # Two of five, and three of its own: 2 of 8, whatever the title says.
    assert index.judge(article(4, "侨乡来客", 3, 4, 5, 6, 7)).kind is DISTINCT
    assert TitleIndex("shingles", 0.7).regroup(
        [article(1, "侨乡来客", 0, 1, 2, 3, 4), article(2, "海外乡亲", 0, 1, 2, 3, 5)]
    ).verdicts[key(2)].kind is DISTINCT  # fmt: skip


# --- the default ----------------------------------------------------------------------------


def body(shared: int, of: int, *, lead: bool = True) -> BodyEvidence:
    """What two bodies of as many sentences share, none of them with digits."""
    return BodyEvidence(shared, of, of, shared / of, shared / of, 0.0, 1.0, lead)


SAID = {"cosine": 0.9, "score": 0.9, "letters": 12}
CASES = {
    # Titles.
    "titles alike": ({}, REPRINT),
    "the model is not sure": ({"score": 0.79}, DISTINCT),
    "too short to tell": ({"letters": 5}, DISTINCT),
    "just long enough": ({"letters": 6}, REPRINT),
    "other numbers": ({"other_numbers": True, "score": 0.5}, SERIES),
    "other numbers, and else little alike": (
        {"other_numbers": True, "score": 0.5, "cosine": 0.4}, DISTINCT
    ),
    # Dates.
    "a month apart": ({"days_apart": 30.0}, REPRINT),
    "longer apart": ({"days_apart": 30.1}, SERIES),
    "longer apart and not alike": ({"days_apart": 99.0, "score": 0.5}, DISTINCT),
    # Sources.
    "one source within two days": (
        {"score": 0.61, "same_source": True, "days_apart": 2.0}, REPRINT
    ),
    "one source, later": ({"score": 0.61, "same_source": True, "days_apart": 2.1}, DISTINCT),
    "one source, no dates": ({"score": 0.61, "same_source": True}, DISTINCT),
    "one source, not alike": ({"score": 0.59, "same_source": True, "days_apart": 0.0}, DISTINCT),
    # Places.
    "on one site": ({"same_site": True}, REVISION),
    "on two sites": ({"same_site": False}, REPRINT),
    "an instalment on one site": (
        {"same_site": True, "other_numbers": True, "score": 0.5}, SERIES
    ),
    # Bodies.
    "one text": ({"same_text": True, "score": 0.0, "cosine": 0.0}, SAME_PAGE),
    "one text on one site": ({"same_text": True, "same_site": True}, SAME_PAGE),
    "one text on two sites": ({"same_text": True, "same_site": False}, REPRINT),
    "one text after years": ({"same_text": True, "days_apart": 999.0, "letters": 1}, SAME_PAGE),
    "nearly one text": ({"simhash_distance": 3, "score": 0.0}, REPRINT),
    "some bits differ": ({"simhash_distance": 4, "score": 0.0}, DISTINCT),
    "bits say less than sentences": ({"simhash_distance": 0, "body": body(0, 9)}, SERIES),
    "the body is shared": ({"body": body(8, 10), "score": 0.0, "cosine": 0.0}, REPRINT),
    "shared on one site": ({"body": body(8, 10), "same_site": True}, REVISION),
    "a version for print": (
        {"body": body(9, 10), "same_site": True, "same_words": True}, SAME_PAGE
    ),
    "a version for print, of the day": (
        {"body": body(9, 10), "same_site": True, "same_words": True, "days_apart": 0.9}, SAME_PAGE
    ),
    "the same title a week later": (
        {"body": body(9, 10), "same_site": True, "same_words": True, "days_apart": 7.0}, REVISION
    ),
    "the same title elsewhere": ({"body": body(9, 10), "same_words": True}, REPRINT),
    "shared, other numbers": ({"body": body(8, 10), "other_numbers": True}, REPRINT),
    "a third, titles alike": ({"body": body(4, 10), "score": 0.0, "cosine": 0.5}, REPRINT),
    "another text": ({"body": body(1, 10)}, SERIES),
    "another text, titles not alike": ({"body": body(1, 10), "score": 0.1}, DISTINCT),
    "bodies leave it open": ({"body": body(7, 10, lead=False)}, REPRINT),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_rules_of_reprint(case: str) -> None:
    changed, kind = CASES[case]
    pair = TitlePair(**{**SAID, **changed})
    relation = methods.get("reprint")(None).relation(pair)
    assert relation.kind is kind
    assert relation.why
    assert relation.is_same_story == (kind in (SAME_PAGE, REPRINT, REVISION))


def test_stronger_evidence_is_stronger() -> None:
    said = [{"same_text": True}, {"simhash_distance": 0}, {"body": body(9, 10)}, {}]
    rule = methods.get("reprint")(None)
    strengths = [rule.relation(TitlePair(**{**SAID, **one})).strength for one in said]
    assert strengths == sorted(strengths, reverse=True)
    assert max(strengths) <= 3.0


@pytest.mark.parametrize(
    ("threshold", "least"), [(None, 0.7), (0.95, 0.7), (0.7, 0.6), (0.5, 0.5), (0.1, 0.5)]
)
def test_lower_thresholds_are_searched_from_further_away(
    threshold: float | None, least: float
) -> None:
    assert methods.get("reprint")(threshold).least_cosine == pytest.approx(least)


# --- the paper's pairs ----------------------------------------------------------------------

SAME = (
    "新华侨涌入:为韩国华社带来新希望-移民-滴答网",
    "新华侨涌入:为韩国华社带来新希望 - 无忧雅思网 无忧雅思网",
)
DIFFERENT = (
    "缅甸华侨华人为孔子课堂捐款组图-教育频道-新华网",
    "缅甸华侨华人为台湾灾区同胞捐款-华人-新华网",
)
OPEN_DATA = Path(__file__).parents[3] / "shared" / "data" / "dedup" / "titles.txt.gz"


def check_the_papers_pairs(snapshot: IdfSnapshot) -> None:
    """The reprints are .9 alike at least, the different news .65 at most; ours says so too."""
    index = TitleIndex("vsm", 0.5, snapshot=snapshot)
    index.add(record(number, title) for number, title in enumerate(SAME + DIFFERENT))
    same = dict(index.near(SAME[0]))
    assert same[key(1)] >= 0.9
    assert dict(index.near(DIFFERENT[0])).get(key(3), 0.0) <= 0.65
    judging = TitleIndex("reprint", snapshot=snapshot)
    kinds = [
        judging.judge(record(number, title, host=f"{number}.example")).kind
        for number, title in enumerate(SAME + DIFFERENT)
    ]
    assert kinds == [DISTINCT, REPRINT, DISTINCT, DISTINCT]


@pytest.mark.parametrize("documents", [0, 1, 100, 10_000, 1_000_000])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.2])
def test_the_papers_pairs_whatever_was_counted(documents: int, share: float) -> None:
    # Titles of overseas Chinese, who stand in up to a fifth of them; the rest as usual.
    topic = dict.fromkeys(("华侨", "华人", "华社", "捐款"), int(share * documents))
    check_the_papers_pairs(IdfSnapshot(1, documents, topic))


@pytest.mark.skipif(not OPEN_DATA.exists(), reason="the open titles are not here")
def test_the_papers_pairs_with_the_counts_of_open_titles() -> None:
    words = TitleWords(TermTable(IdfSnapshot()))
    titles = words.texts(list(islice(_open_titles(), 10_000)))
    for size in (100, 1_000, 10_000):
        check_the_papers_pairs(IdfSnapshot.of(titles[:size], version=1))


def _open_titles() -> Iterator[str]:
    with gzip.open(OPEN_DATA, "rt", encoding="utf-8") as file:
        for line in file:
            yield line.rstrip("\n")
