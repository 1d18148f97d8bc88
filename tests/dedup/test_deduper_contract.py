"""What every registered title deduper must do."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.dedup import TitleDeduper, dedupers
from qiaocrawl.errors import ConfigError
from qiaocrawl.items import TitleRecord, VerdictKind

DAY = datetime(2026, 3, 1, tzinfo=UTC)
OTHER_TITLES = [
    "江口县新茶开采 茶农忙到掌灯", "北山隧道贯通 两地车程缩短一小时", "市图书馆延长开放到夜里十点",
    "少年棋手夺得全省冠军", "老城区三条公交线改道", "渔港迎来开渔第一船",
]


def key(number: int) -> bytes:
    return number.to_bytes(16, "big")


def record(number: int, title: str, *, day: int | None = None, digest: bytes = b"",
           tokens: tuple[str, ...] = ()) -> TitleRecord:
    when = None if day is None else DAY + timedelta(days=day)
    return TitleRecord(key(number), title, published_at=when, body_digest=digest, tokens=tokens)


@pytest.fixture(params=dedupers.names())
def deduper(request: pytest.FixtureRequest) -> TitleDeduper:
    """Each deduper, some titles of other matters known."""
    made = dedupers.get(request.param)(threshold=0.8)
    for number, title in enumerate(OTHER_TITLES, 1000):
        assert made.judge(record(number, title)).kind is VerdictKind.DISTINCT
    return made


def test_a_reprint_points_to_the_earlier_title(deduper: TitleDeduper) -> None:
    assert deduper.judge(record(1, "侨联为归侨老人送年货")).of is None
    verdict = deduper.judge(record(2, "侨联为归侨老人送年货！"))
    assert (verdict.kind, verdict.of, verdict.similarity) == (VerdictKind.REPRINT, key(1), 1.0)
    assert verdict.why


def test_scripts_and_widths_make_no_difference(deduper: TitleDeduper) -> None:
    deduper.judge(record(1, "12名华侨学生返乡过年"))
    assert deduper.judge(record(2, "１２名華僑學生返鄉過年")).of == key(1)


def test_the_same_body_makes_it_the_same_page(deduper: TitleDeduper) -> None:
    deduper.judge(record(1, "侨联为归侨老人送年货", digest=b"a"))
    deduper.judge(record(2, "侨联为归侨老人送年货", digest=b"b"))
    verdict = deduper.judge(record(3, "侨联为归侨老人送年货", digest=b"b"))
    assert (verdict.kind, verdict.of) == (VerdictKind.SAME_PAGE, key(2))
    assert deduper.judge(record(4, "两岸渔民同场赛龙舟", digest=b"b")).kind is VerdictKind.DISTINCT


def test_a_page_judged_again_replaces_itself(deduper: TitleDeduper) -> None:
    before = len(deduper)
    assert deduper.judge(record(1, "侨联为归侨老人送年货", digest=b"a")).of is None
    assert deduper.judge(record(1, "侨联为归侨老人送年货", digest=b"a")).of is None
    assert deduper.judge(record(1, "两岸渔民同场赛龙舟")).of is None
    assert deduper.judge(record(2, "侨联为归侨老人送年货", digest=b"a")).of is None
    assert len(deduper) == before + 2


def test_a_removed_title_is_forgotten(deduper: TitleDeduper) -> None:
    before = len(deduper)
    deduper.judge(record(1, "侨联为归侨老人送年货", digest=b"a"))
    deduper.remove(key(1))
    deduper.remove(key(77))
    assert len(deduper) == before
    verdict = deduper.judge(record(2, "侨联为归侨老人送年货", digest=b"a"))
    assert verdict.kind is VerdictKind.DISTINCT


@pytest.mark.parametrize("title", ["", " ", "-_", "——！？"])
def test_titles_without_words_are_distinct(deduper: TitleDeduper, title: str) -> None:
    for number in range(3):
        verdict = deduper.judge(record(number, title))
        assert (verdict.kind, verdict.of, verdict.similarity) == (VerdictKind.DISTINCT, None, 0.0)
    grouped = deduper.regroup([record(number, title) for number in range(3)])
    assert {verdict.kind for verdict in grouped.values()} == {VerdictKind.DISTINCT}


def test_a_megabyte_and_ten_thousand_identical_titles(deduper: TitleDeduper) -> None:
    long = "归侨" * 170_000
    deduper.judge(record(1, long))
    assert deduper.judge(record(2, long)).of == key(1)
    tokens = ("词",) * 400_000
    deduper.judge(record(3, "x", tokens=tokens))
    assert deduper.judge(record(4, "x", tokens=tokens)).of == key(3)
    same = ("归侨", "过年")
    many = [record(number, "归侨过年", tokens=same) for number in range(100, 10_100)]
    verdicts = [deduper.judge(one) for one in many]
    assert verdicts[0].kind is VerdictKind.DISTINCT
    assert all(v.of == key(100) and v.similarity == 1.0 for v in verdicts[1:])
    regrouped = deduper.regroup(many)
    assert [v.of for v in regrouped.values()] == [None] + [key(100)] * 9_999


def test_the_representative_is_chosen_by_rule(deduper: TitleDeduper) -> None:
    title = "侨联为归侨老人送年货"
    records = [record(1, title), record(2, title, day=3), record(9, title, day=1),
               record(8, title, day=1), record(5, "渔港迎来开渔第一船")]
    for seed in range(5):
        shuffled = random.Random(seed).sample(records, len(records))
        verdicts = deduper.regroup(shuffled)
        assert {k: v.of for k, v in verdicts.items()} == {
            key(8): None, key(9): key(8), key(2): key(8), key(1): key(8), key(5): None,
        }
    assert verdicts[key(8)].kind is verdicts[key(5)].kind is VerdictKind.DISTINCT


def test_regrouping_leaves_what_is_remembered_alone(deduper: TitleDeduper) -> None:
    before = len(deduper)
    deduper.regroup([record(1, "侨联为归侨老人送年货")])
    assert len(deduper) == before
    assert deduper.judge(record(2, "侨联为归侨老人送年货")).kind is VerdictKind.DISTINCT
    assert deduper.regroup([]) == {}


WORDS = st.lists(st.sampled_from("甲乙丙丁戊己"), max_size=5).map(tuple)
RECORDS = st.lists(
    st.builds(
        lambda number, tokens, day, digest: record(
            number, "".join(tokens), day=day, digest=digest, tokens=tokens
        ),
        st.integers(0, 12), WORDS, st.none() | st.integers(0, 3), st.sampled_from([b"", b"p"]),
    ),
    max_size=14,
)


@settings(deadline=None)
@given(RECORDS, st.randoms(use_true_random=False))
@pytest.mark.parametrize("name", dedupers.names())
def test_groups_do_not_depend_on_order(name: str, records: list[TitleRecord],
                                       rng: random.Random) -> None:
    deduper = dedupers.get(name)(threshold=0.7)
    verdicts = deduper.regroup(records)
    assert deduper.regroup(rng.sample(records, len(records))) == verdicts
    assert verdicts.keys() == {one.key for one in records}
    for verdict in verdicts.values():
        if verdict.of is None:
            assert verdict.kind is VerdictKind.DISTINCT
        else:
            assert verdict.kind is not VerdictKind.DISTINCT
            assert verdict.similarity >= 0.7
            assert verdicts[verdict.of].of is None


@pytest.mark.parametrize("name", dedupers.names())
@pytest.mark.parametrize("threshold", [0.0, -0.5, 1.5, float("nan")])
def test_a_threshold_that_is_none_is_refused(name: str, threshold: float) -> None:
    with pytest.raises(ConfigError, match="must lie in"):
        dedupers.get(name)(threshold=threshold)
